# SPDX-License-Identifier: BSD-3-Clause
"""The application of the ESM experiments, by itself on QEMU."""

import json

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_a_seed_is_a_schedule(lull: Lull) -> None:
    play = "input-app --mode epoll --keys 1200 --moves 20 --windows 2 --window-ms 200"
    cut = "sed 's/.*hardware_ns\":\\([0-9]*\\),.*/\\1/' /out/events.jsonl"
    begun = "begun=$(sed 's/.*ordered_ns\":\\([0-9]*\\),.*/\\1/' /out/run.jsonl)"
    show = f"{begun}; for at in $({cut}); do echo $((at - begun)); done"
    ran = lull("boot", "-e", "qemu", "--exec", "".join(f"{play} --seed {seed}; {show}; echo;" for seed in (1, 1, 2)))
    assert ran.returncode == 0, ran.stderr
    one, again, other, *_ = [list(map(int, block.split())) for block in ran.stdout.split("\n\n")]
    # Six warm-up events, then 4 keys and 4 motions in each of two windows.
    assert len(one) == len(again) == len(other) in (6 + 23, 6 + 24)
    # The second window is of seed + 1, as the first one of the other run is.
    assert max(abs(a - b) for a, b in zip(one, again, strict=True)) < 100_000
    first, second = ([at % 200_000_000 for at in run[6:]] for run in (one, other))
    assert abs(first[12] - second[0]) < 100_000
    assert max(abs(a - b) for a, b in zip(first, second, strict=True)) > 1_000_000


def test_bad_words_to_the_application_change_nothing(lull: Lull) -> None:
    refused = {
        "input-app": "usage: input-app",
        "input-app --mode push": "usage: input-app",
        "input-app --mode esm --listen none": "usage: input-app",
        "input-app --mode pull --delay-us 0": "input-app: '0' is not a number from 1 to 100000000",
        "input-app --mode esm --dispatch later": "input-app: dispatch: Invalid argument",
        "input-app --mode epoll --cpu 60": "input-app: the CPU: Invalid argument",
    }
    script = "".join(f'said=$({command} 2>&1) && echo accepted; echo "$said" | head -n 1\n' for command in refused)
    ran = lull("boot", "-e", "qemu", "--exec", script)
    said = ran.stdout.splitlines()
    assert [line[: len(sentence)] for line, sentence in zip(said, refused.values(), strict=True)] == list(
        refused.values()
    )


def test_the_record_says_what_was_played(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "input-app --mode esm --keys 600 --windows 2; cat /out/run.jsonl")
    assert ran.returncode == 0, ran.stderr
    line = json.loads(ran.stdout)
    assert (line["mode"], line["lost"], line["late"]) == ("esm", 0, 0)
    assert line["handled"] == line["planned"] == 2 * 2 * 10 + 6
    assert line["elapsed_ns"] > 2_200_000_000
    assert line["cpu_ns"] < line["elapsed_ns"] / 100
