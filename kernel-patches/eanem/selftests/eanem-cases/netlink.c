// SPDX-License-Identifier: BSD-3-Clause
#include "netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "report.h"

void ask(struct eanem *to, uint8_t command, uint16_t flags, const void *rest, size_t size)
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
		bail("cannot ask: %s", strerror(errno));
}

int answer(struct eanem *from, int *records)
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

void append(char *rest, size_t *size, uint16_t type, const void *value, size_t length)
{
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + length), .nla_type = type};

	memcpy(rest + *size, &head, sizeof(head));
	memcpy(rest + *size + NLA_HDRLEN, value, length);
	*size += NLA_ALIGN(head.nla_len);
}
