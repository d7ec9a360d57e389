# SPDX-License-Identifier: BSD-3-Clause
"""The policy of a run, its settings for Linux: governors, deepest idle state, routing of event interrupts, kernel
systems.

The guest applies the policy after boot, so that one checkpoint serves every policy. The defaults are init's: menu, the
fastest OPP, no idle state deeper than WFI, routing off.
"""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from lull.errors import UserError
from lull.files.blocks import nearest, quoted
from lull.platform.schema import Cluster, Platform
from lull.systems import folder as systems

Governor = Literal["menu", "teo", "haltpoll"]
FrequencyGovernor = Literal["performance", "powersave", "schedutil", "userspace"]
Deepest = Literal["C1", "C2", "C3", "C4"]
Routing = Literal["none", "shadow-when-asleep", "always-shadow"]
RoutingDepth = Literal["C2", "C3", "C4"]

KEYS = {
    "governor": "governor=teo",
    "cpufreq": "cpufreq=schedutil",
    "idle.deepest": "idle.deepest=C3",
    "idle.shadow": "idle.shadow=C2",
    "routing": "routing=shadow-when-asleep",
    "routing.depth": "routing.depth=C3",
}
"""The keys of `--set`, each with an example. The field of a key has `_` instead of the dot."""


_ALSO_WRITES = {
    "routing": ("/sys/kernel/lull/routing/policy", "/sys/kernel/lull/routing/enabled"),
    "routing.depth": ("/sys/kernel/lull/routing/depth",),
}
"""Files of kernel systems that a key above also writes. A run may set only one of the two."""

_KHZ = re.compile(r"[0-9]{1,9}")


class SystemSetting(BaseModel):
    """One setting of a kernel system. It includes the file's path, because the system's manifest may change later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    path: str
    value: str


class Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    governor: Governor | None = None
    """The governor of idle states."""
    cpufreq: FrequencyGovernor | int | None = None
    """A governor, or the kHz of an OPP. A cluster without this OPP uses its next faster one, or else its fastest."""
    idle_deepest: Deepest | None = None
    idle_shadow: Deepest | None = None
    """The deepest state of the shadow core; if not given, `idle_deepest`."""
    routing: Routing | None = None
    routing_depth: RoutingDepth | None = None
    systems: tuple[SystemSetting, ...] = ()
    """Settings of kernel systems, in the order in which they are applied."""

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out newer settings that are not used, so that the hashes of older runs stay the same."""
        found: dict[str, object] = handler(self)
        if not self.systems:
            del found["systems"]
        if not self.idle_shadow:
            del found["idle_shadow"]
        return found

    def words(self) -> list[str]:
        """Return the `--set` words of this policy."""
        fields = {key: getattr(self, key.replace(".", "_")) for key in KEYS}
        own = [f"{key}={value}" for key, value in fields.items() if value is not None]
        return [*own, *(f"{one.key}={one.value}" for one in self.systems)]

    def arguments(self, platform: Platform) -> list[str]:
        """Return the arguments of the guest's `lull-policy`, in the order of application: sleep is allowed last."""
        found = [f"governor={self.governor}"] if self.governor else []
        if isinstance(self.cpufreq, int):
            found.append("cpufreq=userspace")
            found += [
                f"cpufreq.{cpus[0]}={_nearest_opp(cluster, self.cpufreq)}" for cpus, cluster in platform.cpu_ranges()
            ]
        elif self.cpufreq:
            found.append(f"cpufreq={self.cpufreq}")
        if self.routing_depth:
            found.append(f"routing.depth={self.routing_depth}")
        if self.routing:
            found.append(f"routing={self.routing}")
        found += [f"file={one.key}:{one.path}:{one.value}" for one in self.systems]
        if self.idle_deepest:
            found.append(f"idle.deepest={self.idle_deepest}")
        if self.idle_shadow:
            found.append(f"idle.deepest.{platform.cpu_count - 1}={self.idle_shadow}")
        return found

    def deepest(self, platform: Platform, cluster: Cluster) -> Deepest:
        """Return the deepest idle state that the run allows a cluster; the default is C1."""
        own = self.idle_shadow if platform.role(cluster) == "shadow" else None
        return own or self.idle_deepest or "C1"


def parse(settings: Sequence[str], platform: Platform) -> Policy:
    """Return the policy of the settings, if the platform can have it. The last setting for a key counts."""
    asked: dict[str, str] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--set {text}: no `=`; write key=value, such as {_example(key)}")
        asked[key] = value
    policy = Policy(
        governor=_chosen("governor", asked, Governor),
        cpufreq=_frequency(asked.get("cpufreq"), platform),
        idle_deepest=_chosen("idle.deepest", asked, Deepest),
        idle_shadow=_chosen("idle.shadow", asked, Deepest),
        routing=_chosen("routing", asked, Routing),
        routing_depth=_chosen("routing.depth", asked, RoutingDepth),
        systems=_of_systems(asked),
    )
    _check(policy, platform)
    return policy


def all_keys() -> list[str]:
    """Return all keys of a policy: those in KEYS, and `<system>.<key>` of every system's manifest."""
    return [*KEYS, *systems.settings()]


def choices() -> dict[str, Sequence[str]]:
    """Return the words that each key takes; none if it takes a number."""
    own = (Governor, FrequencyGovernor, Deepest, Deepest, Routing, RoutingDepth)
    of_systems = {key: [str(word) for word in setting.choices] for key, setting in systems.settings().items()}
    return {**{key: get_args(kind) for key, kind in zip(KEYS, own, strict=True)}, **of_systems}


def is_of_a_system(key: str) -> bool:
    """Return true if a key begins with the name of a system, even if the key is wrong."""
    return key.partition(".")[0] in (system.name for system in systems.known())


def check_engine(policy: Policy, engine: str) -> None:
    for one in policy.systems:
        setting = systems.settings().get(one.key)
        why = next((why for name, why in setting.not_on.items() if name == engine), None) if setting else None
        if why:
            raise UserError(f"--set {one.key}={one.value}: not on {engine}, because {why}; use another engine")


def _example(key: str) -> str:
    return KEYS[key] if key in KEYS else f"{key}={systems.settings()[key].examples()[-1]}"


def _of_systems(asked: dict[str, str]) -> tuple[SystemSetting, ...]:
    found = []
    for key, setting in systems.settings().items():
        if key not in asked:
            continue
        if not setting.takes(asked[key]):
            raise UserError(f"--set {key}={asked[key]}: unknown; use {setting.possible()}")
        for other, paths in _ALSO_WRITES.items():
            if other in asked and setting.path in paths:
                raise UserError(f"--set {key}={asked[key]}: `{other}` sets the same file; give one of the two")
        found.append(SystemSetting(key=key, path=setting.path, value=asked[key]))
    return tuple(found)


def _chosen(key: str, asked: dict[str, str], kind: object) -> str | None:
    value = asked.get(key)
    known = get_args(kind)
    if value is not None and value not in known:
        raise UserError(f"--set {key}={value}: unknown; use {quoted(known)}")
    return value


def _frequency(value: str | None, platform: Platform) -> str | int | None:
    known = get_args(FrequencyGovernor)
    if value is None or value in known:
        return value
    if not _KHZ.fullmatch(value):
        raise UserError(f"--set cpufreq={value}: unknown; use {quoted(known)} or the kHz of an OPP")
    khz = int(value)
    opps = sorted({opp.khz for cluster in platform.resolved_clusters() for opp in cluster.opps.table})
    if khz not in opps:
        around = [*[slower for slower in opps if slower < khz][-1:], *[faster for faster in opps if faster > khz][:1]]
        raise UserError(
            f"--set cpufreq={value}: no cluster of {platform.name} has an OPP of {khz} kHz; "
            f"use {' or '.join(map(str, around))}"
        )
    return khz


def _nearest_opp(cluster: Cluster, khz: int) -> int:
    """Return the frequency that Linux uses in place of one that a cluster lacks."""
    table = [opp.khz for opp in cluster.opps.table]
    return next((own for own in table if own >= khz), table[-1])


def _check(policy: Policy, platform: Platform) -> None:
    mains = [cluster for cluster in platform.resolved_clusters() if platform.role(cluster) == "main"]
    check_depth("idle.deepest", policy.idle_deepest, platform, platform.resolved_clusters())
    check_depth("routing.depth", policy.routing_depth, platform, mains)
    if policy.idle_shadow and not platform.shadow.enabled:
        raise UserError(
            f"--set idle.shadow={policy.idle_shadow}: {platform.name} has no shadow core here; add --shadow"
        )
    if policy.idle_shadow:
        check_depth("idle.shadow", policy.idle_shadow, platform, [platform.shadow.cluster])
    if policy.routing not in (None, "none") and not platform.shadow.enabled:
        raise UserError(f"--set routing={policy.routing}: {platform.name} has no shadow core here; add --shadow")
    if policy.routing_depth and policy.routing != "shadow-when-asleep":
        raise UserError(
            f"--set routing.depth={policy.routing_depth}: nothing looks at it; add --set routing=shadow-when-asleep"
        )


def check_depth(key: str, state: str | None, platform: Platform, clusters: Sequence[Cluster]) -> None:
    """Raise a UserError for a state that none of the clusters has."""
    has = {found.name for cluster in clusters for found in cluster.cstates}
    if state is not None and state not in has:
        raise UserError(f"--set {key}={state}: no cluster of {platform.name} has it; use {quoted(nearest('', has))}")
