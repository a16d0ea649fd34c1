"""Data to measure on: generated text, or a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from arcmeans.datasets._matrices import read_matrix, tfidf


def generated(
    n_rows: int, n_features: int, nnz_per_row: float, n_topics: int = 100, seed: int = 0
) -> sp.csr_matrix:
    """Text-like TF-IDF rows, CSR float32."""
    return tfidf(generated_counts(n_rows, n_features, nnz_per_row, n_topics, seed))


def generated_counts(
    n_rows: int, n_features: int, nnz_per_row: float, n_topics: int = 100, seed: int = 0
) -> sp.csr_matrix:
    """Text-like counts of words.

    Words follow Zipf's law. A topic raises some words and lowers others, by factors the same for
    no two topics; topics differ in size. A row has a topic of its own, which gives between a third
    and nearly all of its words; the others come from topics at random. Lengths are log-normal,
    with ``nnz_per_row`` different words in a row of mean length.
    """
    rng = np.random.default_rng(seed)
    words = _topics(n_topics, n_features, rng)
    return _counts(n_rows, words, _tokens_for(nnz_per_row, words), rng)


def generated_blocks(
    n_rows: int,
    n_features: int,
    nnz_per_row: float,
    n_topics: int = 100,
    seed: int = 0,
    block_rows: int = 100_000,
) -> Iterator[sp.csr_matrix]:
    """The like of ``generated``, a block at a time; the first tells how rare each word is."""
    rng = np.random.default_rng(seed)
    words = _topics(n_topics, n_features, rng)
    tokens = _tokens_for(nnz_per_row, words)
    weights = TfidfTransformer()
    for first in range(0, n_rows, block_rows):
        counts = _counts(min(block_rows, n_rows - first), words, tokens, rng)
        if first == 0:
            weights.fit(counts)
        yield weights.transform(counts).astype(np.float32, copy=False)


def embeddings(
    n_rows: int, n_features: int, n_topics: int = 1000, seed: int = 0, block_rows: int = 50_000
) -> Iterator[NDArray[np.float32]]:
    """Dense rows around directions, a block at a time."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((n_topics, n_features), np.float32)
    for first in range(0, n_rows, block_rows):
        size = min(block_rows, n_rows - first)
        noise = rng.standard_normal((size, n_features), np.float32)
        yield directions[rng.integers(n_topics, size=size)] + 2.0 * noise


def _counts(
    n_rows: int, words: NDArray[np.float64], tokens: float, rng: np.random.Generator
) -> sp.csr_matrix:
    """How often each word is in each row."""
    n_topics, n_features = words.shape
    sigma = 0.5
    drawn = rng.lognormal(np.log(tokens) - sigma**2 / 2, sigma, n_rows)
    lengths = np.maximum(1, np.rint(drawn)).astype(np.int64)

    sizes = rng.dirichlet(np.full(n_topics, 2.0))
    topics = rng.choice(n_topics, n_rows, p=sizes).astype(np.int32)
    faithful = rng.uniform(0.35, 0.95, n_rows).astype(np.float32)
    topic = np.repeat(topics, lengths)
    strays = rng.random(len(topic), np.float32) > np.repeat(faithful, lengths)
    topic[strays] = rng.integers(0, n_topics, int(strays.sum()), np.int32)

    # All topics' cumulative distributions end to end: topic t covers (t, t + 1].
    cumulative = np.cumsum(words, axis=1)
    cumulative = (cumulative / cumulative[:, -1:] + np.arange(n_topics)[:, None]).ravel()
    found = np.searchsorted(cumulative, topic + rng.random(len(topic)))
    features = np.minimum(found - topic.astype(np.int64) * n_features, n_features - 1)
    rows = np.repeat(np.arange(n_rows), lengths)
    counts = sp.coo_matrix(
        (np.ones(len(rows), np.int32), (rows, features)), shape=(n_rows, n_features)
    )
    return counts.tocsr()


def _topics(n_topics: int, n_features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How likely each word is in each topic; the words of a language in random order."""
    # The offset stands for the stop words that a vectoriser would have dropped.
    zipf = 1.0 / (np.arange(n_features) + 30.0)
    preference = np.exp(rng.normal(0.0, 1.7, (n_topics, n_features)))
    words: NDArray[np.float64] = rng.permutation(zipf) * preference
    words /= words.sum(axis=1, keepdims=True)
    return words


def _tokens_for(nnz: float, words: NDArray[np.float64]) -> float:
    """How many words to draw so that about ``nnz`` different ones come up."""
    tokens = np.geomspace(nnz, 20.0 * nnz, 30)
    different = [-np.expm1(-t * words[:3]).sum(axis=1).mean() for t in tokens]
    return float(np.interp(nnz, different, tokens))


def load(path: Path) -> Any:
    """The matrix of a file; counts become TF-IDF, with 1 + ln(count)."""
    X = read_matrix(path)
    return tfidf(X, sublinear=True) if np.issubdtype(X.dtype, np.integer) else X
