"""Figures of learning: training loss and dev perplexity against steps, by group of Table 3."""

from pathlib import Path

from matplotlib.axes import Axes

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.curves import dev_curve, training_curve
from aiayn.reporting.figure_style import line_style, new_figure, note_not_run, save, step_axis
from aiayn.reporting.results import Results, RunResults

Panel = tuple[str, list[RunResults]]
COLUMNS_OF_PANELS = 3


def panels(results: Results) -> list[Panel]:
    """A panel for the systems of Table 2, then one for each group of Table 3 with base."""
    experiments = results.project.experiments
    started = [run for run in results.runs if (run.folder / "train.csv").exists()]
    first_seed = [run for run in started if run.run.seed == results.project.settings.seeds[0]]
    table2 = [run for run in first_seed if experiments[run.run.row].table2]
    table3 = [run for run in first_seed if run.run.pair == TABLE3_PAIR]
    found: list[Panel] = [("Table 2", table2)] if table2 else []
    for group in "ABCDE":
        members = [run for run in table3 if experiments[run.run.row].group == group]
        base = [run for run in table3 if run.run.row == "base"]
        if members:
            found.append((f"({group})", base + members))
    return found


def _label(run: RunResults, title: str) -> str:
    return f"{run.run.row}, {run.run.pair.upper()}" if title == "Table 2" else run.run.row


def _draw(axes: Axes, panel: Panel, column: str) -> None:
    title, runs = panel
    for number, run in enumerate(runs):
        frame = dev_curve(run) if column == "ppl" else training_curve(run)
        axes.plot(
            frame["step"],
            frame[column],
            label=_label(run, title),
            markevery=max(1, len(frame) // 6),
            **line_style(number),
        )
    axes.set_title(title)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    step_axis(axes)
    low, high = axes.dataLim.intervaly
    if column == "ppl" and high > 5 * low:
        axes.set_yscale("log", subs=[2, 5])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")


def _figure(results: Results, folder: Path, column: str, label: str) -> None:
    found = panels(results)
    columns = min(COLUMNS_OF_PANELS, max(1, len(found)))
    rows = -(-max(1, len(found)) // columns)
    figure, grid = new_figure(rows, columns, width=max(5.0, 3.8 * columns), height=2.8 * rows + 0.4)
    axes = [one for row in grid for one in row]
    for one in axes[len(found) :]:
        one.set_axis_off()
    for panel, one in zip(found, axes, strict=False):
        _draw(one, panel, column)
        one.set_ylabel(label)
    if not found:
        note_not_run(axes[0])
    save(figure, folder, f"learning_{column}", results.about)


def draw_curves(results: Results, folder: Path) -> None:
    """Write ``learning_loss`` and ``learning_ppl``, each as PNG and SVG; of the first seed."""
    _figure(results, folder, "loss", "training loss (nats per token)")
    _figure(results, folder, "ppl", "dev PPL per BPE token")
