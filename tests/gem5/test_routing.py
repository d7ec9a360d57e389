# SPDX-License-Identifier: BSD-3-Clause
"""Events that nobody listens to cost the main cores nothing: the shadow takes them, and only the shadow wakes."""

from dataclasses import dataclass

import pytest

from lull.platform.load import load_platform
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

EVENTS = 40
PERIOD_US = 10_000
MARGIN_US = 20_000
"""Before the first event and after the last, so that all of them find the machine asleep."""
WINDOW_S = (EVENTS * PERIOD_US + 2 * MARGIN_US) / 1e6

TOLERANCE = 0.005
"""Of the window: how much the residency in the deepest state may differ."""

SCRIPT = f"""
set -e
cpus=/sys/devices/system/cpu lull=/sys/kernel/lull
last=$(($(nproc --all) - 1))
irq=$(awk 'NR > 1 {{ print $1; exit }}' $lull/routing/interrupts)

# Only the deepest state, so that windows do not differ by what a governor guesses.
lull-policy idle.deepest=C4
for cpu in $(seq 0 $last); do
	for file in $cpus/cpu$cpu/cpuidle/state*/disable; do echo 1 >$file; done
	echo 0 >$file
done

# A CPU that sleeps through counts its sleep when it wakes: wake each, then read.
wake() {{
	for cpu in $(seq 0 $last); do taskset -c $cpu true; done
}}
count() {{
	for cpu in $(seq 0 $last); do
		for file in $cpus/cpu$cpu/cpuidle/state*/usage; do :; done
		handled=$(cut -d, -f$((cpu + 1)) /sys/kernel/irq/$irq/per_cpu_count)
		echo "$1 $2 $cpu $(cat $file) $(cat ${{file%usage}}time) $handled"
	done
}}
window() {{
	wake
	count $1 before
	echo $2 >$lull/events/enabled
	sleep {WINDOW_S}
	echo 0 >$lull/events/enabled
	wake
	count $1 after
}}

printf 'periodic {MARGIN_US} {PERIOD_US} {EVENTS} 1 30 1\\nend\\n' >$lull/events/schedule
echo $irq consumer=0 >$lull/routing/interrupts
echo shadow-when-asleep >$lull/routing/policy
echo 1 >$lull/routing/enabled
taskset -p -c 0 $$ >/dev/null
sleep 0.02
window quiet 0
window routed 1
echo 0 >$lull/routing/enabled
window unrouted 1
"""


@dataclass(frozen=True)
class Use:
    """What a CPU counted: entries into its deepest state, the time there, event interrupts."""

    entries: int
    slept_us: int
    events: int

    def since(self, before: "Use") -> "Use":
        return Use(self.entries - before.entries, self.slept_us - before.slept_us, self.events - before.events)

    @property
    def residency(self) -> float:
        return self.slept_us / (WINDOW_S * 1e6)


def _windows(output: str) -> dict[str, list[Use]]:
    """By window and CPU, what was counted in it."""
    counts = {}
    for line in output.splitlines():
        window, when, cpu, entries, slept_us, events = line.split()
        counts[window, when, int(cpu)] = Use(int(entries), int(slept_us), int(events))
    found: dict[str, list[Use]] = {}
    for (window, when, number), use in counts.items():
        if when == "after":
            found.setdefault(window, []).append(use.since(counts[window, "before", number]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["atomic", "detailed"])
@pytest.mark.parametrize("name", ["tiny", "tegra-k1"])
def test_events_nobody_wants_wake_only_the_shadow(lull: Lull, name: str, cpu: str) -> None:
    ran = lull("boot", "-e", "gem5", "-p", name, "--cpu", cpu, "--exec", SCRIPT)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    windows = _windows(ran.stdout)
    shadow = load_platform(name).cpu_count - 1
    quiet, routed, unrouted = windows["quiet"], windows["routed"], windows["unrouted"]
    assert len(quiet) == len(routed) == len(unrouted) == shadow + 1, ran.stdout

    assert sum(use.events for use in quiet) == 0
    assert [use.events for use in routed] == [0] * shadow + [EVENTS]
    # What wakes the shadow in a quiet window may here fall together with an event.
    assert routed[shadow].entries >= EVENTS
    assert routed[shadow].entries - quiet[shadow].entries > EVENTS // 2
    for number in range(shadow):
        assert quiet[number].residency > 0.9, f"CPU {number} does not sleep, so that nothing is shown\n{ran.stdout}"
        assert abs(routed[number].residency - quiet[number].residency) <= TOLERANCE, f"CPU {number}\n{ran.stdout}"
        woken = routed[number].entries - quiet[number].entries
        assert woken <= EVENTS // 10, f"CPU {number} woke for events\n{ran.stdout}"

    assert unrouted[0].events == EVENTS, "without routing they are the consumer's"
    assert unrouted[0].entries - quiet[0].entries >= EVENTS
