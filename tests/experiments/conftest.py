"""Small data for the experiments, and nothing of the user's."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import data
from experiments import (
    charts,
    fits,
)


@pytest.fixture(autouse=True)
def _no_data_but_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCMEANS_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))


@pytest.fixture(autouse=True)
def _unwritten_figures(request, monkeypatch):
    """Figures are drawn, but written only where a test looks at the files: that takes long."""
    if "figures" not in request.fixturenames:
        monkeypatch.setattr(
            charts, "save", lambda figure, path: charts.matplotlib_pyplot().close(figure)
        )


@pytest.fixture
def figures():
    """Asked for by tests that look at the files."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A small matrix with two all-zero rows."""
    X = data.generated(60, 80, nnz_per_row=8, n_topics=4)
    path = tmp_path_factory.mktemp("data") / "small.npz"
    sp.save_npz(path, sp.vstack([X, sp.csr_matrix((2, 80), dtype=X.dtype)], format="csr"))
    return path


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A small matrix of counts, without empty columns."""
    X = data.generated_counts(50, 12, nnz_per_row=5, n_topics=3)
    path = tmp_path_factory.mktemp("data") / "counts.npz"
    sp.save_npz(path, X[:, np.asarray(X.sum(axis=0)).ravel() > 0])
    return path


@pytest.fixture
def done(monkeypatch):
    """The fits that are really done."""
    settings = []
    fitted = fits.fitted

    def counted(data, setting, record):
        settings.append(setting)
        return fitted(data, setting, record)

    monkeypatch.setattr(fits, "fitted", counted)
    return settings
