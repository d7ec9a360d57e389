// SPDX-License-Identifier: BSD-3-Clause
/*
 * eanem_wire [slow]: what of the network stack's control and monitor is seen from outside.
 *
 * The windows that a connection's receiving end offers are read from the wire, by a packet socket
 * on the loopback device. Trace points and the files in debugfs have to say what is on the wire,
 * and what netlink says. A kernel with checkers may be too slow for the rates; with `slow` they are
 * told and not judged.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "connections.h"
#include "eanem.h"
#include "pin.h"
#include "sysfs.h"
#include "tap.h"

/* Windows are so large that a segment more or less is little beside them. */
#define LONG_PERIOD_US "20000"
#define LONG_PERIOD_NS (20 * MS)
/* Enough for all headers of a segment. */
#define HEADERS 128
/* Of captured segments, which wait in the kernel until they are looked at. */
#define CAPTURE_BYTES (16 << 20)
#define LOG 16384
#define STEPS 256

#define TEXT (256 << 10)
#define TRACING "/sys/kernel/tracing/instances/lull-eanem-wire/"
#define SHRINK "/proc/sys/net/ipv4/tcp_shrink_window"
#define SOCKETS_FILE "/sys/kernel/debug/lull/eanem_sockets"
#define CPUS_FILE "/sys/kernel/debug/lull/eanem_cpus"

static struct eanem eanem;

/* What of a segment says how far the other end may send. */
struct segment {
	uint32_t ack;
	/* As it is in the header. */
	uint16_t window;
	bool syn, acknowledges, resets;
	/* Tells what has come after a hole. */
	bool hole;
	/* Of a SYN: each unit of later windows is 1 << scale bytes. */
	uint8_t scale;
};

/*
 * The right edge of the windows that one end of a connection has offered: the sequence number up to
 * which the other end may send.
 */
struct edge {
	bool known;
	uint8_t scale;
	/* The furthest one that was ever offered. */
	uint32_t right;
	/* In the last segment: what it acknowledges, and its window in bytes. */
	uint32_t ack, window;
	bool hole;
	/* Bytes that it has gone up by in all. */
	uint64_t raised;
	/* Segments that offered less than one before, and the most bytes by which they did. */
	unsigned int back, furthest_back;
	/* Segments that tell of a hole, and those of the same hole that another edge came with. */
	unsigned int holes, moved_in_hole;
};

/*
 * RFC 9293 forbids that the right edge moves to the left. RFC 7323: the window of a SYN is not
 * scaled, all others are. Sequence numbers wrap around.
 */
static void edge_sees(struct edge *edge, const struct segment *segment)
{
	uint32_t window = segment->window;
	bool same_hole;
	int32_t moved;

	if (segment->syn)
		edge->scale = segment->scale;
	else
		window <<= edge->scale;
	if (!segment->acknowledges || segment->resets)
		return;

	moved = edge->known ? (int32_t)(segment->ack + window - edge->right) : 0;
	same_hole = edge->known && edge->hole && segment->hole && edge->ack == segment->ack;
	edge->moved_in_hole += same_hole && moved;

	edge->holes += segment->hole;
	if (moved < 0) {
		edge->back++;
		if ((unsigned int)-moved > edge->furthest_back)
			edge->furthest_back = (unsigned int)-moved;
	}
	if (!edge->known || moved > 0) {
		edge->right = segment->ack + window;
		edge->raised += (unsigned int)moved;
	}
	edge->known = true;
	edge->ack = segment->ack;
	edge->window = window;
	edge->hole = segment->hole;
}

/* The options of a segment that matter here. */
static void read_options(const uint8_t *option, size_t length, struct segment *segment)
{
	for (size_t i = 0; i < length;) {
		size_t size = option[i] == TCPOPT_NOP ? 1 : i + 1 < length ? option[i + 1] : 0;

		if (option[i] == TCPOPT_EOL || size < 1 || i + size > length)
			return;
		if (option[i] == TCPOPT_WINDOW && size == TCPOLEN_WINDOW)
			segment->scale = option[i + 2];
		segment->hole |= option[i] == TCPOPT_SACK;
		i += size;
	}
}

/* A packet from its IP header on. False if it is no segment of TCP. */
static bool read_segment(const uint8_t *packet, size_t length, struct segment *segment)
{
	struct iphdr ip;
	struct tcphdr tcp;
	size_t at, options;

	if (length < sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	at = 4U * ip.ihl;
	if (ip.version != 4 || ip.protocol != IPPROTO_TCP || length < at + sizeof(tcp))
		return false;
	memcpy(&tcp, packet + at, sizeof(tcp));
	options = 4U * tcp.doff;
	if (options < sizeof(tcp) || length < at + options)
		return false;
	*segment = (struct segment){
		.ack = ntohl(tcp.ack_seq),
		.window = ntohs(tcp.window),
		.syn = tcp.syn,
		.acknowledges = tcp.ack,
		.resets = tcp.rst,
	};
	read_options(packet + at + sizeof(tcp), options - sizeof(tcp), segment);
	return true;
}

/* A segment that was sent: when, what it acknowledges, and its window in bytes. */
struct sent {
	uint64_t at_ns;
	uint32_t ack, window;
};

/* What one end of a connection sends. */
struct wire {
	int fd;
	struct edge edge;
	/* CLOCK_REALTIME less CLOCK_MONOTONIC. */
	uint64_t offset_ns;
	unsigned int segments, strange, lost;
	/* All of them, or NULL if nobody wants to know. */
	struct sent *log;
};

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
		tap_bail("no packet socket: %s", strerror(errno));
	filter_port(wire->fd, port);
	if (setsockopt(wire->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(wire->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    bind(wire->fd, (struct sockaddr *)&lo, sizeof(lo)))
		tap_bail("cannot look at the loopback device: %s", strerror(errno));
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

/* Looks at all that was sent meanwhile. */
static void wire_read(struct wire *wire)
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

static void wire_close(struct wire *wire)
{
	close(wire->fd);
	free(wire->log);
}

/* All segments have to be there: one that is missing might be one that takes a window back. */
static void never_back(struct wire *wire, const char *when)
{
	const struct edge *edge = &wire->edge;
	struct tpacket_stats stats = {0};
	socklen_t length = sizeof(stats);

	wire_read(wire);
	if (getsockopt(wire->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length))
		tap_bail("cannot tell how many segments were lost: %s", strerror(errno));
	wire->lost += stats.tp_drops;
	if (wire->lost || wire->strange)
		tap_note("%u segments were not seen, and %u are strange", wire->lost,
			 wire->strange);
	tap_ok(edge->known && !edge->back && !wire->lost && !wire->strange,
	       "%s: %u of %u segments take something back, %u bytes at most", when, edge->back,
	       wire->segments, edge->furthest_back);
}

/* A connection whose receiving end, this one, is looked at from its SYN on. */
static int watched_connection(struct wire *wire, pid_t *child)
{
	struct sockaddr_in at;
	int listener = socket_at(SOCK_STREAM, &at), fd;

	wire_open(wire, at.sin_port);
	fd = accept_silent(listener, &at, child);
	begin(fd);
	return fd;
}

/* Reads all that comes for so long, and looks at the wire. How long it took. */
static uint64_t watch_for(struct wire *wire, int fd, uint64_t ms, uint64_t *bytes)
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

/* In thousandths of a target, after some time to settle: what was let through, and what came. */
struct parts {
	uint64_t let, came;
};

static struct parts parts_of(struct wire *wire, int fd, uint64_t target, uint64_t settle_ms,
			     uint64_t ms)
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

static struct segment ack_of(uint32_t ack, uint16_t window)
{
	return (struct segment){.ack = ack, .window = window, .acknowledges = true};
}

static void judged(struct edge *edge, struct segment segment, unsigned int back,
		   unsigned int furthest_back, uint64_t raised, const char *what)
{
	edge_sees(edge, &segment);
	if (!tap_ok(edge->back == back && edge->furthest_back == furthest_back &&
			    edge->raised == raised,
		    "segments that are made up: %s", what))
		tap_note("%u back, by up to %u, and %llu up", edge->back, edge->furthest_back,
			 (unsigned long long)edge->raised);
}

/* What judges the windows is judged first. All but the first segment are after the wrap-around. */
static void edge_is_judged(void)
{
	const uint32_t begin = 0xffffff00, right = begin + 65000, unit = 128;
	struct segment syn = ack_of(begin, 65000), reset = ack_of(0, 0);
	struct edge edge = {0};

	syn.syn = true;
	syn.scale = 7;
	reset.resets = true;
	judged(&edge, syn, 0, 0, 0, "the window of a SYN is not scaled");
	judged(&edge, ack_of(right - 500 * unit, 500), 0, 0, 0, "an ACK leaves the edge there");
	judged(&edge, ack_of(right - 500 * unit, 501), 0, 0, unit, "it goes up by a unit");
	judged(&edge, ack_of(right + unit, 0), 0, 0, unit, "the window is used up, and closed");
	judged(&edge, reset, 0, 0, unit, "a reset says nothing");
	judged(&edge, ack_of(right + unit, 2), 0, 0, 3 * unit, "it goes up by two units");
	judged(&edge, ack_of(right + 2 * unit - 1, 1), 1, 1, 3 * unit, "a byte is taken back");
	judged(&edge, ack_of(right + unit, 0), 2, 2 * unit, 3 * unit, "two units are taken back");
	judged(&edge, ack_of(right + unit, 3), 2, 2 * unit, 4 * unit,
	       "what is given again is nothing new");
}

/* Linux itself takes a window back if it is told to. On the wire, that has to be seen. */
static void sees_what_is_taken_back(void)
{
	int few = 2048;
	struct wire wire;
	char shrinks[16];
	uint64_t bytes;
	pid_t child;
	int fd;

	must(read_text(SHRINK, shrinks, sizeof(shrinks)), "read a setting of TCP");
	put(SHRINK, "1");
	turn("0");
	fd = watched_connection(&wire, &child);
	watch_for(&wire, fd, 50, &bytes);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	watch_for(&wire, fd, 50, &bytes);
	end(child);
	wire_read(&wire);
	wire_close(&wire);
	close(fd);
	put(SHRINK, shrinks);
	turn("1");
	tap_ok(wire.edge.back > 0,
	       "with tcp_shrink_window a smaller buffer takes back up to %u bytes",
	       wire.edge.furthest_back);
}

/*
 * A target changes, is taken away, and ends with the system: the edge stays where it was. What it
 * lets through is looked at while the target goes down and up. Then it changes more often.
 */
static void keeps_what_it_offers(void)
{
	static const uint64_t targets[] = {4000000, 1000000, 200000, 4000000};
	struct wire wire;
	struct parts parts;
	uint64_t bytes;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		parts = parts_of(&wire, fd, targets[i], targets[i] < 1000000 ? 500 : 200, 1000);
		tap_ok(within(parts.let, 950, 1050) && within(parts.came, 950, 1050),
		       "the edge lets %llu of 1000 of %llu kB/s through, and %llu come",
		       (unsigned long long)parts.let, (unsigned long long)targets[i] / 1000,
		       (unsigned long long)parts.came);
	}
	for (size_t i = 0; i < 20; i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i * 7 % 4] >> (i % 3)),
		     "set a target");
		watch_for(&wire, fd, 30 + i, &bytes);
	}
	never_back(&wire, "targets that go down and up");
	must(eanem_target_socket(&eanem, cookie(fd), 0), "take the target away");
	parts = parts_of(&wire, fd, 4000000, 50, 50);
	tap_ok(within(parts.let, 1501, UINT64_MAX),
	       "without a target, the edge lets %llu of 1000 through",
	       (unsigned long long)parts.let);
	never_back(&wire, "a target that is taken away");
	for (int i = 0; i < 2; i++) {
		must(eanem_target_socket(&eanem, cookie(fd), 50000), "set a small target");
		watch_for(&wire, fd, 200, &bytes);
		turn("0");
		watch_for(&wire, fd, 20, &bytes);
		turn("1");
	}
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target again");
	watch_for(&wire, fd, 200, &bytes);
	end(child);
	never_back(&wire, "a system that is turned off and on");
	wire_close(&wire);
	close(fd);
}

/*
 * The unit of windows is a byte, or so large that one is more than a window. No rate is judged,
 * because a connection gets a unit each time, whatever the target.
 */
static void keeps_what_it_scales(const char *setting, const char *value, unsigned int scale)
{
	static const uint64_t targets[] = {4000000, 500000, 4000000, 100000};
	char before[64], when[64];
	struct wire wire;
	uint64_t bytes;
	pid_t child;
	int fd;

	must(read_text(setting, before, sizeof(before)), "read a setting of TCP");
	put(setting, value);
	fd = watched_connection(&wire, &child);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		watch_for(&wire, fd, 150, &bytes);
	}
	end(child);
	put(setting, before);
	snprintf(when, sizeof(when), "a window scale of %u", wire.edge.scale);
	never_back(&wire, when);
	tap_ok(wire.edge.scale == scale, "which is what was asked for");
	wire_close(&wire);
	close(fd);
}

/* The window of a SYN is the stack's own choice, and is larger than the target asks for. */
static void keeps_what_a_syn_offers(void)
{
	struct wire wire;
	uint64_t bytes;
	pid_t child;
	int fd;

	must(eanem_target_process(&eanem, (uint32_t)getpid(), 100000), "set a process's target");
	fd = watched_connection(&wire, &child);
	watch_for(&wire, fd, 400, &bytes);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	end(child);
	never_back(&wire, "a connection that begins with a target");
	tap_ok(within(wire.edge.raised, 1, 80000), "which then lets %llu bytes through in 400 ms",
	       (unsigned long long)wire.edge.raised);
	wire_close(&wire);
	close(fd);
}

/*
 * A program that does not read fills its buffer, and the window stays closed. The control alone
 * closes it for a period at most.
 */
static void closes_and_opens(void)
{
	int buffer = 65536;
	struct wire wire;
	struct parts parts;
	uint64_t bytes, before;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)))
		tap_bail("cannot set a buffer: %s", strerror(errno));
	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	watch_for(&wire, fd, 200, &bytes);
	for (int i = 0; i < 2; i++) {
		do {
			before = wire.edge.raised;
			clock_sleep(300 * MS);
			wire_read(&wire);
		} while (wire.edge.raised != before);
		tap_ok(!wire.edge.window, "a program that does not read: the window is closed");
		parts = parts_of(&wire, fd, 2000000, 200, 400);
		tap_ok(within(parts.let, 900, 1100),
		       "it reads, and %llu of 1000 are let through again",
		       (unsigned long long)parts.let);
	}
	end(child);
	never_back(&wire, "a window that closes and opens");
	wire_close(&wire);
	close(fd);
}

/* While a segment is missing, all ACKs offer the same. So the sender knows them as duplicates. */
static void keeps_still_with_loss(void)
{
	struct wire wire;
	struct parts parts;
	uint64_t bytes;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	must(eanem_target_socket(&eanem, cookie(fd), 4000000), "set a target");
	watch_for(&wire, fd, 200, &bytes);
	lose_one_of(fd, 30);
	parts = parts_of(&wire, fd, 4000000, 0, 1000);
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a smaller target");
	watch_for(&wire, fd, 1000, &bytes);
	end(child);
	wire_read(&wire);
	tap_ok(parts.let > 0 && wire.edge.holes > 0,
	       "with a loss of 3 %%, %llu of 1000 are let through, and %u ACKs tell of holes",
	       (unsigned long long)parts.let, wire.edge.holes);
	tap_ok(!wire.edge.moved_in_hole, "ACKs of one hole offer the same, but for %u",
	       wire.edge.moved_in_hole);
	never_back(&wire, "a loss of 3 %");
	wire_close(&wire);
	close(fd);
}

static void trace_set(const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), TRACING "%s", file);
	put(path, text);
}

static void trace_enable(const char *event, bool on)
{
	char file[64];

	snprintf(file, sizeof(file), "events/lull/%s/enable", event);
	trace_set(file, on ? "1" : "0");
}

/* Opening the trace for writing empties it. */
static void trace_empty(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		tap_bail("cannot empty the trace: %s", strerror(errno));
	close(fd);
}

/* All that a file says, which one read may not give. The caller frees it. */
static char *read_all(const char *path)
{
	char *text = malloc(TEXT);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = -1;

	while (text && fd >= 0 && (got = read(fd, text + used, TEXT - 1 - used)) > 0)
		used += (size_t)got;
	if (got < 0 || used == TEXT - 1)
		tap_bail("cannot read all of %s: %s", path, strerror(errno));
	text[used] = '\0';
	close(fd);
	return text;
}

/* One event of a trace. */
struct event {
	uint64_t at_ns;
	/* " id=1 target=2" */
	char fields[512];
};

/* The next event of this name after a place in a trace, which then is behind it. */
static bool next_event(const char **at, const char *name, struct event *event)
{
	const char *found, *time, *end;
	char word[64];

	snprintf(word, sizeof(word), ": %s: ", name);
	found = strstr(*at, word);
	if (!found)
		return false;
	for (time = found; time > *at && time[-1] != ' '; time--)
		;
	event->at_ns = (uint64_t)(strtod(time, NULL) * 1e9);
	/* With the space before the first field. */
	found += strlen(word) - 1;
	end = strchrnul(found, '\n');
	snprintf(event->fields, sizeof(event->fields), "%.*s", (int)(end - found), found);
	*at = end;
	return true;
}

static uint64_t field(const struct event *event, const char *name)
{
	char word[32];
	const char *found;

	snprintf(word, sizeof(word), " %s=", name);
	found = strstr(event->fields, word);
	if (!found)
		tap_bail("an event has no %s:%s", name, event->fields);
	return strtoull(found + strlen(word), NULL, 10);
}

static unsigned int events_of(const char *trace, const char *name)
{
	unsigned int count = 0;
	struct event event;

	while (next_event(&trace, name, &event))
		count++;
	return count;
}

static void trace_begin(void)
{
	if (mkdir(TRACING, 0755) && errno != EEXIST)
		tap_bail("no instance of the trace: %s", strerror(errno));
	trace_set("buffer_size_kb", "256");
	/* The clock of the wire, too. */
	trace_set("trace_clock", "mono");
	trace_set("tracing_on", "1");
}

static void trace_end(void)
{
	trace_set("events/enable", "0");
	if (rmdir(TRACING))
		tap_bail("cannot remove the instance of the trace: %s", strerror(errno));
}

/* A step of the control, by its event. */
struct step {
	uint64_t at_ns, target, bandwidth, window;
};

/* The steps of one socket; *others says how many events belong to others. */
static size_t steps_of(const char *trace, uint64_t id, struct step *steps, unsigned int *others)
{
	struct event event;
	size_t count = 0;

	*others = 0;
	while (next_event(&trace, "lull_eanem_window", &event)) {
		if (field(&event, "id") != id) {
			++*others;
			continue;
		}
		if (count == STEPS)
			tap_bail("there are more than %d steps", STEPS);
		steps[count++] = (struct step){
			.at_ns = event.at_ns,
			.target = field(&event, "target"),
			.bandwidth = field(&event, "bandwidth"),
			.window = field(&event, "window"),
		};
	}
	return count;
}

/* The largest window that the wire had between two moments; 0 if there was none. */
static uint32_t widest(const struct wire *wire, uint64_t from, uint64_t until)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < wire->segments && i < LOG; i++)
		if (wire->log[i].at_ns >= from && wire->log[i].at_ns < until &&
		    wire->log[i].window > most)
			most = wire->log[i].window;
	return most;
}

/* What the first segment after a moment acknowledges; 0 if there is none. */
static uint32_t acknowledged(const struct wire *wire, uint64_t at_ns)
{
	for (unsigned int i = 0; i < wire->segments && i < LOG; i++)
		if (wire->log[i].at_ns >= at_ns)
			return wire->log[i].ack;
	return 0;
}

/*
 * The bandwidth of a step is what came since the step before. A step is made when an ACK is about
 * to be sent, so both ends of that time are on the wire. After a step without a bandwidth, the time
 * begins later: when what was offered before is used up.
 */
static void bandwidth_is_on_the_wire(const struct wire *wire, const struct step *steps,
				     size_t count)
{
	unsigned int seen = 0, wrong = 0;

	for (size_t i = 1; i < count; i++) {
		/* Of the trace's microsecond, and of the two clocks. */
		const uint64_t slack = 2000;
		uint32_t from = acknowledged(wire, steps[i - 1].at_ns - slack);
		uint32_t until = acknowledged(wire, steps[i].at_ns - slack);
		double ns = (double)(steps[i].at_ns - steps[i - 1].at_ns), bandwidth;

		if (!steps[i].bandwidth || !steps[i - 1].bandwidth)
			continue;
		seen++;
		bandwidth = (double)(until - from) * 1e9 / ns;
		if (within((uint64_t)(bandwidth * 1000 / (double)steps[i].bandwidth), 990, 1010))
			continue;
		if (!wrong++)
			tap_note("%llu in the trace, %.0f on the wire",
				 (unsigned long long)steps[i].bandwidth, bandwidth);
	}
	tap_ok((slow || seen >= 6) && !wrong, "so is its bandwidth: %u of %u", seen - wrong, seen);
}

/*
 * A step's window is what the wire has when the edge is next raised, a period later at most. There
 * it is a multiple of the scale's unit, and perhaps larger: what would make no whole segment is
 * added to the next window.
 */
static void window_is_on_the_wire(const struct wire *wire, const struct step *steps, size_t count)
{
	uint64_t unit = 1ULL << wire->edge.scale, window;
	unsigned int seen = 0, wrong = 0;
	uint32_t most;

	for (size_t i = 0; i + 1 < count; i++) {
		window = steps[i].window;
		most = widest(wire, steps[i].at_ns + 3 * LONG_PERIOD_NS / 2, steps[i + 1].at_ns);
		if (!most)
			continue;
		seen++;
		/* A slow program leaves less room in its buffer than the step allows. */
		if ((slow || most + unit > window) && most < window + MTU + unit)
			continue;
		if (!wrong++)
			tap_note("%llu in the trace, %u on the wire", (unsigned long long)window,
				 most);
	}
	tap_ok((slow || seen >= 6) && !wrong,
	       "its window is what the wire has then: %u of %u windows", seen - wrong, seen);
}

static void traces_steps(void)
{
	static const uint64_t targets[] = {1000000, 2000000, 500000};
	static struct step steps[STEPS];
	char period_us[32], *trace;
	uint64_t bytes, changed[3];
	struct lull_eanem_socket now;
	unsigned int others;
	struct wire wire;
	size_t count, at = 0;
	pid_t child;
	int fd;

	must(read_text(EANEM_DIR "/period_us", period_us, sizeof(period_us)), "read a setting");
	put(EANEM_DIR "/period_us", LONG_PERIOD_US);
	trace_empty();
	trace_enable("lull_eanem_window", true);
	fd = watched_connection(&wire, &child);
	wire.log = calloc(LOG, sizeof(*wire.log));
	if (!wire.log)
		tap_bail("no memory");
	for (size_t i = 0; i < 3; i++) {
		changed[i] = clock_ns();
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		watch_for(&wire, fd, 800, &bytes);
	}
	end(child);
	find(&eanem, cookie(fd), &now);
	trace_enable("lull_eanem_window", false);
	wire_read(&wire);
	trace = read_all(TRACING "trace");
	count = steps_of(trace, cookie(fd), steps, &others);
	free(trace);
	tap_ok(count > 0 && count < STEPS && !others,
	       "%zu steps of the control are traced, all of this socket", count);
	for (size_t i = 0; i < 3; i++) {
		/* A step that was under way has the target before. */
		while (at < count &&
		       (steps[at].at_ns < changed[i] || (i && steps[at].target == targets[i - 1])))
			at++;
		tap_ok(at < count && steps[at].target == targets[i] &&
			       (slow || steps[at].at_ns < changed[i] + 200 * MS),
		       "a new target, %llu kB/s, is in the trace %llu us later",
		       (unsigned long long)targets[i] / 1000,
		       at < count ? (unsigned long long)(steps[at].at_ns - changed[i]) / 1000 : 0);
	}
	tap_ok(count > 0 && now.target == steps[count - 1].target &&
		       now.window == steps[count - 1].window,
	       "the last one is what netlink says: %llu", now.window);
	window_is_on_the_wire(&wire, steps, count);
	bandwidth_is_on_the_wire(&wire, steps, count);
	never_back(&wire, "windows of many segments");
	wire_close(&wire);
	close(fd);
	put(EANEM_DIR "/period_us", period_us);
}

/* Some datagrams over some time. Their bytes in all. */
static uint64_t send_datagrams(int from, int to, const struct sockaddr_in *at, unsigned int count)
{
	static char data[1200];
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		size_t size = 1 + i * 37 % sizeof(data);

		if (sendto(from, data, size, 0, (const struct sockaddr *)at, sizeof(*at)) < 0 ||
		    recv(to, data, sizeof(data), 0) != (ssize_t)size)
			tap_bail("a datagram is lost: %s", strerror(errno));
		bytes += size;
		clock_sleep(3 * MS);
	}
	return bytes;
}

static void traces_sockets(void)
{
	enum { PACKETS = 100 };
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	uint64_t packets = 0, bytes = 0, sent, interval = 0, id = cookie(to);
	unsigned int count = 0, wrong = 0;
	struct lull_eanem_socket now;
	struct event event;
	const char *place;
	char *trace;

	trace_empty();
	trace_enable("lull_eanem_socket", true);
	sent = send_datagrams(from, to, &at, PACKETS);
	/* An interval's event comes when the socket is next read. */
	next_interval(&eanem, id, &now);
	trace_enable("lull_eanem_socket", false);
	place = trace = read_all(TRACING "trace");
	while (next_event(&place, "lull_eanem_socket", &event)) {
		if (field(&event, "id") != id)
			continue;
		count++;
		wrong += field(&event, "interval") <= interval;
		interval = field(&event, "interval");
		packets += field(&event, "packets");
		bytes += field(&event, "bytes");
	}
	free(trace);
	tap_ok(packets == PACKETS && bytes == sent,
	       "%llu datagrams are traced, with %llu of %llu bytes", (unsigned long long)packets,
	       (unsigned long long)bytes, (unsigned long long)sent);
	tap_ok(count > 5 && !wrong && interval <= now.interval,
	       "in %u intervals, one after another", count);
	close(to);
	close(from);
}

/*
 * A CPU has an event in each interval in which the network stack worked on it, as netlink says it.
 * In other intervals it has none: a CPU that sleeps is not worth an event.
 */
static void traces_cpu(int cpu)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	uint64_t interval = 0, first = 0;
	struct lull_eanem_cpu cpus[64];
	unsigned int gaps = 0, same = 0, empty = 0;
	size_t count = 64;
	struct event event;
	const char *place;
	char *trace;

	must(pin_to_cpu(cpu), "go to a CPU");
	trace_empty();
	trace_enable("lull_eanem_cpu", true);
	send_datagrams(from, to, &at, 60);
	must(eanem_cpus(&eanem, cpus, &count), "list CPUs");
	trace_enable("lull_eanem_cpu", false);
	place = trace = read_all(TRACING "trace");
	while (next_event(&place, "lull_eanem_cpu", &event)) {
		empty += !field(&event, "net_rx_ns") && !field(&event, "net_tx_ns");
		if (field(&event, "which") != (uint64_t)cpu)
			continue;
		gaps += first && field(&event, "interval") != interval + 1;
		interval = field(&event, "interval");
		first = first ?: interval;
		for (size_t i = 0; i < count; i++)
			same += cpus[i].cpu == (uint32_t)cpu && cpus[i].interval == interval &&
				cpus[i].net_rx_ns == field(&event, "net_rx_ns") &&
				cpus[i].net_tx_ns == field(&event, "net_tx_ns") &&
				cpus[i].ksoftirqd_ns == field(&event, "ksoftirqd_ns");
	}
	free(trace);
	tap_ok(first && interval >= first + 5 && !gaps,
	       "CPU %d is traced in each of %llu intervals", cpu,
	       (unsigned long long)(interval - first + 1));
	tap_ok(same == 1 && !empty, "with the times that netlink says, and never with none");
	close(to);
	close(from);
}

static void traces_cpus(void)
{
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before))
			traces_cpu(cpu);
	sched_setaffinity(0, sizeof(before), &before);
}

/* Whatever the three events are about, in 100 ms. How many there were. */
static unsigned int traced_meanwhile(bool controlled)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	unsigned int count;
	uint64_t bytes;
	char *trace;
	pid_t child;
	int fd = connection(&child);

	trace_empty();
	if (controlled)
		must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target");
	send_datagrams(from, to, &at, 10);
	read_for(&fd, 1, 100 * MS, &bytes);
	end(child);
	trace = read_all(TRACING "trace");
	count = events_of(trace, "lull_eanem_window") + events_of(trace, "lull_eanem_socket") +
		events_of(trace, "lull_eanem_cpu");
	free(trace);
	close(fd);
	close(to);
	close(from);
	return count;
}

static void traces_nothing(void)
{
	static const char *const events[] = {"lull_eanem_window", "lull_eanem_socket",
					     "lull_eanem_cpu"};

	tap_ok(traced_meanwhile(true) == 0, "events that are not enabled do not come");
	for (size_t i = 0; i < 3; i++)
		trace_enable(events[i], true);
	tap_ok(traced_meanwhile(true) > 10, "those that are do");
	turn("0");
	tap_ok(traced_meanwhile(false) == 0, "but not while the system is off");
	turn("1");
	for (size_t i = 0; i < 3; i++)
		trace_enable(events[i], false);
}

/* What debugfs has to say of a socket, by what netlink says. */
static void socket_as_text(const struct lull_eanem_socket *socket, char *text, size_t size)
{
	static const char *const stages[LULL_EANEM_STAGES] = {"driver", "link", "ip", "transport",
							      "user"};
	char local[INET_ADDRSTRLEN], remote[INET_ADDRSTRLEN];
	int used;

	inet_ntop(AF_INET, &socket->local, local, sizeof(local));
	inet_ntop(AF_INET, &socket->remote, remote, sizeof(remote));
	used = snprintf(text, size,
			"%llu pid %u %s %s:%u %s:%u\n"
			"  packets %llu bytes %llu mean %llu.%03llu variance %llu in %llu us; "
			"packets %llu bytes %llu in all\n"
			"  target %llu window %llu\n",
			socket->id, socket->pid, socket->protocol == IPPROTO_TCP ? "tcp" : "udp",
			local, ntohs(socket->local_port), remote, ntohs(socket->remote_port),
			socket->last.packets, socket->last.bytes, socket->last.mean / 1000,
			socket->last.mean % 1000, socket->last.variance, socket->interval_ns / 1000,
			socket->packets, socket->bytes, socket->target, socket->window);
	for (int i = 0; i < LULL_EANEM_STAGES; i++) {
		const struct lull_eanem_latency *stage = &socket->last.stages[i];

		used += snprintf(text + used, size - (size_t)used, "  %s mean %llu most %llu ns\n",
				 stages[i], stage->count ? stage->sum_ns / stage->count : 0,
				 stage->most_ns);
	}
}

/* Netlink is asked before and after debugfs, so that both speak of the same interval. */
static bool socket_is_in_file(uint64_t id, struct lull_eanem_socket *now)
{
	struct lull_eanem_socket after;
	char expected[1024], *text;
	bool found;

	for (int i = 0; i < 100; i++) {
		if (!find(&eanem, id, now))
			tap_bail("a socket is not watched");
		text = read_all(SOCKETS_FILE);
		socket_as_text(now, expected, sizeof(expected));
		found = strstr(text, expected);
		free(text);
		if (!find(&eanem, id, &after))
			tap_bail("a socket is not watched any more");
		if (!memcmp(now, &after, sizeof(after)))
			break;
		found = false;
	}
	if (!found)
		tap_note("netlink says: %s", expected);
	return found;
}

static bool cpus_are_in_file(uint64_t *net_rx_ns)
{
	struct lull_eanem_cpu cpus[64], after[64];
	char expected[64 * 128], *text;
	size_t count, used;
	bool same = false;

	for (int i = 0; i < 100 && !same; i++) {
		count = 64;
		must(eanem_cpus(&eanem, cpus, &count), "list CPUs");
		text = read_all(CPUS_FILE);
		used = 0;
		*net_rx_ns = 0;
		for (size_t j = 0; j < count; j++) {
			*net_rx_ns += cpus[j].net_rx_ns;
			used += (size_t)snprintf(
				expected + used, sizeof(expected) - used,
				"%u net_rx %llu net_tx %llu ksoftirqd %llu of %llu ns\n",
				cpus[j].cpu, cpus[j].net_rx_ns, cpus[j].net_tx_ns,
				cpus[j].ksoftirqd_ns, cpus[j].interval_ns);
		}
		same = !strcmp(text, expected);
		free(text);
		count = 64;
		must(eanem_cpus(&eanem, after, &count), "list CPUs");
		/* Unless an interval ended meanwhile, it must not differ. */
		if (after[0].interval == cpus[0].interval)
			break;
	}
	return same;
}

static bool is_roots_alone(const char *path)
{
	struct stat about;
	int status = 0;
	pid_t child;

	if (stat(path, &about))
		tap_bail("there is no %s", path);
	child = fork();
	if (!child) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		_exit(open(path, O_RDONLY) >= 0 || errno != EACCES);
	}
	waitpid(child, &status, 0);
	return (about.st_mode & 07777) == 0400 && about.st_uid == 0 && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static void files_agree(void)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), fd;
	struct lull_eanem_socket now;
	uint64_t bytes, net_rx_ns;
	pid_t child;

	tap_ok(is_roots_alone(SOCKETS_FILE) && is_roots_alone(CPUS_FILE),
	       "only root can read the files in debugfs");
	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	turn("0");
	turn("1");
	fd = connection(&child);
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target");
	next_interval(&eanem, cookie(fd), &now);
	bytes = send_datagrams(from, to, &at, 10);
	read_for(&fd, 1, 100 * MS, &(uint64_t){0});
	end(child);
	next_interval(&eanem, cookie(fd), &now);
	tap_ok(socket_is_in_file(cookie(to), &now) && now.last.packets == 10 &&
		       now.last.bytes == bytes,
	       "eanem_sockets says what netlink says of datagrams: %llu", now.last.packets);
	tap_ok(socket_is_in_file(cookie(fd), &now) && now.last.bytes > 0 && now.window > 0,
	       "and of a connection: %llu bytes, window %llu", now.last.bytes, now.window);
	tap_ok(cpus_are_in_file(&net_rx_ns) && net_rx_ns > 0,
	       "eanem_cpus says what netlink says: %llu ns of NET_RX",
	       (unsigned long long)net_rx_ns);
	close(fd);
	close(to);
	close(from);
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("0");
	turn("1");
}

/* The text of more sockets than one read gives. */
static void file_has_all(void)
{
	enum { MANY = 100 };
	unsigned int once = 0;
	int fds[MANY];
	struct sockaddr_in at;
	char word[64], *text, *found;

	for (int i = 0; i < MANY; i++)
		fds[i] = socket_at(SOCK_DGRAM, &at);
	text = read_all(SOCKETS_FILE);
	for (int i = 0; i < MANY; i++) {
		snprintf(word, sizeof(word), "\n%llu pid %d udp ",
			 (unsigned long long)cookie(fds[i]), getpid());
		/* The first line of all has none before it. */
		found = strncmp(text, word + 1, strlen(word + 1)) ? strstr(text, word) : text;
		once += found && !strstr(found + 1, word);
		close(fds[i]);
	}
	tap_ok(once == MANY, "eanem_sockets has %u of %d sockets once", once, MANY);
	free(text);
}

/* Netlink says ENODEV then. The files say what was known last, and nothing is added to that. */
static void files_stand_still(void)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char word[64], *sockets[2], *cpus[2];
	struct lull_eanem_socket one;
	size_t count = 1;

	send_datagrams(from, to, &at, 10);
	next_interval(&eanem, cookie(to), &one);
	turn("0");
	snprintf(word, sizeof(word), "packets 10 bytes %llu in all\n", one.bytes);
	for (int i = 0; i < 2; i++) {
		sockets[i] = read_all(SOCKETS_FILE);
		cpus[i] = read_all(CPUS_FILE);
		send_datagrams(from, to, &at, 10);
	}
	tap_ok(eanem_sockets(&eanem, &one, &count) == -ENODEV && strstr(sockets[0], word) &&
		       !strcmp(sockets[0], sockets[1]) && !strcmp(cpus[0], cpus[1]),
	       "while the system is off, the files stay as they were");
	for (int i = 0; i < 2; i++) {
		free(sockets[i]);
		free(cpus[i]);
	}
	turn("1");
	close(to);
	close(from);
}

int main(int argc, char **argv)
{
	char interval_us[32];

	slow = argc > 1 && !strcmp(argv[1], "slow");
	edge_is_judged();
	loopback(false);
	must(read_text(EANEM_DIR "/interval_us", interval_us, sizeof(interval_us)),
	     "read a setting");
	must(eanem_open(&eanem), "reach the kernel");
	put(EANEM_DIR "/interval_us", INTERVAL_US);
	turn("1");
	sees_what_is_taken_back();
	keeps_what_it_offers();
	keeps_what_a_syn_offers();
	keeps_what_it_scales("/proc/sys/net/ipv4/tcp_window_scaling", "0", 0);
	keeps_what_it_scales("/proc/sys/net/ipv4/tcp_rmem", "4096 131072 1073741824", 14);
	closes_and_opens();
	keeps_still_with_loss();
	trace_begin();
	traces_steps();
	traces_sockets();
	traces_cpus();
	traces_nothing();
	trace_end();
	files_agree();
	file_has_all();
	files_stand_still();
	turn("0");
	put(EANEM_DIR "/interval_us", interval_us);
	eanem_close(&eanem);
	loopback(true);
	return tap_finish();
}
