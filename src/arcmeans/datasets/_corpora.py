"""20 Newsgroups and RCV-1, by scikit-learn's fetchers.

The fetchers take files that lie in their folder already. So they are handed the files of the user,
or files that were downloaded here: with progress, and going on after a break, which the fetchers
lack.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import fetch_20newsgroups, fetch_rcv1
from sklearn.feature_extraction.text import TfidfVectorizer

from ._cache import Dataset
from ._download import Remote

_FILES = "https://ndownloader.figshare.com/files/"
NEWSGROUPS = (
    Remote(
        "20news-bydate.tar.gz",
        _FILES + "5975967",
        sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    ),
)
RCV1 = tuple(
    Remote(name, _FILES + number, sha256=checksum)
    for name, number, checksum in (
        (
            "lyrl2004_vectors_test_pt0.dat.gz",
            "5976069",
            "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
        ),
        (
            "lyrl2004_vectors_test_pt1.dat.gz",
            "5976066",
            "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
        ),
        (
            "lyrl2004_vectors_test_pt2.dat.gz",
            "5976063",
            "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
        ),
        (
            "lyrl2004_vectors_test_pt3.dat.gz",
            "5976060",
            "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
        ),
        (
            "lyrl2004_vectors_train.dat.gz",
            "5976057",
            "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
        ),
        (
            "rcv1v2.topics.qrels.gz",
            "5976048",
            "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
        ),
    )
)


def build_newsgroups(paths: list[Path]) -> list[Dataset]:
    """The training articles without headers, footers and quotes, by scikit-learn's defaults."""
    with _home(paths, "20news_home") as home:
        return [_newsgroups(home)]


def build_rcv1(paths: list[Path]) -> list[Dataset]:
    """All articles, training and test. The terms have numbers only."""
    with _home(paths, "RCV1") as home:
        return [_rcv1(home)]


def find_newsgroups() -> list[Dataset]:
    """The training articles from scikit-learn's own cache, if they are there."""
    return _found(_newsgroups)


def find_rcv1() -> list[Dataset]:
    """All articles from scikit-learn's own cache, if they are there."""
    return _found(_rcv1)


def _newsgroups(home: str, download: bool = True) -> Dataset:
    news = fetch_20newsgroups(
        subset="train",
        remove=("headers", "footers", "quotes"),
        data_home=home,
        download_if_missing=download,
    )
    vectorizer = TfidfVectorizer()
    X = sp.csr_matrix(vectorizer.fit_transform(news.data))
    names = ["/".join(Path(name).parts[-2:]) for name in news.filenames]
    words = tuple(map(str, vectorizer.get_feature_names_out()))
    return Dataset("20-newsgroups", X, tuple(names), words)


def _rcv1(home: str, download: bool = True) -> Dataset:
    rcv1 = fetch_rcv1(data_home=home, download_if_missing=download)
    X = sp.csr_matrix(rcv1.data, dtype=np.float64)
    terms = tuple(map(str, range(X.shape[1])))
    return Dataset("rcv1", X, tuple(map(str, rcv1.sample_id)), terms)


def _found(made: Callable[[str, bool], Dataset]) -> list[Dataset]:
    home = Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser()
    if not home.is_dir():
        return []
    try:
        return [made(str(home), False)]
    except OSError:  # the fetchers' word for: not there
        return []


@contextmanager
def _home(paths: list[Path], name: str) -> Iterator[str]:
    """A folder in which a fetcher finds its files; it removes them, so they are copies."""
    with tempfile.TemporaryDirectory(dir=paths[0].parent) as home:
        folder = Path(home) / name
        folder.mkdir()
        for path in paths:
            shutil.copy(path, folder / path.name)
        yield home
