// SPDX-License-Identifier: BSD-3-Clause
#include "segment.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>

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

bool read_segment(const uint8_t *packet, size_t length, struct segment *segment)
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
