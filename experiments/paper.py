"""The paper's own figures, to hold ours against.

Source: E. Schubert, A. Lang and G. Feher, "Accelerating Spherical k-Means", SISAP 2021, Tables 1 to
3. The CSV files beside this one hold them as printed, in the layout of the paper, except that data
sets have the names of Table 1 throughout, and methods and algorithms those of arcmeans.

In Table 3 the time of Elkan on DBLP Conference-Author at k = 200 (32103 ms, less than a third of
that at k = 100) looks like a misprint; it is left as printed.
"""

import csv
from pathlib import Path
from typing import NamedTuple

CLUSTERS = (2, 10, 20, 50, 100, 200)
"""The numbers of clusters of Tables 2 and 3."""

ALGORITHMS = {
    "lloyd": "Standard",
    "elkan": "Elkan",
    "simplified-elkan": "Simplified Elkan",
    "hamerly": "Hamerly",
    "simplified-hamerly": "Simplified Hamerly",
}
"""The paper's names of its algorithms, by ours."""
BOUNDS_OF_ELKAN, BOUNDS_OF_HAMERLY = 2e9, 44e6
"""Bytes of the bounds on DBLP Author-Conference at k = 100, as the text of Section 5 gives them."""


class Method(NamedTuple):
    """A way to choose initial centers."""

    name: str
    """As arcmeans spells it; "uniform" for its "random"."""
    alpha: float | None
    """None where the method has no alpha."""

    def __str__(self) -> str:
        return self.name if self.alpha is None else f"{self.name} α={self.alpha:g}"


class Size(NamedTuple):
    """A line of Table 1."""

    rows: int
    columns: int
    non_zero: float
    """The share of entries that are not zero."""


def table1() -> dict[str, Size]:
    """The size of each data set."""
    return {
        line["data"]: Size(
            int(line["rows"]), int(line["columns"]), float(line["non_zero_percent"]) / 100
        )
        for line in _lines("paper_table1.csv")
    }


def table2() -> dict[tuple[str, Method, int], float]:
    """The relative change of the objective against uniform initialisation (0.01: 1 % worse).

    By data set, method and k; the mean over 10 seeds.
    """
    return {
        (
            line["data"],
            Method(line["method"], float(line["alpha"]) if line["alpha"] else None),
            k,
        ): (float(line[str(k)]) / 100)
        for line in _lines("paper_table2.csv")
        for k in CLUSTERS
    }


def table3() -> dict[tuple[str, str, int], float]:
    """Seconds of a run, by data set, algorithm and k; over 10 seeds."""
    return {
        (line["data"], line["algorithm"], k): float(line[str(k)]) / 1000
        for line in _lines("paper_table3.csv")
        for k in CLUSTERS
    }


def _lines(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(name).open(newline="") as file:
        return list(csv.DictReader(file))
