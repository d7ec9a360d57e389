# SPDX-License-Identifier: BSD-3-Clause
"""The kernels in platforms/accelerator: what their runs take, where a guest finds them, and what is refused."""

import re
import statistics
from pathlib import Path

import pytest
import yaml

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform import accelerator, devicetree
from lull.platform.load import load_platform


def test_times_are_the_papers() -> None:
    """540 +/- 25 us after a longer first one, and 500 +/- 50 us with outliers."""
    k_means = accelerator.load_kernel("kmeans").times_ns
    assert k_means[0] == 900_000
    assert statistics.mean(k_means[1:]) == pytest.approx(540_000, rel=0.01)
    assert statistics.stdev(k_means[1:]) == pytest.approx(25_000, rel=0.15)
    usual = [time for time in accelerator.load_kernel("streamcluster").times_ns if time != 1_500_000]
    assert 190 <= len(usual) < 200
    assert statistics.mean(usual) == pytest.approx(500_000, rel=0.02)
    assert statistics.stdev(usual) == pytest.approx(50_000, rel=0.15)


@pytest.mark.parametrize("engine", ["gem5", "qemu"])
def test_the_guest_finds_each_kernel(engine: devicetree.Engine) -> None:
    platform = load_platform("server")
    tree = devicetree.render(platform, engine, "")
    found = re.findall(r'label = "([\w-]+)";\s+lull,times-ns = <([\d ]+)>', tree)
    assert [name for name, _ in found] == platform.devices.accelerator
    for name, times in found:
        assert [int(time) for time in times.split()] == accelerator.load_kernel(name).times_ns


def test_recorded_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "ACCELERATOR", tmp_path)
    kernel = {"name": "mine", "title": "mine", "source": "an oscilloscope", "times_us": [12.5, 100]}
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(kernel))
    assert accelerator.load_kernel("mine").times_ns == [12_500, 100_000]
    file.write_text(yaml.safe_dump({**kernel, "drawn": {"count": 1, "seed": 1, "mean_us": 1, "spread_us": 0}}))
    with pytest.raises(UserError, match="times_us: a kernel has either recorded times or drawn ones; give one of"):
        accelerator.load_kernel("mine")
    del kernel["times_us"]
    drawn = {"count": 1, "seed": 1, "mean_us": 1, "spread_us": 0, "outliers_permille": 1}
    file.write_text(yaml.safe_dump({**kernel, "drawn": drawn}))
    with pytest.raises(UserError, match=r"outlier_us: outliers need a time; add it"):
        accelerator.load_kernel("mine")
    file.write_text(yaml.safe_dump({**kernel, "name": "yours", "times_us": [1]}))
    with pytest.raises(UserError, match="name: `yours` is not the name of the file; write `mine`"):
        accelerator.load_kernel("mine")


def test_an_unknown_kernel_is_refused(tmp_path: Path) -> None:
    data = yaml.safe_load((ROOT / "platforms" / "server.yaml").read_text())
    data["devices"]["accelerator"] = ["raytracer"]
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(
        UserError, match=r"devices\.accelerator\[0\]: unknown kernel of an accelerator `raytracer`; use one of"
    ):
        load_platform(str(file))
    with pytest.raises(UserError, match="unknown kernel of an accelerator `raytracer`"):
        accelerator.load_kernel("raytracer")
