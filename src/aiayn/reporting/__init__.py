"""Reporting: results as tables, figures and pages; the one stage that knows the paper's numbers."""

from aiayn.reporting.published import Published, load_published
from aiayn.reporting.results import Results, read_results

__all__ = ["Published", "Results", "load_published", "read_results"]
