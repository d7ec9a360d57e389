// SPDX-License-Identifier: BSD-3-Clause
/* The files in debugfs say what netlink says. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "datagrams.h"
#include "eanem.h"
#include "report.h"
#include "text.h"

#define SOCKETS_FILE "/sys/kernel/debug/lull/eanem_sockets"
#define CPUS_FILE "/sys/kernel/debug/lull/eanem_cpus"

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
			bail("a socket is not watched");
		text = read_all(SOCKETS_FILE);
		socket_as_text(now, expected, sizeof(expected));
		found = strstr(text, expected);
		free(text);
		if (!find(&eanem, id, &after))
			bail("a socket is not watched any more");
		if (!memcmp(now, &after, sizeof(after)))
			break;
		found = false;
	}
	if (!found)
		note("netlink says: %s", expected);
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
		bail("there is no %s", path);
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

void test_files(void)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), fd;
	struct lull_eanem_socket now;
	uint64_t bytes, net_rx_ns;
	pid_t child;

	check(is_roots_alone(SOCKETS_FILE) && is_roots_alone(CPUS_FILE),
	      "only root can read the files in debugfs");
	begin_anew(LONG_INTERVAL_US);
	fd = connection(&child);
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target");
	next_interval(&eanem, cookie(fd), &now);
	bytes = send_datagrams(from, to, &at, 10);
	read_for(&fd, 1, 100 * MS, &(uint64_t){0});
	end(child);
	next_interval(&eanem, cookie(fd), &now);
	check(socket_is_in_file(cookie(to), &now) && now.last.packets == 10 &&
		      now.last.bytes == bytes,
	      "eanem_sockets says what netlink says of datagrams: %llu", now.last.packets);
	check(socket_is_in_file(cookie(fd), &now) && now.last.bytes > 0 && now.window > 0,
	      "and of a connection: %llu bytes, window %llu", now.last.bytes, now.window);
	check(cpus_are_in_file(&net_rx_ns) && net_rx_ns > 0,
	      "eanem_cpus says what netlink says: %llu ns of NET_RX",
	      (unsigned long long)net_rx_ns);
	close(fd);
	close(to);
	close(from);
	begin_anew(INTERVAL_US);
}

/* The text of more sockets than one read gives. */
void test_long_file(void)
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
	check(once == MANY, "eanem_sockets has %u of %d sockets once", once, MANY);
	free(text);
}

/* Netlink says ENODEV then. The files say what was known last, and nothing is added to that. */
void test_files_off(void)
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
	check(eanem_sockets(&eanem, &one, &count) == -ENODEV && strstr(sockets[0], word) &&
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
