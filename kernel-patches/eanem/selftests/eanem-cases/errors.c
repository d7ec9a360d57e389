// SPDX-License-Identifier: BSD-3-Clause
/* What is refused: requests that are wrong, and all of them while the system is off. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "eanem.h"
#include "netlink.h"
#include "report.h"
#include "sysfs.h"

void test_off(void)
{
	struct lull_eanem_socket one;
	size_t count = 1;

	turn("0");
	check(eanem_sockets(&eanem, &one, &count) == -ENODEV, "off lists no socket");
	check(eanem_target_process(&eanem, (uint32_t)getpid(), 1000) == -ENODEV,
	      "off takes no target");
	check(eanem_steer(&eanem, "0", 0, NULL, 0) == -ENODEV, "off steers nothing");
}

/* A thread of the kernel that is bound to CPU 0. */
static uint32_t softirq_thread(void)
{
	char path[64], name[32];

	for (uint32_t pid = 2; pid < 1000; pid++) {
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		if (!read_text(path, name, sizeof(name)) && !strcmp(name, "ksoftirqd/0"))
			return pid;
	}
	bail("there is no ksoftirqd/0");
}

void test_errors(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_DGRAM, &at), raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	uint32_t nobody = 4000000, bound = softirq_thread();
	struct eanem second;

	check(eanem_target_socket(&eanem, 1ULL << 60, 1000) == -ENOENT, "there is no such socket");
	check(eanem_target_process(&eanem, nobody, 1000) == -ESRCH, "there is no such process");
	check(eanem_target_process(&eanem, (uint32_t)getpid(), (1ULL << 40) + 1) == -ERANGE,
	      "a target can be too large");
	check(eanem_target_socket(&eanem, cookie(fd), 1000) == -EOPNOTSUPP,
	      "datagrams have no window");
	check(raw >= 0 && eanem_target_socket(&eanem, cookie(raw), 1000) == -ENOENT,
	      "a raw socket is no connection");
	check(eanem_steer(&eanem, "zero", 0, NULL, 0) == -EINVAL, "a CPU is a number");
	check(eanem_steer(&eanem, "1000", 0, NULL, 0) == -ERANGE &&
		      eanem_steer(&eanem, "4294967296", 0, NULL, 0) == -ERANGE,
	      "which a machine has");
	check(write_text(EANEM_DIR "/interval_us", "999") == -EINVAL, "a setting has a range");
	check(eanem_steer(&eanem, "0", 0, &nobody, 1) == -ESRCH, "there is no such thread");
	check(eanem_steer(&eanem, "1", 0, &bound, 1) == -EINVAL, "a CPU's own thread stays there");
	must(eanem_open(&second), "open the second handle");
	must(eanem_steer(&eanem, "0", 0, NULL, 0), "steer");
	check(eanem_steer(&second, "0", 0, NULL, 0) == -EBUSY, "one steers at a time");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	check(eanem_steer(&second, "0", 0, NULL, 0) == 0, "and then another one");
	eanem_close(&second);
	close(raw);
	close(fd);
}

/* Requests with attributes that are wrong, missing or too many. */
void test_attributes(void)
{
	static const uint32_t threads[LULL_EANEM_THREADS_MOST + 1];
	uint64_t id = 1, target = 1000;
	uint32_t self = (uint32_t)getpid();
	char rest[512] = {0};
	size_t size = 0;
	int records;

	append(rest, &size, LULL_EANEM_A_ID, &id, sizeof(id));
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	check(answer(&eanem, &records) == -EINVAL, "a target has a value");
	append(rest, &size, LULL_EANEM_A_TARGET, &target, sizeof(target));
	append(rest, &size, LULL_EANEM_A_PID, &self, sizeof(self));
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	check(answer(&eanem, &records) == -EINVAL, "it is for a socket or for a process");
	size = 0;
	append(rest, &size, LULL_EANEM_A_ID, &id, sizeof(id));
	append(rest, &size, LULL_EANEM_A_TARGET, &target, sizeof(target) / 2);
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	check(answer(&eanem, &records) == -EINVAL, "a number has its length");
	size = 0;
	append(rest, &size, LULL_EANEM_A_CPUS, "0", 2);
	append(rest, &size, LULL_EANEM_A_THREADS, threads, sizeof(threads));
	ask(&eanem, LULL_EANEM_COMMAND_STEER, NLM_F_ACK, rest, size);
	check(answer(&eanem, &records) == -ERANGE, "there can be too many threads");
}
