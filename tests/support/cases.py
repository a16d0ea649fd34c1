"""Named small data sets, each difficult in its own way, with initial centers."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from arcmeans._algorithms.problem import Problem
from arcmeans._algorithms.registry import ALGORITHMS, row_bytes


@dataclass(frozen=True)
class Case:
    X: sp.csr_array
    init: np.ndarray
    ties: bool = False
    """Equal similarities are expected: the plain oracle's labels are not binding."""

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


def tied_relocation():
    """Empty clusters from the start, and rows equally far from the one center: the first go."""
    X = np.array([[3.0, 1, 0, 0], [3, 0, 1, 0], [3, 0, 0, 1], [3, 0, 0, -1], [3, 0, -1, 0]])
    far = [[-1.0, 0, 0, 0], [-1, -1, 0, 0]]
    return Case(sp.csr_array(np.vstack([X, X])), np.vstack([[[1.0, 0, 0, 0]], far]), ties=True)


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
    """Made-up documents as TF-IDF: words by Zipf's law, common to all and of 40 topics.

    Some documents are empty, some are there twice, some have a word that no other has. Nothing but
    sums and quotients decides about the words, so that they are the same everywhere.
    """
    random = np.random.RandomState(13)
    n_words, zipf = 1200, np.cumsum(1.0 / (np.arange(1200) + 3.0))
    order = [np.arange(n_words), *(random.permutation(n_words) for _ in range(40))]
    documents = []
    for i in range(900):
        topic = random.randint(1, 41)
        length = random.choice([0, 4, 8, 15, 30, 60, 120], p=[0.02, 0.2, 0.23, 0.2, 0.2, 0.1, 0.05])
        ranks = np.searchsorted(zipf, random.random_sample(length) * zipf[-1])
        topics = np.where(random.random_sample(length) < 0.15, topic, 0)
        words = [f"word{order[t][r]}" for t, r in zip(topics, ranks, strict=True)]
        documents.append(" ".join([*words, f"own{i}"] if length and i % 5 == 0 else words))
    documents += [documents[i] for i in random.choice(900, 64, replace=False)]
    X = sp.csr_array(TfidfVectorizer().fit_transform(documents))
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
        tied_relocation,
        opposite,
        one_far_seed,
        text,
        cancelling,
    )
}


def sieve_bytes(n_rows, n_clusters, dense):
    """What the sieve's bounds take."""
    problem = Problem(n_rows=n_rows, n_features=1, n_clusters=n_clusters, sparse=not dense)
    return row_bytes(ALGORITHMS["sieve"], problem)
