// SPDX-License-Identifier: BSD-3-Clause
#include "heartbeat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int heartbeat_open(struct heartbeat *heart, const char *name, uint64_t least, uint64_t most)
{
	int error;

	*heart =
		(struct heartbeat){.hello.version = HEARTBEAT_VERSION, .memory = -1, .manager = -1};
	if (!*name || strlen(name) >= HEARTBEAT_NAME)
		return -EINVAL;
	strcpy(heart->hello.name, name);
	heart->memory = memfd_create("heartbeat", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (heart->memory < 0)
		return -errno;
	if (ftruncate(heart->memory, sizeof(*heart->page)) ||
	    fcntl(heart->memory, F_ADD_SEALS, F_SEAL_SHRINK))
		goto failed;
	heart->page = mmap(NULL, sizeof(*heart->page), PROT_READ | PROT_WRITE, MAP_SHARED,
			   heart->memory, 0);
	if (heart->page == MAP_FAILED) {
		heart->page = NULL;
		goto failed;
	}
	error = heartbeat_goal(heart, least, most);
	if (error)
		heartbeat_close(heart);
	return error;

failed:
	error = -errno;
	heartbeat_close(heart);
	return error;
}

/* The hello, and the memory along with it. */
static int say_hello(const struct heartbeat *heart, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct iovec data = {(void *)&heart->hello, sizeof(heart->hello)};
	const struct msghdr message = {.msg_iov = &data,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = sizeof(control.room)};

	memcpy(CMSG_DATA(&control.head), &heart->memory, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int heartbeat_join(struct heartbeat *heart, const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd, error;

	if (heartbeat_is_managed(heart))
		return -EALREADY;
	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	error = connect(fd, (struct sockaddr *)&at, sizeof(at)) ? -errno : say_hello(heart, fd);
	if (error) {
		close(fd);
		return error;
	}
	if (heart->manager >= 0)
		close(heart->manager);
	heart->manager = fd;
	return 0;
}

/* A manager says nothing. So whatever there is to read is the end. */
bool heartbeat_is_managed(const struct heartbeat *heart)
{
	struct pollfd end = {.fd = heart->manager, .events = POLLIN | POLLRDHUP};

	return heart->manager >= 0 && poll(&end, 1, 0) == 0;
}

int heartbeat_goal(struct heartbeat *heart, uint64_t least, uint64_t most)
{
	if (!least || least > most || most > HEARTBEAT_GOAL_MOST)
		return -EINVAL;
	atomic_store(&heart->page->least, least);
	atomic_store(&heart->page->most, most);
	return 0;
}

void heartbeat_close(struct heartbeat *heart)
{
	if (heart->page)
		munmap(heart->page, sizeof(*heart->page));
	if (heart->memory >= 0)
		close(heart->memory);
	if (heart->manager >= 0)
		close(heart->manager);
	*heart = (struct heartbeat){.memory = -1, .manager = -1};
}
