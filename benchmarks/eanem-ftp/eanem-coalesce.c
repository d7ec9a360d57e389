// SPDX-License-Identifier: BSD-3-Clause
/*
 * eanem-coalesce INTERFACE US: the card interrupts at most once in so many microseconds. A card
 * that cannot do that stays as it is, with a line on stderr.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE};
	struct ifreq request = {.ifr_data = (char *)&coalesce};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	long us = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (us <= 0 || us > 1000000 || strlen(argv[1]) >= IFNAMSIZ) {
		fputs("usage: eanem-coalesce INTERFACE US\n", stderr);
		return 2;
	}
	strcpy(request.ifr_name, argv[1]);
	if (!ioctl(fd, SIOCETHTOOL, &request)) {
		coalesce.cmd = ETHTOOL_SCOALESCE;
		coalesce.rx_coalesce_usecs = (unsigned int)us;
		if (!ioctl(fd, SIOCETHTOOL, &request))
			return 0;
	}
	fprintf(stderr, "eanem-coalesce: %s: %s\n", argv[1], strerror(errno));
	return errno != EOPNOTSUPP;
}
