"""``KPath``: what came of clustering the same rows for several k, as a table and as a picture."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import check_option

MANY_TICKS = 15
"""From so many k on, matplotlib places the ticks."""


@dataclass(frozen=True)
class KPath:
    """What came of each k."""

    table: NDArray[np.void]
    """A row for each k, ascending: ``k``, ``inertia``, ``objective`` (Σ w·cos), a column for each
    metric (NaN where it is not defined), ``iterations`` and ``seconds`` of the fit. pandas reads
    it."""
    metrics: tuple[str, ...]
    """The columns that :meth:`best` can choose by; larger is better for all."""
    random_state: int
    """The random state of every fit."""
    models: dict[int, Any] = field(default_factory=dict)
    """The fitted models by k, where they were asked for."""

    def best(self, metric: str | None = None) -> int:
        """The k with the largest value of a metric (the first one, if None), the smallest at a tie.

        Inertia and objective are better with every cluster more, so neither can choose.
        """
        if metric is None and not self.metrics:
            raise ValueError("metrics=() were computed: there is nothing to choose k by.")
        metric = self.metrics[0] if metric is None else metric
        check_option("metric", metric, self.metrics)
        values = self.table[metric]
        if np.all(np.isnan(values)):
            raise ValueError(
                f"metric={metric!r} is not defined for any k of {self.table['k'].tolist()}."
            )
        return int(self.table["k"][np.nanargmax(values)])

    def plot(self, ax: Any = None, *, columns: Sequence[str] | None = None) -> list[Any]:
        """Draw columns of the table over k, each in axes of its own that begin at zero.

        A ring marks the best k of a metric. Needs ``pip install arcmeans[plot]``.

        Parameters
        ----------
        ax : matplotlib Axes, sequence of them or None, default=None
            As many as columns. None makes a figure.
        columns : sequence of str or None, default=None
            None: with a single Axes the first metric, otherwise inertia and every metric.

        Returns
        -------
        list of Axes
        """
        single = ax is not None and not isinstance(ax, Sequence | np.ndarray)
        if columns is None:
            columns = self.metrics[:1] if single and self.metrics else ("inertia", *self.metrics)
        for column in columns:
            check_option("columns", column, (self.table.dtype.names or ())[1:])
        axes = _new_axes(len(columns)) if ax is None else [ax] if single else list(np.ravel(ax))
        if len(axes) != len(columns):
            raise ValueError(f"ax has {len(axes)} Axes, but there are {len(columns)} columns.")
        for one, column in zip(axes, columns, strict=True):
            self._draw(one, column)
        return axes

    def _draw(self, ax: Any, column: str) -> None:
        ks, values = self.table["k"], self.table[column].astype(np.float64)
        finite = np.where(np.isfinite(values), values, np.nan)
        ax.plot(ks, finite, marker="o", markersize=4)
        if column in self.metrics and np.any(np.isfinite(values)):
            best = ks == self.best(column)
            ax.plot(ks[best], finite[best], "o", markersize=11, fillstyle="none", color="C3")
            ax.set_title(f"best: k = {self.best(column)}", loc="right", fontsize="small")
        ax.margins(y=0.12)
        ax.axhline(0, color="0.6", linewidth=0.8)  # within the limits, whatever the values
        if not np.any(values < 0):
            ax.set_ylim(bottom=0)
        ax.set_xlabel("k, number of clusters")
        ax.set_ylabel(column.replace("_", " "))
        if len(ks) < MANY_TICKS:
            ax.set_xticks(ks)
        ax.grid(alpha=0.3)

    def __str__(self) -> str:
        names = self.table.dtype.names or ()
        cells = [list(names), *([_cell(value) for value in row.item()] for row in self.table)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in cells)


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _new_axes(n: int) -> list[Any]:
    """Axes below each other in a new figure."""
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "KPath.plot needs matplotlib, which is not installed: pip install arcmeans[plot]"
        ) from error
    _, axes = pyplot.subplots(
        n, 1, figsize=(6.4, 2.2 * n + 0.6), squeeze=False, layout="constrained"
    )
    return list(axes.ravel())
