"""Similarities are computed where the paper says so, and no more of them."""

import numpy as np
import pytest

from arcmeans import SphericalKMeans

from .support import paper
from .support.cases import CASES


@pytest.fixture(scope="module", params=["clustered", "random_sparse", "text"])
def case(request):
    case = CASES[request.param]()
    keep = np.diff(case.X.indptr) > 0
    return case.X[keep].toarray(), case.init


def counts(case, algorithm):
    X, init = case
    model = SphericalKMeans(len(init), init=init, algorithm=algorithm, empty_cluster="keep").fit(X)
    return model.trace_


def test_lloyd_computes_all(case):
    assert np.all(counts(case, "lloyd")["similarities"] == len(case[0]) * len(case[1]))


def test_simplified_elkan_is_the_papers(case):
    """Bounds rounded outward to float32 cost less than one similarity in a hundred."""
    expected = np.array(paper.simplified_elkan(*case))
    ours = counts(case, "simplified-elkan")["similarities"]
    assert len(ours) == len(expected)
    assert ours.sum() <= 1.01 * expected.sum()
    assert ours.sum() >= 0.99 * expected.sum()


def test_simplified_hamerly_is_tighter_than_the_papers(case):
    expected = np.array(paper.simplified_hamerly(*case))
    ours = counts(case, "simplified-hamerly")["similarities"]
    assert len(ours) == len(expected)
    assert ours.sum() <= expected.sum()


@pytest.mark.parametrize("algorithm", ["elkan", "hamerly"])
def test_center_tests_only_save(case, algorithm):
    full = counts(case, algorithm)
    simplified = counts(case, f"simplified-{algorithm}")
    assert full["similarities"].sum() <= simplified["similarities"].sum()
    assert full["center_similarities"][0] == len(case[1]) * (len(case[1]) - 1) // 2
    assert np.all(simplified["center_similarities"] == 0)


def test_center_tests_fire_on_tight_clusters():
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(6), 40, axis=0) + 0.02 * rng.standard_normal((240, 6))
    for algorithm in ("elkan", "hamerly"):
        trace = SphericalKMeans(6, init=X[::40], algorithm=algorithm).fit(X).trace_
        assert trace["skipped_by_centers"][-1] == 240
        assert trace["similarities"][-1] == 0
