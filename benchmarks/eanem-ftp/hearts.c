// SPDX-License-Identifier: BSD-3-Clause
#include "hearts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Connections that are waiting, and those that are looked at in one interval. */
#define WAITING 16
/* /proc/PID/task is a folder of folders: itself, its parent, and the threads. */
#define LINKS_BESIDE_THREADS 2

int hearts_remove(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	return unlink(path) ? -errno : 0;
}

int hearts_open(struct hearts *hearts, const char *path, bool takes_all)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

	*hearts = (struct hearts){.listener = fd, .takes_all = takes_all};
	if (fd < 0)
		return -errno;
	error = strlen(path) < sizeof(at.sun_path) ? 0 : -ENAMETOOLONG;
	if (error)
		goto failed;
	strcpy(at.sun_path, path);
	error = -EADDRINUSE;
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)) || errno == EAGAIN)
		goto failed;
	/* What a manager has left that was killed. */
	error = hearts_remove(path);
	if (error)
		goto failed;
	/* Those that are let in by nobody cannot fill the queue either. */
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)) &&
	    !chmod(path, takes_all ? 0666 : 0600) && !listen(fd, WAITING))
		return 0;
	error = -errno;
failed:
	close(fd);
	hearts->listener = -1;
	return error;
}

static void let_go(struct heart *heart)
{
	if (heart->page)
		munmap((void *)heart->page, sizeof(*heart->page));
	close(heart->connection);
	if (heart->process >= 0)
		close(heart->process);
	if (heart->tasks >= 0)
		close(heart->tasks);
}

void hearts_close(struct hearts *hearts, const char *path)
{
	for (int i = 0; i < hearts->count; i++)
		let_go(&hearts->list[i]);
	hearts->count = 0;
	if (hearts->listener >= 0) {
		close(hearts->listener);
		hearts_remove(path);
	}
}

static int of_user(const struct hearts *hearts, uid_t uid)
{
	int count = 0;

	for (int i = 0; i < hearts->count; i++)
		count += hearts->list[i].uid == uid;
	return count;
}

/* The process behind a connection, and not another one that has its number by now. */
static bool know_process(struct heart *heart)
{
	socklen_t length = sizeof(heart->process);
	struct pollfd end = {.events = POLLIN};
	char path[64];

	if (getsockopt(heart->connection, SOL_SOCKET, SO_PEERPIDFD, &heart->process, &length)) {
		heart->process = -1;
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)heart->pid);
	heart->tasks = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	end.fd = heart->process;
	return heart->tasks >= 0 && poll(&end, 1, 0) == 0;
}

/* One connection that waits. False if none does. */
static bool take(struct hearts *hearts)
{
	struct heart new = {.process = -1, .tasks = -1};
	struct ucred peer;
	socklen_t length = sizeof(peer);

	new.connection = accept4(hearts->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (new.connection < 0)
		return errno == ECONNABORTED || errno == EINTR;
	if (!getsockopt(new.connection, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		new.pid = peer.pid;
		new.uid = peer.uid;
		if ((hearts->takes_all || !peer.uid) && hearts->count < HEARTS_MOST &&
		    of_user(hearts, peer.uid) < HEARTS_OF_A_USER && know_process(&new)) {
			new.id = ++hearts->next_id;
			hearts->list[hearts->count++] = new;
			return true;
		}
	}
	let_go(&new);
	return true;
}

/* The one descriptor that has come, or -1. What else has come is closed. */
static int descriptor_of(struct msghdr *message)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fds[2], count;

	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return -1;
	count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds, CMSG_DATA(head), (size_t)count * sizeof(int));
	if (count == 1 && !(message->msg_flags & (MSG_CTRUNC | MSG_TRUNC)))
		return fds[0];
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return -1;
}

/* Memory that cannot become shorter, so that reading it cannot fail. */
static const struct heartbeat_page *map(int fd)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);
	void *page;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) ||
	    status.st_size < (off_t)sizeof(struct heartbeat_page))
		return NULL;
	page = mmap(NULL, sizeof(struct heartbeat_page), PROT_READ, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

/* Room for two descriptors, because a control message's alignment has that. False: end it. */
static bool hear_hello(struct heart *heart)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct heartbeat_hello hello = {0};
	struct iovec data = {&hello, sizeof(hello)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.room)};
	ssize_t got = recvmsg(heart->connection, &message, MSG_CMSG_CLOEXEC);
	int fd;

	if (got < 0)
		return (errno == EAGAIN || errno == EINTR) && ++heart->silent < HEARTS_PATIENCE;
	fd = descriptor_of(&message);
	if (got == sizeof(hello) && hello.version == HEARTBEAT_VERSION && *hello.name &&
	    memchr(hello.name, '\0', sizeof(hello.name)) && fd >= 0) {
		memcpy(heart->name, hello.name, sizeof(heart->name));
		heart->page = map(fd);
	}
	if (fd >= 0)
		close(fd);
	return heart->page;
}

/* After the hello, whatever else an application says is its end. */
static bool is_there(const struct heart *heart)
{
	struct pollfd ends[] = {
		{.fd = heart->process, .events = POLLIN},
		{.fd = heart->connection, .events = (short)(heart->page ? POLLIN : 0) | POLLRDHUP},
	};

	return poll(ends, 2, 0) == 0;
}

static void read_page(struct heart *heart)
{
	uint64_t least = atomic_load(&heart->page->least), most = atomic_load(&heart->page->most);
	bool sane = least && least <= most && most <= HEARTBEAT_GOAL_MOST;
	struct stat status;

	heart->beats = atomic_load_explicit(&heart->page->beats, memory_order_relaxed);
	heart->least = sane ? (double)least / 1e3 : 0;
	heart->most = sane ? (double)most / 1e3 : 0;
	if (!fstat(heart->tasks, &status) && status.st_nlink > LINKS_BESIDE_THREADS)
		heart->threads = (unsigned int)status.st_nlink - LINKS_BESIDE_THREADS;
}

bool hearts_look(struct hearts *hearts)
{
	bool changed = false;
	int kept = 0;

	for (int i = 0; i < WAITING && take(hearts); i++)
		;
	for (int i = 0; i < hearts->count; i++) {
		struct heart *heart = &hearts->list[i];
		bool was_heard = heart->page;

		/* First the hello: who says it and goes has been there. */
		if ((!was_heard && !hear_hello(heart)) || !is_there(heart)) {
			changed |= was_heard;
			let_go(heart);
			continue;
		}
		changed |= !was_heard && heart->page;
		if (heart->page)
			read_page(heart);
		hearts->list[kept++] = *heart;
	}
	hearts->count = kept;
	return changed;
}
