// SPDX-License-Identifier: BSD-3-Clause
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../connections.h"
#include "clock.h"
#include "report.h"
#include "segment.h"

/* Enough for all headers of a segment. */
#define HEADERS 128
/* Of captured segments, which wait in the kernel until they are looked at. */
#define CAPTURE_BYTES (16 << 20)

/*
 * Only what this port sends. Each packet of the loopback device passes a packet socket twice, and
 * counts when it is sent: then the sender's socket is locked, so that segments come in their order.
 */
static void filter_port(int fd, uint16_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 6),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct iphdr, protocol)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, offsetof(struct tcphdr, source)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(port), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, HEADERS),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	attach_filter(fd, code, sizeof(code) / sizeof(code[0]));
}

/* Looks at what the port sends from now on, before the connection is made. */
static void wire_open(struct wire *wire, uint16_t port)
{
	struct sockaddr_ll lo = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex("lo")};
	struct timespec real;
	int bytes = CAPTURE_BYTES, on = 1;
	uint64_t before;

	*wire = (struct wire){.fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	if (wire->fd < 0)
		bail("no packet socket: %s", strerror(errno));
	filter_port(wire->fd, port);
	if (setsockopt(wire->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(wire->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    bind(wire->fd, (struct sockaddr *)&lo, sizeof(lo)))
		bail("cannot look at the loopback device: %s", strerror(errno));
	before = clock_ns();
	clock_gettime(CLOCK_REALTIME, &real);
	wire->offset_ns = (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec -
			  (before + (clock_ns() - before) / 2);
}

/* When a packet was sent, CLOCK_MONOTONIC. */
static uint64_t sent_at(struct msghdr *message, uint64_t offset_ns)
{
	struct timespec real = {0};

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head))
		if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&real, CMSG_DATA(head), sizeof(real));
	return (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec - offset_ns;
}

void wire_read(struct wire *wire)
{
	uint8_t packet[HEADERS];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec data = {packet, sizeof(packet)};
	struct segment segment;

	for (;;) {
		struct msghdr message = {.msg_iov = &data,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};
		ssize_t got = recvmsg(wire->fd, &message, MSG_DONTWAIT);

		if (got < 0)
			return;
		if (!read_segment(packet, (size_t)got, &segment)) {
			wire->strange++;
			continue;
		}
		edge_sees(&wire->edge, &segment);
		if (wire->log && wire->segments < LOG) {
			wire->log[wire->segments].at_ns = sent_at(&message, wire->offset_ns);
			wire->log[wire->segments].ack = wire->edge.ack;
			wire->log[wire->segments].window = wire->edge.window;
		}
		wire->segments++;
	}
}

void wire_close(struct wire *wire)
{
	close(wire->fd);
	free(wire->log);
}

void never_back(struct wire *wire, const char *when)
{
	const struct edge *edge = &wire->edge;
	struct tpacket_stats stats = {0};
	socklen_t length = sizeof(stats);

	wire_read(wire);
	if (getsockopt(wire->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length))
		bail("cannot tell how many segments were lost: %s", strerror(errno));
	wire->lost += stats.tp_drops;
	if (wire->lost || wire->strange)
		note("%u segments were not seen, and %u are strange", wire->lost, wire->strange);
	check(edge->known && !edge->back && !wire->lost && !wire->strange,
	      "%s: %u of %u segments take something back, %u bytes at most", when, edge->back,
	      wire->segments, edge->furthest_back);
}

int watched_connection(struct wire *wire, pid_t *child)
{
	struct sockaddr_in at;
	int listener = socket_at(SOCK_STREAM, &at), fd;

	wire_open(wire, at.sin_port);
	fd = accept_silent(listener, &at, child);
	begin(fd);
	return fd;
}

uint64_t watch_for(struct wire *wire, int fd, uint64_t ms, uint64_t *bytes)
{
	uint64_t began = clock_ns(), end = began + ms * MS, now = began, slice, part;

	*bytes = 0;
	while (now < end) {
		slice = end - now < 5 * MS ? end - now : 5 * MS;
		read_for(&fd, 1, slice, &part);
		*bytes += part;
		wire_read(wire);
		now = clock_ns();
	}
	return now - began;
}

struct parts parts_of(struct wire *wire, int fd, uint64_t target, uint64_t settle_ms, uint64_t ms)
{
	uint64_t bytes, ns, before;
	double per;

	watch_for(wire, fd, settle_ms, &bytes);
	before = wire->edge.raised;
	ns = watch_for(wire, fd, ms, &bytes);
	per = 1e12 / (double)ns / (double)target;
	return (struct parts){.let = (uint64_t)((double)(wire->edge.raised - before) * per),
			      .came = (uint64_t)((double)bytes * per)};
}
