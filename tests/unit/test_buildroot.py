# SPDX-License-Identifier: BSD-3-Clause
"""The external tree for Buildroot. What needs Buildroot itself runs where `BUILDROOT` names one."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.artifacts import buildroot, cpio, pages, rootfs
from lull.errors import UserError
from lull.files import paths

EXTERNAL = paths.ROOT / buildroot.EXTERNAL
DEFCONFIG = paths.ROOT / buildroot.DEFCONFIG
CHECKER_MODULES = ("magic", "flake8")

needs_buildroot = pytest.mark.skipif("BUILDROOT" not in os.environ, reason="BUILDROOT names no Buildroot tree")
needs_checker = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in CHECKER_MODULES),
    reason="Buildroot's check-package needs the Python modules python-magic and flake8",
)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the parts of a Buildroot tree that are looked at without running it."""
    tree = tmp_path / "buildroot"
    (tree / "support" / "kconfig").mkdir(parents=True)
    release(tree, "2026.02.3")
    monkeypatch.setenv("BUILDROOT", str(tree))
    monkeypatch.setattr(pages, "make", lambda packages, database: None)
    return tree


def _programs() -> list[str]:
    folders = [*rootfs.program_folders(paths.ROOT), paths.ROOT / rootfs.SELFTESTS]
    return sorted(str(folder.relative_to(paths.ROOT)) for folder in folders)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what goes into the image, free to be changed."""
    root = tmp_path / "checkout"
    for name in ("scripts/lull/artifacts", buildroot.EXTERNAL, *_programs(), "benchmarks/lib", "kernel-patches"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", paths.ROOT / name, root / name], check=True)
    return root


def release(tree: Path, version: str) -> None:
    (tree / "Makefile").write_text(f"# Makefile\nexport BR2_VERSION := {version}\n")


@pytest.mark.parametrize("version", ["2025.11", "2026.02.3", "2026.05-rc1", "2027.02-git"])
def test_the_tree_is_the_one_that_buildroot_names(fake: Path, version: str) -> None:
    release(fake, version)
    assert buildroot.tree() == fake


@pytest.mark.parametrize("version", ["2025.02.16", "2025.08.1"])
def test_a_tree_that_is_too_old_is_refused(fake: Path, version: str) -> None:
    release(fake, version)
    with pytest.raises(UserError, match=rf"BUILDROOT={fake}: Buildroot {version} is too old; use 2025.11 or newer"):
        buildroot.tree()


def test_without_a_tree_the_sentence_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUILDROOT", raising=False)
    with pytest.raises(UserError, match=r"BUILDROOT is not set: set it to a Buildroot tree, 2025\.11 or newer"):
        buildroot.tree()


def test_any_other_folder_is_no_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    for place in (tmp_path, tmp_path / "missing"):
        monkeypatch.setenv("BUILDROOT", str(place))
        with pytest.raises(UserError, match=f"BUILDROOT={place}: no Buildroot tree"):
            buildroot.tree()


@pytest.mark.parametrize(
    "changed",
    [buildroot.DEFCONFIG, "buildroot-overlay/board/rootfs-overlay/etc/passwd", "benchmarks/guest/init.c"],
)
def test_a_change_of_a_source_is_a_change_of_the_inputs(fake: Path, checkout: Path, changed: str) -> None:
    before = buildroot.inputs(checkout, fake)
    file = checkout / changed
    file.write_text(file.read_text() + "\n")
    after = buildroot.inputs(checkout, fake)
    assert {name for name in after if after[name] != before[name]} == {changed}


def test_a_change_of_the_tree_is_a_change_of_the_inputs(fake: Path, checkout: Path) -> None:
    before = buildroot.inputs(checkout, fake)["buildroot"]
    assert before.startswith("2026.02.3 ")
    (fake / "support" / "new.mk").write_text("X = 1\n")
    assert buildroot.inputs(checkout, fake)["buildroot"] != before


def test_neither_prose_nor_what_buildroot_leaves_behind_is_an_input(fake: Path, checkout: Path) -> None:
    before = buildroot.inputs(checkout, fake)
    (checkout / buildroot.EXTERNAL / "README.md").write_text("other words\n")
    for name in ("dl/busybox.tar", "output/build/x", ".git/HEAD", "utils/__pycache__/x.pyc", ".config"):
        (fake / name).parent.mkdir(parents=True, exist_ok=True)
        (fake / name).write_text("x")
    assert buildroot.inputs(checkout, fake) == before


class FakeMake:
    """Stands for Buildroot's make: notes its calls and leaves what a build leaves."""

    def __init__(self, output: Path, config: str, entries: Sequence[cpio.Member]) -> None:
        self.output, self.config, self.archive = output, config, cpio.pack(entries)
        self.calls: list[tuple[list[str], Path]] = []

    def __call__(self, argv: Sequence[str], cwd: Path) -> None:
        self.calls.append((list(argv), cwd))
        (self.output / ".config").write_text(self.config)
        (self.output / "images").mkdir(exist_ok=True)
        (self.output / "images" / "rootfs.cpio").write_bytes(self.archive)


def image(without: str = "") -> list[cpio.Member]:
    names = {*rootfs.PROGRAMS, *rootfs.applets(paths.ROOT), "lull-init"} - {without}
    return [
        *(cpio.directory(name) for name in ("dev", "usr", "usr/bin")),
        cpio.character_device("dev/console", 5, 1),
        cpio.symlink("init", "usr/bin/lull-init"),
        *(cpio.file(f"usr/bin/{name}", b"", executable=True) for name in sorted(names)),
    ]


def run_build(fake: Path, tmp_path: Path, config: str, entries: Sequence[cpio.Member]) -> FakeMake:
    make = FakeMake(tmp_path / "work" / "buildroot", config, entries)
    buildroot.build(fake, [Path("manpages.deb")], paths.ROOT, tmp_path / "out", tmp_path / "work", make)
    return make


def test_a_build_configures_makes_and_hands_over_the_archive(fake: Path, tmp_path: Path) -> None:
    make = run_build(fake, tmp_path, DEFCONFIG.read_text(), image())
    assert (tmp_path / "out" / "rootfs.cpio").read_bytes() == make.archive
    assert "usr/bin/lull-init" in (tmp_path / "out" / "contents.txt").read_text()
    (unpack, _), (configure, where), (build, also) = make.calls
    material = tmp_path / "work" / "debian"
    assert unpack == ["dpkg-deb", "-x", "manpages.deb", str(material)]
    assert where == also == fake
    assert configure == [*build, "lull_defconfig"]
    assert build[-4:] == [
        *("make", f"O={tmp_path / 'work' / 'buildroot'}", f"BR2_EXTERNAL={EXTERNAL}", f"LULL_DEBIAN={material}"),
    ]


def test_buildroot_gets_an_environment_that_it_takes(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/mnt/Program Files/bin::.:tools:/bin")
    monkeypatch.setenv("BR2_DL_DIR", "/var/cache/dl")
    for name in ("LD_LIBRARY_PATH", "PERL_MM_OPT", "MAKEFLAGS", "O", "BR2_EXTERNAL"):
        monkeypatch.setenv(name, ".")
    command = run_build(fake, tmp_path, DEFCONFIG.read_text(), image()).calls[1][0]
    settings = command[2 : command.index("make")]
    assert command[:2] == ["env", "-i"]
    assert {"PATH=/usr/bin:/bin", "BR2_DL_DIR=/var/cache/dl"} <= set(settings)
    assert not [s for s in settings if s.startswith(("LD_", "PERL", "MAKE", "O=", "BR2_EXTERNAL"))]


def test_a_symbol_that_buildroot_drops_ends_the_build(fake: Path, tmp_path: Path) -> None:
    config = DEFCONFIG.read_text().replace("BR2_PACKAGE_TRACE_CMD=y", "# BR2_PACKAGE_TRACE_CMD is not set")
    with pytest.raises(UserError, match=r"lull_defconfig: .* does not take BR2_PACKAGE_TRACE_CMD=y"):
        run_build(fake, tmp_path, config, image())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["trace-cmd", "taskset", "lull-init"])
def test_an_image_that_lacks_a_program_is_refused(fake: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"rootfs.cpio: usr/bin/{name} is missing"):
        run_build(fake, tmp_path, DEFCONFIG.read_text(), image(without=name))


@pytest.mark.parametrize("name", ["my tree", "a:b", "a@b"])
def test_a_path_that_buildroot_cannot_work_in_is_refused(fake: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="Buildroot works in no path with"):
        buildroot.build(fake, [], paths.ROOT, tmp_path / "out", tmp_path / name, lambda argv, cwd: None)


def test_a_setting_is_lost_unless_the_configuration_has_it_with_that_value(tmp_path: Path) -> None:
    defconfig, config = tmp_path / "defconfig", tmp_path / "config"
    defconfig.write_text('# words\nBR2_A=y\nBR2_B="x y"\nBR2_C=y\nBR2_GONE=y\n# BR2_D is not set\n# BR2_E is not set\n')
    config.write_text('BR2_A=y\nBR2_B="x"\n# BR2_C is not set\nBR2_E=y\n')
    assert buildroot.lost_settings(defconfig, config) == ['BR2_B="x y"', "BR2_C=y", "BR2_GONE=y", "BR2_E=n"]


def post_build(target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EXTERNAL / "board" / "post-build.sh", target],
        env={**os.environ, "BR2_EXTERNAL_LULL_PATH": str(EXTERNAL)},
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A target directory as Buildroot hands it over: links of both forms, and a program of the user's."""
    commands = tmp_path / "target" / "usr" / "bin"
    commands.mkdir(parents=True)
    for number, applet in enumerate([*rootfs.applets(paths.ROOT), "poweroff", "telnet"]):
        (commands / applet).symlink_to(("busybox", "../../bin/busybox")[number % 2])
    (commands / "busybox").write_text("")
    (commands / "mine").symlink_to("busybox-like")
    (commands / "gdb").write_text("")
    return tmp_path / "target"


def test_post_build_leaves_the_default_images_commands_and_the_users_own(target: Path) -> None:
    for _again in range(2):
        assert post_build(target).returncode == 0
        left = {path.name for path in (target / "usr" / "bin").iterdir()}
        assert left == {*rootfs.applets(paths.ROOT), "busybox", "mine", "gdb"}


def test_post_build_takes_another_packages_program_for_an_applet(target: Path) -> None:
    tar = target / "usr" / "bin" / "tar"
    tar.unlink()
    tar.write_text("")
    assert post_build(target).returncode == 0
    assert not tar.is_symlink()


def test_post_build_names_every_applet_that_is_missing(target: Path) -> None:
    for name in ("[", "taskset"):
        (target / "usr" / "bin" / name).unlink()
    ended = post_build(target)
    assert ended.returncode == 1
    assert "this busybox lacks [ taskset;" in ended.stderr


def test_the_configuration_selects_the_default_images_packages() -> None:
    lines = DEFCONFIG.read_text().splitlines()
    for package in set(rootfs.PACKAGES) - {"busybox-static"}:
        assert f"BR2_PACKAGE_{package.upper().replace('-', '_')}=y" in lines
    assert "CONFIG_STATIC=y" in (EXTERNAL / "board" / "busybox.config").read_text().splitlines()


def test_the_package_builds_every_folder_of_programs() -> None:
    package = EXTERNAL / "package" / "lull-guest" / "lull-guest.mk"
    ask = f"generic-package =\nBR2_EXTERNAL_LULL_PATH = {EXTERNAL}\ninclude {package}\nall:;@echo $(LULL_GUEST_FOLDERS)"
    told = subprocess.run(["make", "-s", "-f", "-"], input=ask, capture_output=True, text=True, check=True).stdout
    assert [f"benchmarks/{name}" for name in told.split()] == _programs()


def test_the_package_builds_the_selftests_where_the_systems_are() -> None:
    """The package's own copy is of benchmarks/ alone."""
    package = EXTERNAL / "package" / "lull-guest" / "lull-guest.mk"
    ask = f"generic-package =\nBR2_EXTERNAL_LULL_PATH = {EXTERNAL}\ninclude {package}\n"
    ask += "define sep\n\n\nendef\nMAKE = echo\nall:\n\t$(call LULL_GUEST_MAKE)\n"
    told = subprocess.run(["make", "-s", "-f", "-"], input=ask, capture_output=True, text=True, check=True).stdout
    assert len(told.splitlines()) == len(_programs())
    assert all(f"SYSTEMS={paths.ROOT}/kernel-patches" in line.split() for line in told.splitlines())


@needs_buildroot
def test_buildroot_loads_the_configuration_and_loses_nothing(tmp_path: Path) -> None:
    make = ["make", f"O={tmp_path}", f"BR2_EXTERNAL={EXTERNAL}"]
    loaded = subprocess.run([*make, "lull_defconfig"], cwd=buildroot.tree(), text=True, capture_output=True, check=True)
    assert "warning" not in loaded.stderr + loaded.stdout
    assert buildroot.lost_settings(DEFCONFIG, tmp_path / ".config") == []
    saved = tmp_path / "saved"
    subprocess.run(
        [*make, "savedefconfig", f"BR2_DEFCONFIG={saved}"], cwd=buildroot.tree(), capture_output=True, check=True
    )
    assert set(saved.read_text().splitlines()) <= set(DEFCONFIG.read_text().splitlines())


@needs_buildroot
@needs_checker
def test_buildroots_own_checker_has_nothing_to_say() -> None:
    files = sorted(str(path) for path in EXTERNAL.rglob("*") if path.is_file())
    checked = subprocess.run(
        [sys.executable, "utils/check-package", "--br2-external", *files],
        cwd=buildroot.tree(),
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 warnings generated" in checked.stdout + checked.stderr
