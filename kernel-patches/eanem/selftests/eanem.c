// SPDX-License-Identifier: BSD-3-Clause
/*
 * eanem [ROUNDS [slow]]: what sockets receive is counted for their owners alone, connections keep
 * to their targets, and what was steered comes back. All of it over the loopback device. A kernel
 * with checkers may be too slow for the rates; with `slow` they are told and not judged.
 */
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "connections.h"
#include "eanem-cases/cases.h"
#include "eanem.h"
#include "report.h"
#include "sysfs.h"

struct eanem eanem;
bool slow;
struct ifreq lo_flags = {.ifr_name = "lo"}, lo_mtu = {.ifr_name = "lo"};

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 24;
	char interval_us[32];

	if (argc > 1 && !strcmp(argv[1], NEXT_PROGRAM))
		return next_program();
	slow = argc > 2 && !strcmp(argv[2], "slow");
	loopback(false);
	must(read_text(EANEM_DIR "/interval_us", interval_us, sizeof(interval_us)),
	     "read a setting");
	must(eanem_open(&eanem), "reach the kernel");
	test_off();
	test_datagrams();
	test_end();
	test_late_reads();
	test_bytes();
	test_busy();
	test_secrets();
	test_many();
	test_errors();
	test_settings();
	test_attributes();
	test_memory();
	test_targets();
	test_close(false);
	test_close(true);
	test_small_buffer();
	test_sharing();
	test_sharing_at_once();
	test_next_program(argv[0], false);
	test_next_program(argv[0], true);
	test_slow_program();
	test_loss();
	test_reconnect();
	test_steering();
	test_cpuset();
	test_timer();
	test_offline();
	test_storm(rounds);
	turn("0");
	put(EANEM_DIR "/interval_us", interval_us);
	loopback(true);
	return report_finish();
}
