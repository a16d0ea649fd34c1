"""Where runs begin: at rows drawn by a method, centers given by the caller, or fitted centers."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .. import _core
from .._centers.placing import place_rows, place_sums
from .._centers.sums import CenterSums
from .._seeding.given import asked_centers
from .._seeding.methods import choose_rows
from .._seeding.options import SeedOptions
from .._seeding.steps import SeedPlace


@dataclass(frozen=True)
class Beginning:
    """The initial centers of a run."""

    centers: _core.native.Centers
    seeded: bool = False
    """Whether the place knows the first pass from the seeding."""


class Start(Protocol):
    """Says where each run of a fit begins."""

    @property
    def fitted_centers(self) -> CenterSums | None:
        """The centers of an earlier fit, at which a warm start begins."""

    def begin(
        self, place: SeedPlace, n_clusters: int, random_state: np.random.RandomState, in_full: bool
    ) -> Beginning:
        """The initial centers of a run, with a number for every feature if ``in_full``."""


@dataclass(frozen=True)
class DrawnStart:
    """Rows chosen by one of the methods."""

    method: str
    options: SeedOptions
    fitted_centers = None

    def begin(
        self, place: SeedPlace, n_clusters: int, random_state: np.random.RandomState, in_full: bool
    ) -> Beginning:
        seeds = choose_rows(place, n_clusters, self.method, self.options, random_state)
        centers = place_rows(place.census, place.take(seeds.indices), in_full=in_full)
        return Beginning(centers, seeds.compared)


@dataclass(frozen=True)
class GivenStart:
    """An array of centers, numbers of rows, or a callable that returns either."""

    X: Any
    init: Any
    n_threads: int
    fitted_centers = None

    def begin(
        self, place: SeedPlace, n_clusters: int, random_state: np.random.RandomState, in_full: bool
    ) -> Beginning:
        census, n_threads = place.census, self.n_threads
        centers = asked_centers(
            census, place, self.X, n_clusters, self.init, random_state, n_threads, in_full=in_full
        )
        return Beginning(centers)


@dataclass(frozen=True)
class WarmStart:
    """The centers of an earlier fit."""

    fitted_centers: CenterSums

    def begin(
        self, place: SeedPlace, n_clusters: int, random_state: np.random.RandomState, in_full: bool
    ) -> Beginning:
        census = place.census
        sums = replace(self.fitted_centers, one=census.one)
        return Beginning(place_sums(census, sums, in_full=in_full))
