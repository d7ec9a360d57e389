// SPDX-License-Identifier: BSD-3-Clause
/* What somebody without rights tries, in vain; and what he may. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "esm.h"
#include "random.h"
#include "system.h"
#include "waiter.h"

#define HANDLER 0x90
#define NOBODY 65534

static struct device device, secret;

static void become_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		give_up("cannot become nobody: %s", strerror(errno));
}

/* In a process of its own, whose success is the check's. */
static void check_of_nobody(bool (*succeeds)(void), const char *text)
{
	pid_t child = fork_child();
	int status;

	if (child == 0) {
		become_nobody();
		_exit(!succeeds());
	}
	waitpid(child, &status, 0);
	check(status == 0, "%s", text);
}

static bool cannot_read(void)
{
	return open(secret.path, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES;
}

static bool cannot_with_a_file_to_write(void)
{
	int fd = open(secret.path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && subscribe(fd, EV_KEY, ESM_ANY, HANDLER) == -EBADF;
}

static int subscribe_by_number(uint32_t source)
{
	const struct esm_registration what = {
		.handler = HANDLER, .fd = -1, .source = source, .type = EV_KEY, .code = ESM_ANY};

	return call_register(&what, sizeof(what), 0);
}

static uint32_t secret_number;

static bool cannot_by_number(void)
{
	return subscribe_by_number(secret_number) == -EPERM &&
	       subscribe_by_number(UINT32_MAX) == -EPERM;
}

static bool cannot_touch(void)
{
	static const char *const files[] = {
		ESM_DIR "foreground",  ESM_DIR "enabled",
		ESM_DIR "dispatch",    ESM_DIR "dispatcher_cpus",
		ESM_DIR "fifo",	       ESM_DEBUG_DIR "inject",
		ESM_DEBUG_DIR "stats", ESM_DEBUG_DIR "applications",
	};
	bool right = open(ESM_DIR "foreground", O_RDONLY | O_CLOEXEC) < 0 &&
		     open(ESM_DEBUG_DIR "applications", O_RDONLY | O_CLOEXEC) < 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (open(files[i], O_WRONLY | O_CLOEXEC) >= 0) {
			note("nobody opens %s", files[i]);
			right = false;
		}
	return right;
}

static bool by_number_is_refused(void)
{
	return subscribe_by_number(secret_number) == -EPERM;
}

static void without_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	pid_t child = fork_child();
	int status;

	if (child == 0) {
		if (syscall(SYS_capget, &header, data))
			_exit(2);
		data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
		if (syscall(SYS_capset, &header, data))
			_exit(3);
		_exit(!by_number_is_refused());
	}
	waitpid(child, &status, 0);
	check(status == 0, "by number it takes CAP_SYS_ADMIN");
	check_in_namespace(CLONE_NEWUSER, "user", by_number_is_refused,
			   "of the first user namespace");
}

/* It opened both devices while it was root. */
static struct waiter start_of_nobody(const struct device *from)
{
	return waiter_start(&(struct waiter_setup){.device = from, .user = NOBODY});
}

static void other_users_keys(void)
{
	struct waiter waiter = start_of_nobody(&device);
	uint64_t waits;

	await_state(waiter.pid, EV_WAIT);
	waits = asleep(waiter.pid);
	foreground(getpid());
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check(slept_on(waiter.pid, waits), "in the background nobody gets not even his own keys");
	foreground(getpid(), waiter.pid);
	device_send(&secret, EV_KEY, KEY_A, 1);
	device_send(&secret, EV_KEY, KEY_A, 0);
	check(slept_on(waiter.pid, waits), "in the foreground not those of another device");
	device_send(&device, EV_KEY, KEY_B, 1);
	check_woken_by(&waiter, "but his own", KEY_B);
	device_send(&device, EV_KEY, KEY_B, 0);
}

static bool may_register(void)
{
	int fd = open(device.path, O_RDONLY | O_CLOEXEC);
	struct esm_event event;

	return fd >= 0 && subscribe(fd, EV_KEY, ESM_ANY, HANDLER) == 0 &&
	       take(&event, 1) == -EAGAIN && unsubscribe(fd, EV_KEY, ESM_ANY) == 0;
}

void case_security(void)
{
	device_create(&device, "lull-esm-test");
	device_create(&secret, "lull-esm-secret");
	secret_number = source_number(secret.name);
	if (chmod(device.path, 0604) || chmod(secret.path, 0600))
		give_up("cannot say who may read a device: %s", strerror(errno));
	check_of_nobody(cannot_read, "a device that one may not read is not even opened");
	if (chmod(secret.path, 0602))
		give_up("cannot say who may write a device: %s", strerror(errno));
	check_of_nobody(cannot_with_a_file_to_write,
			"one that may be written only cannot be registered with");
	check_of_nobody(cannot_by_number, "nor by number, whether it is there or not");
	check_of_nobody(cannot_touch, "the system's files are root's");
	check_of_nobody(may_register, "a device that one may read can be registered with");
	without_capability();
	other_users_keys();
	device_destroy(&secret);
	device_destroy(&device);
}

/* Far more than the events that can be there take, however large they are said to be. */
#define ROOM (4UL << 20)

static uint64_t one_of(uint64_t *random, const uint64_t *values, size_t count)
{
	return values[next_random(random) % count];
}
#define ONE_OF(random, ...)                             \
	one_of(random, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

struct attack {
	uint64_t random;
	char *room, *only_read;
	int files[6];
};

static void *any_address(struct attack *attack)
{
	return (void *)ONE_OF(&attack->random, 0, 8, (uint64_t)attack->room, (uint64_t)attack->room,
			      (uint64_t)attack->room + 5, (uint64_t)attack->room + ROOM - 20,
			      (uint64_t)attack->only_read, (uint64_t)-1, (uint64_t)-4096,
			      1ULL << 47, 0xdead000000000000ULL);
}

static int register_at_random(struct attack *attack)
{
	uint64_t *random = &attack->random;
	const struct esm_registration what = {
		.handler = ONE_OF(random, 0, 1, 2, UINT64_MAX),
		.fd = next_random(random) % 8 ? attack->files[next_random(random) % 6]
					      : (int)next_random(random),
		.source = next_random(random) % 8 ? 0 : (uint32_t)(next_random(random) % 16),
		.type = (uint16_t)ONE_OF(random, EV_SYN, EV_KEY, EV_KEY, EV_REL, EV_MSC, EV_MAX,
					 EV_CNT, ESM_ANY, ESM_ANY, 0x8001),
		.code = (uint16_t)ONE_OF(random, 0, KEY_A, KEY_MAX, KEY_CNT, ESM_ANY, ESM_ANY,
					 0x8001),
		.reserved = next_random(random) % 16 ? 0 : 1,
	};
	void *address = attack->room + 8;
	uint64_t size = sizeof(what);
	unsigned int flags = next_random(random) % 16 ? 0 : (unsigned int)next_random(random);

	memcpy(address, &what, sizeof(what));
	if (next_random(random) % 8 == 0)
		address = any_address(attack);
	if (next_random(random) % 8 == 0)
		size = ONE_OF(random, 0, 1, 23, 25, 64, 4096, 4097, 1ULL << 31, UINT64_MAX);
	return call_register(address, size, flags);
}

static int wait_at_random(struct attack *attack)
{
	uint64_t *random = &attack->random;
	uint64_t size =
		ONE_OF(random, 48, 48, 48, 0, 1, 47, 49, 64, 4096, 4097, 1ULL << 32, UINT64_MAX);
	unsigned int count =
		(unsigned int)ONE_OF(random, 0, 1, 2, 3, 64, 65536, INT32_MAX, UINT32_MAX);
	unsigned int flags = next_random(random) % 16 ? 0 : (unsigned int)next_random(random);
	long result;

	flags |= ESM_WAIT_NONBLOCK | (next_random(random) % 4 ? 0 : ESM_WAIT_UNTIL);
	result = esm_sys_wait(any_address(attack), size, count, flags, any_address(attack));
	return result < 0 ? -errno : (int)result;
}

/* A file of its own, of which as many stay open as the process may have. */
static int poll_at_random(struct attack *attack)
{
	uint64_t *random = &attack->random;
	int fd = call_fd(next_random(random) % 16 ? 0 : (unsigned int)next_random(random));
	struct pollfd asked = {.fd = fd, .events = (short)next_random(random)};

	if (fd < 0)
		return fd;
	if (poll(&asked, 1, 0) < 0)
		return -errno;
	if (next_random(random) % 2)
		close(fd);
	return 0;
}

static bool is_documented(int result)
{
	static const int documented[] = {EAGAIN, EBADF,	 E2BIG,	 EFAULT, EINVAL,
					 EMFILE, ENODEV, ENOENT, ENOSPC, EPERM};

	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
		if (result == -documented[i])
			return true;
	return result >= 0;
}

static bool attacks(void)
{
	struct attack attack = {.random = amount.seed,
				.files = {open(device.path, O_RDONLY), open(device.path, O_RDONLY),
					  open(device.path, O_RDONLY), open("/dev/null", O_RDONLY),
					  device.uinput, -1}};
	uint64_t succeeded = 0;

	ioctl(attack.files[1], EVIOCREVOKE, NULL);
	attack.room =
		mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	attack.only_read = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (attack.room == MAP_FAILED || attack.only_read == MAP_FAILED ||
	    munmap(attack.room + ROOM, 4096))
		return false;
	for (uint64_t i = 0; i < amount.calls; i++) {
		uint64_t which = next_random(&attack.random) % 8;
		int result = which < 4	 ? register_at_random(&attack)
			     : which < 7 ? wait_at_random(&attack)
					 : poll_at_random(&attack);

		if (!is_documented(result)) {
			note("call %llu: %s", (unsigned long long)i, strerror(-result));
			return false;
		}
		succeeded += result >= 0;
		if (i % 4 == 0)
			device_send(&device, EV_REL, REL_X, 1);
	}
	/* A hundredth of them would already be few. */
	if (succeeded < amount.calls / 100)
		note("only %llu calls succeeded", (unsigned long long)succeeded);
	return succeeded >= amount.calls / 100;
}

void case_calls_at_random(void)
{
	struct want want = {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST};
	struct esm_event event;
	pid_t child;
	int status;
	int fd;

	device_create(&device, "lull-esm-test");
	if (chmod(device.path, 0604))
		give_up("cannot say who may read a device: %s", strerror(errno));
	fd = device_open(&device, O_RDONLY);
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	child = fork_child();
	if (child == 0) {
		foreground(getppid(), getpid());
		become_nobody();
		_exit(!attacks());
	}
	waitpid(child, &status, 0);
	check(status == 0, "%llu calls of nobody have documented results",
	      (unsigned long long)amount.calls);
	device_send(&device, EV_KEY, KEY_A, 1);
	check(events_are(&event, take(&event, 1), &want, 1), "and others are not disturbed");
	device_destroy(&device);
}
