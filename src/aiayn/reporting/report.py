"""reports/<scale>/ out of results/<scale>/: everything that people read."""

from collections.abc import Callable
from pathlib import Path

from aiayn.common.progress import track
from aiayn.config import Project
from aiayn.reporting.bleu import write_bleu
from aiayn.reporting.claims import write_claims
from aiayn.reporting.curves import write_curves
from aiayn.reporting.data import write_data
from aiayn.reporting.deviations import write_deviations
from aiayn.reporting.figures import DRAWINGS
from aiayn.reporting.html import write_html
from aiayn.reporting.index import write_index
from aiayn.reporting.metrics import write_metrics
from aiayn.reporting.provenance import write_provenance
from aiayn.reporting.published import load_published
from aiayn.reporting.results import Results, read_results
from aiayn.reporting.samples import write_samples
from aiayn.reporting.table2 import write_table2
from aiayn.reporting.table3 import write_table3

Writer = Callable[[Results, Path], None]

PAGES: tuple[Writer, ...] = (
    write_table2,
    write_table3,
    write_bleu,
    write_claims,
    write_deviations,
    write_samples,
    write_data,
    write_provenance,
    write_curves,
    write_metrics,
)


def write_report(project: Project, *, root: Path, results: Path, reports: Path) -> Path:
    """Write all tables, figures and pages of a scale.

    Args:
        project: What was asked for; only its runs are read.
        root: The checkout, for config/published.yaml.
        results: Folder of results/<scale>.
        reports: Folder in which reports/<scale> is made.

    Returns:
        reports/<scale>

    Raises:
        UserError: a result is malformed; the message names file and key.
    """
    found = read_results(project, load_published(root), results)
    folder = reports / project.name
    for write in track(PAGES, "report: pages", total=len(PAGES), unit="kinds"):
        write(found, folder)
    for draw in track(DRAWINGS, "report: figures", total=len(DRAWINGS), unit="kinds"):
        draw(found, folder / "figures")
    write_index(found, folder)
    write_html(folder)
    return folder
