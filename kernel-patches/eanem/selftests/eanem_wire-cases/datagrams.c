// SPDX-License-Identifier: BSD-3-Clause
#include "datagrams.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "../connections.h"
#include "clock.h"
#include "report.h"

uint64_t send_datagrams(int from, int to, const struct sockaddr_in *at, unsigned int count)
{
	static char data[1200];
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		size_t size = 1 + i * 37 % sizeof(data);

		if (sendto(from, data, size, 0, (const struct sockaddr *)at, sizeof(*at)) < 0 ||
		    recv(to, data, sizeof(data), 0) != (ssize_t)size)
			bail("a datagram is lost: %s", strerror(errno));
		bytes += size;
		clock_sleep(3 * MS);
	}
	return bytes;
}
