// SPDX-License-Identifier: BSD-3-Clause
#include "eanem.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_SIZE 1024
#define ANSWER_SIZE 32768

struct request {
	struct nlmsghdr head;
	struct genlmsghdr command;
	char rest[REQUEST_SIZE];
};

/* Where records go: to an array, or, if there is `each`, those of busy sockets to a function. */
struct records {
	uint16_t attribute;
	size_t size, most, count;
	char *to;
	eanem_each each;
	void *with;
};

static void begin(struct request *request, uint16_t type, uint16_t flags, uint8_t command)
{
	memset(request, 0, sizeof(*request));
	request->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	request->head.nlmsg_type = type;
	request->head.nlmsg_flags = NLM_F_REQUEST | flags;
	request->command.cmd = command;
	request->command.version = 1;
}

/* The caller's values are small: all of them together fit. */
static void put(struct request *request, uint16_t type, const void *value, size_t size)
{
	struct nlattr *attribute =
		(struct nlattr *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = (uint16_t)(NLA_HDRLEN + size);
	if (size)
		memcpy((char *)attribute + NLA_HDRLEN, value, size);
	request->head.nlmsg_len =
		(uint32_t)(NLMSG_ALIGN(request->head.nlmsg_len) + NLA_ALIGN(attribute->nla_len));
}

static void take_record(const char *data, struct records *records)
{
	struct lull_eanem_socket socket;

	if (records->each) {
		memcpy(&socket, data, sizeof(socket));
		records->each(&socket, records->with);
	} else if (records->count < records->most) {
		memcpy(records->to + records->count * records->size, data, records->size);
	}
	records->count++;
}

/* The attributes of an answer that are wanted: those that the array has room for are kept. */
static void keep(const struct nlmsghdr *head, struct records *records)
{
	const char *at = (const char *)head + NLMSG_LENGTH(GENL_HDRLEN);
	const char *end = (const char *)head + head->nlmsg_len;

	while (at + NLA_HDRLEN <= end) {
		struct nlattr attribute;

		memcpy(&attribute, at, sizeof(attribute));
		if (attribute.nla_len < NLA_HDRLEN || at + attribute.nla_len > end)
			return;
		if ((attribute.nla_type & NLA_TYPE_MASK) == records->attribute &&
		    attribute.nla_len >= NLA_HDRLEN + records->size)
			take_record(at + NLA_HDRLEN, records);
		at += NLA_ALIGN(attribute.nla_len);
	}
}

/* True when the answer is over; *error is what it said. */
static int take(const struct nlmsghdr *head, uint32_t sequence, struct records *records, int *error)
{
	if (head->nlmsg_seq != sequence)
		return 0;
	if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) {
		memcpy(error, NLMSG_DATA(head), sizeof(*error));
		return 1;
	}
	if (records)
		keep(head, records);
	return 0;
}

static int ask(struct eanem *eanem, struct request *request, struct records *records)
{
	static _Alignas(struct nlmsghdr) char answer[ANSWER_SIZE];
	int error = 0;

	request->head.nlmsg_seq = ++eanem->sequence;
	if (send(eanem->fd, request, request->head.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		ssize_t got = recv(eanem->fd, answer, sizeof(answer), 0);
		const struct nlmsghdr *head = (const struct nlmsghdr *)answer;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (; NLMSG_OK(head, got); head = NLMSG_NEXT(head, got))
			if (take(head, request->head.nlmsg_seq, records, &error))
				return error;
	}
}

static int find_family(struct eanem *eanem)
{
	struct records records = {.attribute = CTRL_ATTR_FAMILY_ID,
				  .size = sizeof(eanem->family),
				  .most = 1,
				  .to = (char *)&eanem->family};
	struct request request;
	int error;

	begin(&request, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
	put(&request, CTRL_ATTR_FAMILY_NAME, LULL_EANEM_FAMILY, sizeof(LULL_EANEM_FAMILY));
	error = ask(eanem, &request, &records);
	return error ? error : records.count ? 0 : -ENOENT;
}

int eanem_open(struct eanem *eanem)
{
	int error;

	*eanem = (struct eanem){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)};
	if (eanem->fd < 0)
		return -errno;
	error = find_family(eanem);
	if (error)
		eanem_close(eanem);
	return error;
}

void eanem_close(struct eanem *eanem)
{
	close(eanem->fd);
	eanem->fd = -1;
}

static int dump(struct eanem *eanem, uint8_t command, struct records *records, size_t *count)
{
	struct request request;
	int error;

	begin(&request, eanem->family, NLM_F_DUMP, command);
	if (records->each)
		put(&request, LULL_EANEM_A_BUSY, NULL, 0);
	error = ask(eanem, &request, records);
	*count = records->count < records->most ? records->count : records->most;
	return error;
}

int eanem_sockets(struct eanem *eanem, struct lull_eanem_socket *sockets, size_t *count)
{
	struct records records = {.attribute = LULL_EANEM_A_SOCKET,
				  .size = sizeof(*sockets),
				  .most = *count,
				  .to = (char *)sockets};

	return dump(eanem, LULL_EANEM_COMMAND_SOCKETS, &records, count);
}

int eanem_each_busy(struct eanem *eanem, eanem_each each, void *with)
{
	struct records records = {.attribute = LULL_EANEM_A_SOCKET,
				  .size = sizeof(struct lull_eanem_socket),
				  .each = each,
				  .with = with};
	size_t count;

	return dump(eanem, LULL_EANEM_COMMAND_SOCKETS, &records, &count);
}

int eanem_cpus(struct eanem *eanem, struct lull_eanem_cpu *cpus, size_t *count)
{
	struct records records = {.attribute = LULL_EANEM_A_CPU,
				  .size = sizeof(*cpus),
				  .most = *count,
				  .to = (char *)cpus};

	return dump(eanem, LULL_EANEM_COMMAND_CPUS, &records, count);
}

int eanem_target_socket(struct eanem *eanem, uint64_t id, uint64_t target)
{
	struct request request;

	begin(&request, eanem->family, NLM_F_ACK, LULL_EANEM_COMMAND_TARGET);
	put(&request, LULL_EANEM_A_ID, &id, sizeof(id));
	put(&request, LULL_EANEM_A_TARGET, &target, sizeof(target));
	return ask(eanem, &request, NULL);
}

int eanem_target_process(struct eanem *eanem, uint32_t pid, uint64_t target)
{
	struct request request;

	begin(&request, eanem->family, NLM_F_ACK, LULL_EANEM_COMMAND_TARGET);
	put(&request, LULL_EANEM_A_PID, &pid, sizeof(pid));
	put(&request, LULL_EANEM_A_TARGET, &target, sizeof(target));
	return ask(eanem, &request, NULL);
}

int eanem_steer(struct eanem *eanem, const char *cpus, uint32_t khz, const uint32_t *threads,
		size_t count)
{
	struct request request;

	if (strlen(cpus) > 255 || count > LULL_EANEM_THREADS_MOST)
		return -E2BIG;
	begin(&request, eanem->family, NLM_F_ACK, LULL_EANEM_COMMAND_STEER);
	put(&request, LULL_EANEM_A_CPUS, cpus, strlen(cpus) + 1);
	put(&request, LULL_EANEM_A_KHZ, &khz, sizeof(khz));
	if (count)
		put(&request, LULL_EANEM_A_THREADS, threads, count * sizeof(*threads));
	return ask(eanem, &request, NULL);
}
