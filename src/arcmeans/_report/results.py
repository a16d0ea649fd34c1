"""What a clustering came to, gathered once for the files, the summary and the page."""

import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._analysis.assignment import Assignment, Clusterer, assign_parts
from .._analysis.explain import explain
from .._analysis.explanation import ClusterExplanation, Explanation, TypicalRow

TOP = 10
"""Terms of each kind."""
TYPICAL = 5
"""Rows of each kind."""


class Model(Clusterer, Protocol):
    """What the results ask of an estimator."""

    n_clusters: int
    init: Any
    n_init: int
    algorithm: str
    max_iter: int
    random_state: Any
    labels_: NDArray[np.int32]
    inertia_: float
    n_iter_: int
    trace_: NDArray[np.void]

    @property
    def cluster_centers_(self) -> NDArray[Any]: ...


@dataclass
class NamedRows:
    """Rows, with what is needed to speak of them."""

    X: Any
    ids: list[str] | None
    """None for rows that are known by their number from 0."""
    snippets: list[str] | None
    """The beginning of each text; None where rows are not texts."""
    unit: str
    """What a row is: ``documents`` or ``rows``."""

    def id(self, i: int) -> str:
        return str(i) if self.ids is None else self.ids[i]

    def snippet(self, i: int) -> str | None:
        return None if self.snippets is None else self.snippets[i]


@dataclass(frozen=True)
class Times:
    """Seconds."""

    read: float | None
    """Texts: weighing the words included. None where it was not measured."""
    fit: float


@dataclass(frozen=True)
class Results:
    """A fit and what is to be told of it."""

    source: str
    rows: NamedRows
    model: Model
    times: Times
    interrupted: bool
    explanation: Explanation
    assigned: Assignment
    created: str

    @classmethod
    def of(
        cls,
        source: str,
        rows: NamedRows,
        model: Model,
        times: Times,
        interrupted: bool = False,
    ) -> "Results":
        """Describes and assigns; the labels are those of the fit."""
        names = getattr(model, "feature_names_in_", None)
        explanation = explain(
            model,
            names,
            rows.X,
            top=TOP,
            n_typical=TYPICAL,
            labels=model.labels_,
            n_threads=model.n_threads,
        )
        assigned = assign_parts(model, rows.X)
        created = time.strftime("%Y-%m-%d %H:%M")
        return cls(source, rows, model, times, interrupted, explanation, assigned, created)

    @property
    def counted(self) -> int:
        """The number of rows that have a direction, and so a label."""
        return int(np.count_nonzero(self.model.labels_ >= 0))

    def stopped(self) -> str:
        """Why the best run ended."""
        if self.model.trace_["changed"][-1] == 0:
            return "converged"
        if self.interrupted:
            return "not converged"
        return "max-iter" if self.model.n_iter_ >= self.model.max_iter else "cycle"

    def by_size(self) -> list[ClusterExplanation]:
        return sorted(self.explanation, key=lambda cluster: -(cluster.size or 0))

    def summary(self) -> dict[str, Any]:
        """The facts of the run, ready for JSON."""
        trace, model = self.model.trace_, self.model
        objective = float(trace["objective"][-1])
        computed = int(trace["similarities"].sum())
        possible = self.counted * model.n_clusters * model.n_iter_
        return {
            "arcmeans": version("arcmeans"),
            "created": self.created,
            "source": self.source,
            "rows": int(self.rows.X.shape[0]),
            "rows_without_label": int(self.rows.X.shape[0]) - self.counted,
            "features": int(self.rows.X.shape[1]),
            "k": int(model.n_clusters),
            "objective": objective,
            "mean_cosine": objective / max(1, self.counted),
            "inertia": float(model.inertia_),
            "iterations": int(model.n_iter_),
            "stopped": self.stopped(),
            "interrupted": self.interrupted,
            "seconds": {"read": self.times.read, "fit": self.times.fit},
            "similarities": {
                "computed": computed,
                "of_all_pairs": possible,
                "saved_share": 1.0 - computed / possible if possible else 0.0,
            },
            "options": {
                "init": model.init if isinstance(model.init, str) else "given",
                "runs": int(model.n_init),
                "algorithm": model.algorithm,
                "max_iter": int(model.max_iter),
                "seed": model.random_state if isinstance(model.random_state, int) else None,
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """``clusters.json``."""
        return {**self.summary(), "clusters": [self._cluster(c) for c in self.explanation]}

    def _cluster(self, cluster: ClusterExplanation) -> dict[str, Any]:
        return {
            **cluster.to_dict(),
            "typical": [self.row(r) for r in cluster.typical],
            "atypical": [self.row(r) for r in cluster.atypical],
        }

    def row(self, row: TypicalRow) -> dict[str, Any]:
        shown = {"row": row.row, "id": self.rows.id(row.row), "similarity": row.cosine}
        snippet = self.rows.snippet(row.row)
        return shown if snippet is None else {**shown, "text": snippet}
