"""Learning curves as numbers: train.csv and valid.csv, thinned to what a figure shows."""

from pathlib import Path

import pandas as pd

from aiayn.common.errors import UserError
from aiayn.reporting.render import Cell, write_csv
from aiayn.reporting.results import Results, RunResults

POINTS = 400
"""Most points of a run: more are averaged over equally many rows."""
COLUMNS = ("pair", "row", "seed", "step", "loss", "nll", "lr", "ppl")


def _read(path: Path, columns: list[str]) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame(columns=columns, dtype=float)
    try:
        return pd.read_csv(path, usecols=columns)[columns]
    except (ValueError, pd.errors.ParserError) as error:
        problem = str(error).strip().split("\n")[0]
        raise UserError(f"{path}: {problem}") from None


def training_curve(run: RunResults) -> pd.DataFrame:
    """Columns step, loss (label-smoothed), nll, lr; at most ``POINTS`` rows.

    A thinned row has the mean losses of the rows it stands for, and the last one's step and lr.
    """
    frame = _read(run.folder / "train.csv", ["step", "loss", "nll", "lr"])
    stride = -(-len(frame) // POINTS) or 1
    groups = frame.groupby(frame.index // stride, sort=True)
    return groups.agg({"step": "last", "loss": "mean", "nll": "mean", "lr": "last"})


def dev_curve(run: RunResults) -> pd.DataFrame:
    """Columns step, ppl: perplexity per BPE token on the dev set."""
    return _read(run.folder / "valid.csv", ["step", "ppl"])


def write_curves(results: Results, folder: Path) -> None:
    """Write ``curves.csv``: a line for each run and step, ``ppl`` at steps of validation."""
    records: list[dict[str, Cell]] = []
    for run in results.runs:
        both = training_curve(run).merge(dev_curve(run), on="step", how="outer")
        key = run.run._asdict()
        for record in both.sort_values("step").to_dict("records"):
            values = {
                str(name): None if pd.isna(value) else float(f"{value:.6g}")
                for name, value in record.items()
            }
            records.append(key | values | {"step": int(record["step"])})
    write_csv(folder / "curves.csv", records, COLUMNS)
