/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What selftests of the network stack share: connections over the loopback device, whose other end
 * is a child, and what the kernel says of a socket. Whatever goes wrong here ends the selftest.
 */
#ifndef LULL_EANEM_CONNECTIONS_H
#define LULL_EANEM_CONNECTIONS_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "eanem.h"
#include "report.h"
#include "sysfs.h"

#define MS 1000000ULL
#define MTU 1500
#define INTERVAL_US "20000"
#define LONG_INTERVAL_US "400000"
#define NOBODY 65534
/* The sockets that are looked through: more than a selftest has at most times. */
#define SOCKETS 256

/* What is extern here each program defines. The handle is root's, for all files of a program. */
extern struct eanem eanem;
/* A kernel with checkers may be too slow for the rates. */
extern bool slow;
/* The loopback device as it was before loopback(). */
extern struct ifreq lo_flags, lo_mtu;

/* A thousandth part of a rate's target, which has to lie between two ends. */
static inline bool within(uint64_t part, uint64_t least, uint64_t most)
{
	return slow || (part >= least && part <= most);
}

static inline void turn(const char *on)
{
	put(EANEM_DIR "/enabled", on);
}

/* Intervals are that long, and begin anew. */
static inline void begin_anew(const char *interval_us)
{
	put(EANEM_DIR "/interval_us", interval_us);
	turn("0");
	turn("1");
}

/* The loopback device with packets as an Ethernet has them, or as it was. */
static inline void loopback(bool back)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), was;

	if (fd < 0 ||
	    (!back && (ioctl(fd, SIOCGIFFLAGS, &lo_flags) || ioctl(fd, SIOCGIFMTU, &lo_mtu))))
		bail("no loopback device: %s", strerror(errno));
	was = lo_mtu.ifr_mtu;
	if (!back)
		lo_mtu.ifr_mtu = MTU;
	if (ioctl(fd, SIOCSIFMTU, &lo_mtu))
		bail("the loopback device: %s", strerror(errno));
	lo_mtu.ifr_mtu = was;
	was = lo_flags.ifr_flags;
	if (!back)
		lo_flags.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &lo_flags))
		bail("the loopback device: %s", strerror(errno));
	lo_flags.ifr_flags = (short)was;
	close(fd);
}

static inline int socket_at(int type, struct sockaddr_in *at)
{
	socklen_t length = sizeof(*at);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)at, length) ||
	    getsockname(fd, (struct sockaddr *)at, &length))
		bail("no socket: %s", strerror(errno));
	return fd;
}

static inline uint64_t cookie(int fd)
{
	uint64_t id = 0;
	socklen_t length = sizeof(id);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &id, &length))
		bail("no cookie: %s", strerror(errno));
	return id;
}

/*
 * A connection: this end's socket, which is watched, and a child that is silent at first. The
 * socket that listens is closed.
 */
static inline int accept_silent(int listener, const struct sockaddr_in *at, pid_t *child)
{
	static char data[65536];
	int fd;

	if (listen(listener, 1))
		bail("cannot listen: %s", strerror(errno));
	*child = fork();
	if (!*child) {
		close(listener);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) ||
		    recv(fd, data, 1, 0) != 1)
			_exit(1);
		while (send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
			;
		_exit(0);
	}
	fd = accept(listener, NULL, NULL);
	close(listener);
	if (fd < 0)
		bail("cannot accept: %s", strerror(errno));
	return fd;
}

static inline int silent_connection(pid_t *child)
{
	struct sockaddr_in at;
	int listener = socket_at(SOCK_STREAM, &at);

	return accept_silent(listener, &at, child);
}

/* The child sends from now on until it is killed. */
static inline void begin(int fd)
{
	if (send(fd, "", 1, 0) != 1)
		bail("cannot send: %s", strerror(errno));
}

static inline int connection(pid_t *child)
{
	int fd = silent_connection(child);

	begin(fd);
	return fd;
}

static inline void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Reads all that comes on some sockets for so long; bytes of each, and how long it took. */
static inline uint64_t read_for(const int *fds, int count, uint64_t ns, uint64_t *bytes)
{
	static char data[65536];
	struct pollfd ready[4];
	uint64_t began = clock_ns(), now;
	ssize_t got;

	for (int i = 0; i < count; i++) {
		ready[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
		bytes[i] = 0;
	}
	while ((now = clock_ns()) < began + ns) {
		if (poll(ready, (nfds_t)count, (int)((began + ns - now) / MS) + 1) <= 0)
			continue;
		for (int i = 0; i < count; i++) {
			if (!ready[i].revents)
				continue;
			got = recv(fds[i], data, sizeof(data), MSG_DONTWAIT);
			if (got > 0)
				bytes[i] += (uint64_t)got;
		}
	}
	return clock_ns() - began;
}

static inline bool find(struct eanem *by, uint64_t id, struct lull_eanem_socket *found)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	must(eanem_sockets(by, sockets, &count), "list sockets");
	for (size_t i = 0; i < count; i++) {
		if (sockets[i].id == id) {
			*found = sockets[i];
			return true;
		}
	}
	return false;
}

/* Until another interval is over. */
static inline void next_interval(struct eanem *by, uint64_t id, struct lull_eanem_socket *now)
{
	uint64_t before;

	if (!find(by, id, now))
		bail("a socket is not watched");
	before = now->interval;
	while (find(by, id, now) && now->interval == before)
		clock_sleep(MS);
}

static inline void attach_filter(int fd, struct sock_filter *code, size_t count)
{
	const struct sock_fprog program = {.len = (unsigned short)count, .filter = code};

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		bail("cannot attach a filter: %s", strerror(errno));
}

/* One of so many segments that come is lost: the socket's filter drops it before TCP sees it. */
static inline void lose_one_of(int fd, uint32_t count)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, UINT32_MAX / count, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	attach_filter(fd, code, sizeof(code) / sizeof(code[0]));
}

#endif
