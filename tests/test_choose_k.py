"""``choose_k`` fits what it says, measures it, and chooses by that."""

import importlib
import itertools
import json
import re
import sys
import types

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans, choose_k, metrics
from arcmeans._api import choose_k as choosing
from arcmeans._rows.containers import checked_rows

EVERY = ("simplified_silhouette", "silhouette", "calinski_harabasz")


def rows(n=400, k=5, d=12, noise=0.15):
    rng = np.random.default_rng(0)
    return np.eye(k, d)[rng.integers(k, size=n)] + noise * rng.standard_normal((n, d))


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_each_row_is_a_fit_by_itself(make):
    X = make(rows())
    weights = np.random.default_rng(1).integers(1, 4, size=X.shape[0])
    path = choose_k(
        X,
        [7, 2, 4],
        metrics=EVERY,
        random_state=3,
        sample_weight=weights,
        keep_models=True,
        n_init=2,
    )
    assert path.table["k"].tolist() == [2, 4, 7] == sorted(path.models)
    for row in path.table:
        model = SphericalKMeans(int(row["k"]), init="k-means++", random_state=3, n_init=2)
        model.fit(X, sample_weight=weights)
        assert np.array_equal(path.models[int(row["k"])].labels_, model.labels_)
        assert row["inertia"] == model.inertia_
        assert row["objective"] == model.trace_["objective"][-1]
        assert row["iterations"] == model.n_iter_
        score = metrics.simplified_silhouette_score(X, model=model, sample_weight=weights)
        assert row["simplified_silhouette"] == pytest.approx(score, abs=1e-14)
        assert row["silhouette"] == metrics.silhouette_score(X, model.labels_)
        assert row["calinski_harabasz"] == metrics.calinski_harabasz_score(
            X, model.labels_, sample_weight=weights
        )
    assert list(pandas.DataFrame(path.table)) == list(path.table.dtype.names)


@pytest.mark.parametrize("warm_start", [False, True])
def test_five_directions_are_found(warm_start):
    path = choose_k(
        rows(), range(2, 9), metrics=EVERY, warm_start=warm_start, n_init=5, random_state=0
    )
    assert [path.best(metric) for metric in EVERY] == [5, 5, 5]
    assert path.best() == 5
    assert np.all(np.diff(path.table["inertia"]) < 0)
    assert path.models == {}


@pytest.mark.parametrize("alpha", [1.0, 1.5])
@pytest.mark.parametrize("ks", [[2, 3, 4], [1, 4]])
def test_a_warm_start_keeps_the_centers_and_adds_directions(monkeypatch, alpha, ks):
    starts = {}
    fit = SphericalKMeans.fit

    def watched(self, X, y=None, sample_weight=None):
        starts[self.n_clusters] = self.init
        if callable(self.init):
            random_state = np.random.RandomState(len(starts))
            starts[self.n_clusters] = self.init(X, self.n_clusters, random_state)
        return fit(self, X, sample_weight=sample_weight)

    monkeypatch.setattr(SphericalKMeans, "fit", watched)
    X = np.vstack([np.repeat(np.eye(4), 50, axis=0), [[0, 0, 0, 0]]])
    first = [0, 50][: ks[0]]
    arguments = {"init": first, "max_iter": 1, "alpha": alpha, "keep_models": True}
    for seed in range(10):
        starts.clear()
        with pytest.warns(UserWarning, match="1 of 201 rows are all zero"):
            path = choose_k(X, ks, warm_start=True, random_state=seed, **arguments)
        assert starts[ks[0]] == first == path.models[4].init
        for before, k in itertools.pairwise(ks):
            assert np.array_equal(starts[k][:before], path.models[before].cluster_centers_)
            # No row of a direction that is taken is drawn again, though 1.5 − 1 is not 0.
            assert np.array_equal(starts[k] @ starts[k].T, np.eye(k))
        assert path.table["inertia"][-1] == 0


def test_warm_seeds_follow_the_rule_of_kmeans_plus_plus():
    """Rows at an angle to the one center are drawn in proportion to weight·(1 − cos)."""
    cosines = np.array([0.9, 0.5, 0.0])
    X = np.column_stack([np.r_[1, cosines], np.r_[0, np.sqrt(1 - cosines**2)]])
    weights = np.array([1e6, 1.0, 2.0, 1.0])
    options = {"warm_start": True, "init": [0], "max_iter": 1, "metrics": (), "n_threads": 1}
    drawn = np.zeros(4)
    for seed in range(600):
        path = choose_k(
            X, [1, 2], sample_weight=weights, random_state=seed, keep_models=True, **options
        )
        drawn[np.argmax(X @ path.models[2].cluster_centers_[1])] += 1
    chances = weights * np.r_[0, 1 - cosines]
    expected = 600 * chances / chances.sum()
    chi_square = ((drawn[1:] - expected[1:]) ** 2 / expected[1:]).sum()
    assert drawn[0] == 0
    assert chi_square < 13.8  # 2 degrees of freedom, one in a thousand


def test_warm_seeds_are_drawn_anew_for_each_k():
    """Every k has the same random state; the same draw for each would look at one corner only."""
    X = np.eye(9)
    model = SphericalKMeans(1, init=[0], max_iter=1).fit(X)
    extended = choosing.extension(checked_rows(X, n_threads=1), model, 1)
    seeds = {k: [extended(X, k, np.random.RandomState(s))[1] for s in range(10)] for k in (2, 3)}
    assert not np.array_equal(seeds[2], seeds[3])


@pytest.mark.threads
@pytest.mark.parametrize("warm_start", [False, True])
def test_the_same_for_any_number_of_threads_and_container(warm_start):
    X = rows()
    tables = [
        choose_k(given, [2, 5, 9], warm_start=warm_start, random_state=1, n_threads=n).table
        for given in (X, sp.csr_array(X))
        for n in (1, 3)
    ]
    columns = ["k", "inertia", "objective", *EVERY[::2], "iterations"]
    for table in tables[1:]:
        assert np.array_equal(table[columns], tables[0][columns])


def test_any_random_state_can_be_done_again():
    X = rows()
    path = choose_k(X, [3], random_state=np.random.RandomState(5))
    again = choose_k(X, [3], random_state=path.random_state)
    assert again.table["inertia"] == path.table["inertia"]
    assert choose_k(X, [3]).random_state != choose_k(X, [3]).random_state


@pytest.mark.filterwarnings("ignore:.*only 3 distinct directions")
def test_where_a_metric_is_not_defined_it_is_nan(pyplot):
    X = np.repeat(np.eye(3), 4, axis=0)
    path = choose_k(X, [1, 3, 5], metrics=EVERY, random_state=0)
    assert np.isnan(path.table["silhouette"]).tolist() == [True, False, False]
    # Clusters without rows do not count: five are three here.
    for metric in ("simplified_silhouette", "silhouette"):
        assert path.table[metric][1:].tolist() == [1, 1]
        assert path.best(metric) == 3
    assert path.table["calinski_harabasz"][1:].tolist() == [np.inf, np.inf]
    with pytest.raises(ValueError, match=re.escape("is not defined for any k of [1].")):
        choose_k(X, [1]).best()
    for axes in path.plot():
        assert axes.get_ylim()[0] == 0


def test_the_table_reads_well():
    path = choose_k(rows(), [2, 11], random_state=0)
    lines = str(path).split("\n")
    assert lines[0].split() == list(path.table.dtype.names)
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[0] for line in lines[1:]] == ["2", "11"]
    assert json.dumps(path.table["k"].tolist()) == "[2, 11]"


def test_progress(monkeypatch, capsys):
    arguments = {"X": rows(), "ks": [2, 3], "random_state": 0}
    choose_k(**arguments)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    choose_k(**arguments, progress=True)
    assert capsys.readouterr().err == "choose_k: k=2, 1 of 2\nchoose_k: k=3, 2 of 2\n"

    told = []

    class Bar:
        def __init__(self, **options):
            told.append(options["total"])

        def set_postfix_str(self, text):
            told.append(text)

        def update(self, n):
            told.append(n)

        def close(self):
            told.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr("arcmeans._support.progress.someone_watches", lambda: True)
    choose_k(**arguments, progress=True)
    assert told == [2, "k=2", 1, "k=3", 1, "closed"]
    assert capsys.readouterr().err == ""


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


def test_plot(pyplot, tmp_path):
    path = choose_k(rows(), range(2, 9), n_init=5, random_state=0)
    axes = path.plot()
    assert [ax.get_ylabel() for ax in axes] == [
        "inertia",
        "simplified silhouette",
        "calinski harabasz",
    ]
    for ax, name in zip(axes, ("inertia", *path.metrics), strict=True):
        assert ax.get_xlabel() == "k, number of clusters"
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylim()[1] > path.table[name].max()
        assert np.array_equal(ax.lines[0].get_ydata(), path.table[name])
        assert ax.get_xticks().tolist() == list(range(2, 9))
    assert axes[1].get_title(loc="right") == "best: k = 5"
    axes[0].figure.savefig(tmp_path / "path.png")

    _, given = pyplot.subplots()
    assert path.plot(given) == [given]
    assert given.get_ylabel() == "simplified silhouette"
    _, two = pyplot.subplots(1, 2)
    path.plot(two, columns=["seconds", "iterations"])
    assert two[1].get_ylabel() == "iterations"
    with pytest.raises(ValueError, match=re.escape("ax has 2 Axes, but there are 3 columns.")):
        path.plot(two)
    with pytest.raises(ValueError, match=r"columns='inertja' should be one of .* mean 'inertia'"):
        path.plot(columns=["inertja"])


def test_plot_without_matplotlib(monkeypatch):
    path = choose_k(rows(), [2, 3], random_state=0)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=re.escape("pip install arcmeans[plot]")):
        path.plot()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ks": []}, "ks is empty; at least one number of clusters is needed."),
        ({"ks": [2, 0]}, "k=0 should be an integer >= 1."),
        ({"ks": [2, 3, 2]}, "ks=[2, 3, 2] should be all different."),
        ({"ks": [2, 401]}, "n_samples=400 should be >= n_clusters=401."),
        ({"metrics": ["silhouete"]}, "metrics='silhouete' should be one of"),
        ({"metrics": ["silhouete"]}, "Did you mean 'silhouette'?"),
        ({"metrics": "silhouette"}, "should be a sequence, such as ('silhouette',)."),
        ({"metrics": EVERY + EVERY[:1]}, "should be all different."),
        ({"alpha": 0.5}, "alpha=0.5 should be a number >= 1."),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        choose_k(rows(), **{"ks": [2, 3], **arguments})


def test_errors_of_best_and_of_unknown_options():
    path = choose_k(rows(), [2, 3])
    with pytest.raises(ValueError, match="metric='inertia' should be one of 'simplified_silh"):
        path.best("inertia")
    with pytest.raises(ValueError, match="nothing to choose k by"):
        choose_k(rows(), [2], metrics=()).best()
    with pytest.raises(TypeError, match="n_cluster"):
        choose_k(rows(), [2], n_cluster=3)
