"""An algorithm written in Python: what a record and an algorithm have to have, and no more."""

from dataclasses import dataclass

import numpy as np

from arcmeans import _core


@dataclass(frozen=True)
class Counted:
    """The row state: in how many passes a row was visited since it was forgotten."""

    name: str = "visits"
    dtype: str = "int32"
    columns: int = 1
    initial: float | None = 0.0


class BruteForce:
    """Takes the label of each row from the matrix of all reference similarities."""

    def __init__(self, visits):
        self.visits = visits

    def assign(self, rows, centers, labels, previous, *, n_threads, chunk_rows):
        similarities = np.empty((len(labels), len(centers.scales)))
        _core.native.similarity_matrix(rows, centers, n_threads, similarities)
        directed = rows.zero == 0
        previous[:] = labels
        labels[directed] = similarities.argmax(axis=1)[directed]  # of equal ones the first
        self.visits += 1
        work = _core.native.Work()
        work.similarities = similarities.size
        work.changed = int(np.count_nonzero(labels != previous))
        return work

    def adopt(self, labels, lower, upper):
        pass

    def forget(self, rows):
        self.visits[rows] = 0

    def release_rows(self):
        pass


@dataclass(frozen=True)
class BruteForceRecord:
    name: str = "brute-force"
    keeps: str = "how often a row was visited"
    wins: str = "nowhere"
    takes_sparse: bool = True
    takes_dense: bool = True
    needs_row_state: bool = True
    in_full: bool = True
    checks_memory: bool = True
    largest_ball: float = 0.0

    def row_state(self, problem):
        return [Counted()]

    def other_bytes(self, problem):
        return 8 * problem.n_rows * problem.n_clusters

    def auto_takes(self, problem):
        return None

    def make(self, problem, state):
        return BruteForce(*state)
