# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy tables`: run McPAT for every cluster and operating point without a table, or with an old one."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lull import __version__
from lull.energy import coefficients, mcpat_run, memory_controller, tables, technology
from lull.energy.mcpat_run import Heading, McPatBinary
from lull.energy.mcpat_xml import Chip
from lull.energy.tables import ClusterTable, TableManifest
from lull.errors import UserError
from lull.files import yaml_file
from lull.host.progress import Progress
from lull.platform.schema import Cluster, Platform

SEED = 1


def make(platforms: Sequence[Platform], mcpat: str | None, force: bool) -> Iterator[str]:
    """Yield each written file when its cluster is done. Equal clusters, such as two sockets, share McPAT's runs."""
    wanted = [
        (platform, cluster)
        for platform in platforms
        for cluster in (*platform.clusters, platform.shadow.cluster)
        if force or not _is_current(partial(tables.load, platform, cluster))
    ]
    controllers = [
        platform for platform in platforms if force or not _is_current(partial(memory_controller.load, platform))
    ]
    if not wanted and not controllers:
        return
    binary = mcpat_run.find(mcpat)
    answers: dict[str, Heading] = {}
    with Progress("McPAT", total=sum(_runs(*each) for each in wanted)) as progress:
        for platform in controllers:
            table = memory_controller.derive(platform, lambda xml: mcpat_run.run(binary, xml), SEED)
            yield yaml_file.shown(memory_controller.save(table))
        for platform, cluster in wanted:
            yield yaml_file.shown(tables.save(_table(platform, cluster, binary, answers, progress)))


def _table(
    platform: Platform, cluster: Cluster, binary: McPatBinary, answers: dict[str, Heading], progress: Progress
) -> ClusterTable:
    def ask(xml: str) -> Heading:
        progress.step(f"{platform.name} {cluster.name}")
        body = xml.partition("-->")[2]  # the comment before only names the cluster
        if body not in answers:
            answers[body] = mcpat_run.run(binary, xml)
        return answers[body]

    made = [coefficients.derive(chip, ask, SEED) for chip in _chips(platform, cluster)]
    process = technology.load(platform, cluster.name)
    return ClusterTable(
        platform=platform.name,
        cluster=cluster.name,
        core=cluster.core,
        node_nm=process.node_nm,
        device=process.device,
        temperature_k=process.temperature_k,
        area_mm2=made[-1].area_mm2,
        opps=[each.table for each in made],
        manifest=TableManifest(
            made_from=tables.made_from(platform, cluster),
            mcpat_version=mcpat_run.VERSION,
            mcpat_sha256=binary.sha256,
            lull_version=__version__,
            seed=SEED,
            linearity_error=max(each.linearity_error for each in made),
        ),
    )


def _chips(platform: Platform, cluster: Cluster) -> list[Chip]:
    return [Chip(platform, cluster, opp) for opp in cluster.opps.table]


def _runs(platform: Platform, cluster: Cluster) -> int:
    return sum(coefficients.runs(chip) for chip in _chips(platform, cluster))


def _is_current(load: Callable[[], object]) -> bool:
    try:
        load()
    except UserError:
        return False
    return True
