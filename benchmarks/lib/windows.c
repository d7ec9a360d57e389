// SPDX-License-Identifier: BSD-3-Clause
#include "windows.h"

#include "m5.h"
#include "machine.h"

void windows_order(const struct windows *times)
{
	if (machine_engine() != ENGINE_GEM5)
		return;
	for (uint64_t window = 0; window <= times->windows; window++)
		m5_dump_reset_stats((times->settle_us + window * times->window_us) * 1000, 0);
}
