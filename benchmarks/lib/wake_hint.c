// SPDX-License-Identifier: BSD-3-Clause
#include "wake_hint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "wake_ahead_abi.h"

static const char magic[4] = {'L', 'W', 'H', '1'};

void wake_hint_write(const struct wake_hint *hint, uint8_t bytes[WAKE_HINT_BYTES])
{
	const uint32_t numbers[] = {htonl(hint->in_us), htonl(hint->for_us), 0};

	memcpy(bytes, magic, sizeof(magic));
	memcpy(bytes + sizeof(magic), numbers, sizeof(numbers));
}

int wake_hint_read(const void *data, size_t length, const struct wake_hint_limits *limits,
		   struct wake_hint *hint)
{
	uint32_t numbers[3];

	if (length < WAKE_HINT_BYTES || memcmp(data, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	memcpy(numbers, (const uint8_t *)data + sizeof(magic), sizeof(numbers));
	if (numbers[2])
		return -EBADMSG;
	*hint = (struct wake_hint){ntohl(numbers[0]), ntohl(numbers[1])};
	if (!hint->for_us || hint->in_us > limits->most_in_us || hint->for_us > limits->most_for_us)
		return -ERANGE;
	return 0;
}

int wake_hint_ask(int fd, const struct wake_hint *hint, uint64_t arrived_ns)
{
	const struct wake_ahead_request request = {
		.start_ns = arrived_ns + hint->in_us * 1000ULL,
		.duration_ns = hint->for_us * 1000ULL,
	};

	return ioctl(fd, WAKE_AHEAD_BEGIN, &request) ? -errno : 0;
}

int wake_hint_came(int fd)
{
	return ioctl(fd, WAKE_AHEAD_END) ? -errno : 0;
}
