// SPDX-License-Identifier: BSD-3-Clause
/*
 * heartbeat: applications tell eanemd how fast they are. It moves those that it may, forgets those
 * that are dead, lets nobody else in, goes on with the cores that are online, and puts everything
 * back. Packets come over the loopback device.
 */
#include <net/if.h>
#include <stdbool.h>

#include "connections.h"
#include "eanem.h"
#include "heartbeat-cases/cases.h"
#include "heartbeat-cases/daemon.h"
#include "report.h"

struct eanem eanem;
bool slow;
struct ifreq lo_flags = {.ifr_name = "lo"}, lo_mtu = {.ifr_name = "lo"};

int main(void)
{
	loopback(false);
	turn("1");
	write_model("");
	test_alone();
	test_managed();
	test_puts_back();
	test_users();
	test_nonsense();
	test_files();
	test_two_managers();
	test_traffic();
	test_offline_core();
	forget_model();
	turn("0");
	loopback(true);
	return report_finish();
}
