"""The records that ``explain`` returns, and how they read."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Term:
    """A feature that describes a cluster or sets it apart."""

    name: str
    feature: int
    """Its column in X."""
    share: float
    """Of the squared length of the center (descriptive), or of the squared distance between the
    center and the direction of all other rows (discriminating)."""
    center: float
    """Its value in the center."""
    rest: float | None
    """Its value in the direction of all other rows; None where there are none."""


@dataclass(frozen=True, slots=True)
class TypicalRow:
    """A row that is near its center, or far from it."""

    row: int
    cosine: float
    """To the center."""


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    """One cluster. What is not known, or not defined for a cluster without rows, is None."""

    label: int
    size: int | None
    """The number of its rows; None where the model has no labels and none were given."""
    share: float | None
    """Of the weight of all rows that have a label."""
    separation: float | None
    """1 − the largest cosine of its center to the center of another cluster that has rows."""
    nearest: int | None
    """The cluster of that center."""
    cohesion: float | None = None
    """The mean cosine of its rows to the center, weighted; if X is given."""
    descriptive: tuple[Term, ...] = ()
    """Terms that its rows have in common; largest share first."""
    discriminating: tuple[Term, ...] = ()
    """Terms that set it apart, since its rows have more of them or less; largest share first."""
    typical: tuple[TypicalRow, ...] = ()
    """The rows most similar to the center, nearest first; if X is given."""
    atypical: tuple[TypicalRow, ...] = ()
    """The rows least similar to it, farthest first; if X is given."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers, strings, sequences, dicts and None."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"cluster {self.label}: {self._numbers()}"]
        lines += _wrapped("descriptive", [f"{t.name} {t.share:.0%}" for t in self.descriptive])
        lines += _wrapped(
            "discriminating",
            [f"{_sign(t)}{t.name} {t.share:.0%}" for t in self.discriminating],
        )
        for title, rows in (("typical rows", self.typical), ("atypical rows", self.atypical)):
            lines += _wrapped(title, [f"{r.row} ({r.cosine:.2f})" for r in rows])
        return "\n".join(lines)

    def _numbers(self) -> str:
        parts = []
        if self.size is not None:
            parts.append(f"{self.size:,} row{'' if self.size == 1 else 's'}")
        if self.share is not None:
            parts.append(f"{self.share:.1%} of the weight")
        if self.cohesion is not None:
            parts.append(f"cohesion {self.cohesion:.3f}")
        if self.separation is not None:
            parts.append(f"separation {self.separation:.3f} (from cluster {self.nearest})")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Explanation:
    """All clusters, in the order of their labels."""

    clusters: tuple[ClusterExplanation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers, strings, sequences, dicts and None."""
        return asdict(self)

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ClusterExplanation]:
        return iter(self.clusters)

    def __getitem__(self, label: int) -> ClusterExplanation:
        return self.clusters[label]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.clusters))


def _sign(term: Term) -> str:
    """A minus where the cluster has less of the term than the other rows."""
    return "−" if term.rest is not None and term.center < term.rest else ""


def _wrapped(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    whole = [item.replace(" ", "\xa0") for item in items]  # kept together
    text = textwrap.fill(
        ", ".join(whole),
        WIDTH,
        initial_indent=f"  {title + ':':<16}",
        subsequent_indent=" " * 18,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.replace("\xa0", " ").split("\n")
