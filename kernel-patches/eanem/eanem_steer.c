// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steering: the network stack's work goes to chosen CPUs, and their frequency is held. What is
 * moved: the interrupts of network devices, and with them the softirqs; packets that came elsewhere
 * (RPS); the threads of threaded NAPI, and those that the caller names. Each is remembered as it
 * was, and comes back when the holder closes its netlink socket or the system is turned off. If one
 * cannot be moved, all come back, and the caller gets the error.
 */
#include <linux/cleanup.h>
#include <linux/cpufreq.h>
#include <linux/cpuset.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/pid.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/netdev_rx_queue.h>
#include <net/rps.h>

#include "../../../net/core/net-sysfs.h"
#include "eanem.h"
#include "eanem_sock.h"

/**
 * struct lull_eanem_moved - something that was moved, and how it was before
 * @node: in lull_eanem_moved
 * @irq: an interrupt; 0 if it is something else
 * @task: a thread; NULL if it is something else
 * @ifindex: otherwise: a device's receive queues
 * @queue: which of them
 * @before: its CPUs
 * @allowed: for a thread: those of its cpuset, when it comes back
 */
struct lull_eanem_moved {
	struct list_head node;
	unsigned int irq;
	struct task_struct *task;
	int ifindex;
	unsigned int queue;
	struct cpumask before;
	struct cpumask allowed;
};

/* Protects all of this; rtnl nests inside. */
static DEFINE_MUTEX(lull_eanem_steer_mutex);
static LIST_HEAD(lull_eanem_moved);
static struct net *lull_eanem_net;
static u32 lull_eanem_holder;
static struct cpufreq_policy *lull_eanem_policy;
static struct freq_qos_request lull_eanem_least;
static struct freq_qos_request lull_eanem_most;

static struct lull_eanem_moved *lull_eanem_move(void)
{
	struct lull_eanem_moved *moved = kzalloc(sizeof(*moved), GFP_KERNEL);

	if (moved)
		list_add(&moved->node, &lull_eanem_moved);
	return moved;
}

/* -EOPNOTSUPP if the interrupt stays where it is, whatever one asks for. */
static int lull_eanem_move_irq(unsigned int irq, const struct cpumask *cpus)
{
	struct irq_data *data = irq_get_irq_data(irq);
	struct lull_eanem_moved *moved;

	if (!data || !irq_can_set_affinity(irq) || irqd_affinity_is_managed(data))
		return -EOPNOTSUPP;
	moved = lull_eanem_move();
	if (!moved)
		return -ENOMEM;
	moved->irq = irq;
	cpumask_copy(&moved->before, irq_data_get_affinity_mask(data));
	return irq_set_affinity(irq, cpus);
}

/* Takes the reference. */
static int lull_eanem_move_task(struct task_struct *task, const struct cpumask *cpus)
{
	struct lull_eanem_moved *moved = lull_eanem_move();

	if (!moved) {
		put_task_struct(task);
		return -ENOMEM;
	}
	moved->task = task;
	/* What cpus_ptr names is one CPU while the task must not migrate. */
	cpumask_copy(&moved->before, &task->cpus_mask);
	return set_cpus_allowed_ptr(task, cpus);
}

static int lull_eanem_set_rps(struct netdev_rx_queue *queue, const struct cpumask *cpus)
{
	cpumask_var_t mask;
	int error;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(mask, cpus);
	error = netdev_rx_queue_set_rps_mask(queue, mask);
	free_cpumask_var(mask);
	return error;
}

static int lull_eanem_move_queue(struct net_device *dev, unsigned int index,
				 const struct cpumask *cpus)
{
	struct netdev_rx_queue *queue = &dev->_rx[index];
	struct lull_eanem_moved *moved = lull_eanem_move();
	const struct rps_map *map;

	if (!moved)
		return -ENOMEM;
	moved->ifindex = dev->ifindex;
	moved->queue = index;
	scoped_guard(rcu) {
		map = rcu_dereference(queue->rps_map);
		for (unsigned int i = 0; map && i < map->len; i++)
			cpumask_set_cpu(map->cpus[i], &moved->before);
	}
	return lull_eanem_set_rps(queue, cpus);
}

/* One of a device's interrupts, by its number; 0 or less if there are not so many. */
static int lull_eanem_irq(const struct net_device *dev, unsigned int number)
{
	struct pci_dev *pci = NULL;

	if (dev->dev.parent && dev_is_pci(dev->dev.parent))
		pci = to_pci_dev(dev->dev.parent);
	if (pci && (pci->msi_enabled || pci->msix_enabled))
		return pci_irq_vector(pci, number);
	if (number)
		return 0;
	return dev->irq > 0 || !pci ? dev->irq : pci->irq;
}

/* All of a device's interrupts. -EOPNOTSUPP if it has none, or one that stays where it is. */
static int lull_eanem_move_irqs(struct net_device *dev, const struct cpumask *cpus)
{
	int error = -EOPNOTSUPP, irq;

	for (unsigned int i = 0; (irq = lull_eanem_irq(dev, i)) > 0; i++) {
		error = lull_eanem_move_irq(irq, cpus);
		if (error)
			break;
	}

	return error;
}

/* Packets of a device whose interrupts move are where they should be if there is one CPU. */
static int lull_eanem_move_device(struct net_device *dev, const struct cpumask *cpus)
{
	int error = lull_eanem_move_irqs(dev, cpus);
	struct napi_struct *napi;

	if (error && error != -EOPNOTSUPP)
		return error;
	if (error || cpumask_weight(cpus) > 1) {
		for (unsigned int i = 0; i < dev->real_num_rx_queues; i++) {
			error = lull_eanem_move_queue(dev, i, cpus);
			if (error)
				return error;
		}
	}
	list_for_each_entry(napi, &dev->napi_list, dev_list) {
		error = napi->thread ?
			lull_eanem_move_task(get_task_struct(napi->thread), cpus) : 0;
		if (error)
			return error;
	}

	return 0;
}

static int lull_eanem_move_devices(struct net *net, const struct cpumask *cpus)
{
	struct net_device *dev;
	int error;

	for_each_netdev(net, dev) {
		error = lull_eanem_move_device(dev, cpus);
		if (error)
			return error;
	}

	return 0;
}

static void lull_eanem_move_back(struct lull_eanem_moved *moved)
{
	struct net_device *dev;

	/* If none of its CPUs is online any more, it may go to any that is. */
	if (moved->irq) {
		if (irq_set_affinity(moved->irq, &moved->before))
			irq_set_affinity(moved->irq, cpu_online_mask);
	} else if (moved->task) {
		/* Its cpuset may be another one by now. */
		cpuset_cpus_allowed(moved->task, &moved->allowed);
		cpumask_and(&moved->before, &moved->before, &moved->allowed);
		if (set_cpus_allowed_ptr(moved->task, &moved->before)) {
			cpumask_and(&moved->allowed, &moved->allowed, cpu_online_mask);
			set_cpus_allowed_ptr(moved->task, &moved->allowed);
		}
		put_task_struct(moved->task);
	} else {
		dev = __dev_get_by_index(lull_eanem_net, moved->ifindex);
		if (dev && moved->queue < dev->real_num_rx_queues)
			lull_eanem_set_rps(&dev->_rx[moved->queue], &moved->before);
	}
}

static void lull_eanem_release_frequency(void)
{
	if (!lull_eanem_policy)
		return;
	freq_qos_remove_request(&lull_eanem_most);
	freq_qos_remove_request(&lull_eanem_least);
	/* So that whoever asks for the limits from now on gets those of others. */
	flush_work(&lull_eanem_policy->update);
	cpufreq_cpu_put(lull_eanem_policy);
	lull_eanem_policy = NULL;
}

static void lull_eanem_back(void)
{
	struct lull_eanem_moved *moved, *next;

	lockdep_assert_held(&lull_eanem_steer_mutex);
	rtnl_lock();
	/* The last one first: a thread that was named twice is as before the first time. */
	list_for_each_entry_safe(moved, next, &lull_eanem_moved, node) {
		lull_eanem_move_back(moved);
		list_del(&moved->node);
		kfree(moved);
	}
	rtnl_unlock();
	lull_eanem_release_frequency();
	WRITE_ONCE(lull_eanem_holder, 0);
	lull_eanem_net = NULL;
}

/* The cluster of the first of the CPUs. */
static int lull_eanem_hold_frequency(const struct cpumask *cpus, unsigned int khz)
{
	struct cpufreq_policy *policy = cpufreq_cpu_get(cpumask_first(cpus));
	int error;

	if (!policy)
		return -EOPNOTSUPP;
	error = -ERANGE;
	if (khz < policy->cpuinfo.min_freq || khz > policy->cpuinfo.max_freq)
		goto put;
	error = freq_qos_add_request(&policy->constraints, &lull_eanem_least, FREQ_QOS_MIN, khz);
	if (error < 0)
		goto put;
	error = freq_qos_add_request(&policy->constraints, &lull_eanem_most, FREQ_QOS_MAX, khz);
	if (error < 0) {
		freq_qos_remove_request(&lull_eanem_least);
		goto put;
	}
	lull_eanem_policy = policy;
	return 0;

put:
	cpufreq_cpu_put(policy);
	return error;
}

static int lull_eanem_move_threads(const struct cpumask *cpus, const u32 *threads,
				   unsigned int count)
{
	struct task_struct *task;
	int error;

	for (unsigned int i = 0; i < count; i++) {
		task = find_get_task_by_vpid(threads[i]);
		if (!task)
			return -ESRCH;
		/* As sched_setaffinity() says: a thread of a CPU is wrong on any other. */
		if (task->flags & PF_NO_SETAFFINITY) {
			put_task_struct(task);
			return -EINVAL;
		}
		error = lull_eanem_move_task(task, cpus);
		if (error)
			return error;
	}

	return 0;
}

/**
 * lull_eanem_steer - bring the network stack's work to some CPUs
 * @net: the namespace of the devices
 * @holder: the netlink socket for as long as which it stays there
 * @cpus: the CPUs; none to bring everything back
 * @khz: the frequency of their cluster; 0 to leave it to the governor
 * @threads: threads that come along, as the caller numbers them
 * @count: how many
 *
 * Return: 0; -ENODEV if the system is off; -EBUSY if somebody else steers; -EINVAL if a CPU is not
 * online, or if a thread is bound to its CPU by the kernel; -EOPNOTSUPP or -ERANGE if there is no
 * such frequency; -ESRCH if there is no such thread; -ENOMEM; or what an interrupt or a thread says
 * that cannot be moved. With -ENODEV, -EBUSY or an offline CPU nothing changes. With any other
 * error everything is back where it was before all.
 */
int lull_eanem_steer(struct net *net, u32 holder, const struct cpumask *cpus, unsigned int khz,
		     const u32 *threads, unsigned int count)
{
	int error;

	if (!cpumask_subset(cpus, cpu_online_mask))
		return -EINVAL;

	guard(mutex)(&lull_eanem_steer_mutex);
	/* Whoever turns it off takes everything back after this. */
	if (!static_branch_unlikely(&lull_eanem_key))
		return -ENODEV;
	if (lull_eanem_holder && (lull_eanem_holder != holder || lull_eanem_net != net))
		return -EBUSY;
	if (lull_eanem_holder)
		lull_eanem_back();
	if (cpumask_empty(cpus)) {
		lull_eanem_follow(-1);
		return 0;
	}

	WRITE_ONCE(lull_eanem_holder, holder);
	lull_eanem_net = net;
	rtnl_lock();
	error = lull_eanem_move_devices(net, cpus);
	rtnl_unlock();
	if (!error)
		error = lull_eanem_move_threads(cpus, threads, count);
	if (!error && khz)
		error = lull_eanem_hold_frequency(cpus, khz);
	if (error)
		lull_eanem_back();
	/* Not in between, which would wake the CPU that turned the system on. */
	lull_eanem_follow(error ? -1 : (int)cpumask_first(cpus));

	return error;
}

/**
 * lull_eanem_steer_back - a netlink socket has gone
 * @net: its namespace
 * @holder: the socket; what another one steers stays
 */
void lull_eanem_steer_back(struct net *net, u32 holder)
{
	/* A holder has steered before it goes. All others need not wait for the mutex. */
	if (!holder || READ_ONCE(lull_eanem_holder) != holder)
		return;

	guard(mutex)(&lull_eanem_steer_mutex);
	if (lull_eanem_holder != holder || lull_eanem_net != net)
		return;
	lull_eanem_back();
	lull_eanem_follow(-1);
}

/* The system is being turned off, so that the interval's timer stays where it is. */
void lull_eanem_steer_all_back(void)
{
	guard(mutex)(&lull_eanem_steer_mutex);
	if (lull_eanem_holder)
		lull_eanem_back();
}
