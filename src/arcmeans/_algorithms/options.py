"""``EngineOptions``: how passes are carried out."""

from dataclasses import dataclass

HAMERLY_UPDATES = ("tight", "eq8", "eq9")


@dataclass(frozen=True)
class EngineOptions:
    """How a pass is carried out. No option changes a bit of the result."""

    algorithm: str = "lloyd"
    n_threads: int = 1
    chunk_rows: int = 0
    """Rows a thread takes at a time; 0: what suits the algorithm."""
    merge_repeats: bool = False
    """Whether a pass over rows in memory takes only one of rows that are equal, where many are."""
    keep_bounds: bool = True
    """False: an algorithm that can do without row state does so; the sieve can."""
    hamerly_update: str = "tight"
    """For hamerly and simplified-hamerly: ``tight`` (Eq. 7 with the largest movement), or the
    paper's ``eq8`` or ``eq9``."""
    n_groups: int | None = None
    """Groups of centers for yinyang, from 1 to the number of clusters; None: a twentieth of it."""


DEFAULTS = EngineOptions()
