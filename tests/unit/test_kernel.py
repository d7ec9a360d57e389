# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's inputs are consistent, and its builder notices when they are not. No kernel tree is needed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lull.artifacts import kernel
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.systems.folder import systems

PATCHES = ROOT / "kernel-patches"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the builder reads, to be changed at will."""
    shutil.copytree(PATCHES, tmp_path / "checkout" / "kernel-patches")
    return tmp_path / "checkout"


def make_tree(path: Path, version: str = "6.12.9") -> Path:
    names = ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    lines = [f"{name} = {part}\n" for name, part in zip(names, version.split("."), strict=True)]
    path.mkdir()
    (path / "Makefile").write_text("# SPDX-License-Identifier: GPL-2.0\n" + "".join(lines) + "EXTRAVERSION =\n")
    return path


class FakeRun:
    """Stands for patch and make: notes what is asked and leaves the products that a build would leave."""

    def __init__(self, config: str) -> None:
        self.config = config
        self.commands: list[list[str]] = []

    def __call__(self, argv: Sequence[str], cwd: Path) -> None:
        self.commands.append(list(argv))
        if argv[0] != "make":
            return
        (build_dir,) = (Path(argument[2:]) for argument in argv if argument.startswith("O="))
        if argv[-1] == "allnoconfig":
            (build_dir / ".config").write_text(self.config)
            return
        for product in kernel.PRODUCTS.values():
            (build_dir / product).parent.mkdir(parents=True, exist_ok=True)
            if product != ".config":
                (build_dir / product).write_text(product)


def granted(flavour: str) -> str:
    wanted = kernel.wanted(ROOT, flavour)
    return "".join(f"CONFIG_{symbol}={value}\n" for symbol, value in wanted.items() if value != "n")


# The files in the checkout.


def test_every_patch_is_in_the_series_once() -> None:
    listed = kernel.series(ROOT)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(PATCHES.rglob("*.patch"))


def test_patches_say_why_and_touch_only_existing_files() -> None:
    for patch in kernel.series(ROOT):
        text = patch.read_text()
        message, _, diff = text.partition("\n---\n")
        assert re.search(r"^Subject: \[PATCH\] \S+: [A-Z]", message, re.MULTILINE), patch
        body = message.split("\n\n", 1)[1]
        assert len(body.split()) > 20, f"{patch} has no commit message that says why"
        assert "/dev/null" not in diff, f"{patch} adds or deletes a file"


def test_every_system_is_reached_from_the_top() -> None:
    names = [system.name for system in systems(ROOT)]
    assert names[0] == "platform", "the others include its headers"
    assert "esm" in names
    top = kernel.top_files(ROOT)
    for system in systems(ROOT):
        assert f'source "drivers/lull/{system.name}/Kconfig"\n' in top["Kconfig"]
        assert f"obj-$(CONFIG_{system.manifest.option})\t+= {system.name}/\n" in top["Makefile"]
        assert f"config {system.manifest.option}\n" in (system.folder / "Kconfig").read_text() + top["Kconfig"]


def test_every_file_is_gpl() -> None:
    for file in filter(Path.is_file, PATCHES.rglob("*")):
        if "selftests" in file.parts:  # programs, not kernel code
            assert "SPDX-License-Identifier: BSD-3-Clause" in file.read_text()[:200], file
            continue
        head = "".join(file.read_text().splitlines(keepends=True)[:1])
        # What programs include too may be taken under another licence as well.
        assert re.search(
            r"SPDX-License-Identifier: (GPL-2\.0-only|\(GPL-2\.0-only WITH Linux-syscall-note\) OR)", head
        ), file


@pytest.mark.parametrize("flavour", kernel.FRAGMENTS)
def test_fragments_parse_and_agree(flavour: str) -> None:
    wanted = kernel.requested(kernel.fragments(ROOT, flavour))
    assert wanted["LULL"] == "y"
    assert wanted["MODULES"] == "n"
    assert (wanted.get("KASAN") == "y") == (flavour == "debug")
    assert (wanted.get("KCSAN") == "y") == (flavour == "race")
    assert (wanted.get("PREEMPT_RT") == "y") == (flavour == "rt")
    assert (wanted.get("PREEMPT") == "y") == (flavour != "rt")


def test_every_fragment_is_used() -> None:
    used = {file for flavour in kernel.FRAGMENTS for file in kernel.fragments(ROOT, flavour)}
    assert used == {*(PATCHES / "config").glob("*.config"), *PATCHES.glob("*/config")} - {PATCHES / "config"}


def test_a_system_turns_itself_on() -> None:
    for system in systems(ROOT):
        wanted = kernel.requested([PATCHES / "config" / "base.config", *system.config])
        assert wanted[system.manifest.option] == "y"


# Inputs.


def test_inputs_name_what_is_read(checkout: Path) -> None:
    inputs = kernel.inputs(checkout, "default")
    assert {
        "kernel-patches/Kconfig",
        "kernel-patches/platform/config",
        "kernel-patches/esm/hooks/0005-task-let-it-receive-events.patch",
        "kernel-patches/platform/lull.c",
    } <= inputs.keys()
    assert "kernel-patches/config/debug.config" not in inputs
    assert "kernel-patches/config/debug.config" in kernel.inputs(checkout, "debug")
    assert not [name for name in inputs if name.endswith((".md", ".yaml")) or "/selftests/" in name]


@pytest.mark.parametrize(
    "name",
    ["platform/lull.c", "platform/lull.h", "platform/Kconfig", "Makefile", "config/net.config", "esm/config"],
)
def test_inputs_react_to_a_change(checkout: Path, name: str) -> None:
    before = kernel.inputs(checkout, "default")
    with (checkout / "kernel-patches" / name).open("a") as file:
        file.write("\n")
    after = kernel.inputs(checkout, "default")
    assert {key for key in before if before[key] != after[key]} == {f"kernel-patches/{name}"}


DOZE = {
    "system.yaml": "name: doze\ntitle: a test\noption: LULL_DOZE\nafter: [platform]\n",
    "Kconfig": "config LULL_DOZE\n",
    "Makefile": "obj-y += doze.o\n",
    "doze.c": "",
    "config": "# Why.\nCONFIG_LULL_DOZE=y\nCONFIG_INPUT=y\n",
    "hooks/0001-one.patch": "",
    "hooks/0002-two.patch": "",
    "selftests/doze": "",
    "README.md": "",
    "doze.c.orig": "",
}


def add(checkout: Path, files: Mapping[str, str], name: str = "doze") -> Path:
    for path, text in files.items():
        file = checkout / "kernel-patches" / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return checkout / "kernel-patches" / name


def test_a_new_system_is_its_folder(checkout: Path) -> None:
    """Nothing outside of it changes but what the builder makes of it."""
    before = kernel.inputs(checkout, "default")
    add(checkout, DOZE)
    after = kernel.inputs(checkout, "default")
    own = ("Kconfig", "Makefile", "doze.c", "config", "hooks/0001-one.patch", "hooks/0002-two.patch")
    assert after.keys() - before.keys() == {f"kernel-patches/doze/{name}" for name in own}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"kernel-patches/Kconfig", "kernel-patches/Makefile"}
    makefile = kernel.top_files(checkout)["Makefile"]
    assert "\nobj-$(CONFIG_LULL_DOZE)\t+= doze/\n" in makefile.partition("obj-$(CONFIG_LULL)\t+= platform/")[2]
    assert kernel.wanted(checkout, "default")["LULL_DOZE"] == "y"
    assert "drivers/lull/doze/doze.c" in kernel.linked_files(checkout)
    assert not [name for name in kernel.linked_files(checkout) if "selftests" in name or "hooks" in name]


def test_what_a_setting_says_costs_no_new_kernel(checkout: Path) -> None:
    before = kernel.inputs(checkout, "default")
    manifest = checkout / "kernel-patches/esm/system.yaml"
    manifest.write_text(manifest.read_text().replace("help: the switch", "help: the run-time switch"))
    assert kernel.inputs(checkout, "default") == before


def test_hooks_come_in_the_order_of_the_systems(checkout: Path) -> None:
    add(checkout, DOZE | {"system.yaml": DOZE["system.yaml"].replace("[platform]", "[esm]")})
    hooks = [(patch.parent.parent.name, patch.name) for patch in kernel.series(checkout)]
    order = list(dict.fromkeys(system for system, _ in hooks))
    assert order[0] == "platform"
    assert order.index("esm") < order.index("doze")
    assert [hook for system, hook in hooks if system == "doze"] == ["0001-one.patch", "0002-two.patch"]


def test_a_symbol_that_a_system_needs_may_be_there_already(checkout: Path) -> None:
    add(checkout, DOZE | {"config": "CONFIG_INPUT=y\n"})
    assert kernel.wanted(checkout, "default")["INPUT"] == "y"
    add(checkout, DOZE | {"config": "# CONFIG_INPUT is not set\n"})
    with pytest.raises(UserError, match=r"doze/config:1: CONFIG_INPUT is in .*input\.config too"):
        kernel.wanted(checkout, "default")


def test_a_kernel_without_a_system(checkout: Path) -> None:
    """What the system needs of Linux stays: a kernel without RPS would not show what eanem costs."""
    add(checkout, DOZE | {"config": f"{DOZE['config']}CONFIG_FOR_DOZE_ALONE=y\n"})
    all_of_it, without = (kernel.wanted(checkout, "default", names) for names in ((), ("doze",)))
    assert {key for key in all_of_it | without if all_of_it.get(key) != without.get(key)} == {"LULL_DOZE"}
    assert without["LULL_DOZE"] == "n"
    with pytest.raises(
        UserError, match=r"^system platform cannot be left out: \w+ stands on it; name one that nothing"
    ):
        kernel.wanted(checkout, "default", ("platform",))


# Errors a user or an author can cause.


def test_version(tmp_path: Path) -> None:
    assert kernel.detect_version(make_tree(tmp_path / "good", "6.12.107")) == "6.12.107"
    for version in ("6.1.120", "6.13.0", "5.12.0"):
        with pytest.raises(UserError, match="KERNEL_SRC") as caught:
            kernel.detect_version(make_tree(tmp_path / version, version))
        assert version in str(caught.value)
    with pytest.raises(UserError, match="KERNEL_SRC"):
        kernel.detect_version(tmp_path)


def test_unknown_flavour() -> None:
    with pytest.raises(UserError, match="'fast' is unknown: choose default or debug"):
        kernel.inputs(ROOT, "fast")


BAD = {
    "name": ("name: nap\n", "name: `nap` is not the name of its folder; write doze"),
    "after": ("after: [esn]\n", "after: there is no system `esn`; use `"),
    "circle": ("after: [doze]\n", "after: `doze` wait for each other; drop one"),
    "title": ("title: 5\n", "title: 5 is not text; write text"),
}


@pytest.mark.parametrize("key", BAD)
def test_a_manifest_with_a_mistake(checkout: Path, key: str) -> None:
    line, sentence = BAD[key]
    kept = [old for old in DOZE["system.yaml"].splitlines() if not old.startswith(line.partition(":")[0])]
    folder = add(checkout, DOZE | {"system.yaml": "\n".join([*kept, line])})
    with pytest.raises(UserError) as caught:
        kernel.series(checkout)
    assert str(caught.value).startswith(f"{folder}/system.yaml: {sentence}")


@pytest.mark.parametrize("name", ["system.yaml", "Makefile"])
def test_a_system_that_lacks_a_file(checkout: Path, name: str) -> None:
    (add(checkout, DOZE) / name).unlink()
    with pytest.raises(UserError, match=r"doze/system\.yaml: (missing; write|no Makefile beside it; add one)"):
        kernel.top_files(checkout)


def test_the_place_of_the_systems_has_to_be_there(checkout: Path) -> None:
    file = checkout / "kernel-patches" / "Kconfig"
    file.write_text(file.read_text().replace("# The systems:", "# Systems:"))
    with pytest.raises(UserError, match=r"^kernel-patches/Kconfig: the line `# The systems: .*` has to be there once"):
        kernel.top_files(checkout)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CONFIG_A=y\nCONFIG_A=y\n", r"one\.config:2: CONFIG_A is in .*one\.config too"),
        ("CONFIG_A=y\n# CONFIG_A is not set\n", r"one\.config:2: CONFIG_A is in"),
        ("CONFIG_A=yes\n", r"one\.config:1: write"),
        ("CONFIG_A=m\n", r"one\.config:1: write"),
        ("#CONFIG_A is not set\n", r"one\.config:1: write"),
        ("CONFIG_A = y\n", r"one\.config:1: write"),
    ],
)
def test_malformed_fragment(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "one.config").write_text(text)
    with pytest.raises(UserError, match=message):
        kernel.requested([tmp_path / "one.config"])


def test_fragment_values(tmp_path: Path) -> None:
    (tmp_path / "one.config").write_text('# Why.\n\nCONFIG_A=y\nCONFIG_B=-1\nCONFIG_C="x y"\n# CONFIG_D is not set\n')
    wanted = kernel.requested([tmp_path / "one.config"])
    assert wanted == {"A": "y", "B": "-1", "C": '"x y"', "D": "n"}


def test_what_kconfig_refuses_is_named(tmp_path: Path) -> None:
    config = tmp_path / ".config"
    config.write_text("CONFIG_A=y\nCONFIG_B=2\n# CONFIG_C is not set\nCONFIG_D=y\n")
    kernel.check_config({"A": "y", "B": "2", "C": "n", "E": "n"}, config)
    with pytest.raises(UserError) as caught:
        kernel.check_config({"A": "y", "B": "3", "C": "y", "D": "n"}, config)
    for named in ("CONFIG_B=3 (it is 2)", "CONFIG_C=y (it is n)", "CONFIG_D=n (it is y)"):
        assert named in str(caught.value)
    assert "CONFIG_A" not in str(caught.value)


# Preparing and building.


def test_prepare_then_build(tmp_path: Path) -> None:
    tree, run = make_tree(tmp_path / "tree"), FakeRun(granted("default"))
    governors = tree / "drivers" / "cpuidle" / "governors"
    governors.mkdir(parents=True)
    (governors / "menu.c").write_text("int menu;\n")
    kernel.prepare(tree, ROOT, "default", run)
    assert (tree / "drivers/lull/platform/lull.c").read_bytes() == (PATCHES / "platform/lull.c").read_bytes()
    for name, text in kernel.top_files(ROOT).items():
        assert (tree / "drivers/lull" / name).read_text() == text
    assert [command[0] for command in run.commands] == ["patch"] * len(kernel.series(ROOT)) + ["make"]

    kernel.build(tree, kernel.build_directory(tree, "default"), tmp_path / "out", ROOT, "default", run, 3)
    assert "-j3" in run.commands[-1]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "Image",
        "vmlinux",
        "System.map",
        "config",
        "governors.sha256",
    }
    assert (tmp_path / "out" / "governors.sha256").read_text() == f"{kernel.governors(tree)}\n"
    assert (tmp_path / "out" / "config").read_text() == granted("default")


def test_the_hash_of_the_governors_is_that_of_their_files_alone(tmp_path: Path) -> None:
    governors = tmp_path / "drivers" / "cpuidle" / "governors"
    governors.mkdir(parents=True)
    for name in ("gov.h", "menu.c", "teo.c", "haltpoll.c", "ladder.c"):
        (governors / name).write_text(name)
    before = kernel.governors(tmp_path)
    (governors / "ladder.c").write_text("another")
    (governors.parent / "governor.c").write_text("another")
    assert kernel.governors(tmp_path) == before
    (governors / "teo.c").write_text("another")
    assert kernel.governors(tmp_path) != before


def test_a_prepared_tree_takes_another_flavour(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    kernel.prepare(tree, ROOT, "default", FakeRun(granted("default")))
    run = FakeRun(granted("debug"))
    kernel.prepare(tree, ROOT, "debug", run)
    assert [command[0] for command in run.commands] == ["make"]


def test_prepare_refuses_a_tree_that_is_not_pristine(tmp_path: Path, checkout: Path) -> None:
    run = FakeRun(granted("default"))
    tree = make_tree(tmp_path / "tree")
    (tree / ".config").touch()
    with pytest.raises(UserError, match="make mrproper"):
        kernel.prepare(tree, ROOT, "default", run)
    (tree / ".config").unlink()

    kernel.prepare(tree, ROOT, "default", run)
    (checkout / "kernel-patches/platform/lull.c").write_text("changed")
    with pytest.raises(UserError, match="without our series"):
        kernel.prepare(tree, checkout, "default", run)


def test_prepare_reports_what_kconfig_refuses(tmp_path: Path) -> None:
    config = granted("default").replace("CONFIG_CPU_IDLE=y\n", "")
    with pytest.raises(UserError, match=r"CONFIG_CPU_IDLE=y \(it is n\)"):
        kernel.prepare(make_tree(tmp_path / "tree"), ROOT, "default", FakeRun(config))


def test_build_refuses_a_directory_elsewhere(tmp_path: Path) -> None:
    run = FakeRun(granted("default"))
    tree = make_tree(tmp_path / "tree")
    with pytest.raises(UserError, match="not directly below"):
        kernel.build(tree, tmp_path / "elsewhere", tmp_path / "out", ROOT, "default", run, 1)
    assert run.commands == []
