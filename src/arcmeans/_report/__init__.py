"""The pages: ``report.html`` of a clustering and ``choose-k.html``, each in one file."""

from pathlib import Path

from .._analysis.k_path import KPath
from .data import choice_data, report_data
from .page import render
from .results import NamedRows, Results


def write_report(path: Path, results: Results) -> None:
    path.write_text(render("report", results.source, report_data(results)), encoding="utf-8")


def write_choice(path: Path, table: KPath, source: str, rows: NamedRows) -> None:
    path.write_text(render("choose", source, choice_data(table, source, rows)), encoding="utf-8")
