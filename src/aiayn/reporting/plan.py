"""The plan of a scale's trainings, for a terminal, a page, a spreadsheet or a program."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from aiayn.config.budget import Proposal
from aiayn.config.plan import PAPER_GPUS, PAPER_HOURS, PAPER_TFLOPS, Estimate, Plan, data_bytes
from aiayn.config.plan import paper_flops as flops_by_the_papers_method
from aiayn.config.sections import ModelConfig
from aiayn.reporting.measured import flops_text
from aiayn.reporting.render import markdown_table

Records = Sequence[Mapping[str, str]]
TOTAL = "all"


def plan_json(plan: Plan, proposal: Proposal | None) -> str:
    """Everything, for a program: bytes, hours, operations."""
    value: dict[str, Any] = {
        "scale": plan.project.name,
        "device": plan.device_name,
        "gpus": plan.gpus,
        "gpu_hours": plan.gpu_hours,
        "disk_bytes": plan.disk_bytes,
        "trainings": [_values(each) for each in plan.trainings],
        "paper_flops": {row: flops_by_the_papers_method(row) for row in PAPER_HOURS},
    }
    if proposal is not None:
        value["proposal"] = {
            "budget": proposal.budget,
            "rows": proposal.rows,
            "pairs": proposal.pairs,
            "gpu_hours": proposal.gpu_hours,
            "left_out": [each.run._asdict() for each in proposal.left_out],
        }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def plan_csv(plan: Plan) -> str:
    """The trainings, one a line, with full figures."""
    records = [_values(each) for each in plan.trainings]
    return str(pd.DataFrame(records).to_csv(index=False, lineterminator="\n"))


def plan_markdown(plan: Plan, proposal: Proposal | None) -> str:
    """A page."""
    parts = [f"# {_title(plan)}", f"> {plan.project.scale.about}", markdown_table(_records(plan))]
    parts.append("\n".join(f"* {line}" for line in _notes(plan)))
    if _papers_own(plan):
        parts += [f"## {PAPER_TITLE}", markdown_table(_papers_own(plan)), PAPER_NOTE]
    if proposal is not None:
        parts += [f"## Within {proposal.budget:g} {_unit(plan)}", _proposal_text(plan, proposal)]
    return "\n\n".join(parts) + "\n"


def plan_terminal(plan: Plan, proposal: Proposal | None) -> str:
    """The same, as wide as the terminal."""
    page = io.StringIO()
    console = Console(file=page, force_terminal=True, highlight=False)
    console.print(_rich_table(_title(plan), _records(plan)))
    for line in _notes(plan):
        console.print(f"• {line}", markup=False)
    if _papers_own(plan):
        console.print()
        console.print(_rich_table(PAPER_TITLE, _papers_own(plan)))
        console.print(PAPER_NOTE)
    if proposal is not None:
        console.print(f"\n[bold]Within {proposal.budget:g} {_unit(plan)}[/bold]")
        console.print(_proposal_text(plan, proposal), markup=False, soft_wrap=True)
    return page.getvalue()


def _values(each: Estimate) -> dict[str, Any]:
    return {
        **each.run._asdict(),
        "parameters": each.parameters,
        "steps": each.steps,
        "source_tokens": each.tokens.source,
        "target_tokens": each.tokens.target,
        "flops": each.flops,
        "hours": each.hours,
        "gpu_hours": each.gpu_hours,
        "disk_bytes": each.disk_bytes,
        "memory_bytes": each.memory_bytes,
        **{f"speed_{key}": value for key, value in asdict(each.speed).items()},
    }


def _title(plan: Plan) -> str:
    return f"Plan of {plan.project.name}: each training on {plan.gpus} x {plan.device_name}"


def _name(plan: Plan, each: Estimate) -> str:
    seeds = len(plan.project.settings.seeds) > 1
    return f"{each.run.pair}/{each.run.row}" + (f"/seed{each.run.seed}" if seeds else "")


def _records(plan: Plan) -> Records:
    spent = _unit(plan)
    rows = [
        {
            "training": _name(plan, each),
            "params M": f"{each.parameters / 1e6:.1f}",
            "steps": _thousands(each.steps),
            "FLOPs": flops_text(each.flops),
            "TFLOP/s": f"{each.speed.tflops:.3g}",
            "speed is": each.speed.basis.partition(":")[0],
            spent: _hours(each.gpu_hours),
            "hours": _hours(each.hours),
            "disk GB": _gigabytes(each.disk_bytes),
        }
        for each in plan.trainings
    ]
    total = dict.fromkeys(rows[0], "") | {
        "training": TOTAL,
        "FLOPs": flops_text(sum(each.flops for each in plan.trainings)),
        spent: _hours(plan.gpu_hours),
        "hours": _hours(plan.gpu_hours / plan.gpus),
        "disk GB": _gigabytes(plan.disk_bytes),
    }
    return [*rows, total]


def _notes(plan: Plan) -> list[str]:
    bases = dict.fromkeys(each.speed.basis for each in plan.trainings)
    longest = max(plan.trainings, key=lambda each: each.hours)
    memory = max(each.memory_bytes for each in plan.trainings)
    assumed = any(basis.startswith("assumed") for basis in bases)
    return [
        f"speed of one device, in our count of operations: {'; '.join(bases)}",
        *([f"{plan.device_name}: {plan.device.source}"] if assumed else []),
        f"hours: all are one training after another; the longest, {_name(plan, longest)}, takes "
        f"{_hours(longest.hours)}; validation, decoding and data preparation come on top",
        f"disk: checkpoints and models of each; all includes {_gigabytes(data_bytes(plan.project))}"
        " GB of archives and data",
        f"memory: weights, gradients and Adam's moments take up to {_gigabytes(memory)} of a "
        f"device's {plan.device.memory_gb:g} GB; activations come on top",
    ]


PAPER_TITLE = "The paper's method beside our count"
PAPER_NOTE = (
    "The paper multiplies training time, GPUs and the sustained single-precision TFLOP/s of a "
    "P100 (Section 5.2, footnote 5). We count the operations of matrix products: about "
    "6 x parameters x (source + target tokens) / 2, attention included."
)


def _papers_own(plan: Plan) -> Records:
    """Base and big, where the plan has them with the paper's dimensions."""
    if plan.project.scale.model.model_copy(update={"vocabulary_rows": None}) != ModelConfig():
        return []
    counted = {each.run.row: each.flops for each in plan.trainings}
    return [
        {
            "row": row,
            "time x GPUs x TFLOPS": f"{hours:g} h x {PAPER_GPUS} x {PAPER_TFLOPS}",
            "FLOPs by the paper's method": flops_text(flops_by_the_papers_method(row)),
            "FLOPs by our count": flops_text(counted[row]),
        }
        for row, hours in PAPER_HOURS.items()
        if row in counted
    ]


def _proposal_text(plan: Plan, proposal: Proposal) -> str:
    if not proposal.rows:
        cheapest = min(plan.trainings, key=lambda each: each.gpu_hours)
        return (
            f"Nothing: every row is compared with base, which takes more; the cheapest training is "
            f"{_name(plan, cheapest)}, {_hours(cheapest.gpu_hours)} {_unit(plan)}."
        )
    lines = [
        _config_option(plan, proposal),
        "",
        f"takes {_hours(proposal.gpu_hours)} {_unit(plan)}.",
    ]
    left = ", ".join(
        f"{_name(plan, each)} ({_hours(each.gpu_hours)})" for each in proposal.left_out
    )
    return "\n".join([*lines, f"Left out: {left}." if left else "Nothing is left out."])


def _config_option(plan: Plan, proposal: Proposal) -> str:
    """What to give to snakemake."""
    settings = plan.project.settings
    keys = {"scale": settings.scale, "rows": ",".join(proposal.rows)}
    keys["pairs"] = ",".join(proposal.pairs)
    if settings.seeds != (1,):
        keys["seeds"] = ",".join(map(str, settings.seeds))
    if settings.rehearsal:
        keys["rehearsal"] = "true"
    return "--config " + " ".join(f"{key}={value}" for key, value in keys.items())


def _rich_table(title: str, records: Records) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for number, column in enumerate(records[0]):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    for record in records:
        table.add_row(*record.values(), style="bold" if TOTAL in record.values() else "")
    return table


def _unit(plan: Plan) -> str:
    """``A100-hours``."""
    return f"{plan.device_name}-hours"


def _thousands(count: int) -> str:
    """``100K``, as the paper prints steps; ``1,400``."""
    return f"{count:,}" if count % 1000 else f"{count // 1000:,}K"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.1f}"
