# SPDX-License-Identifier: BSD-3-Clause
"""`lull boot --peer`: a machine with a network, and the program at its other end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.complaints import complaints
from tests.conftest import Lull

pytestmark = pytest.mark.guest

EVERYTHING = """
set -e
cat /sys/class/net/eth0/carrier /sys/class/net/eth0/address
ping -q -c 1 10.0.0.2 >/dev/null
for proto in tcp udp; do
    lull-net ping --proto $proto --count 5 --gap-us 500 --size 100 >/out/ping-$proto.jsonl
    lull-net receive --proto $proto --ms 100 --interval-ms 20 --kbit-s 20000 >/out/receive-$proto.jsonl
    lull-net send --proto $proto --ms 100 --kbit-s 20000 >/out/send-$proto.jsonl
done
"""


def _lines(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "files" / f"{name}.jsonl").read_text().splitlines()]


def test_both_ends_stream_and_answer(lull: Lull, tmp_path: Path) -> None:
    words = ("--peer", "echo I am the peer; lull-net serve", "--exec", EVERYTHING)
    ran = lull("boot", "-e", "qemu", *words, "--out", "one")
    assert (ran.returncode, ran.stdout) == (0, "1\n02:00:00:00:00:01\n"), ran.stderr
    run = tmp_path / "one"
    assert (run / "peer.stdout").read_text().startswith("I am the peer\n")
    for proto in ("tcp", "udp"):
        assert [ping["number"] for ping in _lines(run, f"ping-{proto}")] == list(range(5))
        assert _lines(run, f"receive-{proto}")[-1]["bytes"] > 0
    console = (run / "console.log").read_text()
    assert complaints(console) == []
    assert "failed to stop" not in console, "the delays are long enough to power off"


@pytest.mark.slow
def test_both_ends_keep_to_their_rates_and_it_repeats_to_the_byte(lull: Lull, tmp_path: Path) -> None:
    """Slow, because it failed once of three times beside other load: QEMU may serve its hub late then."""
    for name in ("one", "two"):
        words = ("--peer", "echo I am the peer; ip addr show eth1; lull-net serve", "--exec", EVERYTHING)
        ran = lull("boot", "-e", "qemu", *words, "--out", name)
        assert (ran.returncode, ran.stdout) == (0, "1\n02:00:00:00:00:01\n"), ran.stderr
    run = tmp_path / "one"
    said = (run / "peer.stdout").read_text()
    assert said.startswith("I am the peer\n")
    assert "inet 10.0.0.2/24" in said
    assert "eth0" not in said, "each end has one card"
    for proto in ("tcp", "udp"):
        pings = _lines(run, f"ping-{proto}")
        assert [ping["number"] for ping in pings] == list(range(5))
        assert all(0 < ping["rtt_ns"] < 10_000_000 for ping in pings)
        received = _lines(run, f"receive-{proto}")
        assert [line["bytes"] for line in received] == sorted(line["bytes"] for line in received)
        sent = {line["what"]: line for line in _lines(run, f"send-{proto}")}
        assert sent["here"]["bytes"] == sent["there"]["bytes"], "nothing is lost"
        for whole in (received[-1] if proto == "tcp" else received[-2], sent["there"]):
            # A stream begins with a write at once, and ends within one: 20 Mbit/s are 250 kB in 0.1 s.
            assert 0.9 * 250_000 < whole["bytes"] < 1.2 * 250_000
    for file in ("console.log", "stdout", "peer.stdout", *(f"files/{path.name}" for path in (run / "files").iterdir())):
        assert (tmp_path / "two" / file).read_bytes() == (run / file).read_bytes(), file
    assert complaints((run / "console.log").read_text()) == []
    assert "lull-net serve" in lull("show", "one").stdout


def test_without_a_peer_there_is_no_network(lull: Lull) -> None:
    script = "ls /sys/class/net /sys/bus/pci/devices; lull-peer true; echo $?"
    ran = lull("boot", "-e", "qemu", "--exec", script)
    shown = ["/sys/bus/pci/devices:", "", "/sys/class/net:", "lo", "lull-peer: there is no peer in this guest", "1"]
    assert ran.stdout.splitlines() == shown, ran.stderr


def test_a_peer_that_resets_its_connection_loses_no_other(lull: Lull) -> None:
    script = """
        lull-net serve &
        sleep 0.5
        lull-net ping --with 127.0.0.1 --count 1 >/dev/null && echo served
    """
    peer = """
        (lull-net send --with 10.0.0.1 --ms 10000 & sleep 0.05; kill -9 $!)
        head -c 100000 /dev/urandom | nc 10.0.0.1 5001
        head -c 1000 /dev/urandom | nc -u 10.0.0.1 5001
        echo done
    """
    ran = lull("boot", "-e", "qemu", "--peer", peer, "--exec", script)
    assert (ran.returncode, ran.stdout) == (0, "served\n"), ran.stderr


def test_a_server_without_files_or_places_serves_on(lull: Lull) -> None:
    """It has no file left for a connection, then more clients come than it serves at once."""
    script = """
        (ulimit -n 5; exec lull-net serve) &
        sleep 0.3
        lull-net flood --with 127.0.0.1 --count 3 --ms 300
        lull-net ping --with 127.0.0.1 --proto udp --count 1 >/dev/null && echo no files
        kill $!
        wait $!
        lull-net serve &
        lull-net flood --with 127.0.0.1 --count 300 --ms 1000 &
        sleep 0.5
        lull-net ping --with 127.0.0.1 --proto udp --count 1 >/dev/null && echo many clients
        lull-net ping --with 127.0.0.1 --count 1 >/dev/null && echo served
    """
    ran = lull("boot", "-e", "qemu", "--peer", "true", "--exec", script)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.replace("Terminated\n", "") == "no files\nmany clients\nserved\n"


WRONG = {
    "lull-net": (2, "usage: lull-net serve"),
    "lull-net listen": (2, "usage: lull-net serve"),
    "lull-net ping --proto sctp": (2, "usage: lull-net serve"),
    "lull-net ping --count 0": (2, "lull-net: '0' is not a number from 1 to 1000000"),
    "lull-net ping --proto udp --size 2000": (1, "lull-net: --size: Message too long"),
    "lull-net ping --proto udp --size 7": (1, "lull-net: ping: Message too long"),
    "lull-net ping": (1, "lull-net: ping: Network is unreachable"),
    "lull-net serve --cpu 40": (1, "lull-net: running on the CPU: Invalid argument"),
    "lull-peer": (2, "usage: lull-peer COMMAND"),
}
"""Commands of a guest without a network, and the status and first line of each."""


def test_wrong_words_are_answered(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "; ".join(f"{command} 2>&1; echo = $?" for command in WRONG))
    answers = re.findall(r"(.*?)^= (\d+)\n", ran.stdout, re.DOTALL | re.MULTILINE)
    for (command, (status, said)), (lines, found) in zip(WRONG.items(), answers, strict=True):
        assert (int(found), lines.startswith(said)) == (status, True), (command, lines)
