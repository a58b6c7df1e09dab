"""metrics.json: the numbers that ``dvc metrics show`` and ``dvc metrics diff`` print."""

from pathlib import Path
from typing import Any

from aiayn.common.files import write_json
from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import Measured, rounded
from aiayn.reporting.results import Results
from aiayn.reporting.table2 import table2_systems
from aiayn.reporting.table3 import table3_rows


def _present(values: dict[str, Measured | None]) -> dict[str, float | None]:
    return {key: rounded(value, 6) for key, value in values.items() if value is not None}


def metrics(results: Results) -> dict[str, Any]:
    """Numbers by pair and row, in the configuration's order; what was not run is left out.

    ``dev`` is Table 3 (last checkpoint), ``test`` Table 2 (averaged model); ``bleu`` is by the
    paper's convention for the pair.
    """
    found: dict[str, Any] = {"scale": results.project.name}
    table3 = {row.name: row for row in table3_rows(results)}
    for pair in results.project.settings.pairs:
        table2 = {system.row: system for system in table2_systems(results, pair)[1]}
        dev_set = results.set_name(pair, 3)
        rows: dict[str, Any] = {}
        for name in results.project.rows:
            runs = results.of(pair, name)
            trained = [run.trained for run in runs if run.trained]
            sacrebleu = Measured.of(
                run.scores[dev_set].sacrebleu for run in runs if dev_set in run.scores
            )
            dev = {
                "bleu": table3[name].bleu if pair == TABLE3_PAIR else None,
                "sacrebleu": sacrebleu,
                "ppl": Measured.of(one.dev.ppl for one in trained),
            }
            system = table2.get(name)
            test = {"bleu": system.bleu, "sacrebleu": system.sacrebleu} if system else {}
            row: dict[str, Any] = {"dev": _present(dev), "test": _present(test)}
            row |= _present({"params_m": Measured.of(one.parameters / 1e6 for one in trained)})
            row = {key: value for key, value in row.items() if value}
            if row:
                rows[name] = row
        found[pair] = rows
    return found


def write_metrics(results: Results, folder: Path) -> None:
    """Write ``metrics.json`` into ``folder``."""
    write_json(folder / "metrics.json", metrics(results))
