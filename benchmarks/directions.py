"""Where bounds pay: directions in few dimensions, and text, where they do not.

Every algorithm starts from the same random rows, on one thread, and all results are held against
each other bit by bit. Generated data, float32:

- normals: the surface normals of a scanned scene: noisy patches around some directions, and a
  fifth from all around (3 dimensions);
- colors: hue and saturation of the pixels of photographs: RGB of a few materials under light of
  any brightness (3 dimensions, none negative);
- places: directions from the middle of the earth to places that crowd in cities (3 dimensions);
- descriptors: a manifold of 4 dimensions in 16;
- clouds: 300 of them, which fill all of 16 dimensions;
- text: TF-IDF.

``by centers`` is the share of rows, over all passes but the first, that a test by the angle to the
nearest other center let pass; ``by bounds`` the share that their bounds did.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcmeans import SphericalKMeans
from arcmeans._algorithms.registry import ALGORITHMS

from . import balls, data
from .shares import check_same
from .targets import say_losses
from .timing import in_turns

MOST_ITERATIONS = 20
BOUND_A_PAIR = ("simplified-elkan", "elkan")
MOST_PAIRS = 5 * 10**7
"""Elkan's two are left out beyond so many bounds."""


@dataclass(frozen=True)
class Direction:
    """One algorithm's run."""

    data: str
    rows: int
    features: int
    k: int
    algorithm: str
    cpu_seconds: float
    """Of the whole fit, set-up included."""
    speedup: float
    """The time of lloyd over this."""
    similarities: float
    """Row-center similarities computed, a row and iteration."""
    center_similarities: float
    """Center-center similarities computed, over all row-center pairs of the run."""
    by_bounds: float
    by_centers: float
    iterations: int


def measure(quick: bool) -> Iterator[Direction]:
    """Every kind of data, with few and with many clusters."""
    n, clusters = (20_000, (50, 500)) if quick else (100_000, (100, 1000, 5000))
    for name, generate in KINDS.items():
        X = generate(n)
        for k in clusters:
            if name == "text" and k > 1000:
                continue
            yield from _measure(name, X, k)


def _measure(name: str, X: Any, k: int) -> Iterator[Direction]:
    n, d = X.shape
    seeds = np.sort(np.random.default_rng(k).choice(n, k, replace=False))
    names = ("auto", *ALGORITHMS)
    algorithms = [a for a in names if n * k <= MOST_PAIRS or a not in BOUND_A_PAIR]
    measured = in_turns({a: partial(_fit, X, seeds, a) for a in algorithms}, 2)
    lloyd = measured["lloyd"]
    for algorithm in algorithms:
        model, seconds = measured[algorithm].result, measured[algorithm].seconds
        check_same(lloyd.result, model)
        trace, visits = model.trace_, n * model.n_iter_
        later = n * max(1, model.n_iter_ - 1)
        yield Direction(
            data=name,
            rows=n,
            features=d,
            k=k,
            algorithm=algorithm,
            cpu_seconds=seconds,
            speedup=lloyd.seconds / seconds,
            similarities=trace["similarities"].sum() / visits,
            center_similarities=trace["center_similarities"].sum() / (visits * k),
            by_bounds=trace["skipped_by_bounds"].sum() / later,
            by_centers=trace["skipped_by_centers"].sum() / later,
            iterations=model.n_iter_,
        )


def conclude(records: Sequence[Direction]) -> None:
    """Say where ``auto`` loses to an algorithm by name."""
    losses = []
    for auto in (record for record in records if record.algorithm == "auto"):
        same = [r for r in records if (r.data, r.k) == (auto.data, auto.k) and r is not auto]
        best = min(same, key=lambda record: record.cpu_seconds)
        loss = auto.cpu_seconds / best.cpu_seconds - 1.0
        losses.append((f"{auto.data} k={auto.k}", loss, best.algorithm))
    say_losses(losses)


def _fit(X: Any, seeds: NDArray[np.int64], algorithm: str) -> SphericalKMeans:
    return SphericalKMeans(
        len(seeds), init=seeds, algorithm=algorithm, max_iter=MOST_ITERATIONS, n_threads=1
    ).fit(X)


def _normals(n: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    patches = rng.standard_normal((60, 3))
    patches /= np.linalg.norm(patches, axis=1, keepdims=True)
    patch = rng.choice(60, n, p=rng.dirichlet(np.ones(60)))
    noise = rng.gamma(2.0, 0.05, (60, 1))[patch] * rng.standard_normal((n, 3))
    X = patches[patch] + noise
    around = rng.random(n) < 0.2
    X[around] = rng.standard_normal((int(around.sum()), 3))
    return X.astype(np.float32)


def _colors(n: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(1)
    material = rng.beta(1.5, 1.5, (40, 3))[rng.choice(40, n, p=rng.dirichlet(np.ones(40)))]
    light = rng.uniform(0.1, 1.0, (n, 1)) * (1.0 + 0.1 * rng.standard_normal((n, 3)))
    return np.clip(material * light + 0.01, 1e-3, 1.0).astype(np.float32)


def _places(n: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(2)
    cities = rng.standard_normal((2000, 3))
    cities /= np.linalg.norm(cities, axis=1, keepdims=True)
    sizes = 1.0 / np.arange(1, 2001)
    city = rng.choice(2000, n, p=sizes / sizes.sum())
    return (cities[city] + 0.02 * rng.standard_normal((n, 3))).astype(np.float32)


KINDS: dict[str, Callable[[int], Any]] = {
    "normals": _normals,
    "colors": _colors,
    "places": _places,
    "descriptors": partial(balls.surface, 4, d=16),
    "clouds": partial(balls.clouds, 0.8, d=16),
    "text": lambda n: data.generated(n // 5, 20_000, nnz_per_row=60),
}
