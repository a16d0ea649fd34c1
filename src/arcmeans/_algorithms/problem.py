"""What is to be clustered, as far as algorithms and the choice of one depend on it."""

from dataclasses import dataclass

from .._rows.rows import AnyCensus
from .options import DEFAULTS, EngineOptions


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Numbers of the rows, and the options that some algorithms read."""

    n_rows: int
    n_features: int
    n_clusters: int
    sparse: bool
    n_entries: int = 0
    """The stored entries of all sparse rows; 0: not known."""
    n_shared: int = 0
    """Features of sparse rows from this rank on are in one row at most."""
    options: EngineOptions = DEFAULTS


def problem_of(census: AnyCensus, n_clusters: int, options: EngineOptions = DEFAULTS) -> Problem:
    """The problem of clustering these rows, or a part of the rows with this census."""
    frequent = census.frequent
    return Problem(
        n_rows=census.n_rows,
        n_features=census.n_features,
        n_clusters=n_clusters,
        sparse=census.by_rank is not None,
        n_entries=0 if frequent is None else frequent.n_entries,
        n_shared=census.n_features if frequent is None else frequent.above[1],
        options=options,
    )
