// SPDX-License-Identifier: BSD-3-Clause
/*
 * heartbeat: applications tell eanemd how fast they are. It moves those that it may, forgets those
 * that are dead, lets nobody else in, and puts everything back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "eanem.h"
#include "heartbeat.h"
#include "sysfs.h"
#include "tap.h"

#define MS 1000000ULL
#define NOBODY 65534
#define TRIES 2000
#define DAEMON "/usr/bin/eanemd"
#define PLACE "/tmp/heartbeat-test.sock"
#define MODEL "/tmp/heartbeat-test.model"
#define LOG "/tmp/heartbeat-test.log"
#define OF_A_USER 8
#define POLICY CPU_DIR "/cpu0/cpufreq/"

static pid_t manager = -1;

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(error < 0 ? -error : error));
}

static unsigned int mhz_of(int cpu, const char *file)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_%s_freq", cpu, file);
	must(read_text(path, text, sizeof(text)), path);
	return (unsigned int)strtoul(text, NULL, 10) / 1000;
}

/* Two clusters of one CPU each, which every machine has room for. */
static void write_model(void)
{
	FILE *file = fopen(MODEL, "w");

	if (!file)
		tap_bail("cannot write a model");
	for (int cpu = 0; cpu < 2; cpu++) {
		fprintf(file, "cluster %s %d 1 50000 0 0 0.%d 0\n", cpu ? "big" : "little", cpu,
			cpu ? 3 : 1);
		fprintf(file, "opp %s %u 900\n", cpu ? "big" : "little", mhz_of(cpu, "min"));
		fprintf(file, "opp %s %u 1100\n", cpu ? "big" : "little", mhz_of(cpu, "max"));
	}
	fclose(file);
}

static void manage(const char *users)
{
	manager = fork();
	if (!manager) {
		int log = open(LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(log, STDOUT_FILENO);
		execl(DAEMON, DAEMON, "--model", MODEL, "--interval-us", "10000", "--socket", PLACE,
		      "--users", users, NULL);
		_exit(127);
	}
	for (int i = 0; i < TRIES && access(PLACE, F_OK); i++)
		clock_sleep(MS);
	if (access(PLACE, F_OK))
		tap_bail("no manager");
}

/* The manager's status, or -1 if it was killed. */
static int end_manager(int signal)
{
	int status = 0;

	kill(manager, signal);
	waitpid(manager, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_said(const char *text)
{
	static char log[65536];

	for (int i = 0; i < TRIES; i++) {
		FILE *file = fopen(LOG, "r");
		size_t got = file ? fread(log, 1, sizeof(log) - 1, file) : 0;

		if (file)
			fclose(file);
		log[got] = '\0';
		if (strstr(log, text))
			return true;
		clock_sleep(MS);
	}
	return false;
}

/* A process that joins and beats as fast as it can, once it could join. */
static pid_t application(uint64_t least, uint64_t most)
{
	pid_t child = fork();
	struct heartbeat heart;

	if (child)
		return child;
	if (heartbeat_open(&heart, "test", least, most) || heartbeat_join(&heart, PLACE))
		_exit(1);
	for (;;)
		heartbeat_beat(&heart);
}

static void end_application(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int cpus_of(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

static bool becomes(pid_t pid, int cpus)
{
	for (int i = 0; i < TRIES && cpus_of(pid) != cpus; i++)
		clock_sleep(MS);
	return cpus_of(pid) == cpus;
}

static void *beat_often(void *heart)
{
	for (int i = 0; i < 1000; i++)
		heartbeat_beat(heart);
	return NULL;
}

static void beats_alone(void)
{
	struct heartbeat heart;
	pthread_t threads[4];

	tap_ok(heartbeat_open(&heart, "x", 2, 1) == -EINVAL &&
		       heartbeat_open(&heart, "x", 0, 1) == -EINVAL &&
		       heartbeat_open(&heart, "x", 1, HEARTBEAT_GOAL_MOST + 1) == -EINVAL,
	       "a goal that is none is refused");
	tap_ok(heartbeat_open(&heart, "", 1, 1) == -EINVAL &&
		       heartbeat_open(&heart, "sixteen letters!", 1, 1) == -EINVAL,
	       "and a name that is none");
	must(heartbeat_open(&heart, "fifteen letters", 1000, 2000), "open a heart");
	tap_ok(heartbeat_join(&heart, PLACE) == -ENOENT && !heartbeat_is_managed(&heart),
	       "without a manager nobody listens");
	for (int i = 0; i < 4; i++)
		must(-pthread_create(&threads[i], NULL, beat_often, &heart), "start a thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	tap_ok(heart.page->beats == 4000, "and the beats of all threads count");
	tap_ok(heartbeat_goal(&heart, 3000, 2000) == -EINVAL && heart.page->least == 1000,
	       "a goal that is none changes nothing");
	heartbeat_close(&heart);
}

static bool in_force(const char *file, unsigned int mhz)
{
	char text[32];

	for (int i = 0; i < TRIES; i++) {
		if (!read_text(file, text, sizeof(text)) && strtoul(text, NULL, 10) / 1000 == mhz)
			return true;
		clock_sleep(MS);
	}
	return false;
}

static void is_managed(void)
{
	struct heartbeat heart;
	pid_t child;

	manage("root");
	must(heartbeat_open(&heart, "still", 1000, 2000), "open a heart");
	must(heartbeat_join(&heart, PLACE), "join");
	tap_ok(heartbeat_join(&heart, PLACE) == -EALREADY, "a heart joins once");
	tap_ok(is_said("application came") && heartbeat_is_managed(&heart),
	       "a manager is told of an application");
	heartbeat_close(&heart);
	tap_ok(is_said("application went"), "and that it has closed");
	child = application(1000, 2000);
	tap_ok(becomes(child, 1) && is_said("less power"),
	       "an application that is too fast gets fewer CPUs");
	tap_ok(in_force(POLICY "scaling_max_freq", mhz_of(0, "min")), "and a slower clock");
	end_application(child);
	tap_ok(in_force(POLICY "scaling_max_freq", mhz_of(0, "max")),
	       "which is over when it is dead");
	tap_ok(end_manager(SIGTERM) == 0, "the manager ends when it is told to");
}

/* The manager proper, by its parent. */
static pid_t child_of(pid_t parent)
{
	char path[64], text[512];

	for (pid_t pid = parent + 1; pid < parent + 64; pid++) {
		const char *at;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (read_text(path, text, sizeof(text)))
			continue;
		at = strrchr(text, ')');
		if (at && strtol(at + 4, NULL, 10) == parent)
			return pid;
	}
	return -1;
}

static void puts_back(void)
{
	static const char *const how[] = {"ends", "is killed", "loses its guard"};
	int all = cpus_of(0);

	for (int i = 0; i < 3; i++) {
		bool moved, back;
		pid_t child, proper;

		manage("root");
		child = application(1000, 2000);
		moved = becomes(child, 1);
		proper = child_of(manager);
		if (i == 1 && proper > 0)
			kill(proper, SIGKILL);
		if (i == 1)
			waitpid(manager, NULL, 0);
		else
			end_manager(i ? SIGKILL : SIGTERM);
		back = becomes(child, all);
		tap_ok(moved && back && in_force(POLICY "scaling_max_freq", mhz_of(0, "max")),
		       "all is as before when the manager %s", how[i]);
		end_application(child);
		for (int k = 0; k < TRIES && proper > 0 && !kill(proper, 0); k++)
			clock_sleep(MS);
	}
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

static void has_users(void)
{
	struct heartbeat own, many[OF_A_USER];
	int there = 0;

	manage("root");
	tap_ok(as_nobody() == 2, "another user's application does not even reach it");
	must(heartbeat_open(&own, "own", 1000, 2000), "open a heart");
	tap_ok(reads_memory_of(getpid(), own.memory), "nor has it another's memory");
	heartbeat_close(&own);
	end_manager(SIGTERM);
	manage("all");
	tap_ok(as_nobody() == 0, "unless the manager is for all");
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
	tap_ok(there == OF_A_USER && !heartbeat_is_managed(&own),
	       "a user has %d applications at most", OF_A_USER);
	tap_ok(as_nobody() == 0, "which leaves room for another's");
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
		tap_bail("cannot say anything: %s", strerror(errno));
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

static void hears_nonsense(void)
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
		tap_bail("no memory: %s", strerror(errno));
	two[0] = two[1] = heart.memory;
	tap_ok(ends(say(&old, sizeof(old), &heart.memory, 1)), "another version is refused");
	tap_ok(ends(say(&good, 5, &heart.memory, 1)) && ends(say("", 1, NULL, 0)),
	       "what is no hello is refused");
	tap_ok(ends(say(&nameless, sizeof(nameless), &heart.memory, 1)) &&
		       ends(say(&endless, sizeof(endless), &heart.memory, 1)),
	       "a name without letters, or without an end, is refused");
	tap_ok(ends(say(&good, sizeof(good), NULL, 0)) && ends(say(&good, sizeof(good), two, 2)),
	       "no memory is refused, and two of it");
	tap_ok(ends(say(&good, sizeof(good), &loose, 1)) &&
		       ends(say(&good, sizeof(good), &small, 1)) &&
		       ends(say(&good, sizeof(good), &null, 1)),
	       "memory that may shrink, that is too small, or that is none, is refused");
	tap_ok(ends(say(NULL, 0, NULL, 0)), "silence ends after some intervals");
	talk = say(&good, sizeof(good), &heart.memory, 1);
	clock_sleep(100 * MS);
	tap_ok(send(talk, "again", 5, MSG_NOSIGNAL) == 5 && ends(talk),
	       "who says more than hello is let go");
	heart.page->least = 5000;
	heart.page->most = 1;
	clock_sleep(100 * MS);
	tap_ok(heartbeat_is_managed(&heart), "a goal without sense hurts nobody");
	heartbeat_close(&heart);
	tap_ok(end_manager(SIGTERM) == 0, "and the manager has survived it all");
	close(loose);
	close(small);
	close(null);
}

/* A file that has nothing to do with it, where the socket should be. */
static void leaves_files_alone(void)
{
	FILE *file = fopen(MODEL ".file", "w");
	char text[8];
	int status = 0;
	pid_t child;

	if (!file || fputs("mine", file) < 0 || fclose(file))
		tap_bail("cannot write a file");
	child = fork();
	if (!child) {
		execl(DAEMON, DAEMON, "--model", MODEL, "--socket", MODEL ".file", NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
		       !read_text(MODEL ".file", text, sizeof(text)) && !strcmp(text, "mine"),
	       "a file that is no socket stays");
	unlink(MODEL ".file");
}

int main(void)
{
	must(write_text(EANEM_DIR "/enabled", "1"), "turn the system on");
	write_model();
	beats_alone();
	is_managed();
	puts_back();
	has_users();
	hears_nonsense();
	leaves_files_alone();
	must(write_text(EANEM_DIR "/enabled", "0"), "turn the system off");
	unlink(MODEL);
	unlink(LOG);
	return tap_finish();
}
