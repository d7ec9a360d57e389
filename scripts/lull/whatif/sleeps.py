# SPDX-License-Identifier: BSD-3-Clause
"""A choice of an idle state that a trace tells."""

from dataclasses import dataclass

from lull.whatif.library import NEVER, Knowledge


@dataclass(slots=True)
class ChosenSleep:
    """A choice, what it was made by, and how the sleep went."""

    cpu: int
    now: int
    """The idle loop's begin, or the end of the last interrupt in it."""
    start: int
    """The event of entering the state."""
    state: int
    tick: int
    hrtimer: int
    wheel: int
    qos: int
    stopped: bool
    """The tick was stopped before the choice."""
    stops: bool = False
    """The tick was stopped after the choice."""
    wheel_known: bool = False
    """The tick's timer said when the wheel is due."""
    end: int = NEVER
    refused: bool = False
    got_tick: bool = False
    """The tick's handler ran at the end of the sleep."""
    leaves: bool = False
    """The CPU left its idle loop for a task after the sleep."""
    timer: int = NEVER
    """When the timer was due whose handler ran first after the sleep; NEVER if another interrupt ended it."""
    sent_by: int = -1
    """The CPU that sent the IPI that ended the sleep."""
    sent_at: int = NEVER
    after_task: bool = False
    """The choice followed a task, and not an interrupt in the idle loop."""
    restarted: bool = False
    """The tick was started again after the sleep."""
    left_after: int = NEVER
    """From the end of the last interrupt in the idle loop to the task that ran after the sleep; NEVER without both."""
    fixed_hrtimer: int = NEVER
    """As `hrtimer`, of the timers that do not drift."""
    set_by: int = 0
    """The drifting timer that ended the sleep, alone or with the tick."""
    set_at: int = NEVER
    """The entry of the sleep after which a program set this timer; NEVER if no drifting timer ended the sleep."""
    beside: int = NEVER
    """When another timer was due whose handler ran in the same interrupt as the tick's; NEVER if there was none."""
    handler: int = 0
    """The time of ticks' handlers from the end of the sleep to the next entry, each up to the tick's next start."""
    softirqs: int = 0
    """The same of what followed such an interrupt, but for timers of the wheel."""
    began: int | None = None
    """When the idle loop began, where that is told better than by `now`."""

    @property
    def chosen_at(self) -> int:
        """The time from which the governor counts."""
        return self.now if self.began is None else self.began

    def knowledge(self, wheel: int, begin: int | None = None) -> Knowledge:
        """What the governor chose by. `wheel`: when the wheel is taken to be due; `begin`: when the idle loop began, if
        not as told."""
        began = self.chosen_at if begin is None else begin
        return Knowledge(self.start, began, self.tick, self.hrtimer, wheel, self.qos, self.stopped)
