"""Named small data sets, each difficult in its own way, with initial centers."""

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer


@dataclass(frozen=True)
class Case:
    X: sp.csr_array
    init: np.ndarray
    ties: bool = False
    """Equal similarities are expected: the oracle's labels are not binding."""

    @property
    def n_clusters(self):
        return len(self.init)


def _seeds(X, k, seed):
    rows = np.flatnonzero(np.diff(X.indptr))
    picked = np.random.RandomState(seed).choice(rows, k, replace=False)
    return X[np.sort(picked)].toarray()


def random_sparse():
    X = sp.random_array(
        (300, 120), density=0.08, random_state=np.random.default_rng(1), format="csr"
    )
    return Case(X, _seeds(X, 17, 1))


def clustered():
    rng = np.random.default_rng(2)
    topics = rng.gamma(0.15, size=(6, 80))
    X = rng.poisson(8 * topics[rng.integers(6, size=400)] / topics.sum(1).mean() * 5)
    X = sp.csr_array(X.astype(float))
    return Case(X, _seeds(X, 6, 2))


def tied():
    """Each row many times over, and seeds that are the same row."""
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 2, size=(12, 15)).astype(float)
    kinds[:, 0] = 1.0
    X = sp.csr_array(kinds[rng.integers(12, size=200)])
    init = X[[0, 0, 1, 1, 1, 2, 5, 9, 9, 30]].toarray()
    return Case(X, init, ties=True)


def mixed_signs():
    X = np.random.default_rng(4).standard_normal((250, 11))
    return Case(sp.csr_array(X), X[:19])


def one_feature():
    X = np.random.default_rng(5).standard_normal((60, 1))
    return Case(sp.csr_array(X), np.array([[1.0], [-1.0], [2.0]]), ties=True)


def one_cluster():
    X = sp.random_array((80, 30), density=0.2, random_state=np.random.default_rng(6), format="csr")
    return Case(X, _seeds(X, 1, 6))


def a_cluster_each():
    X = np.random.default_rng(7).standard_normal((40, 9))
    return Case(sp.csr_array(X), X)


def far_seeds():
    """Seeds away from all rows: clusters are empty from the start and rows have to be relocated."""
    rng = np.random.default_rng(8)
    X = np.abs(rng.standard_normal((150, 6)))
    init = np.vstack([X[:2], -np.abs(rng.standard_normal((5, 6)))])
    return Case(sp.csr_array(X), init)


def opposite():
    """Seeds behind all rows: every similarity of the first pass is negative.

    One lane of a line is left without a center, and must not be seen.
    """
    X = np.abs(np.random.default_rng(10).standard_normal((90, 7)))
    return Case(sp.csr_array(X), -X[:15])


def one_far_seed():
    """One cluster is empty from the start, and the other centers move little."""
    X = np.abs(np.random.default_rng(11).standard_normal((150, 6)))
    return Case(sp.csr_array(X), np.vstack([X[:6], -np.ones(6)]))


def text():
    """Docstrings of the standard library's top modules, as TF-IDF, with some empty ones."""
    documents = []
    for path in sorted(Path(ast.__file__).parent.glob("*.py"))[:120]:
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                documents.append(ast.get_docstring(node) or "")
    X = sp.csr_array(TfidfVectorizer().fit_transform(documents[:1500]))
    return Case(X, _seeds(X, 33, 9))


def cancelling():
    """Pairs of opposite rows: sums that come to exactly zero."""
    X = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 1, 1]])
    return Case(sp.csr_array(np.vstack([X] * 4)), np.array([[0.0, 0, 1], [1, 1, 0]]), ties=True)


CASES = {
    make.__name__: make
    for make in (
        random_sparse,
        clustered,
        tied,
        mixed_signs,
        one_feature,
        one_cluster,
        a_cluster_each,
        far_seeds,
        opposite,
        one_far_seed,
        text,
        cancelling,
    )
}
