// SPDX-License-Identifier: BSD-3-Clause
/*
 * eanem [ROUNDS [slow]]: what sockets receive is counted for their owners alone, connections keep
 * to their targets, and what was steered comes back. All of it over the loopback device. A kernel
 * with checkers may be too slow for the rates; with `slow` they are told and not judged.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "connections.h"
#include "eanem.h"
#include "fail_each.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"
#include "tap.h"

/* More than one answer of netlink holds. */
#define MANY 200
#define UDP_PACKETS 10
#define NEXT_PROGRAM "next-program"
/* A socket that it finds open, and only reads. */
#define INHERITED 100
/* At once, and what each of their connections sends. */
#define WORKERS 4
#define STREAM 65536
#define PATIENCE_MS 20000
#define POLICY CPU_DIR "/cpu0/cpufreq/"

static struct eanem eanem;
static char interval_us[32];

/* What is still to come of a sender that has gone. */
static uint64_t read_rest(int fd)
{
	static char data[65536];
	uint64_t bytes = 0;
	ssize_t got;

	while ((got = recv(fd, data, sizeof(data), 0)) > 0)
		bytes += (uint64_t)got;
	return bytes;
}

/* In thousandths of the target, after some time to settle. */
static uint64_t part_of(int fd, uint64_t target, uint64_t settle_ms, uint64_t ms)
{
	uint64_t bytes, ns;

	read_for(&fd, 1, settle_ms * MS, &bytes);
	ns = read_for(&fd, 1, ms * MS, &bytes);
	return (uint64_t)((double)bytes * 1e12 / (double)ns / (double)target);
}

/* What the library does not ask: all of the request after its heads is the caller's. */
static void ask(struct eanem *to, uint8_t command, uint16_t flags, const void *rest, size_t size)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr command;
		char rest[512];
	} request = {
		.head = {.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + size),
			 .nlmsg_type = to->family,
			 .nlmsg_flags = NLM_F_REQUEST | flags,
			 .nlmsg_seq = ++to->sequence},
		.command = {.cmd = command, .version = LULL_EANEM_VERSION},
	};

	if (size)
		memcpy(request.rest, rest, size);
	if (send(to->fd, &request, request.head.nlmsg_len, 0) < 0)
		tap_bail("cannot ask: %s", strerror(errno));
}

/* Until the answer is over: its error, and how many records came before. */
static int answer(struct eanem *from, int *records)
{
	static _Alignas(struct nlmsghdr) char text[32768];
	int error = 0;

	for (*records = 0;;) {
		ssize_t got = recv(from->fd, text, sizeof(text), 0);
		const struct nlmsghdr *head = (const struct nlmsghdr *)text;

		if (got < 0)
			return -errno;
		for (; NLMSG_OK(head, got); head = NLMSG_NEXT(head, got)) {
			if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) {
				memcpy(&error, NLMSG_DATA(head), sizeof(error));
				return error;
			}
			++*records;
		}
	}
}

static void allowed(cpu_set_t *cpus)
{
	sched_getaffinity(0, sizeof(*cpus), cpus);
}

/* How many sockets root sees, however many there are. */
static int list_all(size_t *count)
{
	int records, error;

	ask(&eanem, LULL_EANEM_COMMAND_SOCKETS, NLM_F_DUMP, NULL, 0);
	error = answer(&eanem, &records);
	*count = (size_t)records;
	return error;
}

/* What this CPU does in some time. */
static uint64_t loops_in(uint64_t ns)
{
	uint64_t end = clock_ns() + ns, loops = 0;

	while (clock_ns() < end)
		loops++;
	return loops;
}

/* Appends an attribute to a request. */
static void append(char *rest, size_t *size, uint16_t type, const void *value, size_t length)
{
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + length), .nla_type = type};

	memcpy(rest + *size, &head, sizeof(head));
	memcpy(rest + *size + NLA_HDRLEN, value, length);
	*size += NLA_ALIGN(head.nla_len);
}

static void off(void)
{
	struct lull_eanem_socket one;
	size_t count = 1;

	turn("0");
	tap_ok(eanem_sockets(&eanem, &one, &count) == -ENODEV, "off lists no socket");
	tap_ok(eanem_target_process(&eanem, (uint32_t)getpid(), 1000) == -ENODEV,
	       "off takes no target");
	tap_ok(eanem_steer(&eanem, "0", 0, NULL, 0) == -ENODEV, "off steers nothing");
}

static void counts_datagrams(void)
{
	static const char data[200];
	struct lull_eanem_socket now;
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char got[256];
	bool stages = true;

	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	turn("0");
	turn("1");
	recv(to, got, sizeof(got), MSG_DONTWAIT);
	next_interval(&eanem, cookie(to), &now);
	for (int i = 0; i < UDP_PACKETS; i++)
		if (sendto(from, data, i % 2 ? 100 : 200, 0, (struct sockaddr *)&at, sizeof(at)) <
		    0)
			tap_bail("cannot send: %s", strerror(errno));
	for (int i = 0; i < UDP_PACKETS; i++)
		if (recv(to, got, sizeof(got), 0) != (i % 2 ? 100 : 200))
			tap_bail("cannot receive");
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.last.packets == UDP_PACKETS && now.last.bytes == 1500,
	       "datagrams are counted: %llu of %llu bytes", now.last.packets, now.last.bytes);
	tap_ok(now.last.mean == 150000 && now.last.variance == 2500,
	       "mean %llu and variance %llu of their sizes", now.last.mean, now.last.variance);
	for (int i = 0; i < LULL_EANEM_STAGES; i++) {
		const struct lull_eanem_latency *stage = &now.last.stages[i];

		stages &= stage->count == UDP_PACKETS && stage->most_ns <= stage->sum_ns;
	}
	tap_ok(stages, "each stage has a latency for each of them");
	tap_ok(now.last.stages[LULL_EANEM_USER].sum_ns > 0 &&
		       now.last.stages[LULL_EANEM_USER].most_ns < 1000 * MS,
	       "the user's takes some time, and not for ever");
	tap_ok(now.pid == (uint32_t)getpid() && now.uid == 0 && now.protocol == IPPROTO_UDP &&
		       now.local_port == at.sin_port,
	       "and it is known whose it is");
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.last.packets == 0 && now.packets == UDP_PACKETS,
	       "the next interval begins anew, and the total stays");

	for (int i = 0; i < 2; i++) {
		if (sendto(from, data, 0, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    recv(to, got, sizeof(got), 0) != 0)
			tap_bail("no datagram without bytes");
		if (i == 0)
			next_interval(&eanem, cookie(to), &now);
	}
	tap_ok(now.last.packets == 1 && now.last.bytes == 0 &&
		       now.last.stages[LULL_EANEM_USER].count == 1,
	       "a datagram without bytes is one, too");
	turn("0");
	turn("1");
	tap_ok(find(&eanem, cookie(to), &now) && now.last.packets == 0 &&
		       now.packets == UDP_PACKETS + 2,
	       "turned off and on, only the total stays");
	close(to);
	close(from);
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("0");
	turn("1");
}

/* The end of a connection is read, but it is no packet, and takes no time. */
static void counts_no_end(void)
{
	struct sockaddr_in at;
	struct lull_eanem_socket now;
	int listener = socket_at(SOCK_STREAM, &at), from = socket(AF_INET, SOCK_STREAM, 0), to;
	char byte;

	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	turn("0");
	turn("1");
	if (listen(listener, 1) || connect(from, (struct sockaddr *)&at, sizeof(at)))
		tap_bail("cannot connect: %s", strerror(errno));
	to = accept(listener, NULL, NULL);
	if (to < 0)
		tap_bail("cannot accept: %s", strerror(errno));
	next_interval(&eanem, cookie(to), &now);
	close(from);
	if (recv(to, &byte, 1, 0) != 0)
		tap_bail("the connection did not end");
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.packets == 0 && now.last.stages[LULL_EANEM_USER].count == 0,
	       "the end of a connection is not counted");
	close(to);
	close(listener);
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("0");
	turn("1");
}

static void counts_bytes(void)
{
	struct lull_eanem_socket now;
	struct lull_eanem_cpu cpus[64];
	uint64_t bytes, more, net_ns = 0;
	size_t count = 64;
	pid_t child;
	int fd = connection(&child);

	read_for(&fd, 1, 100 * MS, &bytes);
	must(eanem_cpus(&eanem, cpus, &count), "list CPUs");
	for (size_t i = 0; i < count; i++)
		net_ns += cpus[i].net_rx_ns;
	tap_ok(count == (size_t)sysconf(_SC_NPROCESSORS_CONF) && net_ns > 0,
	       "%zu CPUs spent %llu ns of an interval in NET_RX", count,
	       (unsigned long long)net_ns);
	end(child);
	more = read_rest(fd);
	next_interval(&eanem, cookie(fd), &now);
	next_interval(&eanem, cookie(fd), &now);
	tap_ok(now.bytes == bytes + more, "a connection's bytes are counted: %llu of %llu",
	       now.bytes, (unsigned long long)(bytes + more));
	tap_ok(now.packets >= now.bytes / MTU && now.packets <= now.bytes / 1000,
	       "and its packets as they were on the line: %llu", now.packets);
	close(fd);
	clock_sleep(50 * MS);
}

/* A program that reads late: how late is counted in the interval in which it reads. */
static void counts_late_reads(void)
{
	struct lull_eanem_socket now;
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char byte;

	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	turn("0");
	turn("1");
	recv(to, &byte, 1, MSG_DONTWAIT);
	next_interval(&eanem, cookie(to), &now);
	if (sendto(from, "", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
		tap_bail("cannot send: %s", strerror(errno));
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.last.packets == 1 && now.last.stages[LULL_EANEM_USER].count == 0,
	       "a datagram has come that nobody has read");
	next_interval(&eanem, cookie(to), &now);
	if (recv(to, &byte, 1, 0) != 1)
		tap_bail("cannot receive");
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.last.packets == 0 && now.last.stages[LULL_EANEM_USER].count == 1 &&
		       now.last.stages[LULL_EANEM_USER].most_ns >= 400 * MS,
	       "and is read an interval later: after %llu us",
	       now.last.stages[LULL_EANEM_USER].most_ns / 1000);
	next_interval(&eanem, cookie(to), &now);
	tap_ok(now.packets == 1 && now.last.stages[LULL_EANEM_USER].count == 0,
	       "which is counted once");
	close(to);
	close(from);
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("0");
	turn("1");
}

/* By a process of another user, which has a socket of its own. */
static int others(uint64_t id, uint32_t pid)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct lull_eanem_cpu cpu;
	struct sockaddr_in at;
	struct eanem own;
	size_t count = SOCKETS, one = 1;
	char byte;
	int fd;

	if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own))
		return 1;
	fd = socket_at(SOCK_STREAM, &at);
	recv(fd, &byte, 1, MSG_DONTWAIT);
	if (eanem_sockets(&own, sockets, &count) || count != 1 || sockets[0].id != cookie(fd))
		return 2;
	if (eanem_cpus(&own, &cpu, &one) != -EPERM)
		return 3;
	if (eanem_target_socket(&own, id, 1000) != -ENOENT)
		return 4;
	if (eanem_target_process(&own, pid, 1000) != -EPERM)
		return 5;
	if (eanem_steer(&own, "0", 0, NULL, 0) != -EPERM)
		return 6;
	if (eanem_target_socket(&own, cookie(fd), 1000) ||
	    eanem_target_process(&own, (uint32_t)getpid(), 1000))
		return 7;
	return 0;
}

/* A dump of which another process reads the rest: the owner may be more privileged by then. */
static int others_rest(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct eanem own;
	size_t count = SOCKETS;
	int records, status = 0, error;
	pid_t child;

	if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own))
		return 1;
	for (int i = 0; i < MANY; i++)
		if (socket(AF_INET, SOCK_STREAM, 0) < 0)
			return 2;
	if (eanem_sockets(&own, sockets, &count) || count != MANY)
		return 3;
	ask(&own, LULL_EANEM_COMMAND_SOCKETS, NLM_F_DUMP, NULL, 0);
	child = fork();
	if (!child) {
		error = answer(&own, &records);
		_exit(error == -EPERM && records > 0 && records < MANY ? 0 : 4);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

static void keeps_secrets(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_STREAM, &at), status = 0;
	struct lull_eanem_socket record;
	pid_t child;

	child = fork();
	if (!child)
		_exit(others(cookie(fd), (uint32_t)getppid()));
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "another user's process sees and throttles its own sockets alone (%d)",
	       WEXITSTATUS(status));
	tap_ok(find(&eanem, cookie(fd), &record) && record.target == 0,
	       "and root sees this one, untouched");
	child = fork();
	if (!child)
		_exit(others_rest());
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "nobody else reads the rest of what it has asked for (%d)", WEXITSTATUS(status));
	close(fd);
}

/* The other program of a process that has a target: what it makes or reads has none. 0 if so. */
static int next_program(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct sockaddr_in at;
	struct eanem own;
	size_t count = SOCKETS;
	char byte;

	if (eanem_open(&own))
		return 1;
	if (recv(INHERITED, &byte, 1, MSG_DONTWAIT) < 0 && errno == EBADF)
		socket_at(SOCK_STREAM, &at);
	if (eanem_sockets(&own, sockets, &count) || count != 1)
		return 2;
	return sockets[0].target ? 3 : 0;
}

/* That program may be a more privileged one. */
static void ends_with_its_program(const char *program, bool inherits)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		struct sockaddr_in at;
		struct eanem own;

		if (inherits && dup2(socket_at(SOCK_STREAM, &at), INHERITED) < 0)
			_exit(6);
		if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own) ||
		    eanem_target_process(&own, (uint32_t)getpid(), 1000))
			_exit(4);
		execl("/proc/self/exe", program, NEXT_PROGRAM, NULL);
		_exit(5);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "a process's own target ends with its program%s (%d)",
	       inherits ? ", for a socket that the next one only reads" : "", WEXITSTATUS(status));
}

/*
 * Very many sockets that are silent take no time of a CPU that does something else, however short
 * the interval is. They are listed one by one all the same.
 */
static void is_not_slowed_by_many(void)
{
	enum { MANY_SILENT = 6000 };
	struct rlimit limit = {2 * MANY_SILENT, 2 * MANY_SILENT};
	uint64_t without, with;
	int pipes[2], count = slow ? MANY : MANY_SILENT;
	size_t before = 0, listed = 0;
	cpu_set_t cpus;
	pid_t child;
	char byte;

	allowed(&cpus);
	must(pin_to_cpu(0), "go to a CPU");
	put(EANEM_DIR "/interval_us", "1000");
	turn("0");
	turn("1");
	if (pipe(pipes))
		tap_bail("no pipe");
	must(list_all(&before), "list sockets");
	without = loops_in(100 * MS);
	child = fork();
	if (!child) {
		if (setrlimit(RLIMIT_NOFILE, &limit) || setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		for (int i = 0; i < count; i++)
			if (socket(AF_INET, SOCK_DGRAM, 0) < 0)
				_exit(2);
		if (write(pipes[1], "", 1) != 1)
			_exit(3);
		pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		tap_bail("no %d sockets", count);
	with = loops_in(100 * MS);
	must(list_all(&listed), "list sockets");
	tap_ok(within(1000 * with / without, 900, 1100),
	       "%d sockets of another user leave %llu of 1000 parts of a CPU", count,
	       (unsigned long long)(1000 * with / without));
	tap_ok(listed == before + (size_t)count, "each of them is listed once: %zu", listed);
	end(child);
	close(pipes[0]);
	for (int i = 0; i < PATIENCE_MS && listed > before; i++) {
		clock_sleep(MS);
		must(list_all(&listed), "list sockets");
	}
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("0");
	turn("1");
	sched_setaffinity(0, sizeof(cpus), &cpus);
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
	tap_bail("there is no ksoftirqd/0");
}

/* Requests with attributes that are wrong, missing or too many. */
static void says_no_to_attributes(void)
{
	static const uint32_t threads[LULL_EANEM_THREADS_MOST + 1];
	uint64_t id = 1, target = 1000;
	uint32_t self = (uint32_t)getpid();
	char rest[512] = {0};
	size_t size = 0;
	int records;

	append(rest, &size, LULL_EANEM_A_ID, &id, sizeof(id));
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	tap_ok(answer(&eanem, &records) == -EINVAL, "a target has a value");
	append(rest, &size, LULL_EANEM_A_TARGET, &target, sizeof(target));
	append(rest, &size, LULL_EANEM_A_PID, &self, sizeof(self));
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	tap_ok(answer(&eanem, &records) == -EINVAL, "it is for a socket or for a process");
	size = 0;
	append(rest, &size, LULL_EANEM_A_ID, &id, sizeof(id));
	append(rest, &size, LULL_EANEM_A_TARGET, &target, sizeof(target) / 2);
	ask(&eanem, LULL_EANEM_COMMAND_TARGET, NLM_F_ACK, rest, size);
	tap_ok(answer(&eanem, &records) == -EINVAL, "a number has its length");
	size = 0;
	append(rest, &size, LULL_EANEM_A_CPUS, "0", 2);
	append(rest, &size, LULL_EANEM_A_THREADS, threads, sizeof(threads));
	ask(&eanem, LULL_EANEM_COMMAND_STEER, NLM_F_ACK, rest, size);
	tap_ok(answer(&eanem, &records) == -ERANGE, "there can be too many threads");
}

static void says_no(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_DGRAM, &at), raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	uint32_t nobody = 4000000, bound = softirq_thread();
	struct eanem second;

	tap_ok(eanem_target_socket(&eanem, 1ULL << 60, 1000) == -ENOENT, "there is no such socket");
	tap_ok(eanem_target_process(&eanem, nobody, 1000) == -ESRCH, "there is no such process");
	tap_ok(eanem_target_process(&eanem, (uint32_t)getpid(), (1ULL << 40) + 1) == -ERANGE,
	       "a target can be too large");
	tap_ok(eanem_target_socket(&eanem, cookie(fd), 1000) == -EOPNOTSUPP,
	       "datagrams have no window");
	tap_ok(raw >= 0 && eanem_target_socket(&eanem, cookie(raw), 1000) == -ENOENT,
	       "a raw socket is no connection");
	tap_ok(eanem_steer(&eanem, "zero", 0, NULL, 0) == -EINVAL, "a CPU is a number");
	tap_ok(eanem_steer(&eanem, "1000", 0, NULL, 0) == -ERANGE &&
		       eanem_steer(&eanem, "4294967296", 0, NULL, 0) == -ERANGE,
	       "which a machine has");
	tap_ok(write_text(EANEM_DIR "/interval_us", "999") == -EINVAL, "a setting has a range");
	tap_ok(eanem_steer(&eanem, "0", 0, &nobody, 1) == -ESRCH, "there is no such thread");
	tap_ok(eanem_steer(&eanem, "1", 0, &bound, 1) == -EINVAL, "a CPU's own thread stays there");
	must(eanem_open(&second), "open the second handle");
	must(eanem_steer(&eanem, "0", 0, NULL, 0), "steer");
	tap_ok(eanem_steer(&second, "0", 0, NULL, 0) == -EBUSY, "one steers at a time");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	tap_ok(eanem_steer(&second, "0", 0, NULL, 0) == 0, "and then another one");
	eanem_close(&second);
	close(raw);
	close(fd);
}

static uint64_t own_socket;

/* A handle of its own: one whose answer found no memory may have the rest of it still to come. */
static int ask_anew(int (*question)(struct eanem *))
{
	struct eanem own;
	int error = eanem_open(&own);

	if (!error) {
		error = question(&own);
		eanem_close(&own);
	}
	/* What socket() and netlink say in its place. */
	return error == -ENFILE || error == -ENOBUFS ? -ENOMEM : error;
}

static int target_of(struct eanem *own)
{
	return eanem_target_socket(own, own_socket, 1000);
}

static int steer_of(struct eanem *own)
{
	return eanem_steer(own, "0", 0, NULL, 0);
}

static int list_of(struct eanem *own)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	return eanem_sockets(own, sockets, &count);
}

static int set_target(void)
{
	return ask_anew(target_of);
}

static int steer_once(void)
{
	return ask_anew(steer_of);
}

static int list_once(void)
{
	return ask_anew(list_of);
}

static void refuses_without_memory(void)
{
	struct {
		int (*op)(void);
		const char *what;
	} ops[] = {{set_target, "no memory for a target"},
		   {steer_once, "no memory for steering"},
		   {list_once, "no memory for an answer"}};
	struct sockaddr_in at;
	int fd = socket_at(SOCK_STREAM, &at);

	own_socket = cookie(fd);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		fail_check(tap_ok, fail_each(ops[i].op, NULL), ops[i].what);
	}
	tap_ok(!eanem_steer(&eanem, "0", 0, NULL, 0) && !eanem_steer(&eanem, "", 0, NULL, 0),
	       "and nobody steers afterwards");
	close(fd);
}

static void keeps_to_targets(void)
{
	static const uint64_t targets[] = {2000000, 4000000, 1000000};
	struct lull_eanem_socket now;
	uint64_t part, bytes[2], ns;
	pid_t child, second;
	int fds[2];

	fds[0] = connection(&child);
	for (size_t i = 0; i < 3; i++) {
		must(eanem_target_socket(&eanem, cookie(fds[0]), targets[i]), "set a target");
		part = part_of(fds[0], targets[i], 200, 400);
		tap_ok(within(part, 950, 1050), "%llu kB/s of %llu",
		       (unsigned long long)(part * targets[i] / 1000000),
		       (unsigned long long)targets[i] / 1000);
	}
	find(&eanem, cookie(fds[0]), &now);
	tap_ok(now.target == targets[2] && now.window > 0,
	       "which can be read, with the window %llu", now.window);
	must(eanem_target_socket(&eanem, cookie(fds[0]), 20000), "set a small target");
	part = part_of(fds[0], 20000, 1500, 3000);
	tap_ok(within(part, 850, 1150), "a window of less than a segment: %llu of 1000",
	       (unsigned long long)part);
	must(eanem_target_socket(&eanem, cookie(fds[0]), 0), "take the target away");
	part = part_of(fds[0], 4000000, 200, 100);
	tap_ok(within(part, 1501, UINT64_MAX), "without a target it is faster: %llu of 1000",
	       (unsigned long long)part);

	fds[1] = connection(&second);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 4000000), "set a process's target");
	read_for(fds, 2, 300 * MS, bytes);
	ns = read_for(fds, 2, 400 * MS, bytes);
	part = (uint64_t)((double)(bytes[0] + bytes[1]) * 1e12 / (double)ns / 4e6);
	tap_ok(within(part, 950, 1050), "two connections of a process: %llu of 1000 together",
	       (unsigned long long)part);
	tap_ok(slow || (bytes[0] > bytes[1] / 2 && bytes[1] > bytes[0] / 2), "in equal parts");
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");

	must(eanem_target_socket(&eanem, cookie(fds[0]), 3000), "set a tiny target");
	read_for(fds, 1, 200 * MS, bytes);
	turn("0");
	part = part_of(fds[0], 4000000, 1000, 100);
	tap_ok(within(part, 1501, UINT64_MAX), "turned off, nothing is held back: %llu of 1000",
	       (unsigned long long)part);
	turn("1");
	end(child);
	end(second);
	close(fds[0]);
	close(fds[1]);
}

/* Datagrams, which cannot be held, get no part of a process's target. */
/* The window that is shut at the moment is nobody's any more when the connection is closed. */
static void closes_at_once(void)
{
	static char data[65536];
	bool ended = true;

	for (int i = 0; i < 5 && ended; i++) {
		pid_t child;
		int fd = connection(&child), status;
		uint64_t bytes;

		must(eanem_target_socket(&eanem, cookie(fd), 200000), "set a target");
		read_for(&fd, 1, 300 * MS, &bytes);
		/* Nothing is left to read, which close() would answer by a reset. */
		while (recv(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
			;
		close(fd);
		ended = false;
		for (int ms = 0; ms < 10000 && !ended; ms += 10) {
			ended = waitpid(child, &status, WNOHANG) == child;
			clock_sleep(10 * MS);
		}
		if (!ended)
			end(child);
	}
	tap_ok(ended, "who sends to a connection that is closed hears of that at once");
}

/* A window of the stack that is smaller than a segment: loopback as it is, and a small buffer. */
static void keeps_to_targets_with_a_small_buffer(void)
{
	struct sockaddr_in at;
	uint64_t part, target = 4000000;
	int listener, fd, buffer = 32768;
	pid_t child;

	loopback(true);
	listener = socket_at(SOCK_STREAM, &at);
	if (setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)))
		tap_bail("cannot set a buffer: %s", strerror(errno));
	fd = accept_silent(listener, &at, &child);
	begin(fd);
	must(eanem_target_socket(&eanem, cookie(fd), target), "set a target");
	part = part_of(fd, target, 400, 600);
	tap_ok(within(part, 900, 1100), "a small buffer: %llu kB/s of %llu",
	       (unsigned long long)(part * target / 1000000), (unsigned long long)target / 1000);
	end(child);
	close(fd);
	loopback(false);
}

static void shares_among_connections(void)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), fd;
	struct lull_eanem_socket datagrams, connected;
	uint64_t bytes;
	char got[16];
	pid_t child;

	fd = connection(&child);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 4000000), "set a process's target");
	for (int i = 0; i < 50; i++) {
		if (sendto(from, "", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    recv(to, got, sizeof(got), 0) != 1)
			tap_bail("no datagram");
		read_for(&fd, 1, 2 * MS, &bytes);
	}
	tap_ok(find(&eanem, cookie(to), &datagrams) && find(&eanem, cookie(fd), &connected) &&
		       (slow || datagrams.last.packets > 0) && datagrams.target == 0 &&
		       connected.target == 4000000,
	       "connections alone share a process's target");
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	end(child);
	close(fd);
	close(to);
	close(from);
}

/*
 * Connections that were silent, and begin at once, do not get all of their process's target each,
 * in an interval in which the control cannot act twice. What they had been offered is theirs.
 */
static void shares_at_once(void)
{
	enum { COUNT = 4 };
	uint64_t bytes[COUNT], sum = 0, ns;
	const uint64_t offered = COUNT * 65536, target = 4000000;
	pid_t children[COUNT];
	int fds[COUNT];

	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), target), "set a process's target");
	for (int i = 0; i < COUNT; i++)
		fds[i] = silent_connection(&children[i]);
	clock_sleep(900 * MS);
	for (int i = 0; i < COUNT; i++)
		begin(fds[i]);
	ns = read_for(fds, COUNT, 300 * MS, bytes);
	for (int i = 0; i < COUNT; i++)
		sum += bytes[i];
	/* 1 + 1/2 + 1/3 + 1/4 of the target, and not 4 times as much. */
	sum = sum > offered ? (uint64_t)((double)(sum - offered) * 1e12 / (double)ns / 4e6) : 0;
	tap_ok(within(sum, 0, 2500), "%d connections that begin at once: %llu of 1000 together",
	       COUNT, (unsigned long long)sum);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	for (int i = 0; i < COUNT; i++) {
		end(children[i]);
		close(fds[i]);
	}
	put(EANEM_DIR "/interval_us", INTERVAL_US);
}

/* A program that does not read closes the window by itself, and opens it again. */
static void does_not_open_what_is_full(void)
{
	pid_t child;
	int fd = connection(&child);
	uint64_t part;

	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	part_of(fd, 2000000, 100, 100);
	clock_sleep(2000 * MS);
	part = part_of(fd, 2000000, 400, 400);
	tap_ok(within(part, 900, 1100), "after the program was slow: %llu of 1000",
	       (unsigned long long)part);
	end(child);
	close(fd);
}

/* A lossy connection gets its target, within 15 %, and never stands still for a second. */
static void keeps_to_targets_with_loss(void)
{
	uint64_t part, sum = 0, least = UINT64_MAX;
	pid_t child;
	int fd = connection(&child);

	lose_one_of(fd, 100);
	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	part_of(fd, 2000000, 500, 500);
	for (int i = 0; i < 5; i++) {
		part = part_of(fd, 2000000, 0, 1000);
		sum += part / 5;
		least = part < least ? part : least;
	}
	tap_ok(within(sum, 850, 1150), "with a loss of 1 %%: %llu of 1000",
	       (unsigned long long)sum);
	tap_ok(least > 0, "at least %llu in each second", (unsigned long long)least);
	end(child);
	close(fd);
}

/* Sends for half a second and resets the connection. The next one has data until the end. */
static void reset_the_first(int listener)
{
	static const char data[65536];
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	uint64_t end = clock_ns() + 500 * MS;
	int fd = accept(listener, NULL, NULL);

	while (clock_ns() < end && send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) || close(fd))
		_exit(1);
	fd = accept(listener, NULL, NULL);
	while (send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
	_exit(0);
}

/* A socket keeps its target when it connects anew. What the old connection had is forgotten. */
static void begins_anew(void)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	int fd = socket(AF_INET, SOCK_STREAM, 0), listener;
	char period_us[32], data[4096];
	struct sockaddr_in at;
	uint64_t part;
	pid_t child;

	must(read_text(EANEM_DIR "/period_us", period_us, sizeof(period_us)), "read a setting");
	/* Windows of 80 kB, which are more than a new connection offers. */
	put(EANEM_DIR "/period_us", "20000");
	listener = socket_at(SOCK_STREAM, &at);
	if (fd < 0 || listen(listener, 1))
		tap_bail("cannot listen: %s", strerror(errno));
	child = fork();
	if (!child)
		reset_the_first(listener);
	close(listener);
	must(eanem_target_socket(&eanem, cookie(fd), 4000000), "set a target");
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		tap_bail("cannot connect: %s", strerror(errno));
	while (recv(fd, data, sizeof(data), 0) > 0)
		;
	if (connect(fd, &none, sizeof(none)) || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		tap_bail("cannot connect anew: %s", strerror(errno));
	part = part_of(fd, 4000000, 300, 400);
	tap_ok(within(part, 900, 1100), "a socket that connects anew: %llu of 1000",
	       (unsigned long long)part);
	end(child);
	close(fd);
	put(EANEM_DIR "/period_us", period_us);
}

/* Limits of a frequency come into force a little after they are set. */
static bool becomes(const char *path, const char *value)
{
	char now[32];

	for (int i = 0; i < 1000; i++) {
		if (!read_text(path, now, sizeof(now)) && !strcmp(now, value))
			return true;
		clock_sleep(MS);
	}
	return false;
}

static void steers(void)
{
	uint32_t self = (uint32_t)getpid();
	char least[32], most[32], byte, khz[32];
	cpu_set_t before, during, after;
	bool scaled = !read_text(POLICY "cpuinfo_min_freq", khz, sizeof(khz));
	struct eanem holder;
	pid_t child;
	int pipes[2];

	must(scaled ? read_text(POLICY "scaling_min_freq", least, sizeof(least)) : 0, "read");
	must(scaled ? read_text(POLICY "scaling_max_freq", most, sizeof(most)) : 0, "read");
	allowed(&before);
	must(eanem_open(&holder), "open a handle");
	must(eanem_steer(&holder, "0", scaled ? (uint32_t)strtoul(khz, NULL, 10) : 0, &self, 1),
	     "steer");
	allowed(&during);
	tap_ok(CPU_COUNT(&during) == 1 && CPU_ISSET(0, &during), "a thread goes to the chosen CPU");
	tap_ok(!scaled || becomes(POLICY "scaling_max_freq", khz), "whose frequency is held");
	tap_ok(eanem_steer(&holder, "0", 1, &self, 1) == (scaled ? -ERANGE : -EOPNOTSUPP),
	       "there is no frequency of 1 kHz");
	allowed(&after);
	tap_ok(CPU_EQUAL(&before, &after), "an error leaves everything as it was before");
	must(eanem_steer(&holder, "0", 0, &self, 1), "steer again");
	eanem_close(&holder);
	allowed(&after);
	tap_ok(CPU_EQUAL(&before, &after) &&
		       (!scaled || (becomes(POLICY "scaling_min_freq", least) &&
				    becomes(POLICY "scaling_max_freq", most))),
	       "all comes back with the handle's end");

	if (pipe(pipes))
		tap_bail("no pipe");
	child = fork();
	if (!child) {
		struct eanem own;

		if (eanem_open(&own) || eanem_steer(&own, "0", 0, &self, 1) ||
		    write(pipes[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(pipes[0], &byte, 1) != 1)
		tap_bail("the child did not steer");
	allowed(&during);
	end(child);
	/* The process is gone a little before its files are. */
	for (int i = 0; i < 1000; i++) {
		allowed(&after);
		if (CPU_EQUAL(&before, &after))
			break;
		clock_sleep(MS);
	}
	tap_ok(CPU_COUNT(&during) == 1 && CPU_EQUAL(&before, &after),
	       "and when the daemon is killed");
	must(eanem_steer(&eanem, "0", 0, &self, 1), "steer once more");
	turn("0");
	allowed(&after);
	tap_ok(CPU_EQUAL(&before, &after), "and when the system is turned off");
	turn("1");
	close(pipes[0]);
	close(pipes[1]);
}

#define CGROUPS "/sys/fs/cgroup"
#define CPUSET CGROUPS "/lull-eanem"

/* A thread whose cpuset has changed meanwhile comes back to what the cpuset has now. */
static void comes_back_to_its_cpuset(void)
{
	char number[16];
	cpu_set_t after;
	uint32_t thread;
	pid_t child;

	put(CGROUPS "/cgroup.subtree_control", "+cpuset");
	if (mkdir(CPUSET, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	put(CPUSET "/cpuset.cpus", "0-1");
	child = fork();
	if (!child)
		for (;;)
			pause();
	snprintf(number, sizeof(number), "%d", child);
	put(CPUSET "/cgroup.procs", number);
	thread = (uint32_t)child;
	must(eanem_steer(&eanem, "0", 0, &thread, 1), "steer");
	put(CPUSET "/cpuset.cpus", "0");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	sched_getaffinity(child, sizeof(after), &after);
	tap_ok(CPU_COUNT(&after) == 1 && CPU_ISSET(0, &after),
	       "a thread comes back to the CPUs that its cpuset has by then");
	end(child);
	for (int i = 0; i < 100 && rmdir(CPUSET); i++)
		clock_sleep(10 * MS);
	put(CGROUPS "/cgroup.subtree_control", "-cpuset");
}

/* The CPU of the interval's timer, or -1. While it fires it is on no list, so one looks again. */
static int timer_cpu(void)
{
	char line[256];
	int cpu = -1, found = -1;

	for (int i = 0; i < 20 && found < 0; i++) {
		FILE *file = fopen("/proc/timer_list", "r");

		if (!file)
			tap_bail("cannot read the list of timers: %s", strerror(errno));
		while (fgets(line, sizeof(line), file)) {
			if (!strncmp(line, "cpu: ", 5))
				cpu = atoi(line + 5);
			if (strstr(line, "lull_eanem_tick"))
				found = cpu;
		}
		fclose(file);
	}
	return found;
}

/* The interval's timer wakes no CPU that the network stack's work has left. */
static void its_timer_follows(void)
{
	uint32_t nobody = 4000000;
	cpu_set_t before;

	allowed(&before);
	must(pin_to_cpu(0), "go to a CPU");
	turn("0");
	tap_ok(timer_cpu() == -1, "off, no timer runs");
	turn("1");
	tap_ok(timer_cpu() == 0, "it begins where the system is turned on");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer");
	tap_ok(timer_cpu() == 1, "it goes to the CPU that is chosen");
	tap_ok(eanem_steer(&eanem, "1", 0, &nobody, 1) == -ESRCH && timer_cpu() == 0,
	       "it comes back with an error");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer again");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	tap_ok(timer_cpu() == 0, "and with the rest");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer once more");
	turn("0");
	tap_ok(timer_cpu() == -1, "turned off, it ends there, too");
	turn("1");
	tap_ok(timer_cpu() == 0, "and begins anew");
	sched_setaffinity(0, sizeof(before), &before);
}

/* The CPU that a thread came from goes offline while the thread is elsewhere. */
static void undoes_what_cannot_be_undone(void)
{
	uint32_t self = (uint32_t)getpid();
	cpu_set_t before, after;

	allowed(&before);
	must(pin_to_cpu(1), "go to a CPU");
	must(eanem_steer(&eanem, "0", 0, &self, 1), "steer");
	put(CPU_DIR "/cpu1/online", "0");
	tap_ok(eanem_steer(&eanem, "1", 0, NULL, 0) == -EINVAL, "an offline CPU cannot be chosen");
	allowed(&after);
	tap_ok(CPU_COUNT(&after) == 1 && CPU_ISSET(0, &after), "which changes nothing");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	put(CPU_DIR "/cpu1/online", "1");
	allowed(&after);
	tap_ok(CPU_COUNT(&after) > 1 && !CPU_ISSET(1, &after),
	       "a thread whose CPUs have gone may go to all that are online");
	sched_setaffinity(0, sizeof(before), &before);
}

static uint64_t random_below(uint64_t *state, uint64_t most)
{
	return next_random(state) % most;
}

/* The byte at a place of a stream: one that lacks, or comes twice, is seen. */
static char byte_at(size_t place)
{
	return (char)(place * 7 + place / 251);
}

/* A child that connects and sends a stream of STREAM bytes; it is well if all were taken. */
static pid_t stream_to(const struct sockaddr_in *at, int listener)
{
	static char data[STREAM];
	pid_t child = fork();
	size_t sent = 0;
	int fd;

	if (child)
		return child;
	close(listener);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		_exit(1);
	for (size_t i = 0; i < STREAM; i++)
		data[i] = byte_at(i);
	while (sent < STREAM) {
		ssize_t done = send(fd, data + sent, STREAM - sent, MSG_NOSIGNAL);

		if (done <= 0)
			_exit(2);
		sent += (size_t)done;
	}
	_exit(0);
}

/* Up to `most` bytes of a stream, which have to be the next ones. Bytes, or -1. */
static ssize_t take_stream(int fd, size_t from, size_t most)
{
	static char data[STREAM];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t got = poll(&ready, 1, PATIENCE_MS) == 1 ? recv(fd, data, most, 0) : -1;

	for (ssize_t i = 0; i < got; i++)
		if (data[i] != byte_at(from + (size_t)i))
			return -1;
	return got;
}

/* Bytes that the monitor has counted of a socket; 0 if the system is off just now. */
static uint64_t counted(struct eanem *by, uint64_t id)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	if (eanem_sockets(by, sockets, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (sockets[i].id == id)
			return sockets[i].bytes;
	return 0;
}

/* A connection with random targets, which is read to its end, or reset. 0, or what was wrong. */
static int one_stream(struct eanem *by, uint64_t *state, bool resets)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	struct sockaddr_in at;
	int listener = socket_at(SOCK_STREAM, &at), fd, status = 0;
	ssize_t got = 1;
	size_t sum = 0;
	uint64_t known;
	pid_t child;

	if (listen(listener, 1))
		return 1;
	child = stream_to(&at, listener);
	fd = accept(listener, NULL, NULL);
	close(listener);
	if (fd < 0)
		return 2;
	for (int i = 0; i < 4 && got > 0; i++) {
		eanem_target_socket(by, cookie(fd), 200000 + random_below(state, 4000000));
		eanem_target_process(by, (uint32_t)getpid(), random_below(state, 2) * 1000000);
		got = take_stream(fd, sum, 1 + random_below(state, STREAM / 8));
		sum += got > 0 ? (size_t)got : 0;
	}
	if (resets)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	eanem_target_socket(by, cookie(fd), 0);
	eanem_target_process(by, (uint32_t)getpid(), 0);
	while (!resets && (got = take_stream(fd, sum, STREAM)) > 0)
		sum += (size_t)got;
	known = counted(by, cookie(fd));
	close(fd);
	if (resets)
		end(child);
	else
		waitpid(child, &status, 0);
	if (got < 0)
		return 3;
	if (known > STREAM)
		return 4;
	return resets || (sum == STREAM && WIFEXITED(status) && !WEXITSTATUS(status)) ? 0 : 5;
}

static int some_datagrams(uint64_t *state)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), wrong = 0;
	char data[1000], got[sizeof(data) + 1];

	for (int i = 0; i < 20 && !wrong; i++) {
		size_t size = random_below(state, sizeof(data) + 1);
		struct pollfd ready = {.fd = to, .events = POLLIN};

		memset(data, i, size);
		wrong = sendto(from, data, size, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
			poll(&ready, 1, PATIENCE_MS) != 1 ||
			recv(to, got, sizeof(got), 0) != (ssize_t)size || memcmp(data, got, size);
	}
	close(to);
	close(from);
	return wrong ? 6 : 0;
}

static pid_t worker(int number, int rounds)
{
	uint64_t state = (uint64_t)number + 1;
	struct eanem own;
	pid_t child = fork();
	int wrong = 0;

	if (child)
		return child;
	if (eanem_open(&own))
		_exit(7);
	for (int i = 0; i < rounds && !wrong; i++)
		wrong = (i + number) % 3 == 2 ? some_datagrams(&state)
					      : one_stream(&own, &state, (i + number) % 3);
	_exit(wrong);
}

/* On another CPU: steers, lists everything, and flips the switch. Each may fail in between. */
static pid_t disturber(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct lull_eanem_cpu cpus[64];
	struct eanem own;
	pid_t child = fork();
	size_t count;

	if (child)
		return child;
	if (eanem_open(&own))
		_exit(1);
	must(pin_to_cpu(1), "go to a CPU");
	for (unsigned int i = 0;; i++) {
		eanem_steer(&own, i % 3 ? "0-1" : i % 2 ? "0" : "", 0, NULL, 0);
		count = SOCKETS;
		eanem_sockets(&own, sockets, &count);
		count = 64;
		eanem_cpus(&own, cpus, &count);
		if (i % 8 == 7) {
			turn("0");
			turn("1");
		}
		clock_sleep(2 * MS);
	}
}

static size_t watched(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	must(eanem_sockets(&eanem, sockets, &count), "list sockets");
	return count;
}

/*
 * Several connections at once, and datagrams: they come, go, reset and change their targets, while
 * the system is steered, read, and turned off and on from another CPU.
 */
static void survives(int rounds)
{
	size_t before = watched();
	pid_t workers[WORKERS], storm;
	int wrong = 0, status, steered = -EBUSY;

	storm = disturber();
	for (int i = 0; i < WORKERS; i++)
		workers[i] = worker(i, rounds);
	for (int i = 0; i < WORKERS; i++) {
		waitpid(workers[i], &status, 0);
		if (!wrong)
			wrong = WIFEXITED(status) ? WEXITSTATUS(status) : 8;
	}
	tap_ok(!waitpid(storm, &status, WNOHANG), "the system is steered, read and flipped");
	end(storm);
	turn("1");
	tap_ok(!wrong, "all bytes come on %d connections and by datagrams (%d)", WORKERS * rounds,
	       wrong);
	for (int i = 0; i < PATIENCE_MS && (steered || watched() > before); i++) {
		steered = eanem_steer(&eanem, "0", 0, NULL, 0);
		clock_sleep(MS);
	}
	tap_ok(watched() <= before, "no socket is left beside %zu: %zu", before, watched());
	tap_ok(!steered && !eanem_steer(&eanem, "", 0, NULL, 0), "and nobody steers any more");
	counts_bytes();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 24;

	if (argc > 1 && !strcmp(argv[1], NEXT_PROGRAM))
		return next_program();
	slow = argc > 2 && !strcmp(argv[2], "slow");
	loopback(false);
	must(read_text(EANEM_DIR "/interval_us", interval_us, sizeof(interval_us)),
	     "read a setting");
	must(eanem_open(&eanem), "reach the kernel");
	off();
	counts_datagrams();
	counts_no_end();
	counts_late_reads();
	counts_bytes();
	keeps_secrets();
	is_not_slowed_by_many();
	says_no();
	says_no_to_attributes();
	refuses_without_memory();
	keeps_to_targets();
	closes_at_once();
	keeps_to_targets_with_a_small_buffer();
	shares_among_connections();
	shares_at_once();
	ends_with_its_program(argv[0], false);
	ends_with_its_program(argv[0], true);
	does_not_open_what_is_full();
	keeps_to_targets_with_loss();
	begins_anew();
	steers();
	comes_back_to_its_cpuset();
	its_timer_follows();
	undoes_what_cannot_be_undone();
	survives(rounds);
	turn("0");
	put(EANEM_DIR "/interval_us", interval_us);
	loopback(true);
	return tap_finish();
}
