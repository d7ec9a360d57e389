# SPDX-License-Identifier: BSD-3-Clause
"""libesm's man page, the kernel's page and the selftests tell of the same calls and the same errors."""

import re
import shutil
import subprocess

import pytest

from lull.files.paths import ROOT

PAGE = ROOT / "benchmarks/lib/esm.3"
CALLS = {"esm_sys_register": "esm_register", "esm_sys_wait": "esm_wait", "esm_fd": "esm_fd"}

NOT_SEEN = {"ENOMEM", "ENFILE", "EINTR of esm_register"}
"""No test: neither memory nor the system's files end, and whoever is killed sees no error."""


def documented() -> dict[str, set[str]]:
    """The errors of each call in the kernel's page."""
    text = (ROOT / "kernel-patches/esm/README.md").read_text()
    sections = {call: text.partition(f"\n### `{call}(")[2].partition("\n##")[0] for call in CALLS.values()}
    return {call: set(re.findall(r"^\| `(E\w+)` \|", section, re.MULTILINE)) for call, section in sections.items()}


def in_manual() -> dict[str, set[str]]:
    """The errors of each call in the man page: of all lists that name it."""
    errors: dict[str, set[str]] = {call: set() for call in CALLS.values()}
    section = PAGE.read_text().partition("\n.Sh ERRORS\n")[2].partition("\n.Sh ")[0]
    for part in section.split("\n.El"):
        names, _, entries = part.partition("\n.Bl")
        for name, call in CALLS.items():
            if f".Fn {name}" in names:
                errors[call] |= set(re.findall(r"^\.It Bq Er (E\w+)$", entries, re.MULTILINE))
    return errors


def test_the_man_page_has_the_errors_of_the_kernel() -> None:
    kernel = documented()
    assert all(len(errors) > 5 for errors in kernel.values())
    assert in_manual() == {call: errors | {"ENOSYS"} for call, errors in kernel.items()}


def test_each_error_has_a_test() -> None:
    """Check that a selftest expects each error; the selftests judge when it is given."""
    folder = ROOT / "kernel-patches/esm/selftests/esm-cases"
    expected = "\n".join(path.read_text() for path in sorted(folder.glob("*.c")))
    tested = set(re.findall(r"check_error\([^;]*\b(E[A-Z0-9]{3,})\b[^;]*;", expected)) | set(
        re.findall(r"== -(E[A-Z0-9]+)\b", expected)
    )
    wanted = {
        error
        for call, errors in documented().items()
        for error in errors
        if not {error, f"{error} of {call}"} & NOT_SEEN
    }
    assert wanted - tested == set()


def test_the_man_page_has_every_function() -> None:
    header = (ROOT / "benchmarks/lib/esm.h").read_text()
    functions = set(re.findall(r"^\w+ (esm_\w+)\(", header, re.MULTILINE))
    names = set(re.findall(r"^\.Nm (\w+)", PAGE.read_text(), re.MULTILINE))
    synopsis = PAGE.read_text().partition(".Sh SYNOPSIS")[2].partition("\n.Sh ")[0]
    assert functions == names
    assert functions == set(re.findall(r"^\.F[no] (\w+)", synopsis, re.MULTILINE))


@pytest.mark.parametrize("linter", [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-mdoc", "-ww", "-z"]])
def test_the_man_page_is_clean(linter: list[str]) -> None:
    if shutil.which(linter[0]) is None:
        pytest.skip(f"no {linter[0]}")
    said = subprocess.run([*linter, str(PAGE)], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout + said.stderr) == (0, "")
