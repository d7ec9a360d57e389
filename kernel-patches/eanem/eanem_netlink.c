// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family of eanem_abi.h. Everything is about the asker's network namespace. Who
 * has CAP_NET_ADMIN in the initial user namespace is root here, and so was whoever opened the
 * socket; others see and change what is their own process's.
 */
#include <linux/cpumask.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "eanem.h"
#include "eanem_sock.h"

/* The longest text of CPUs. */
#define LULL_EANEM_TEXT		256

static struct genl_family lull_eanem_family;

static const struct nla_policy lull_eanem_sockets_policy[] = {
	[LULL_EANEM_A_BUSY] = { .type = NLA_FLAG },
};

static const struct nla_policy lull_eanem_target_policy[] = {
	[LULL_EANEM_A_ID] = { .type = NLA_U64 },
	[LULL_EANEM_A_PID] = { .type = NLA_U32 },
	[LULL_EANEM_A_TARGET] = { .type = NLA_U64 },
};

static const struct nla_policy lull_eanem_steer_policy[] = {
	[LULL_EANEM_A_CPUS] = { .type = NLA_NUL_STRING, .len = LULL_EANEM_TEXT },
	[LULL_EANEM_A_KHZ] = { .type = NLA_U32 },
	[LULL_EANEM_A_THREADS] = {
		.type = NLA_BINARY,
		.len = LULL_EANEM_THREADS_MOST * sizeof(u32),
	},
};

/**
 * struct lull_eanem_dump - a dump under way
 * @after: the last socket or CPU that is in it
 * @owner: the process that asked, or NULL for root; only to compare with
 * @busy: only sockets that received something lately
 */
struct lull_eanem_dump {
	u64 after;
	struct pid *owner;
	bool busy;
};

/**
 * struct lull_eanem_page - a part of a dump
 * @skb: where records go
 * @cb: the dump
 */
struct lull_eanem_page {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static bool lull_eanem_is_root(struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_NET_ADMIN);
}

static int lull_eanem_put(struct sk_buff *skb, const struct netlink_callback *cb, int command,
			  int attribute, size_t size, const void *record)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 &lull_eanem_family, NLM_F_MULTI, command);

	if (!head)
		return -EMSGSIZE;
	if (nla_put(skb, attribute, size, record)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);

	return 0;
}

static int lull_eanem_sockets_start(struct netlink_callback *cb)
{
	struct lull_eanem_dump *dump = (struct lull_eanem_dump *)cb->ctx;

	if (!static_branch_unlikely(&lull_eanem_key))
		return -ENODEV;
	dump->after = 0;
	/* Who is not root gets its own process's alone. */
	dump->owner = lull_eanem_is_root(cb->skb) ? NULL : get_pid(task_tgid(current));
	dump->busy = genl_info_dump(cb)->attrs[LULL_EANEM_A_BUSY];
	return 0;
}

static int lull_eanem_sockets_done(struct netlink_callback *cb)
{
	put_pid(((struct lull_eanem_dump *)cb->ctx)->owner);
	return 0;
}

/* False if there is no room left. */
static bool lull_eanem_put_socket(struct lull_eanem_sock *es, void *with)
{
	const struct lull_eanem_page *page = with;
	const struct lull_eanem_dump *dump = (struct lull_eanem_dump *)page->cb->ctx;
	struct lull_eanem_socket record;

	if (sock_net(es->sk) != sock_net(page->skb->sk) ||
	    (dump->owner && es->owner != dump->owner))
		return true;
	lull_eanem_describe(es, &record);
	record.pid = pid_vnr(es->owner);
	record.uid = from_kuid_munged(current_user_ns(), READ_ONCE(es->sk->sk_uid));
	return !lull_eanem_put(page->skb, page->cb, LULL_EANEM_COMMAND_SOCKETS,
			       LULL_EANEM_A_SOCKET, sizeof(record), &record);
}

static int lull_eanem_sockets_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct lull_eanem_dump *dump = (struct lull_eanem_dump *)cb->ctx;
	struct lull_eanem_page page = { .skb = skb, .cb = cb };

	/* The owner may have executed another program, whose sockets are for nobody else. */
	if (dump->owner && dump->owner != task_tgid(current))
		return -EPERM;

	lull_eanem_visit(&dump->after, dump->busy, lull_eanem_put_socket, &page);
	return skb->len;
}

static int lull_eanem_cpus_start(struct netlink_callback *cb)
{
	if (!static_branch_unlikely(&lull_eanem_key))
		return -ENODEV;
	return 0;
}

static int lull_eanem_cpus_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct lull_eanem_dump *dump = (struct lull_eanem_dump *)cb->ctx;
	struct lull_eanem_cpu record;
	unsigned int cpu;

	spin_lock_bh(&lull_eanem_lock);
	/* The number of the next, so that 0 is the beginning. */
	for (cpu = dump->after; cpu < nr_cpu_ids; cpu = dump->after) {
		if (cpu_possible(cpu)) {
			lull_eanem_cpu_times(cpu, &record);
			if (lull_eanem_put(skb, cb, LULL_EANEM_COMMAND_CPUS, LULL_EANEM_A_CPU,
					   sizeof(record), &record))
				break;
		}
		dump->after++;
	}
	spin_unlock_bh(&lull_eanem_lock);

	return skb->len;
}

static int lull_eanem_target_command(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[LULL_EANEM_A_ID], *pid = info->attrs[LULL_EANEM_A_PID];
	bool root = lull_eanem_is_root(skb);
	struct pid *process;
	u64 target;
	int error;

	if (!static_branch_unlikely(&lull_eanem_key))
		return -ENODEV;
	if (!info->attrs[LULL_EANEM_A_TARGET] || !id == !pid)
		return -EINVAL;
	target = nla_get_u64(info->attrs[LULL_EANEM_A_TARGET]);
	/* More than any link has. */
	if (target > 1ULL << 40)
		return -ERANGE;
	if (id)
		return lull_eanem_target_socket(genl_info_net(info),
						root ? NULL : task_tgid(current),
						nla_get_u64(id), target);

	process = find_get_pid(nla_get_u32(pid));
	if (!process)
		return -ESRCH;
	error = -EPERM;
	if (root || process == task_tgid(current)) {
		rcu_read_lock();
		error = pid_task(process, PIDTYPE_TGID) ? 0 : -ESRCH;
		rcu_read_unlock();
		if (!error)
			error = lull_eanem_target_process(process, target,
							  root ? 0 : current->self_exec_id);
	}
	put_pid(process);

	return error;
}

static int lull_eanem_steer_command(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *threads = info->attrs[LULL_EANEM_A_THREADS];
	struct nlattr *text = info->attrs[LULL_EANEM_A_CPUS];
	struct nlattr *khz = info->attrs[LULL_EANEM_A_KHZ];
	cpumask_var_t cpus;
	int error;

	if (!static_branch_unlikely(&lull_eanem_key))
		return -ENODEV;
	if (!lull_eanem_is_root(skb))
		return -EPERM;
	if (!text || (threads && nla_len(threads) % sizeof(u32)))
		return -EINVAL;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	error = cpulist_parse(nla_data(text), cpus);
	/* A number of more than 32 bits is too large, too. */
	if (error == -EOVERFLOW)
		error = -ERANGE;
	if (!error)
		error = lull_eanem_steer(genl_info_net(info), info->snd_portid, cpus,
					 khz ? nla_get_u32(khz) : 0,
					 threads ? nla_data(threads) : NULL,
					 threads ? nla_len(threads) / sizeof(u32) : 0);
	free_cpumask_var(cpus);

	return error;
}

static const struct genl_split_ops lull_eanem_ops[] = {
	{
		.cmd = LULL_EANEM_COMMAND_SOCKETS,
		.start = lull_eanem_sockets_start,
		.dumpit = lull_eanem_sockets_dump,
		.done = lull_eanem_sockets_done,
		.policy = lull_eanem_sockets_policy,
		.maxattr = ARRAY_SIZE(lull_eanem_sockets_policy) - 1,
		.flags = GENL_CMD_CAP_DUMP,
	},
	{
		.cmd = LULL_EANEM_COMMAND_CPUS,
		.start = lull_eanem_cpus_start,
		.dumpit = lull_eanem_cpus_dump,
		.flags = GENL_CMD_CAP_DUMP | GENL_ADMIN_PERM,
	},
	{
		.cmd = LULL_EANEM_COMMAND_TARGET,
		.doit = lull_eanem_target_command,
		.policy = lull_eanem_target_policy,
		.maxattr = ARRAY_SIZE(lull_eanem_target_policy) - 1,
		.flags = GENL_CMD_CAP_DO,
	},
	{
		.cmd = LULL_EANEM_COMMAND_STEER,
		.doit = lull_eanem_steer_command,
		.policy = lull_eanem_steer_policy,
		.maxattr = ARRAY_SIZE(lull_eanem_steer_policy) - 1,
		.flags = GENL_CMD_CAP_DO,
	},
};

static struct genl_family lull_eanem_family __ro_after_init = {
	.name = LULL_EANEM_FAMILY,
	.version = LULL_EANEM_VERSION,
	.netnsok = true,
	.split_ops = lull_eanem_ops,
	.n_split_ops = ARRAY_SIZE(lull_eanem_ops),
};

/* Whoever steers has gone, or has closed its socket. */
static int lull_eanem_notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC)
		lull_eanem_steer_back(notify->net, notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block lull_eanem_notifier = { .notifier_call = lull_eanem_notify };

int __init lull_eanem_netlink_init(void)
{
	int error = genl_register_family(&lull_eanem_family);

	if (error)
		return error;
	error = netlink_register_notifier(&lull_eanem_notifier);
	if (error)
		genl_unregister_family(&lull_eanem_family);
	return error;
}

void __init lull_eanem_netlink_exit(void)
{
	netlink_unregister_notifier(&lull_eanem_notifier);
	genl_unregister_family(&lull_eanem_family);
}
