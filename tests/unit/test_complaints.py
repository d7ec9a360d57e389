# SPDX-License-Identifier: BSD-3-Clause
"""Each checker's complaint is known for one; what a healthy kernel says is not."""

import pytest

from tests.complaints import complaints


@pytest.mark.parametrize(
    "line",
    [
        "[   21.004001] rcu: INFO: rcu_preempt self-detected stall on CPU",
        "[   21.004001] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "[   21.004001] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... } 21 jiffies s: 13",
        "[  245.120003] INFO: task lull-selftest:97 blocked for more than 120 seconds.",
        "[   44.000120] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [esm:101]",
        "[   30.512204] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!",
        "[    4.120001] BUG: KASAN: slab-use-after-free in esm_interpret+0x20/0x110",
        "[    4.120001] BUG: KCSAN: data-race in esm_stop / esm_deliver",
        "[    4.120001] BUG: sleeping function called from invalid context at kernel/locking/rtmutex_api.c:162",
        "[    4.120001] BUG: spinlock bad magic on CPU#0, swapper/0/1",
        "[    4.120001] BUG: scheduling while atomic: esm/101/0x00000002",
        "[    4.120001] WARNING: possible circular locking dependency detected",
        "[    4.120001] WARNING: possible recursive locking detected",
        "[    4.120001] WARNING: possible irq lock inversion dependency detected",
        "[    4.120001] WARNING: suspicious RCU usage",
        "[    4.120001] WARNING: bad unlock balance detected!",
        "[    4.120001] WARNING: CPU: 0 PID: 1 at kernel/irq/manage.c:776 enable_irq+0x20/0x80",
        "[    4.120001] [ BUG: Invalid wait context ]",
        "[    4.120001] DEBUG_LOCKS_WARN_ON(depth <= 0)",
        "[    4.120001] refcount_t: underflow; use-after-free.",
        "[    4.120001] Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP",
        "[    4.120001] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010",
    ],
)
def test_a_complaint_is_found(line: str) -> None:
    before, after = "[    1.000000] smp: Brought up 1 node, 3 CPUs", "[    9.000000] reboot: Power down"
    assert complaints(f"{before}\n{line}\n{after}\n") == [line]


@pytest.mark.parametrize(
    "line",
    [
        "[    0.000000] rcu: Preemptible hierarchical RCU implementation.",
        "[    0.000000] rcu: \tRCU debug extended QS entry/exit.",
        "[    0.000000] rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.",
        "[    0.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
        "[    0.000000] kasan: KernelAddressSanitizer initialized (generic)",
        "[    0.000000] kcsan: enabled early",
        "[    0.100000] kcsan: selftest: 3/3 tests passed",
        "[    0.300000]     ok 1 lull_test_random",
        "[    0.300000] workqueue: round-robin CPU selection forced, expect performance impact",
        "[    2.000000] lull: events: schedule refused, line 2: time goes backwards",
    ],
)
def test_what_a_healthy_kernel_says_is_none(line: str) -> None:
    assert complaints(line) == []
