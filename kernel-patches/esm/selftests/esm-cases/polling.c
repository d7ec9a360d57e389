// SPDX-License-Identifier: BSD-3-Clause
/* esm_wait() with a time to give up, and esm_fd(), which lets a program wait for files as well. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "clock.h"
#include "device.h"
#include "sysfs.h"
#include "system.h"
#include "task_state.h"

#define HANDLER 0x101

/* So long that a wait which is not woken outlasts its test. */
#define LONG_NS 1000000000000ULL
#define SHORT_NS 20000000ULL

static struct device device;

static struct __kernel_timespec in(uint64_t ns)
{
	uint64_t at = clock_ns() + ns;

	return (struct __kernel_timespec){.tv_sec = (long long)(at / 1000000000),
					  .tv_nsec = (long long)(at % 1000000000)};
}

static int wait_in(struct esm_event *event, uint64_t ns)
{
	const struct __kernel_timespec until = in(ns);

	return call_wait_until(event, 1, 0, &until);
}

static void on_signal(int number)
{
	(void)number;
}

struct child {
	pid_t pid;
	int begin, ready;
};

/* In the foreground with its parent. It has registered, and does what it is there for. */
static struct child start(int (*does)(int fd))
{
	int begin[2], ready[2];
	struct child child;
	char byte;

	if (pipe2(begin, O_CLOEXEC) || pipe2(ready, O_CLOEXEC))
		give_up("no pipe: %s", strerror(errno));
	child.pid = fork_child();
	if (child.pid == 0) {
		int fd = device_open(&device, O_RDONLY);

		must(read(begin[0], &byte, 1) == 1 ? 0 : -EIO, "begin");
		must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
		must(write(ready[1], "", 1) == 1 ? 0 : -EIO, "say so");
		_exit(does(fd));
	}
	close(begin[0]);
	close(ready[1]);
	foreground(getpid(), child.pid);
	must(write(begin[1], "", 1) == 1 ? 0 : -EIO, "let it begin");
	must(read(ready[0], &byte, 1) == 1 ? 0 : -EIO, "hear that it has registered");
	child.begin = begin[1];
	child.ready = ready[0];
	return child;
}

static void check_ends_well(const struct child *child, const char *text)
{
	int status;

	waitpid(child->pid, &status, 0);
	close(child->begin);
	close(child->ready);
	if (status)
		note("it ended with %#x", status);
	check(status == 0, "%s", text);
}

static int gets_a_key_in_time(int fd)
{
	struct esm_event event;

	(void)fd;
	return !(wait_in(&event, LONG_NS) == 1 && event.code == KEY_A);
}

static int is_late_after_a_signal(int fd)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	uint64_t end = clock_ns() + 10 * SHORT_NS;
	struct esm_event event;

	(void)fd;
	sigaction(SIGUSR1, &action, NULL);
	return !(wait_in(&event, 10 * SHORT_NS) == -ETIMEDOUT && clock_ns() >= end);
}

static void waits_until(void)
{
	struct child child;

	child = start(gets_a_key_in_time);
	check(await_state(child.pid, EV_WAIT), "who waits until a time is in the same state");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_ends_well(&child, "and an event ends the wait");
	device_send(&device, EV_KEY, KEY_A, 0);

	child = start(is_late_after_a_signal);
	await_state(child.pid, EV_WAIT);
	kill(child.pid, SIGUSR1);
	check_ends_well(&child, "a wait that a signal restarts ends at the same time");
}

static void refused_times(void)
{
	const struct __kernel_timespec before_time = {.tv_sec = -1};
	const struct __kernel_timespec no_time = {.tv_nsec = 1000000000};
	const struct __kernel_timespec past = {.tv_nsec = 1};
	struct esm_event event;

	check_error(call_wait_until(&event, 1, 0, (void *)8), EFAULT, "a time at a bad address");
	check_error(call_wait_until(&event, 1, 0, NULL), EFAULT, "no time");
	check_error(call_wait_until(&event, 1, 0, &before_time), EINVAL, "a time before time");
	check_error(call_wait_until(&event, 1, 0, &no_time), EINVAL, "a second of 10^9 ns and one");
	check_error(call_wait_until(&event, 1, ESM_WAIT_NONBLOCK, &past), EAGAIN,
		    "who does not wait is not late");
}

void case_timeouts(void)
{
	const struct __kernel_timespec past = {.tv_nsec = 1};
	struct esm_event event;
	uint64_t end;
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	check_error(call_wait_until(&event, 1, 0, &past), ENODEV, "who registered for nothing");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	end = clock_ns() + SHORT_NS;
	check_error(wait_in(&event, SHORT_NS), ETIMEDOUT, "nothing comes in time");
	check(clock_ns() >= end, "and it waited that long");
	check_error(call_wait_until(&event, 1, 0, &past), ETIMEDOUT, "the time is long over");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(call_wait_until(&event, 1, 0, &past) == 1 && event.code == KEY_A,
	      "what is there is given, however late it is");
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
	refused_times();
	waits_until();
	device_destroy(&device);
}

static int polled(int fd)
{
	struct pollfd asked = {.fd = fd, .events = POLLIN};

	return poll(&asked, 1, 0) < 0 ? -errno : asked.revents;
}

static void refused_files(void)
{
	struct rlimit limit, none;

	check_error(call_fd(1), EINVAL, "a flag of esm_fd()");
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	check_error(call_fd(0), EMFILE, "one file more than allowed");
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void tells_of_events(int fd)
{
	struct esm_event event;
	char byte;
	int file = call_fd(0), second = call_fd(0);

	must(file, "esm_fd");
	must(second, "esm_fd again");
	check(fcntl(file, F_GETFD) & FD_CLOEXEC, "it is closed on exec");
	check(read(file, &byte, 1) < 0 && errno == EINVAL, "nothing can be read from it");
	check(polled(file) == 0, "it is not readable before something came");
	device_send(&device, EV_REL, REL_X, 1);
	check(polled(file) == 0, "nor by what nobody registered for");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(polled(file) == POLLIN && polled(second) == POLLIN, "it is readable then");
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the event");
	check(polled(file) == 0, "and not when the event was taken");
	foreground_nobody();
	device_send(&device, EV_KEY, KEY_A, 0);
	check(polled(file) == 0, "nothing comes in the background");
	foreground(getpid());
	close(second);
	device_send(&device, EV_KEY, KEY_B, 1);
	check(polled(file) == POLLIN, "a file that is closed takes nothing from another");
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	check(polled(file) == POLLIN, "what is there is still to be taken");
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the event");
	check(polled(file) == POLLHUP, "then it is hung up");
	check_error(take(&event, 1), ENODEV, "as there is nothing to wait for");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register anew");
	check(polled(file) == POLLHUP, "for good");
	close(file);
	device_send(&device, EV_KEY, KEY_B, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
}

/* Waits for a pipe and for events at once, in one loop. */
static int is_told_of_both(int fd)
{
	struct esm_event event;
	struct pollfd asked[2] = {{.events = POLLIN}, {.fd = call_fd(0), .events = POLLIN}};
	int ends[2];
	pid_t child;
	char byte;

	(void)fd;
	if (pipe(ends) || asked[1].fd < 0)
		return 1;
	asked[0].fd = ends[0];
	if (poll(asked, 2, -1) != 1 || asked[1].revents != POLLIN || asked[0].revents)
		return 2;
	if (take(&event, 1) != 1 || event.code != KEY_A)
		return 3;
	child = fork_child();
	if (child == 0) {
		await_state(getppid(), 'S');
		_exit(write(ends[1], "", 1) != 1);
	}
	if (poll(asked, 2, -1) != 1 || asked[0].revents != POLLIN || asked[1].revents)
		return 4;
	waitpid(child, NULL, 0);
	return read(ends[0], &byte, 1) != 1;
}

/* Is told of each packet once, though it takes none, as EPOLLET has it. */
static int is_told_of_each(int fd)
{
	struct epoll_event what = {.events = EPOLLIN | EPOLLET}, got;
	int queue = epoll_create1(0);

	(void)fd;
	if (epoll_ctl(queue, EPOLL_CTL_ADD, call_fd(0), &what))
		return 1;
	if (epoll_wait(queue, &got, 1, -1) != 1 || got.events != EPOLLIN)
		return 2;
	if (epoll_wait(queue, &got, 1, 0) != 0)
		return 3;
	return epoll_wait(queue, &got, 1, -1) != 1;
}

static int is_told_of_the_end(int fd)
{
	struct pollfd asked = {.fd = call_fd(0), .events = POLLIN};

	(void)fd;
	return poll(&asked, 1, -1) != 1 || asked.revents != POLLHUP;
}

/* Asks for nothing, so that it is told of the end alone. poll() looks again when it times out. */
static int is_told_of_the_end_alone(int fd)
{
	struct pollfd asked = {.fd = call_fd(0)};
	uint64_t begun = clock_ns();

	(void)fd;
	if (poll(&asked, 1, 20000) != 1 || asked.revents != POLLHUP)
		return 1;
	return clock_ns() - begun >= 20000000000ULL;
}

static void wakes(void)
{
	uint64_t before;
	struct child child;

	child = start(is_told_of_both);
	check(await_state(child.pid, 'S'), "who polls is in no state of its own");
	before = asleep(child.pid);
	device_send(&device, EV_REL, REL_X, 1);
	check(asleep(child.pid) == before, "what it did not register for does not wake it");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_ends_well(&child, "it waits for events and a pipe at once");
	device_send(&device, EV_KEY, KEY_A, 0);

	child = start(is_told_of_each);
	before = asleep(child.pid);
	device_send(&device, EV_KEY, KEY_A, 1);
	while (task_state(child.pid) && task_waits(child.pid) == before)
		usleep(100);
	asleep(child.pid);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_ends_well(&child, "epoll tells of each packet, at its edge");
}

/* The child polls the file of its parent, which ends in between. */
static void outlives_its_owner(void)
{
	pid_t owner, child;
	int ends[2], status;
	char result = 1;

	if (pipe2(ends, O_CLOEXEC))
		give_up("no pipe: %s", strerror(errno));
	owner = fork_child();
	if (owner == 0) {
		struct pollfd asked = {.events = POLLIN};

		must(subscribe(device_open(&device, O_RDONLY), EV_KEY, ESM_ANY, HANDLER),
		     "register");
		asked.fd = call_fd(0);
		must(asked.fd, "esm_fd");
		child = fork();
		if (child == 0) {
			result = poll(&asked, 1, -1) != 1 || asked.revents != POLLHUP ||
				 call_fd(0) != -ENODEV;
			_exit(write(ends[1], &result, 1) != 1);
		}
		await_state(child, 'S');
		_exit(0);
	}
	waitpid(owner, &status, 0);
	must(read(ends[0], &result, 1) == 1 ? 0 : -EIO, "hear of the child");
	close(ends[0]);
	close(ends[1]);
	check(status == 0 && result == 0, "the file stays, hung up, when its owner ends");
}

/* No packet is missed by one who polls for each, whatever it races with. */
static int gets_all(int fd)
{
	struct pollfd asked = {.fd = call_fd(0), .events = POLLIN};
	struct esm_event events[4];
	uint64_t received = 0;

	must(subscribe(fd, EV_MSC, ESM_ANY, HANDLER), "register for serial numbers");
	while (received < amount.events / 3) {
		int taken;

		if (poll(&asked, 1, -1) != 1 || asked.revents != POLLIN)
			return 1;
		for (taken = take(events, 4); taken > 0; taken = take(events, 4))
			received += (uint64_t)taken;
		if (taken != -EAGAIN)
			return 2;
	}
	return received != amount.events / 3;
}

static void misses_nothing(void)
{
	struct child child;
	char before[32];

	must(system_read("fifo", before, sizeof(before)), "the size of queues");
	system_set("fifo", "65536");
	child = start(gets_all);
	await_state(child.pid, 'S');
	for (uint64_t i = 0; i < amount.events / 3; i++)
		device_send_serials(&device, (int32_t)i + 1, 1);
	check_ends_well(&child, "who polls misses no packet");
	system_set("fifo", before);
}

static void tells_of_interrupts(void)
{
	struct esm_registration what = {.handler = HANDLER,
					.fd = -1,
					.source = source_number("inject"),
					.type = EV_MSC,
					.code = ESM_ANY};
	struct esm_event event;
	pid_t child;
	int file;

	must(call_register(&what, sizeof(what), 0), "register for what interrupts bring");
	file = call_fd(0);
	must(file, "esm_fd");
	child = fork_child();
	if (child == 0) {
		await_state(getppid(), 'S');
		_exit(write_text(ESM_DEBUG_DIR "inject", "4 0 1 3\n") != 0);
	}
	for (int i = 0; i < 3; i++) {
		struct pollfd asked = {.fd = file, .events = POLLIN};

		if (poll(&asked, 1, -1) != 1)
			give_up("poll: %s", strerror(errno));
		must(take(&event, 1) == 1 ? 0 : -EIO, "get what an interrupt brought");
	}
	check(polled(file) == 0, "it tells of what an interrupt brings");
	waitpid(child, NULL, 0);
	what.handler = 0;
	must(call_register(&what, sizeof(what), 0), "take it away");
	close(file);
}

void case_polling(void)
{
	struct child child;
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	check_error(call_fd(0), ENODEV, "who registered for nothing has no file");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	refused_files();
	tells_of_events(fd);
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	wakes();
	outlives_its_owner();
	misses_nothing();
	tells_of_interrupts();

	child = start(is_told_of_the_end);
	await_state(child.pid, 'S');
	device_destroy(&device);
	check_ends_well(&child, "who polls is told that the device is gone");

	device_create(&device, "lull-esm-test");
	child = start(is_told_of_the_end_alone);
	await_state(child.pid, 'S');
	device_destroy(&device);
	check_ends_well(&child, "also who polls for that alone");

	device_create(&device, "lull-esm-test");
	child = start(is_told_of_the_end);
	await_state(child.pid, 'S');
	system_set("enabled", "0");
	check_ends_well(&child, "or that the system was switched off");
	check_error(call_fd(0), EOPNOTSUPP, "which then has no file");
	system_set("enabled", "1");
	device_destroy(&device);
}
