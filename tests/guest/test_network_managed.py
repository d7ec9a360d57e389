# SPDX-License-Identifier: BSD-3-Clause
"""EANeM on the network card: what is steered and comes back, and peers that stop, reset or flood while it manages."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Lull
from tests.guest.test_race_flavour import complaints_in

pytestmark = pytest.mark.guest

FLAVOURS = ["default", *(pytest.param(name, marks=pytest.mark.slow) for name in ("debug", "race"))]
"""The kernel's flavours. Those with checkers are slow, so that bandwidths are not judged there."""

KBIT_S = 20000
MODEL = """\
cluster little 0 4 {alpha} 0 0 0.09 0
cluster big 4 4 {alpha} 0 0 0.31 0
opp little 200 900
opp little 1400 1275
opp big 200 900
opp big 2000 1312
"""
WEAK, STRONG = 1500, 1000000
"""Packets/s of a core at 1 GHz: 20 Mbit/s need two little cores of the first kind, or one of the second."""

DECIDED = """
# Until the manager has decided, and the kernel has done it. A slow kernel begins within an interval, and is then
# given other cores once its traffic is all there.
decided() {
    for try in $(seq 200); do
        grep -q 'traffic began' $1 && break
        sleep 0.02
    done
    sleep 0.5
    cat $1 >&2
}
"""
STEERED = (
    DECIDED
    + """
echo 1 >/sys/kernel/lull/eanem/enabled
echo 1 >/sys/class/net/eth0/threaded
ping -q -c 2 -i 0.1 10.0.0.2 >/dev/null

# The interrupt, RPS and the threads of the card, and a name for the moment.
show() {
    echo "$1"
    irq=$(sed -n 's/^ *\\([0-9]*\\):.*eth0.*/\\1/p' /proc/interrupts)
    cat /proc/irq/$irq/smp_affinity_list /sys/class/net/eth0/queues/rx-0/rps_cpus
    for task in /proc/[0-9]*; do
        case $(cat $task/comm 2>/dev/null) in
        napi/eth0*) taskset -p ${task#/proc/} | sed 's/.*: //' ;;
        esac
    done
}
show before
for how in kill stop off; do
    model=/model.weak
    [ $how = off ] && model=/model.strong
    eanemd --model $model --interval-us 20000 >/out/$how.jsonl 2>/out/$how.txt &
    daemon=$!
    # Far longer than show() takes in a kernel with checkers: a load that has ended steers nothing.
    eanem-load --phases 0:KBIT_S --interval-us 20000 --settle 0 --intervals 1000 --steer 0 &
    load=$!
    decided /out/$how.jsonl
    show "steered $how"
    case $how in
    kill) killall -9 eanemd ;;
    stop) kill $daemon ;;
    off) echo 0 >/sys/kernel/lull/eanem/enabled ;;
    esac
    wait $daemon
    show "after $how"
    kill $load
    wait $load || true
done
""".replace("KBIT_S", str(KBIT_S))
)


@dataclass(frozen=True)
class Steering:
    irq: str
    rps: int
    napi: tuple[int, ...]


def _steerings(text: str) -> dict[str, Steering]:
    """By the name of the moment. The numbers are masks of CPUs."""
    found = {}
    for name, body in re.findall(r"^(before|steered \w+|after \w+)\n((?:[0-9a-f,-]+\n)+)", text, re.MULTILINE):
        irq, rps, *napi = body.split()
        found[name] = Steering(irq, int(rps, 16), tuple(int(mask, 16) for mask in napi))
    return found


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_card_is_steered_and_comes_back(lull: Lull, tmp_path: Path, flavour: str) -> None:
    for name, alpha in (("weak", WEAK), ("strong", STRONG)):
        (tmp_path / f"model.{name}").write_text(MODEL.format(alpha=alpha))
    (tmp_path / "steered.sh").write_text(STEERED)
    puts = [word for name in ("model.weak", "model.strong", "steered.sh") for word in ("--put", f"{name}:/{name}")]
    words = ["-p", "exynos5422", "-e", "qemu", "--peer", "lull-net serve", *puts, "--exec", "sh /steered.sh"]
    ran = lull("boot", *words, "--flavour", flavour, "--out", "run")
    assert ran.returncode == 0, ran.stderr
    found = _steerings(ran.stdout)
    before = found["before"]
    assert before.napi, "the card has a thread"
    for how in ("kill", "stop", "off"):
        lines = (tmp_path / "run" / "files" / f"{how}.jsonl").read_text().splitlines()
        decision = [json.loads(line) for line in lines if "cluster" in line][-1]
        first = 0 if decision["cluster"] == "little" else 4
        cores = decision["cores"]
        mask = sum(1 << (first + core) for core in range(cores))
        assert (cores == 1) == (how == "off"), "the model says how many"
        steered = found[f"steered {how}"]
        assert steered.irq == (str(first) if cores == 1 else f"{first}-{first + cores - 1}")
        assert steered.rps == (mask if cores > 1 else before.rps), "one CPU has the interrupt and needs no other"
        assert set(steered.napi) == {mask}
        assert found[f"after {how}"] == before, how
    assert complaints_in(flavour)((tmp_path / "run" / "console.log").read_text()) == []


SOFTIRQS = (
    DECIDED
    + """
echo 1 >/sys/kernel/lull/eanem/enabled
echo 20000 >/sys/kernel/lull/eanem/interval_us
# The times of each CPU in softirqs, once in many intervals, with a name for the moment.
times() {
    for try in $(seq 20); do
        sed "s/^/$1 /" /sys/kernel/debug/lull/eanem_cpus
        sleep 0.03
    done
}
eanem-load --phases 0:KBIT_S --interval-us 20000 --settle 0 --intervals 1000 --steer 0 &
load=$!
sleep 0.3
times before
eanemd --model /model --interval-us 20000 >/out/eanemd.jsonl &
daemon=$!
decided /out/eanemd.jsonl
times steered
kill $daemon
wait $daemon
kill $load
wait $load || true
""".replace("KBIT_S", str(KBIT_S))
)
CHOSEN = 2
"""The CPU of the only little core in this model. The card's interrupt is elsewhere after boot."""
ONE = MODEL.format(alpha=STRONG).replace("little 0 4", f"little {CHOSEN} 1")


def _net_rx(text: str, moment: str) -> dict[int, int]:
    """The time in net_rx by CPU, over the intervals that were looked at."""
    found: dict[int, int] = {}
    for cpu, ns in re.findall(rf"^{moment} (\d+) net_rx (\d+) ", text, re.MULTILINE):
        found[int(cpu)] = found.get(int(cpu), 0) + int(ns)
    return found


def test_the_softirqs_of_packets_are_where_they_are_steered_to(lull: Lull, tmp_path: Path) -> None:
    """The peer is in the same guest, and receives acknowledgements by a card of its own, which nobody steers."""
    (tmp_path / "model").write_text(ONE)
    (tmp_path / "softirqs.sh").write_text(SOFTIRQS)
    words = ["-p", "exynos5422", "-e", "qemu", "--peer", "lull-net serve", "--put", "model:/model"]
    ran = lull("boot", *words, "--put", "softirqs.sh:/softirqs.sh", "--exec", "sh /softirqs.sh", "--out", "run")
    assert ran.returncode == 0, ran.stderr
    before, steered = _net_rx(ran.stdout, "before"), _net_rx(ran.stdout, "steered")
    own = max(before, key=lambda cpu: before[cpu])
    assert own != CHOSEN
    assert before[CHOSEN] < 0.05 * before[own]
    assert steered[CHOSEN] > 0.2 * before[own]
    assert steered[own] < 0.8 * before[own]
    assert all(steered[cpu] < 0.05 * before[own] for cpu in steered if cpu not in (own, CHOSEN))


MANAGED = """
echo 1 >/sys/kernel/lull/eanem/enabled
echo 20000 >/sys/kernel/lull/eanem/interval_us
lull-net serve &
server=$!
eanemd --model /model.strong --interval-us 20000 >/out/eanemd.jsonl &
daemon=$!
load="eanem-load --phases 0:KBIT_S --interval-us 20000 --settle 10 --intervals 90 --steer 0"
$load &
good=$!
mkdir /tmp/victim
# Its connection is the peer's last, which stops and then resets.
sleep 0.1
unshare -m sh -c "mount --bind /tmp/victim /out && exec $load" 2>/out/victim.txt &
victim=$!
wait $good
echo good $?
wait $victim
echo victim $?
cp /tmp/victim/load.jsonl /out/victim.jsonl
lull-net ping --with 127.0.0.1 --count 1 >/dev/null && echo served
kill $daemon
wait $daemon
echo daemon $?
kill $server
""".replace("KBIT_S", str(KBIT_S))
BAD = """
lull-net serve &
server=$!
# The process of the second connection.
last=0
sleep 0.4
for task in /proc/[0-9]*; do
    pid=${task#/proc/}
    [ "$(cut -d' ' -f4 $task/stat 2>/dev/null)" = $server ] && [ $pid -gt $last ] && last=$pid
done
lull-net receive --with 10.0.0.1 --ms 10000 >/dev/null &
reader=$!
lull-net send --with 10.0.0.1 --ms 10000 >/dev/null &
sender=$!
sleep 0.05
kill -STOP $last $reader $sender
sleep 0.3
lull-net flood --with 10.0.0.1 --count 60 --ms 200
kill -9 $last $reader $sender
lull-net flood --with 10.0.0.1 --count 30 --ms 50
echo done $last
"""


def _load(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "files" / name).read_text().splitlines()]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_peer_that_stops_resets_or_floods_costs_no_other_its_target(lull: Lull, tmp_path: Path, flavour: str) -> None:
    (tmp_path / "model.strong").write_text(MODEL.format(alpha=STRONG))
    (tmp_path / "managed.sh").write_text(MANAGED)
    (tmp_path / "bad.sh").write_text(BAD)
    puts = [word for name in ("model.strong", "managed.sh", "bad.sh") for word in ("--put", f"{name}:/{name}")]
    words = ["-p", "exynos5422", "-e", "qemu", "--peer", "sh /bad.sh", *puts, "--exec", "sh /managed.sh"]
    ran = lull("boot", *words, "--flavour", flavour, "--out", "run")
    assert ran.returncode == 0, ran.stderr
    run = tmp_path / "run"
    assert re.search(r"^done [1-9]", (run / "peer.stdout").read_text(), re.MULTILINE), "the peer has done all of it"
    assert "good 0\n" in ran.stdout
    assert "served\n" in ran.stdout
    assert "daemon 0\n" in ran.stdout
    assert complaints_in(flavour)((run / "console.log").read_text()) == []
    if flavour != "default":
        return
    victim = [line["bytes"] for line in _load(run, "victim.jsonl")]
    assert victim[0] > 0
    assert 0 in victim, "it was stopped"
    good = [line for line in _load(run, "load.jsonl") if line["settled"]]
    assert len(good) == 90
    # One of 20 ms may be late: the flood is served by the same CPU.
    for first in range(0, 90, 10):
        part = good[first : first + 10]
        kbit_s = sum(line["bytes"] for line in part) * 8e6 / sum(line["ns"] for line in part)
        assert kbit_s == pytest.approx(KBIT_S, rel=0.15), first
    decisions = _load(run, "eanemd.jsonl")
    assert decisions[0]["why"] == "traffic began"
    assert len(decisions) < 20, "no decision in each interval"
