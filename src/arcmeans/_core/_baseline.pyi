"""The types of the native core. The modules of all instruction sets are alike."""

from enum import Enum
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

_Doubles: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int32]
_Longs: TypeAlias = NDArray[np.int64]
_Bytes: TypeAlias = NDArray[np.uint8]
_Values: TypeAlias = NDArray[Any]  # float32 or float64, the same throughout a call
_Indices: TypeAlias = NDArray[Any]  # int32 or int64

class Inspection:
    @property
    def canonical(self) -> bool: ...
    @property
    def has_zeros(self) -> bool: ...
    @property
    def bad_index_row(self) -> int: ...
    @property
    def not_finite_row(self) -> int: ...

def inspect(
    starts: _Longs, indices: _Indices, values: _Values, frequency: _Longs, /
) -> Inspection: ...
def unit_sparse(
    starts: _Longs,
    indices: _Indices,
    values: _Values,
    rank: _Ints,
    n_threads: int,
    features: _Ints,
    unit: _Values,
    zero: _Bytes,
    /,
) -> None: ...
def unit_dense(values: _Values, n_threads: int, unit: _Values, zero: _Bytes, /) -> int: ...
def copy_rows(
    starts: _Longs,
    features: _Ints,
    values: _Values,
    which: _Longs,
    to: _Longs,
    n_threads: int,
    to_features: _Ints,
    to_values: _Values,
    /,
) -> None: ...

class Rows:
    @overload
    def __init__(
        self,
        starts: _Longs,
        features: _Ints,
        values: _Values,
        n_features: int,
        weights: _Doubles | None,
        zero: _Bytes,
        one: float,
        by_rank: _Ints,
        /,
    ) -> None: ...
    @overload
    def __init__(
        self, values: _Values, weights: _Doubles | None, zero: _Bytes, one: float, /
    ) -> None: ...

def hash_rows(rows: Rows, which: _Longs, n_threads: int, hashes: NDArray[np.uint64], /) -> None: ...
def distinct_rows(rows: Rows, hashes: NDArray[np.uint64], /) -> tuple[_Longs, _Longs]: ...

class EqualRows:
    def __init__(self, equal_to: _Longs, n_distinct: int, first: int, /) -> None: ...
    def spread(
        self, distinct: _Ints, before: _Ints, anew: bool, labels: _Ints, previous: _Ints, /
    ) -> int: ...
    @property
    def hash(self) -> int: ...

def hash_labels(labels: _Ints, first: int, /) -> int: ...

class SumChanges:
    def __init__(self, n_clusters: int, /) -> None: ...
    def collect(
        self,
        rows: Rows,
        previous: _Ints,
        labels: _Ints,
        n_threads: int,
        add: bool = False,
        copies: _Doubles | None = None,
        /,
    ) -> None: ...
    def add(
        self,
        rows: _Longs,
        touched: _Bytes,
        starts: _Longs,
        features: _Ints,
        values: _Longs,
        n_features: int,
        n_threads: int,
        /,
    ) -> None: ...
    def sizes(self, sizes: _Longs, /) -> None: ...
    def copy(self, rows: _Longs, touched: _Bytes, features: _Ints, values: _Longs, /) -> None: ...

class Centers:
    @overload
    def __init__(self, n_centers: int, n_features: int, one: float, n_frequent: int, /) -> None: ...
    @overload
    def __init__(self, n_centers: int, n_features: int, one: float, /) -> None: ...
    def vector(self, j: int, /) -> _Longs: ...
    def place(self, j: int, features: _Ints, values: _Longs, /) -> None: ...
    def objective(self, changes: SumChanges | None, /) -> float: ...
    def move(self, changes: SumChanges, n_threads: int, /) -> None: ...
    def sizes(self) -> _Longs: ...
    def entries(
        self, starts: _Longs, by_rank: _Ints | None, features: _Ints, values: _Longs, /
    ) -> None: ...
    @property
    def n_frequent(self) -> int: ...
    @property
    def line_lengths(self) -> _Doubles: ...
    def detached(self, j: int, /) -> bool: ...
    @property
    def counts(self) -> _Longs: ...
    @property
    def one(self) -> float: ...
    @property
    def scales(self) -> _Doubles: ...
    @property
    def chords(self) -> _Doubles: ...

class Algorithm(Enum):
    lloyd = 0
    simplified_elkan = 1
    elkan = 2
    simplified_hamerly = 3
    hamerly = 4

class HamerlyUpdate(Enum):
    tight = 0
    eq8 = 1
    eq9 = 2

class Work:
    similarities: int
    lines: int
    center_similarities: int
    reused: int
    exact_decisions: int
    skipped_by_bounds: int
    skipped_by_centers: int
    changed: int
    def __init__(self) -> None: ...
    def add(self, other: Work, /) -> None: ...

def assign(
    algorithm: Algorithm,
    rows: Rows,
    centers: Centers,
    labels: _Ints,
    previous: _Ints,
    lower: _Doubles | None,
    uppers: NDArray[np.float32] | None,
    upper: _Doubles | None,
    n_threads: int,
    chunk_rows: int,
    update: HamerlyUpdate,
    /,
) -> Work: ...

class PackedRows:
    def __init__(self, rows: Rows, n_frequent: int, n_shared: int, n_threads: int, /) -> None: ...

class LineGroups:
    def __init__(self, n_centers: int, dense: bool, /) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def n_bounds(self) -> int: ...
    def of(self, place: int, /) -> int: ...

class SieveMoves:
    def __init__(self, n_centers: int, dense: bool, /) -> None: ...
    @property
    def rises(self) -> _Doubles: ...
    @property
    def falls(self) -> _Doubles: ...
    @property
    def places(self) -> _Ints: ...
    @property
    def told(self) -> bool: ...
    @property
    def rise_rooms(self) -> _Doubles: ...
    @property
    def fall_rooms(self) -> _Doubles: ...

def sift(
    rows: Rows,
    packed: PackedRows,
    centers: Centers,
    moves: SieveMoves,
    labels: _Ints,
    previous: _Ints,
    lower: _Ints | None,
    uppers: NDArray[np.int16] | None,
    n_threads: int,
    chunk_rows: int,
    /,
) -> Work: ...
def tally(
    rows: Rows,
    centers: Centers,
    labels: _Ints,
    previous: _Ints,
    lower: NDArray[np.float32],
    upper: NDArray[np.float32],
    n_threads: int,
    chunk_rows: int,
    /,
) -> Work: ...

class CenterGroups:
    def __init__(self, group_of: _Ints, n_groups: int, n_features: int, /) -> None: ...
    def moved(self, g: int, /) -> float: ...

def yinyang(
    rows: Rows,
    centers: Centers,
    labels: _Ints,
    previous: _Ints,
    own: _Doubles,
    other: _Doubles,
    kept: NDArray[np.float32],
    n_threads: int,
    chunk_rows: int,
    groups: CenterGroups,
    /,
) -> Work: ...

class CenterNeighbors:
    def __init__(self, n_centers: int, n_features: int, /) -> None: ...
    def update(self, centers: Centers, n_threads: int, /) -> int: ...
    def of(self, a: int, /) -> _Ints: ...
    def beyond_first(self, a: int, m: int, /) -> float: ...
    def nearest_at_most(self, a: int, /) -> float: ...

def exponion(
    rows: Rows,
    centers: Centers,
    labels: _Ints,
    previous: _Ints,
    own: _Doubles,
    other: _Doubles,
    n_threads: int,
    chunk_rows: int,
    neighbors: CenterNeighbors,
    /,
) -> Work: ...
def shallot(
    rows: Rows,
    centers: Centers,
    labels: _Ints,
    previous: _Ints,
    own: _Doubles,
    other: _Doubles,
    seconds: _Ints,
    n_threads: int,
    chunk_rows: int,
    neighbors: CenterNeighbors,
    /,
) -> Work: ...
def own_similarities(
    rows: Rows, centers: Centers, labels: _Ints, n_threads: int, similarities: _Doubles, /
) -> None: ...
def similarity_matrix(
    rows: Rows, centers: Centers, n_threads: int, similarities: _Doubles, /
) -> None: ...
def nearest(
    rows: Rows,
    centers: Centers,
    which: _Longs,
    n_threads: int,
    labels: _Ints,
    similarities: _Doubles,
    /,
) -> None: ...

class SeedSearch:
    def __init__(self, rows: Rows, n_seeds: int, /) -> None: ...
    def similarities(
        self,
        rows: Rows,
        features: _Ints,
        values: _Longs,
        scale: float,
        n_threads: int,
        similarities: _Doubles,
        /,
    ) -> int: ...
    def add(
        self,
        rows: Rows,
        j: int,
        similarities: _Doubles,
        hashes: NDArray[np.uint64],
        own_hash: int,
        n_threads: int,
        /,
    ) -> None: ...
    def weigh(self, rows: Rows, alpha: float, more: _Doubles | None, n_threads: int, /) -> int: ...
    def find(self, at: int, /) -> int: ...
    def open(self) -> int: ...
    def nth_open(self, at: int, /) -> int: ...
    @property
    def weights(self) -> _Longs: ...
    @property
    def best(self) -> _Doubles: ...
    @property
    def second(self) -> _Doubles: ...
    @property
    def labels(self) -> _Ints: ...

def reference_error(is_double: bool, size: int, /) -> float: ...
def panel_error(size: int, /) -> float: ...
def row_filter_error(squared_rounding: float, rare: int, /) -> float: ...
def center_filter_error(length: float, /) -> float: ...
def panel_similarities(
    rows: Rows, centers: Centers, i: int, similarities: NDArray[np.float32], /
) -> None: ...
def reference_similarities(
    rows: Rows, centers: Centers, i: int, similarities: _Doubles, /
) -> None: ...
def lower_after(lower: float, chord: float, /) -> float: ...
def upper_after(upper: float, chord: float, /) -> float: ...
def hamerly_upper_after(
    upper: float, largest: float, smallest: float, update: HamerlyUpdate, /
) -> float: ...
def uppers_after(uppers: NDArray[np.float32], chords: _Doubles, /) -> None: ...
def half_angle(similarity: float, /) -> float: ...
def angle_at_most(lower: float, /) -> float: ...
def angle_at_least(upper: float, /) -> float: ...
def beyond(angle: float, error: float, /) -> float: ...
def turn(chord: float, /) -> float: ...
