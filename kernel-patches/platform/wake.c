// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a wake-up takes, phase by phase:
 *
 *   /sys/kernel/debug/lull/wake
 *
 * A program that is pinned to one CPU writes a struct lull_wake_request and
 * sleeps in that write until a timer of that CPU fires or a signal comes; then
 * it reads a struct lull_wake_record. One program at a time sleeps on a CPU.
 * While the file is open the idle hooks are on.
 *
 * The timer is a pinned hrtimer that expires in hard interrupt context, so its
 * event is the CPU's own virtual timer: what wakes the CPU is what is recorded,
 * unless another timer of that CPU came first. Then the CPU counts as awake.
 */
#include <linux/arm-smccc.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include <asm/arch_timer.h>
#include <asm/cputype.h>
#include <asm/smp_plat.h>
#include <asm/sysreg.h>
#include <asm/virt.h>

#include "idle.h"
#include "lull.h"
#include "lull_wake.h"

#define LULL_WAKE_MAX_NS	(10ULL * NSEC_PER_SEC)

/* TF-A's performance measurement: firmware-patches/README.md */
#define LULL_PMF_GET		0xc7000020
#define LULL_PMF_STAMP(n)	(0x400 + (n))

enum lull_pmf {
	LULL_PMF_ENTER,
	LULL_PMF_EXIT,
	LULL_PMF_HW_ENTER,
	LULL_PMF_HW_EXIT,
	LULL_PMF_COUNT,
};

/* One open file: its last record, and the reason why the idle hooks are on. */
struct lull_wake_file {
	/* Held while somebody sleeps or reads; whoever comes then is refused. */
	struct mutex lock;
	struct lull_idle_watcher watcher;
	struct lull_wake_record record;
	bool recorded;
};

/* One sleep, on the stack of who sleeps. */
struct lull_wake {
	struct hrtimer timer;
	struct task_struct *task;
	struct lull_wake_record *record;
	u64 due;
	struct lull_idle_sleep sleep;
	unsigned int cpu;
	bool fired;
};

static DEFINE_PER_CPU(atomic_t, lull_wake_busy);
static bool lull_wake_has_firmware __ro_after_init;

static u64 lull_ticks(u64 ns)
{
	return mul_u64_u32_div(ns, arch_timer_get_cntfrq(), NSEC_PER_SEC);
}

static enum hrtimer_restart lull_wake_fire(struct hrtimer *timer)
{
	u64 now = __arch_counter_get_cntvct();
	struct lull_wake *wake = container_of(timer, struct lull_wake, timer);
	struct lull_wake_record *record = wake->record;
	const struct lull_idle_sleep *sleep = &wake->sleep;

	record->irq = now;
	record->event = read_sysreg(cntv_cval_el0);
	lull_idle_last(&wake->sleep);

	/*
	 * If the compare value is from before this timer was due, another timer
	 * has woken the CPU. And if the CPU's last sleep does not span the event,
	 * the CPU was awake.
	 */
	if (record->event >= wake->due && sleep->state >= 0 &&
	    sleep->entered <= record->event && record->event <= sleep->left) {
		record->state = sleep->state;
		record->depth = sleep->depth;
		record->flags |= LULL_WAKE_SLEPT;
	}

	/* A timer of a CPU that went offline fires elsewhere. */
	if (smp_processor_id() != wake->cpu)
		wake->cpu = nr_cpu_ids;

	/* Pairs with the acquire in lull_wake_wait(). */
	smp_store_release(&wake->fired, true);
	wake_up_process(wake->task);
	return HRTIMER_NORESTART;
}

static int lull_pmf_read(enum lull_pmf stamp, u64 *ticks)
{
	struct arm_smccc_res result;

	arm_smccc_smc(LULL_PMF_GET, LULL_PMF_STAMP(stamp), read_cpuid_mpidr() & MPIDR_HWID_BITMASK,
		      0, 0, 0, 0, 0, &result);
	*ticks = result.a1;
	return result.a0 ? -EIO : 0;
}

/* Firmware keeps the stamps of this CPU's last suspend, whichever it was. */
static void lull_wake_ask_firmware(const struct lull_wake *wake)
{
	struct lull_wake_record *record = wake->record;
	u64 stamps[LULL_PMF_COUNT];
	int i;

	for (i = 0; i < LULL_PMF_COUNT; i++)
		if (lull_pmf_read(i, &stamps[i]))
			return;

	if (stamps[LULL_PMF_ENTER] < wake->sleep.entered ||
	    stamps[LULL_PMF_EXIT] < stamps[LULL_PMF_ENTER] ||
	    stamps[LULL_PMF_EXIT] > wake->sleep.left)
		return;

	record->fw_enter = stamps[LULL_PMF_ENTER];
	record->fw_exit = stamps[LULL_PMF_EXIT];
	record->flags |= LULL_WAKE_FIRMWARE;

	/* Those of an earlier suspend, if this one has not come so far. */
	if (stamps[LULL_PMF_HW_ENTER] < record->fw_enter ||
	    stamps[LULL_PMF_HW_EXIT] < stamps[LULL_PMF_HW_ENTER] ||
	    stamps[LULL_PMF_HW_EXIT] > record->fw_exit)
		return;

	record->hw_enter = stamps[LULL_PMF_HW_ENTER];
	record->hw_exit = stamps[LULL_PMF_HW_EXIT];
}

static int lull_wake_wait(struct lull_wake *wake, u64 delay_ns)
{
	u64 ticks = lull_ticks(delay_ns);
	bool fired;

	hrtimer_init_on_stack(&wake->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	wake->timer.function = lull_wake_fire;

	set_current_state(TASK_INTERRUPTIBLE);
	preempt_disable();
	wake->cpu = smp_processor_id();
	wake->record->armed = __arch_counter_get_cntvct();
	/* Nanoseconds become a compare value with an error of a few in a million. */
	wake->due = wake->record->armed + ticks - ticks / 65536 - 4;
	hrtimer_start(&wake->timer, ns_to_ktime(delay_ns), HRTIMER_MODE_REL_PINNED_HARD);
	preempt_enable();

	for (;;) {
		/* Pairs with the release in lull_wake_fire(). */
		fired = smp_load_acquire(&wake->fired);
		if (fired || signal_pending(current))
			break;
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	wake->record->task = __arch_counter_get_cntvct();
	__set_current_state(TASK_RUNNING);

	/* Waits for the callback, which uses the stack. */
	hrtimer_cancel(&wake->timer);
	destroy_hrtimer_on_stack(&wake->timer);

	return fired ? 0 : -EINTR;
}

/* Somebody may take the CPU from a pinned program at any time, by hotplug or affinity. */
static int lull_wake_sleep(struct lull_wake_record *record, u64 delay_ns)
{
	struct lull_wake wake = { .task = current, .record = record };
	unsigned int cpu = raw_smp_processor_id();
	atomic_t *busy = per_cpu_ptr(&lull_wake_busy, cpu);
	int error;

	if (atomic_xchg(busy, 1))
		return -EBUSY;

	memset(record, 0, sizeof(*record));
	record->cpu = cpu;
	error = lull_wake_wait(&wake, delay_ns);
	if (!error && wake.cpu != cpu)
		error = -ENODEV;
	atomic_set(busy, 0);
	if (error)
		return error;

	if (lull_wake_has_firmware && record->flags & LULL_WAKE_SLEPT) {
		if (get_cpu() == cpu)
			lull_wake_ask_firmware(&wake);
		put_cpu();
	}

	return 0;
}

static ssize_t lull_wake_write(struct file *file, const char __user *from, size_t count,
			       loff_t *offset)
{
	struct lull_wake_file *wake = file->private_data;
	struct lull_wake_request request;
	int error;

	if (count != sizeof(request))
		return -EINVAL;
	if (copy_from_user(&request, from, sizeof(request)))
		return -EFAULT;
	if (!request.delay_ns || request.delay_ns > LULL_WAKE_MAX_NS)
		return -EINVAL;
	if (current->nr_cpus_allowed != 1)
		return -EINVAL;

	if (!mutex_trylock(&wake->lock))
		return -EBUSY;
	error = lull_wake_sleep(&wake->record, request.delay_ns);
	wake->recorded = !error;
	mutex_unlock(&wake->lock);

	return error ? error : sizeof(request);
}

static ssize_t lull_wake_read(struct file *file, char __user *to, size_t count, loff_t *offset)
{
	struct lull_wake_file *wake = file->private_data;
	ssize_t result = sizeof(wake->record);

	if (count < sizeof(wake->record))
		return -EINVAL;

	if (!mutex_trylock(&wake->lock))
		return -EBUSY;
	if (!wake->recorded)
		result = -ENODATA;
	else if (copy_to_user(to, &wake->record, sizeof(wake->record)))
		result = -EFAULT;
	mutex_unlock(&wake->lock);

	return result;
}

static int lull_wake_open(struct inode *inode, struct file *file)
{
	struct lull_wake_file *wake = kzalloc(sizeof(*wake), GFP_KERNEL);
	int error;

	if (!wake)
		return -ENOMEM;

	mutex_init(&wake->lock);
	error = lull_idle_watch(&wake->watcher);
	if (error) {
		kfree(wake);
		return error;
	}
	file->private_data = wake;

	return nonseekable_open(inode, file);
}

static int lull_wake_release(struct inode *inode, struct file *file)
{
	struct lull_wake_file *wake = file->private_data;

	lull_idle_unwatch(&wake->watcher);
	kfree(wake);
	return 0;
}

static const struct file_operations lull_wake_fops = {
	.owner = THIS_MODULE,
	.open = lull_wake_open,
	.release = lull_wake_release,
	.read = lull_wake_read,
	.write = lull_wake_write,
};

static int __init lull_wake_init(void)
{
	/* With EL2 the kernel's timer may be another than the virtual one. */
	if (is_hyp_mode_available())
		return 0;

	/* Elsewhere nobody may answer an SMC. */
	lull_wake_has_firmware = of_machine_is_compatible("lull,gem5-foundation");
	debugfs_create_file("wake", 0600, lull_debugfs, NULL, &lull_wake_fops);
	return 0;
}
device_initcall(lull_wake_init);
