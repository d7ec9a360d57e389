// SPDX-License-Identifier: BSD-3-Clause
/* Which applications are let in, and what a manager makes of nonsense. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "daemon.h"
#include "heartbeat.h"
#include "report.h"

#define MS 1000000ULL
#define NOBODY 65534
#define OF_A_USER 8

static void *beat_often(void *heart)
{
	for (int i = 0; i < 1000; i++)
		heartbeat_beat(heart);
	return NULL;
}

/* What joining says at a socket that nobody listens at. */
static int joins_nobody(struct heartbeat *heart)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = PLACE};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		bail("no socket: %s", strerror(errno));
	close(fd);
	error = heartbeat_join(heart, PLACE);
	unlink(PLACE);
	return error;
}

void test_alone(void)
{
	struct heartbeat heart;
	pthread_t threads[4];

	check(heartbeat_open(&heart, "x", 2, 1) == -EINVAL &&
		      heartbeat_open(&heart, "x", 0, 1) == -EINVAL &&
		      heartbeat_open(&heart, "x", 1, HEARTBEAT_GOAL_MOST + 1) == -EINVAL,
	      "a goal that is none is refused");
	check(heartbeat_open(&heart, "", 1, 1) == -EINVAL &&
		      heartbeat_open(&heart, "sixteen letters!", 1, 1) == -EINVAL,
	      "and a name that is none");
	must(heartbeat_open(&heart, "fifteen letters", 1000, 2000), "open a heart");
	check(heartbeat_join(&heart, PLACE) == -ENOENT && !heartbeat_is_managed(&heart),
	      "without a manager nobody listens");
	check(joins_nobody(&heart) == -ECONNREFUSED && !heartbeat_is_managed(&heart),
	      "nor where one has left its socket");
	for (int i = 0; i < 4; i++)
		must(-pthread_create(&threads[i], NULL, beat_often, &heart), "start a thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check(heart.page->beats == 4000, "and the beats of all threads count");
	check(heartbeat_goal(&heart, 3000, 2000) == -EINVAL && heart.page->least == 1000,
	      "a goal that is none changes nothing");
	heartbeat_close(&heart);
}

/* By a process of another user: 0 if it is let in and stays so, 1 if not. */
static int as_nobody(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct heartbeat heart;

		if (setgid(NOBODY) || setuid(NOBODY) || heartbeat_open(&heart, "other", 1, 1) ||
		    heartbeat_join(&heart, PLACE))
			_exit(2);
		clock_sleep(200 * MS);
		_exit(!heartbeat_is_managed(&heart));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int reads_memory_of(pid_t pid, int fd)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		_exit(open(path, O_RDWR) < 0 && errno == EACCES);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

void test_users(void)
{
	struct heartbeat own, many[OF_A_USER];
	int there = 0;

	manage("root");
	check(as_nobody() == 2, "another user's application does not even reach it");
	must(heartbeat_open(&own, "own", 1000, 2000), "open a heart");
	check(reads_memory_of(getpid(), own.memory), "nor has it another's memory");
	heartbeat_close(&own);
	end_manager(SIGTERM);
	manage("all");
	check(as_nobody() == 0, "unless the manager is for all");
	for (int i = 0; i < OF_A_USER; i++) {
		must(heartbeat_open(&many[i], "many", 1000, 2000), "open a heart");
		must(heartbeat_join(&many[i], PLACE), "join");
	}
	clock_sleep(200 * MS);
	for (int i = 0; i < OF_A_USER; i++)
		there += heartbeat_is_managed(&many[i]);
	must(heartbeat_open(&own, "own", 1000, 2000), "open a heart");
	must(heartbeat_join(&own, PLACE), "join");
	clock_sleep(200 * MS);
	check(there == OF_A_USER && !heartbeat_is_managed(&own),
	      "a user has %d applications at most", OF_A_USER);
	check(as_nobody() == 0, "which leaves room for another's");
	for (int i = 0; i < OF_A_USER; i++)
		heartbeat_close(&many[i]);
	heartbeat_close(&own);
	end_manager(SIGTERM);
}

/* A connection on which something has been said, with some descriptors. */
static int say(const void *data, size_t size, const int *fds, int count)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = PLACE};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {0};
	struct iovec text = {(void *)data, size};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (count) {
		struct cmsghdr *head = (struct cmsghdr *)control;

		*head = (struct cmsghdr){CMSG_LEN((size_t)count * sizeof(int)), SOL_SOCKET,
					 SCM_RIGHTS};
		memcpy(CMSG_DATA(head), fds, (size_t)count * sizeof(int));
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    (size && sendmsg(fd, &message, MSG_NOSIGNAL) < 0))
		bail("cannot say anything: %s", strerror(errno));
	return fd;
}

/* Whether the manager ends the connection. */
static bool ends(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN | POLLRDHUP};
	bool ended = poll(&end, 1, TRIES) > 0;

	close(fd);
	return ended;
}

void test_nonsense(void)
{
	struct heartbeat_hello good = {HEARTBEAT_VERSION, "good"}, old = {0, "old"},
			       nameless = {HEARTBEAT_VERSION, ""}, endless;
	struct heartbeat heart;
	int loose = memfd_create("loose", MFD_ALLOW_SEALING), null = open("/dev/null", O_RDWR);
	int small = memfd_create("small", MFD_ALLOW_SEALING), two[2], talk;

	endless = good;
	memset(endless.name, 'x', sizeof(endless.name));
	manage("root");
	must(heartbeat_open(&heart, "heart", 1000, 2000), "open a heart");
	must(heartbeat_join(&heart, PLACE), "join");
	if (ftruncate(loose, 4096) || fcntl(small, F_ADD_SEALS, F_SEAL_SHRINK))
		bail("no memory: %s", strerror(errno));
	two[0] = two[1] = heart.memory;
	check(ends(say(&old, sizeof(old), &heart.memory, 1)), "another version is refused");
	check(ends(say(&good, 5, &heart.memory, 1)) && ends(say("", 1, NULL, 0)),
	      "what is no hello is refused");
	check(ends(say(&nameless, sizeof(nameless), &heart.memory, 1)) &&
		      ends(say(&endless, sizeof(endless), &heart.memory, 1)),
	      "a name without letters, or without an end, is refused");
	check(ends(say(&good, sizeof(good), NULL, 0)) && ends(say(&good, sizeof(good), two, 2)),
	      "no memory is refused, and two of it");
	check(ends(say(&good, sizeof(good), &loose, 1)) &&
		      ends(say(&good, sizeof(good), &small, 1)) &&
		      ends(say(&good, sizeof(good), &null, 1)),
	      "memory that may shrink, that is too small, or that is none, is refused");
	check(ends(say(NULL, 0, NULL, 0)), "silence ends after some intervals");
	talk = say(&good, sizeof(good), &heart.memory, 1);
	clock_sleep(100 * MS);
	check(send(talk, "again", 5, MSG_NOSIGNAL) == 5 && ends(talk),
	      "who says more than hello is let go");
	heart.page->least = 5000;
	heart.page->most = 1;
	clock_sleep(100 * MS);
	check(heartbeat_is_managed(&heart), "a goal without sense hurts nobody");
	heartbeat_close(&heart);
	check(end_manager(SIGTERM) == 0, "and the manager has survived it all");
	close(loose);
	close(small);
	close(null);
}
