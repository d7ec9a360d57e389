// SPDX-License-Identifier: BSD-3-Clause
/* Requests for which the kernel has no memory. */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "eanem.h"
#include "fail_each.h"
#include "report.h"

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

void test_memory(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_STREAM, &at);

	own_socket = cookie(fd);
	fail_check(check, fail_each(set_target, NULL), "no memory for a target");
	fail_check(check, fail_each(steer_once, NULL), "no memory for steering");
	fail_check(check, fail_each(list_once, NULL), "no memory for an answer");
	check(!eanem_steer(&eanem, "0", 0, NULL, 0) && !eanem_steer(&eanem, "", 0, NULL, 0),
	      "and nobody steers afterwards");
	close(fd);
}
