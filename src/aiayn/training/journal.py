"""train.csv and valid.csv: rows appended as training goes, cut back on resume."""

import csv
from pathlib import Path

from aiayn.common.files import atomic_write, read_lines

TRAIN_COLUMNS = (
    "step",
    "epoch",
    "loss",
    "nll",
    "lr",
    "source_tokens",
    "target_tokens",
    "tokens_per_second",
    "seconds",
)
VALID_COLUMNS = ("step", "loss", "ppl")


class Journal:
    """A CSV file whose first column is the step."""

    def __init__(self, path: Path, columns: tuple[str, ...], *, up_to_step: int) -> None:
        """Open a journal, dropping rows after ``up_to_step``: their steps will be taken again."""
        self.path, self.columns = path, columns
        kept = [",".join(columns)]
        if path.exists():
            # A kill may have cut the last row; its step is then taken again as well.
            rows = [row for row in list(read_lines(path))[1:] if row.count(",") == len(columns) - 1]
            kept += [row for row in rows if int(row.partition(",")[0]) <= up_to_step]
        with atomic_write(path) as stream:
            stream.writelines(f"{row}\n" for row in kept)

    def write(self, *values: float) -> None:
        """Append one row."""
        assert len(values) == len(self.columns)
        with self.path.open("a", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerow(values)

    def publish(self, path: Path) -> None:
        """Copy the whole journal to ``path``."""
        with atomic_write(path, "wb") as out, self.path.open("rb") as stream:
            while block := stream.read(1 << 20):
                out.write(block)
