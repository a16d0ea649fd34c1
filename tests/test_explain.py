"""The explanation of a cluster is what its definitions say, and reads well."""

import json
import re

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from arcmeans import SphericalKMeans, explain
from arcmeans._analysis import affinities as clusters

N, D, K = 90, 12, 3
NAMES = [f"word{f}" for f in range(D)]


def data(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.random((N, D)) * (rng.random((N, D)) < 0.4)
    for j in range(K):
        X[j::K, 4 * j : 4 * j + 2] += 1.5
    return X.astype(dtype)


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def model():
    return SphericalKMeans(K, init="k-means++", random_state=0).fit(data())


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_definitions(model, make, weighted):
    X, U = data(), unit(data())
    weights = np.random.default_rng(1).integers(1, 5, N) if weighted else np.ones(N)
    explanation = explain(model, NAMES, make(X), top=D, sample_weight=weights if weighted else None)
    assert len(explanation) == K
    centers = model.cluster_centers_
    for j, cluster in enumerate(explanation):
        mine = model.labels_ == j
        cosines = U[mine] @ centers[j]
        assert cluster.label == j
        assert cluster.size == mine.sum()
        assert cluster.share == pytest.approx(weights[mine].sum() / weights.sum())
        assert cluster.cohesion == pytest.approx(np.average(cosines, weights=weights[mine]))
        to_others = np.delete(centers @ centers[j], j)
        assert cluster.separation == pytest.approx(1 - to_others.max())
        assert cluster.nearest == np.delete(np.arange(K), j)[to_others.argmax()]

        rest = unit((weights[~mine, None] * U[~mine]).sum(axis=0))
        apart = (centers[j] - rest) ** 2
        for terms, shares in (
            (cluster.descriptive, centers[j] ** 2),
            (cluster.discriminating, apart / apart.sum()),
        ):
            order = np.argsort(-shares, kind="stable")
            order = order[shares[order] > 0]
            assert [t.feature for t in terms] == order.tolist()
            assert [t.share for t in terms] == pytest.approx(shares[order])
            assert sum(t.share for t in terms) == pytest.approx(1)
            assert [t.name for t in terms] == [NAMES[f] for f in order]
            assert [t.center for t in terms] == pytest.approx(centers[j][order])
            assert [t.rest for t in terms] == pytest.approx(rest[order])

        rows = np.flatnonzero(mine)
        nearest = np.argsort(-cosines, kind="stable")[:3]
        farthest = np.argsort(cosines, kind="stable")[:3]
        for typical, order in ((cluster.typical, nearest), (cluster.atypical, farthest)):
            assert [t.row for t in typical] == rows[order].tolist()
            assert [t.cosine for t in typical] == pytest.approx(cosines[order])


def test_the_planted_words_are_found(model):
    found = {
        frozenset(t.name for t in cluster.descriptive) for cluster in explain(model, NAMES, top=2)
    }
    assert found == {frozenset({f"word{4 * j}", f"word{4 * j + 1}"}) for j in range(K)}


def test_without_rows_the_centers_stand_for_them(model):
    cluster = explain(model, NAMES)[0]
    assert cluster.size == np.count_nonzero(model.labels_ == 0)
    assert cluster.share == cluster.size / N
    assert cluster.cohesion is None
    assert cluster.typical == cluster.atypical == ()
    sizes = np.bincount(model.labels_)
    rest = unit(sizes[1] * model.cluster_centers_[1] + sizes[2] * model.cluster_centers_[2])
    apart = (model.cluster_centers_[0] - rest) ** 2
    assert cluster.discriminating[0].share == pytest.approx(apart.max() / apart.sum())
    assert cluster.discriminating[0].rest == pytest.approx(rest[apart.argmax()])


def test_labels_of_the_callers_own(model):
    labels = np.r_[np.full(10, -1), np.zeros(30, int), np.full(50, 2)]
    for X in (data(), None):
        explanation = explain(model, X=X, labels=labels)
        assert [cluster.size for cluster in explanation] == [30, 0, 50]
        assert [cluster.share for cluster in explanation] == [30 / 80, 0, 50 / 80]
        # Nobody is the neighbor of a cluster without rows, nor is it anybody's.
        assert [cluster.nearest for cluster in explanation] == [2, None, 0]
        assert explanation[1].separation is None
        assert explanation[1].descriptive == explanation[1].discriminating == ()
        assert "cluster 1: 0 rows, 0.0% of the weight" in str(explanation)


@pytest.mark.filterwarnings("ignore:.*rows are all zero", "ignore:.*only 2 distinct directions")
def test_empty_clusters_and_zero_rows():
    X = np.vstack([np.repeat(np.eye(2), 3, axis=0), [[0, 0]]])
    model = SphericalKMeans(4, random_state=0).fit(X)
    explanation = explain(model, X=X)
    assert sorted(cluster.size for cluster in explanation) == [0, 0, 3, 3]
    full = [cluster for cluster in explanation if cluster.size]
    assert [cluster.cohesion for cluster in full] == [1, 1]
    assert [cluster.separation for cluster in full] == [1, 1]
    json.dumps(explanation.to_dict(), allow_nan=False)


def test_a_single_cluster_has_no_rest():
    model = SphericalKMeans(1).fit(data())
    for X in (data(), None):
        (cluster,) = explain(model, X=X)
        assert cluster.separation is None
        assert cluster.discriminating == ()
        assert cluster.descriptive[0].rest is None


def test_names(model):
    assert explain(model)[0].descriptive[0].name.startswith("feature ")
    frame = pandas.DataFrame(data(), columns=NAMES)
    named = SphericalKMeans(K, init="k-means++", random_state=0).fit(frame)
    assert explain(named)[0].descriptive[0].name.startswith("word")
    assert explain(named, X=frame)[0].descriptive[0].name.startswith("word")
    assert explain(named, [f"w{f}" for f in range(D)])[0].descriptive[0].name[:2] != "wo"


def test_ties_go_to_the_first_feature():
    X = np.ones((4, 6))
    X[2:, 1] = 0
    cluster = explain(SphericalKMeans(1).fit(X[:2]), top=4)[0]
    assert [t.feature for t in cluster.descriptive] == [0, 1, 2, 3]


def test_for_json_and_for_reading(model):
    explanation = explain(model, NAMES, data(np.float32), top=4, n_typical=2)
    record = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert len(record["clusters"]) == K
    first = explanation[0]
    assert record["clusters"][0]["descriptive"][0] == {
        "name": first.descriptive[0].name,
        "feature": first.descriptive[0].feature,
        "share": first.descriptive[0].share,
        "center": first.descriptive[0].center,
        "rest": first.descriptive[0].rest,
    }
    assert record["clusters"][0]["typical"][0] == {
        "row": first.typical[0].row,
        "cosine": first.typical[0].cosine,
    }
    text = str(explanation)
    assert max(map(len, text.split("\n"))) <= 100
    assert re.search(
        rf"^cluster 0: {first.size} rows, .*% of the weight, cohesion 0\.\d+, "
        rf"separation 0\.\d+ \(from cluster {first.nearest}\)$",
        text,
        re.MULTILINE,
    )
    assert re.search(r"^  descriptive:    word\d+ \d+%, word\d+ \d+%, ", text, re.MULTILINE)
    assert re.search(r"^  discriminating: .*−word\d+ \d+%", text, re.MULTILINE)
    assert re.search(r"^  typical rows:   \d+ \(0\.\d\d\), \d+ \(0\.\d\d\)$", text, re.MULTILINE)
    assert re.search(r"^  atypical rows:  \d+ \(", text, re.MULTILINE)


def test_long_names_are_kept_whole(model):
    names = [f"a rather long name of a feature, number {f}" for f in range(D)]
    lines = str(explain(model, names)[0]).split("\n")
    assert max(map(len, lines)) <= 100
    assert all(re.match(r"cluster|  \w+:|[ ]{18}−?a rather", line) for line in lines)


@pytest.mark.threads
def test_the_same_in_any_container_chunk_and_for_any_number_of_threads(model, monkeypatch):
    X = data()
    expected = explain(model, X=X, n_threads=1)
    monkeypatch.setattr(clusters, "TABLE_VALUES", 1)
    assert explain(model, X=sp.csr_array(X), n_threads=3) == expected
    assert explain(model, X=np.asfortranarray(X), n_threads=2) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top": 0}, "top=0 should be an integer >= 1."),
        ({"n_typical": -1}, "n_typical=-1 should be an integer >= 0."),
        ({"feature_names": NAMES[:5]}, "feature_names has shape (5,), expected (12,)."),
        ({"sample_weight": np.ones(N)}, "sample_weight is given without X"),
        ({"labels": [0, 3]}, "labels[1]=3 should be between -1 and 2: there are 3 centers."),
        ({"labels": [-1, -1]}, "None of the 2 labels is >= 0."),
        ({"labels": [[0]]}, "labels has shape (1, 1), expected (n_samples,)."),
        ({"labels": [0, 1], "X": data()}, "labels has shape (2,), expected (90,)."),
        ({"X": data()[:, :5], "labels": [0] * N}, "X has 5 features, but the model has 12."),
        ({"X": data()[:, :5]}, "X has 5 features, but the model has 12."),
    ],
)
def test_errors(model, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        explain(model, **arguments)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        explain(SphericalKMeans(2))
