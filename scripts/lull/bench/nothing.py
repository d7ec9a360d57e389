# SPDX-License-Identifier: BSD-3-Clause
"""An engine that does nothing, to measure the overhead of a sweep."""

from pathlib import Path

PROGRAM = """#!/bin/sh
# Called as gem5 is: -d FOLDER SCRIPT ARGUMENT
folder=$2
case $3 in
*/probe.py)
    echo '{"version": "24.0", "isas": ["ARM"]}' >"$4"
    exit;;
esac
cause=exit
: >"$folder/system.terminal"
while read -r line; do
    case $line in
    '"stage": "checkpoint"'*) cause=checkpoint;;
    '"checkpoint": '*) place=${line#*: \\"}; place=${place%\\"*};;
    esac
done <"$4"
if [ $cause = checkpoint ]; then
    mkdir "$place"
    echo nothing >"$place/m5.cpt"
else
    echo '{"value": 1}' >"$folder/stdout"
    echo 0 >"$folder/status"
fi
times='"ticks": 1000000000, "tick_hz": 1000000000000, "host_seconds": 0'
echo "{\\"cause\\": \\"$cause\\", \\"instructions\\": 5, $times}" >"$folder/outcome.json"
"""
"""The text of the program. It starts no process besides the shell. A run ends at once, with status 0 and one line of
JSON."""


def install(folder: Path) -> Path:
    """Write the program, and return its path for --gem5 or GEM5."""
    program = folder / "gem5.opt"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program
