// SPDX-License-Identifier: BSD-3-Clause
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "end.h"
#include "machine.h"
#include "mounts.h"

#define OWN_NAMESPACE "/proc/self/ns/net"
#define NETMASK "255.255.255.0"

/* Autonegotiation takes half a second on QEMU, and another second until Linux has looked. */
#define CARRIER_WAIT_MS 10000
#define CARRIER_STEP_MS 10

/* An end of the link. The engines give the cards these addresses. */
struct end {
	const char *address;
	uint8_t mac[6];
};

static const struct end ends[] = {
	[PART_MACHINE] = {"10.0.0.1", {2, 0, 0, 0, 0, 1}},
	[PART_PEER] = {"10.0.0.2", {2, 0, 0, 0, 0, 2}},
};

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("cannot open a socket: %s", strerror(errno));
	return fd;
}

static void set(int fd, unsigned long what, void *request, const char *interface)
{
	if (ioctl(fd, what, request))
		fail("cannot set up %s: %s", interface, strerror(errno));
}

static void put_address(struct sockaddr *where, const char *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET};

	inet_pton(AF_INET, address, &in.sin_addr);
	memcpy(where, &in, sizeof(in));
}

/* The neighbour is entered for good: the link carries no packet that no program sent. */
static void configure(const char *interface, enum part part)
{
	const struct end *own = &ends[part];
	const struct end *other = &ends[part == PART_PEER ? PART_MACHINE : PART_PEER];
	struct arpreq neighbour = {.arp_flags = ATF_COM | ATF_PERM};
	struct ifreq request = {0};
	int fd = open_socket();

	strncpy(request.ifr_name, interface, sizeof(request.ifr_name) - 1);
	put_address(&request.ifr_addr, own->address);
	set(fd, SIOCSIFADDR, &request, interface);
	put_address(&request.ifr_netmask, NETMASK);
	set(fd, SIOCSIFNETMASK, &request, interface);
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	set(fd, SIOCSIFFLAGS, &request, interface);

	put_address(&neighbour.arp_pa, other->address);
	neighbour.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(neighbour.arp_ha.sa_data, other->mac, sizeof(other->mac));
	strncpy(neighbour.arp_dev, interface, sizeof(neighbour.arp_dev) - 1);
	set(fd, SIOCSARP, &neighbour, interface);
	close(fd);
}

static void wait_for_carrier(const char *interface)
{
	const struct timespec step = {.tv_nsec = CARRIER_STEP_MS * 1000000L};
	struct ifreq request = {0};
	int fd = open_socket();

	strncpy(request.ifr_name, interface, sizeof(request.ifr_name) - 1);
	for (int waited = 0;; waited += CARRIER_STEP_MS) {
		set(fd, SIOCGIFFLAGS, &request, interface);
		if (request.ifr_flags & IFF_RUNNING)
			break;
		if (waited >= CARRIER_WAIT_MS)
			fail("%s has no carrier", interface);
		nanosleep(&step, NULL);
	}
	close(fd);
}

static int open_namespace(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s: %s", path, strerror(errno));
	return fd;
}

static void enter(int namespace)
{
	if (setns(namespace, CLONE_NEWNET))
		fail("cannot change the network namespace: %s", strerror(errno));
}

/* Returns in its own namespace. The peer's lives on by its mount. */
static int make_namespace(int own)
{
	int fd;

	mkdir("/run/netns", 0755);
	fd = open(PEER_NAMESPACE, O_RDONLY | O_CREAT | O_CLOEXEC, 0444);
	if (fd < 0 || unshare(CLONE_NEWNET) ||
	    mount(OWN_NAMESPACE, PEER_NAMESPACE, NULL, MS_BIND, NULL))
		fail("cannot make " PEER_NAMESPACE ": %s", strerror(errno));
	close(fd);
	fd = open_namespace(PEER_NAMESPACE);
	enter(own);
	return fd;
}

static void move(const char *interface, int namespace)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
		struct rtattr attribute;
		int32_t fd;
	} request = {
		.header = {.nlmsg_len = sizeof(request),
			   .nlmsg_type = RTM_NEWLINK,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
		.link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(interface)},
		.attribute = {.rta_len = RTA_LENGTH(sizeof(int32_t)), .rta_type = IFLA_NET_NS_FD},
		.fd = namespace,
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = {0};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &request, sizeof(request), 0) != sizeof(request) ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.header))
		fail("cannot move %s: %s", interface, strerror(errno));
	if (answer.header.nlmsg_type != NLMSG_ERROR || answer.error.error)
		fail("cannot move %s: %s", interface, strerror(-answer.error.error));
	close(fd);
}

/* Both cards are in this guest: the second is the peer's. */
static void bring_up_both(void)
{
	int own = open_namespace(OWN_NAMESPACE);
	int peer = make_namespace(own);

	move("eth1", peer);
	configure("eth0", PART_MACHINE);
	enter(peer);
	bring_up_loopback();
	configure("eth1", PART_PEER);
	wait_for_carrier("eth1");
	enter(own);
	wait_for_carrier("eth0");
	close(peer);
	close(own);
}

void bring_up_network(void)
{
	enum part part = machine_part();

	if (part == PART_ALONE)
		return;
	if (machine_engine() == ENGINE_QEMU) {
		bring_up_both();
		return;
	}
	configure("eth0", part);
	wait_for_carrier("eth0");
}
