"""The paper's data sets: where they are kept, what they are built from, and files of matrices."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.utils import Bunch

from arcmeans import datasets
from arcmeans.datasets import _cache as cache
from arcmeans.datasets import _corpora as corpora
from arcmeans.datasets.__main__ import main
from arcmeans.datasets._download import Remote
from arcmeans.datasets._matrices import read_matrix, tfidf
from arcmeans.datasets._origins import ORIGINS, Origin


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, and no data of scikit-learn's."""
    monkeypatch.setenv("ARCMEANS_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))
    return tmp_path / "cache"


@pytest.fixture
def no_network(monkeypatch):
    def urlopen(*_, **__):
        raise OSError("no network in this test")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr("arcmeans.datasets._download.PAUSE", 0.0)


def small(name="simpsons-wiki"):
    X = sp.csr_matrix(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    return cache.Dataset(name, X, ("Évariste", "b c"), ("x", "y", "z"))


# --- The cache


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/arcmeans"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/arcmeans"),
        ("darwin", {}, "home/Library/Caches/arcmeans"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/arcmeans/Cache"),
        ("linux", {"ARCMEANS_DATA": "mine", "XDG_CACHE_HOME": "xdg"}, "mine"),
    ],
)
def test_folder(platform, variables, expected, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    for name in ("ARCMEANS_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert datasets.folder() == Path(expected)


def test_kept_and_read_again(folder):
    cache.write(small())
    found = datasets.load("simpsons-wiki")
    assert (found.X != small().X).nnz == 0
    assert found.X.format == "csr"
    assert (found.row_names, found.column_names) == (small().row_names, small().column_names)
    assert [path.name for path in folder.iterdir()] == ["simpsons-wiki.npz"]


@pytest.mark.parametrize("damage", ["cut", "text", "names", "version", "indices", "objects"])
def test_a_broken_file_is_named(folder, damage):
    cache.write(small())
    path = folder / "simpsons-wiki.npz"
    parts = dict(np.load(path))
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:200])
    elif damage == "text":
        path.write_text("nothing")
    else:
        parts |= {
            "names": {"row_names": np.frombuffer(b"one\n", np.uint8)},
            "version": {"version": np.array(99)},
            "indices": {"indices": parts["indices"] + 7},
            "objects": {"data": np.array([1, "x"], object)},
        }[damage]
        np.savez(path, **parts)
    with pytest.raises(ValueError, match=r"simpsons-wiki\.npz: not a data set .*Remove it"):
        datasets.load("simpsons-wiki")


def test_unknown_name(folder):
    with pytest.raises(ValueError, match="name='iris' should be one of 20-newsgroups, rcv1"):
        datasets.load("iris")


# --- Without a file


@pytest.mark.parametrize("name", datasets.NAMES)
def test_what_is_missing_is_said(name, folder):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load(name)
    text = str(caught.value)
    assert f"{name} is not in {folder}" in text
    assert "https://" in text
    assert f"to {folder}" in text
    assert not folder.exists()


@pytest.mark.parametrize("name", datasets.NAMES)
def test_without_network(name, folder, no_network):
    with pytest.raises(OSError, match="could not be fetched") as caught:
        datasets.load(name, download=True)
    text = str(caught.value)
    assert "no network in this test" in text
    assert "https://" in text
    assert f"to {folder}" in text


def test_rcv1_names_every_file(folder):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("rcv1")
    assert all(remote.name in str(caught.value) for remote in corpora.RCV1)
    assert len(corpora.RCV1) == 6


def test_command(folder, capsys):
    assert main(["dblp-author-venue"]) == 2
    assert "https://dblp.org/xml/dblp.xml.gz" in capsys.readouterr().err
    cache.write(small("dblp-author-venue"))
    assert main(["dblp-author-venue"]) == 0
    assert capsys.readouterr().out == "dblp-author-venue: 2 × 3, 3 entries\n"


# --- scikit-learn's


@pytest.fixture
def newsgroups(monkeypatch):
    """A stand-in for scikit-learn's fetcher: what it was asked, and what it saw in its folder."""
    asked = {}

    def fetch(**arguments):
        home = Path(arguments["data_home"])
        asked.update(arguments, files=sorted(p.name for p in home.rglob("*") if p.is_file()))
        if not arguments["download_if_missing"] and not asked["files"]:
            raise OSError("20Newsgroups dataset not found")
        names = ["/x/sci.space/1", "/x/sci.med/2", "/x/sci.med/3"]
        return Bunch(data=["the moon and the sun", "a sick sun", ""], filenames=names)

    monkeypatch.setattr(corpora, "fetch_20newsgroups", fetch)
    return asked


def archive(path, monkeypatch):
    """A file that passes for the archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"archive")
    checksum = datasets.digest(path, "sha256")
    remote = (Remote("20news-bydate.tar.gz", "https://nowhere.invalid/x", sha256=checksum),)
    origin = Origin(remote, corpora.build_newsgroups, corpora.find_newsgroups)
    monkeypatch.setitem(ORIGINS, "20-newsgroups", origin)
    return path


@pytest.mark.parametrize("given", [True, False])
def test_newsgroups(given, folder, tmp_path, newsgroups, monkeypatch):
    """From the user's file, or from one in the cache folder."""
    place = (tmp_path if given else folder) / "20news-bydate.tar.gz"
    path = archive(place, monkeypatch)
    found = datasets.load("20-newsgroups", source=path if given else None)
    assert newsgroups["subset"] == "train"
    assert set(newsgroups["remove"]) == {"headers", "footers", "quotes"}
    assert newsgroups["files"] == ["20news-bydate.tar.gz"]
    assert found.row_names == ("sci.space/1", "sci.med/2", "sci.med/3")
    assert found.column_names == ("and", "moon", "sick", "sun", "the")
    assert found.X.shape == (3, 5)
    assert np.allclose(sp.linalg.norm(found.X, axis=1), [1, 1, 0])
    assert path.read_bytes() == b"archive"
    newsgroups.clear()
    datasets.load("20-newsgroups")  # from the cache
    assert not newsgroups


def test_newsgroups_of_scikit_learn_are_taken(folder, tmp_path, newsgroups):
    home = tmp_path / "scikit-learn"
    home.mkdir()
    with pytest.raises(FileNotFoundError, match="20-newsgroups is not in"):
        datasets.load("20-newsgroups")
    (home / "cached").write_text("there")
    assert datasets.load("20-newsgroups").X.shape == (3, 5)
    assert newsgroups["data_home"] == str(home)
    assert newsgroups["download_if_missing"] is False


@pytest.mark.parametrize("given", [True, False])
def test_another_file_is_refused(given, folder, newsgroups):
    folder.mkdir()
    other = folder / "20news-bydate.tar.gz"
    other.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"20news-bydate\.tar\.gz: its sha256 is .* another file"):
        datasets.load("20-newsgroups", source=other if given else None)
    assert not newsgroups


def test_a_source_that_is_not_there(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing"):
        datasets.load("dblp-author-venue", source=tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*lyrl2004_vectors_test_pt0"):
        datasets.load("rcv1", source=tmp_path)


def test_rcv1(folder, monkeypatch):
    def fetch(**arguments):
        return Bunch(data=sp.csr_matrix([[0.6, 0.8], [0.0, 1.0]]), sample_id=np.array([2286, 7]))

    monkeypatch.setattr(corpora, "fetch_rcv1", fetch)
    origin = Origin((Remote("x", "y"),), corpora.build_rcv1)
    monkeypatch.setitem(ORIGINS, "rcv1", origin)
    folder.mkdir()
    (folder / "x").write_bytes(b"")
    found = datasets.load("rcv1")
    assert (found.row_names, found.column_names) == (("2286", "7"), ("0", "1"))
    assert found.X.toarray().tolist() == [[0.6, 0.8], [0.0, 1.0]]


# --- Files of matrices

X = sp.csr_matrix(np.array([[1.5, 0.0, 2.0], [0.0, 0.0, 3.0]]))


@pytest.mark.parametrize(
    "name", ["a.npz", "a.npy", "a.svmlight", "a.libsvm.gz", "a.mtx", "a.mtx.gz"]
)
def test_matrices_of_every_kind(name, tmp_path):
    path = tmp_path / name
    plain = tmp_path / name.removesuffix(".gz")
    if name == "a.npz":
        sp.save_npz(plain, X)
    elif name == "a.npy":
        np.save(plain, X.toarray())
    elif "svm" in name:
        dump_svmlight_file(X, [0, 1], str(plain))
    else:
        scipy.io.mmwrite(plain, X)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    found = read_matrix(path)
    dense = found if name == "a.npy" else found.toarray()
    assert dense.tolist() == X.toarray().tolist()
    assert name == "a.npy" or found.format == "csr"


def test_compact_counts(tmp_path):
    parts = {"shape": [2, 3], "rowlen": [2, 1], "indices": [0, 2, 2]}
    np.savez(tmp_path / "a.npz", **parts, counts=[1, 2, 3])
    assert read_matrix(tmp_path / "a.npz").toarray().tolist() == [[1, 0, 2], [0, 0, 3]]
    np.savez(tmp_path / "b.npz", **parts)
    found = read_matrix(tmp_path / "b.npz")
    assert found.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]
    assert np.issubdtype(found.dtype, np.integer)


def test_integers_of_matrix_market_are_counts(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", X.astype(np.int64))
    assert np.issubdtype(read_matrix(tmp_path / "a.mtx").dtype, np.integer)


def test_tfidf_is_plain_unless_asked():
    counts = sp.csr_matrix([[1, 8], [3, 1]])
    plain, sublinear = tfidf(counts), tfidf(counts, sublinear=True)
    assert plain[0, 1] / plain[0, 0] == pytest.approx(8)
    assert sublinear[0, 1] / sublinear[0, 0] == pytest.approx(1 + np.log(8))


def _pickled(path):
    np.save(path.with_suffix(".npy"), np.array([[1, "x"]], object), allow_pickle=True)
    return path.with_suffix(".npy")


def _pickled_in_npz(path):
    np.savez(path, rowlen=np.array([1], object), indices=[0], shape=[1, 1])
    return path


def _text(suffix):
    def write(path):
        path = path.with_suffix(suffix)
        path.write_text("no matrix\nat all\n")
        return path

    return write


def _out_of_range(path):
    np.savez(path, shape=[1, 2], rowlen=[1], indices=[5])
    return path


def _cut(path):
    sp.save_npz(path, X)
    path.write_bytes(path.read_bytes()[:-60])
    return path


def _one_dimension(path):
    np.save(path.with_suffix(".npy"), np.ones(3))
    return path.with_suffix(".npy")


def _words(path):
    np.save(path.with_suffix(".npy"), np.array([["a", "b"]]))
    return path.with_suffix(".npy")


@pytest.mark.parametrize(
    "write",
    [
        _pickled,
        _pickled_in_npz,
        _text(".npz"),
        _text(".npy"),
        _text(".mtx"),
        _text(".svmlight"),
        _text(".mtx.gz"),
        _out_of_range,
        _cut,
        _one_dimension,
        _words,
    ],
)
def test_broken_matrices(write, tmp_path):
    path = write(tmp_path / "a.npz")
    with pytest.raises(ValueError, match=f"{path.name}: not a matrix that can be read"):
        read_matrix(path)


@pytest.mark.parametrize("name", ["a.csv", "a", "a.npz.gz", "a.gz"])
def test_unknown_kinds(name, tmp_path):
    (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match=r"should end in \.npz, \.npy"):
        read_matrix(tmp_path / name)
