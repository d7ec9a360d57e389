// SPDX-License-Identifier: BSD-3-Clause
/*
 * eanem_wire [slow]: what of the network stack's control and monitor is seen from outside.
 *
 * The windows that a connection's receiving end offers are read from the wire, by a packet socket
 * on the loopback device. Trace points and the files in debugfs have to say what is on the wire,
 * and what netlink says. A kernel with checkers may be too slow for the rates; with `slow` they are
 * told and not judged.
 */
#include <net/if.h>
#include <stdbool.h>
#include <string.h>

#include "connections.h"
#include "eanem.h"
#include "eanem_wire-cases/cases.h"
#include "eanem_wire-cases/trace.h"
#include "report.h"
#include "sysfs.h"

struct eanem eanem;
bool slow;
struct ifreq lo_flags = {.ifr_name = "lo"}, lo_mtu = {.ifr_name = "lo"};

int main(int argc, char **argv)
{
	char interval_us[32];

	slow = argc > 1 && !strcmp(argv[1], "slow");
	test_edge();
	loopback(false);
	must(read_text(EANEM_DIR "/interval_us", interval_us, sizeof(interval_us)),
	     "read a setting");
	must(eanem_open(&eanem), "reach the kernel");
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("1");
	test_taken_back();
	test_targets();
	test_syn();
	test_scale("/proc/sys/net/ipv4/tcp_window_scaling", "0", 0);
	test_scale("/proc/sys/net/ipv4/tcp_rmem", "4096 131072 1073741824", 14);
	test_full_buffer();
	test_loss();
	trace_begin();
	test_steps();
	test_socket_events();
	test_cpu_events();
	test_no_events();
	trace_end();
	test_files();
	test_long_file();
	test_files_off();
	turn("0");
	put(EANEM_DIR "/interval_us", interval_us);
	eanem_close(&eanem);
	loopback(true);
	return report_finish();
}
