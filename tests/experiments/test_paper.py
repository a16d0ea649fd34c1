"""The paper's own numbers, and the data sets named for its."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans.datasets._matrices import tfidf
from experiments import (
    paper,
    sources,
)

from ..support.tables import METHODS, UNIFORM


def test_paper_sizes():
    sizes = paper.table1()
    assert len(sizes) == 6
    assert sizes["20 Newsgroups"] == (11_314, 101_631, 0.00096)
    assert sizes["Reuters RCV-1"] == (804_414, 47_236, 0.0016)


def test_paper_objectives():
    changes = paper.table2()
    assert len(changes) == 6 * 5 * 6
    assert Counter(name for name, _, _ in changes) == dict.fromkeys(paper.table1(), 30)
    assert Counter(method for _, method, _ in changes) == dict.fromkeys(METHODS, 36)
    assert Counter(k for _, _, k in changes) == dict.fromkeys((2, 10, 20, 50, 100, 200), 30)
    assert all(change == 0 for (_, method, _), change in changes.items() if method == UNIFORM)
    for name, method, k, percent in [
        ("20 Newsgroups", ("k-means++", 1.0), 200, 7.34),
        ("20 Newsgroups", ("k-means++", 1.5), 2, 0.72),
        ("Simpsons Wiki", ("afk-mc2", 1.0), 2, -0.44),
        ("DBLP Author-Conference", ("k-means++", 1.0), 200, -1.67),
        ("DBLP Author-Venue", ("afk-mc2", 1.5), 20, -0.68),
        ("DBLP Conference-Author", ("k-means++", 1.5), 50, -0.15),
        ("Reuters RCV-1", ("afk-mc2", 1.5), 200, 0.15),
    ]:
        assert changes[name, method, k] == pytest.approx(percent / 100)


def test_paper_run_times():
    seconds = paper.table3()
    assert len(seconds) == 6 * 5 * 6
    assert {algorithm for _, algorithm, _ in seconds} == set(paper.ALGORITHMS) <= set(ALGORITHMS)
    assert seconds["20 Newsgroups", "simplified-elkan", 200] == 7.891
    assert seconds["Reuters RCV-1", "lloyd", 200] == 6064.203
    assert seconds["DBLP Conference-Author", "elkan", 200] == 32.103


def test_sources(file, counts):
    assert sources.source(str(file)) == sources.Source("small", file)
    assert sources.source(f"{file}=20 newsGROUPS").name == "20 Newsgroups"
    named = sources.source(f"{counts}^T=Mine for dblp conference-author")
    assert named == sources.Source("Mine for DBLP Conference-Author", counts, transposed=True)
    assert sources.in_paper(named.name) == "DBLP Conference-Author"
    assert sources.in_paper("Mine for me") is None
    assert sources.source("rcv1") == sources.Source("Reuters RCV-1", key="rcv1")


def test_transposing_weighs_afterwards(counts):
    """The rows of a transpose are documents of their own for TF-IDF."""
    raw = sp.load_npz(counts)
    X = sources.loaded(sources.source(f"{counts}^T"), None).X
    assert X.shape == raw.shape[::-1]
    first = sources.loaded(sources.source(str(counts)), None).X
    assert abs(X - first.T).max() > 0.01
    assert np.allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0)


def test_rows_and_logarithms_of_counts(counts):
    raw = sp.load_npz(counts)[:20]
    found = sources.loaded(sources.source(f"{counts}^20^log=mine"), None)
    assert (found.name, found.rows) == ("mine", 20)
    assert abs(found.X - tfidf(raw, sublinear=True)).max() == 0
    assert abs(found.X - tfidf(raw)).max() > 0.01


def test_partners(file, counts):
    other = sources.partner(sources.source(f"{counts}=A for DBLP Author-Conference"))
    name = "A transposed for DBLP Conference-Author"
    assert other == sources.source(f"{counts}^T={name}")
    assert sources.partner(sources.source(str(counts))).name == "counts transposed"
    assert sources.partner(sources.source("dblp-author-conference")).key == "dblp-conference-author"
    for no_counts in (str(file), f"{counts}^T", "rcv1"):
        assert sources.partner(sources.source(no_counts)) is None
