/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The generic netlink family "lull_eanem": what sockets receive, and what is to be done about it.
 * The programs' copy of this file is benchmarks/lib/eanem_abi.h.
 */
#ifndef _LULL_EANEM_ABI_H
#define _LULL_EANEM_ABI_H

#include <linux/types.h>

#define LULL_EANEM_FAMILY "lull_eanem"
#define LULL_EANEM_VERSION 1

enum lull_eanem_command {
	LULL_EANEM_COMMAND_UNSPEC,
	/*
	 * Dump: an LULL_EANEM_A_SOCKET each. A process gets its own sockets, root gets all; with
	 * LULL_EANEM_A_BUSY only those that received something lately.
	 */
	LULL_EANEM_COMMAND_SOCKETS,
	/* Dump: an LULL_EANEM_A_CPU each. Root's. */
	LULL_EANEM_COMMAND_CPUS,
	/*
	 * LULL_EANEM_A_TARGET for one socket, by LULL_EANEM_A_ID, or for a process, by
	 * LULL_EANEM_A_PID. A process chooses for itself, root for all.
	 */
	LULL_EANEM_COMMAND_TARGET,
	/*
	 * The network stack's work to LULL_EANEM_A_CPUS, the threads of LULL_EANEM_A_THREADS too,
	 * and the CPUs' frequency to LULL_EANEM_A_KHZ; without CPUs, everything back. It lasts
	 * until the netlink socket is closed. Root's.
	 */
	LULL_EANEM_COMMAND_STEER,
};

enum lull_eanem_attribute {
	LULL_EANEM_A_UNSPEC,
	/* struct lull_eanem_socket */
	LULL_EANEM_A_SOCKET,
	/* struct lull_eanem_cpu */
	LULL_EANEM_A_CPU,
	/* u64: a socket, by its SO_COOKIE */
	LULL_EANEM_A_ID,
	/* u32: a process */
	LULL_EANEM_A_PID,
	/* u64: bytes/s of payload; 0 for as many as come */
	LULL_EANEM_A_TARGET,
	/* A text such as "0-1,4" */
	LULL_EANEM_A_CPUS,
	/* u32; left out or 0: the governor's choice */
	LULL_EANEM_A_KHZ,
	/* u32 each */
	LULL_EANEM_A_THREADS,
	/* A flag */
	LULL_EANEM_A_BUSY,
	LULL_EANEM_A_COUNT,
};

/* Threads that can be steered at once. */
#define LULL_EANEM_THREADS_MOST 64

/*
 * The stages of a packet: from the beginning of the driver's round until the driver hands it over;
 * until IP has it (GRO, the way to another CPU); until TCP or UDP has it; until it is in the
 * socket's queue; until the user has it. Packets that GRO or the queue has merged count once.
 */
enum lull_eanem_stage {
	LULL_EANEM_DRIVER,
	LULL_EANEM_LINK,
	LULL_EANEM_IP,
	LULL_EANEM_TRANSPORT,
	LULL_EANEM_USER,
	LULL_EANEM_STAGES,
};

struct lull_eanem_latency {
	__u64 count;
	__u64 sum_ns;
	__u64 most_ns;
};

/* What came in one interval. */
struct lull_eanem_sums {
	__u64 packets;
	__u64 bytes;
	/* Of the packets' sizes: thousandths of a byte, and bytes squared. */
	__u64 mean;
	__u64 variance;
	struct lull_eanem_latency stages[LULL_EANEM_STAGES];
};

struct lull_eanem_socket {
	__u64 id;
	/* Who made, accepted or last read it; 0 if the caller cannot see that process. */
	__u32 pid;
	__u32 uid;
	__u32 protocol;
	/* In network order. */
	__u32 local;
	__u32 remote;
	__u16 local_port;
	__u16 remote_port;
	/* The last interval that is over: its number, its length, and what came. */
	__u64 interval;
	__u64 interval_ns;
	struct lull_eanem_sums last;
	/* Since the socket is watched. */
	__u64 packets;
	__u64 bytes;
	/* The target in force, in bytes/s, and the window that the control has chosen. */
	__u64 target;
	__u64 window;
};

/* Time in one interval that is over, in ns. The last is that part of the first two. */
struct lull_eanem_cpu {
	__u64 interval;
	__u64 interval_ns;
	__u64 net_rx_ns;
	__u64 net_tx_ns;
	__u64 ksoftirqd_ns;
	__u32 cpu;
	__u32 reserved;
};

#endif /* _LULL_EANEM_ABI_H */
