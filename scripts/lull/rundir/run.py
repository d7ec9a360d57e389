# SPDX-License-Identifier: BSD-3-Clause
"""A finished run with its settings, as analyses, tables and comparisons read it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.errors import UserError
from lull.platform.schema import Cluster
from lull.rundir.folder import FILES, RunDir
from lull.rundir.manifest import Manifest, makers
from lull.runspec.spec import RunSpec
from lull.runspec.values import Value


class Values(dict[str, Value]):
    """The parameters of a point. An older run lacks parameters that its scenario got later."""

    def __init__(self, known: Mapping[str, Value], path: Path) -> None:
        super().__init__(known)
        self.path = path

    def __missing__(self, name: str) -> Value:
        raise UserError(f"{self.path}: its record has no value of `{name}`; run the point again")


@dataclass(frozen=True)
class Run:
    """One finished point, or one that hung."""

    name: str
    group: str
    values: Mapping[str, Value]
    path: Path
    spec: RunSpec
    manifest: Manifest

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", Values(self.values, self.path))

    @property
    def made_by(self) -> dict[str, Any]:
        """Return engine, artifacts, commit and host of the run, without paths."""
        return {
            **makers(self.manifest["engine"], self.manifest["artifacts"]),
            "lull": [self.manifest["lull"]["commit"]],
            "host": self.manifest["host"],
        }

    def rundir(self) -> RunDir:
        return RunDir.open(self.path)

    def file(self, name: str) -> Path:
        path = self.path / FILES / name
        if not path.is_file():
            raise UserError(f"{path}: the guest left no such file; look into {self.path / 'console.log'}")
        return path

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the JSON objects in a guest's file of JSON lines."""
        path = self.file(name)
        try:
            found = [json.loads(line) for line in path.read_text().splitlines()]
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}: not lines of JSON ({error}); run the point again") from None
        for number, line in enumerate(found, start=1):
            if not isinstance(line, dict):
                raise UserError(
                    f"{path}: line {number}: JSON that is not an object; have the guest write names with its values, "
                    'as in {"x": 1}, or another name than .jsonl'
                )
        return found

    @contextmanager
    def understanding(self, name: str) -> Iterator[None]:
        """Turn errors of the code inside, which reads a file's lines, into a UserError about this file."""
        try:
            yield
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            raise UserError(
                f"{self.file(name)}: not what this scenario writes ({error!r}); run the point again"
            ) from None

    def cluster(self, cpu: int) -> Cluster:
        """Return the cluster of a CPU, with the run's settings applied."""
        return self.spec.platform.resolved_clusters()[self.place_of(cpu)[0]]

    def cluster_of(self, cpu: int) -> str:
        """Return the name of a CPU's cluster."""
        return self.place_of(cpu)[1]

    def place_of(self, cpu: int) -> tuple[int, str, int]:
        """Return index and name of a CPU's cluster, and the CPU's number in the cluster."""
        for index, (cpus, cluster) in enumerate(self.spec.platform.cpu_ranges()):
            if cpu in cpus:
                return index, cluster.name, cpus.index(cpu)
        raise UserError(f"{self.path}: the guest names CPU {cpu}, which {self.spec.platform.name} does not have")
