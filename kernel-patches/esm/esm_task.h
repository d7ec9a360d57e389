/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ESM_TASK_H
#define _LULL_ESM_TASK_H

#include <linux/compiler.h>
#include <linux/sched.h>

#ifdef CONFIG_LULL_ESM

void esm_application_end(void);

/* A child receives nothing until it registers itself. */
static inline void esm_task_fork(struct task_struct *child)
{
	child->esm = NULL;
}

/* The calling task exits, or becomes another program. */
static inline void esm_task_end(void)
{
	if (unlikely(current->esm))
		esm_application_end();
}

#else

static inline void esm_task_fork(struct task_struct *child)
{
}

static inline void esm_task_end(void)
{
}

#endif /* CONFIG_LULL_ESM */

#endif /* _LULL_ESM_TASK_H */
