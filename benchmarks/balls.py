"""Where balls pay: ``exponion`` and ``shallot`` against ``sieve``, on surfaces and in clouds.

``auto`` looks at how many centers the ball of a row holds before it chooses between them
(``src/arcmeans/auto.py``): that number, and the times, from the same random rows on one thread.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcmeans._algorithms import auto
from arcmeans._centers.placing import place_rows
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.steps import SeedRows

from .shares import check_same
from .targets import fit
from .timing import in_turns

ITERATIONS = 30


@dataclass(frozen=True)
class Ball:
    """One case."""

    data: str
    features: int
    k: int
    in_a_ball: float
    """Centers, on average, at the start."""
    algorithm: str
    """The one with balls that is for so many features."""
    cpu_seconds: float
    """Of it."""
    sieve: float
    ratio: float
    """Its time over that of the sieve."""
    auto_loss: float
    """What auto takes more than the faster of the two."""


def measure(quick: bool) -> Iterator[Ball]:
    """Every kind of data in every number of dimensions."""
    n, dimensions, clusters = 100_000, (8, 12, 16), (500, 1000, 4000)
    if quick:
        n, dimensions, clusters = 20_000, (8, 16), (500,)
    for name, generate in KINDS.items():
        for d in dimensions:
            X = generate(n, d)
            for k in clusters:
                yield _measure(name, X, k)


def _measure(name: str, X: NDArray[np.float32], k: int) -> Ball:
    rows = unit_rows(X)
    seeds = np.sort(np.random.default_rng(k).choice(len(X), k, replace=False))
    held = auto.centers_in_a_ball(SeedRows(rows, 1), place_rows(rows, rows, seeds))
    algorithm = auto.chosen(rows, k, 1).algorithm
    works: dict[str, Callable[[], Any]] = {
        a: partial(fit, X, seeds, a, max_iter=ITERATIONS) for a in (algorithm, "sieve", "auto")
    }
    measured = in_turns(works, 2)
    for a in (algorithm, "auto"):
        check_same(measured["sieve"].result, measured[a].result)
    own, sieve = measured[algorithm].seconds, measured["sieve"].seconds
    loss = measured["auto"].seconds / min(own, sieve) - 1.0
    return Ball(name, X.shape[1], k, held, algorithm, own, sieve, own / sieve, loss)


def surface(hidden: int, n: int, d: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(3)
    places = np.hstack([rng.standard_normal((n, hidden)), np.ones((n, 1))])
    return np.tanh(places @ rng.standard_normal((hidden + 1, d))).astype(np.float32)


def clouds(width: float, n: int, d: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    middles = rng.standard_normal((300, d))
    X = middles[rng.integers(300, size=n)] + width * rng.standard_normal((n, d))
    return X.astype(np.float32)


KINDS: dict[str, Callable[[int, int], NDArray[np.float32]]] = {
    "surface of 2 dimensions": partial(surface, 2),
    "surface of 4 dimensions": partial(surface, 4),
    "surface of 6 dimensions": partial(surface, 6),
    "clouds of width 0.3": partial(clouds, 0.3),
    "clouds of width 0.8": partial(clouds, 0.8),
}
