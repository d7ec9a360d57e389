# SPDX-License-Identifier: BSD-3-Clause
"""From a core's description to a gem5 CPU.

In-order cores become Minor CPUs and out-of-order ones O3 CPUs; the atomic and timing models know no pipeline. Where
gem5's pipeline has more knobs than a manual has numbers, the delay after a mispredicted branch decides: it is what the
stages add up to.
"""

from __future__ import annotations

from typing import Any

import opclasses
from m5 import objects
from m5.params import allEnums

ARCHITECTED_REGISTERS = 64
"""More than gem5's Arm has of a kind, banked and temporary ones included (42 integer, 44 vector)."""

EXECUTE_BUFFER = 7
"""Cycles of instructions that wait before Minor's execute by default, with a delay of one."""

LONGEST_DELAY = 5
"""Stages of one delay that gem5's O3 buffers hold by default."""


DEBUG_FEATURES = 0x10305006
"""ID_AA64DFR0_EL1: six breakpoints (two of them match contexts) and four watchpoints, as Arm's A53 has them; its manual
is DDI 0500, table 4-47. gem5's own sixteen of each cost Linux about 900 instructions after every power-off."""


def model_name(core: dict[str, Any], mode: str) -> str:
    """The gem5 class that simulates a core in a mode."""
    if mode == "detailed":
        return "ArmMinorCPU" if core["pipeline"] == "in-order" else "ArmO3CPU"
    return "ArmTimingSimpleCPU" if mode == "timing" else "ArmAtomicSimpleCPU"


def build(core: dict[str, Any], mode: str, cpu_id: int, socket_id: int) -> Any:
    """One CPU. `socket_id` and `cpu_id` are affinity levels 1 and 0 of its MPIDR."""
    cpu = getattr(objects, model_name(core, mode))(cpu_id=cpu_id, socket_id=socket_id)
    cpu.createThreads()
    cpu.createInterruptController()
    for isa in cpu.isa:
        isa.id_aa64dfr0_el1 = DEBUG_FEATURES
    cpu.mmu.itb.size = core["tlb"]["instruction"]
    cpu.mmu.dtb.size = core["tlb"]["data"]
    cpu.mmu.l2_shared.size = core["tlb"]["shared"]
    if mode == "detailed":
        detail = _in_order if core["pipeline"] == "in-order" else _out_of_order
        detail(cpu, core)
    return cpu


def _in_order(cpu: Any, core: dict[str, Any]) -> None:
    stages = core["stages"]
    cpu.decodeInputWidth = stages["issue_width"]
    cpu.executeInputWidth = stages["issue_width"]
    cpu.executeIssueLimit = stages["issue_width"]
    cpu.executeCommitLimit = stages["issue_width"]
    cpu.executeMaxAccessesInMemory = stages["accesses_in_flight"]
    cpu.executeLSQStoreBufferSize = stages["store_buffer"]
    # Two forward delays and the way back to fetch take a cycle each, and the instruction cache and the ALU are in the
    # way anyhow. The rest of a misprediction is the way to execute, as in a longer pipeline. It cannot be the way back:
    # an interrupt in the cycles that WFI takes to get there finds fetch running, which then stops and is never woken.
    on_the_way = 3 + core["l1i"]["latency_cycles"] + _latency(core, "int-alu")
    to_execute = max(1, stages["mispredict_cycles"] - on_the_way)
    cpu.decodeToExecuteForwardDelay = to_execute
    cpu.executeInputBufferSize = EXECUTE_BUFFER + to_execute - 1
    cpu.executeBranchDelay = 1
    cpu.executeFuncUnits = objects.MinorFUPool(funcUnits=_minor_units(core))
    cpu.branchPred = _branch_predictor(core["branch"])


def _out_of_order(cpu: Any, core: dict[str, Any]) -> None:
    stages = core["stages"]
    cpu.fetchWidth = stages["decode_width"]
    cpu.fetchBufferSize = stages["fetch_bytes"]
    cpu.decodeWidth = stages["decode_width"]
    cpu.renameWidth = stages["decode_width"]
    cpu.dispatchWidth = stages["dispatch_width"]
    cpu.issueWidth = stages["issue_width"]
    cpu.wbWidth = stages["issue_width"]
    cpu.commitWidth = stages["commit_width"]
    cpu.squashWidth = stages["commit_width"]
    cpu.numROBEntries = stages["reorder_buffer"]
    cpu.numIQEntries = stages["issue_queue"]
    cpu.LQEntries = stages["load_queue"]
    cpu.SQEntries = stages["store_queue"]
    cpu.LSQDepCheckShift = 0  # loads and stores are compared by byte
    # The register files are taken to be large enough never to limit before the reorder buffer does.
    cpu.numPhysIntRegs = ARCHITECTED_REGISTERS + stages["reorder_buffer"]
    cpu.numPhysVecRegs = ARCHITECTED_REGISTERS + stages["reorder_buffer"]
    # Issue, execution, and the way back through commit to fetch take a cycle each.
    front_end = stages["mispredict_cycles"] - 4 - core["l1i"]["latency_cycles"]
    fetch_to_decode, decode_to_rename, rename_to_issue = split(front_end)
    cpu.fetchToDecodeDelay = fetch_to_decode
    cpu.decodeToRenameDelay = decode_to_rename
    cpu.renameToIEWDelay = rename_to_issue
    cpu.renameToROBDelay = rename_to_issue
    cpu.fuPool = objects.FUPool(FUList=[_o3_unit(unit) for unit in core["units"]["table"]])
    cpu.branchPred = _branch_predictor(core["branch"])


def split(front_end: int) -> tuple[int, int, int]:
    """The stages in front of issue, in three delays; the first ones are the longer ones."""
    total = min(max(front_end, 3), 3 * LONGEST_DELAY)
    return (total + 2) // 3, (total + 1) // 3, total // 3


def _latency(core: dict[str, Any], group: str) -> int:
    return min(int(unit["latency"][group]) for unit in core["units"]["table"] if group in unit["latency"])


def _op_classes() -> list[str]:
    return list(allEnums["OpClass"].vals)


def _o3_unit(unit: dict[str, Any]) -> Any:
    operations = [
        objects.OpDesc(opClass=name, opLat=latency, pipelined=unit["pipelined"])
        for group, latency in unit["latency"].items()
        for name in opclasses.members(group, _op_classes())
    ]
    return objects.FUDesc(count=unit["count"], opList=operations)


def _minor_units(core: dict[str, Any]) -> list[Any]:
    """Minor has one latency for a unit: one that has several becomes as many, which may begin in the same cycle."""
    return [
        _minor_unit(core, unit, cycles)
        for unit in core["units"]["table"]
        for cycles in sorted(set(unit["latency"].values()))
        for _ in range(unit["count"])
    ]


def _minor_unit(core: dict[str, Any], unit: dict[str, Any], cycles: int) -> Any:
    groups = [group for group, latency in unit["latency"].items() if latency == cycles]
    memory = any(group in ("load", "store") for group in groups)
    timing = objects.MinorFUTiming(
        description=", ".join(groups),
        opClasses=_minor_classes(groups),
        srcRegsRelativeLats=[unit["late_operands"]],
        extraAssumedLat=core["l1d"]["latency_cycles"] if memory else 0,
    )
    return objects.MinorFU(
        opClasses=_minor_classes(groups),
        opLat=cycles,
        issueLat=1 if unit["pipelined"] else cycles,
        timings=[timing],
    )


def _minor_classes(groups: list[str]) -> Any:
    names = [name for group in groups for name in opclasses.members(group, _op_classes())]
    return objects.MinorOpClassSet(opClasses=[objects.MinorOpClass(opClass=name) for name in names])


def _branch_predictor(branch: dict[str, Any]) -> Any:
    tables: dict[str, int] = {
        "globalPredictorSize": branch["global_entries"],
        "choicePredictorSize": branch["choice_entries"],
    }
    if branch["predictor"] == "tournament":
        tables["localPredictorSize"] = branch["local_entries"]
        tables["localHistoryTableSize"] = branch["local_entries"]
    kind = {"tournament": "TournamentBP", "bi-mode": "BiModeBP"}[branch["predictor"]]
    direction = getattr(objects, kind)(**tables)
    targets: dict[str, Any] = {
        "btb": objects.SimpleBTB(numEntries=branch["btb_entries"]),
        "ras": objects.ReturnAddrStack(numEntries=branch["return_stack"]),
        "indirectBranchPred": objects.SimpleIndirectPredictor(
            indirectSets=branch["indirect_entries"] // 2, indirectWays=2
        ),
    }
    if not isinstance(direction, objects.BranchPredictor):  # gem5 25 took direction and targets apart
        return objects.BranchPredictor(conditionalBranchPred=direction, instShiftAmt=2, **targets)
    for name, part in targets.items():
        setattr(direction, name, part)
    return direction
