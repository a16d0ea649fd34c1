"""Models that go away and come back: files, pickles, copies. The same bits, or a clear refusal."""

import copy
import io
import json
import os
import pickle
import stat
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from arcmeans import SphericalKMeans, _core
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._centers.sums import CenterSums
from arcmeans._models import model_files
from arcmeans._models.center_field import squared_length

RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((90, 14)) * (RNG.random((90, 14)) < 0.5)
DENSE[:, 0] += 0.1  # no row is all zero
OTHER = RNG.standard_normal((500, 14))
CONTAINERS = {
    "dense": np.asarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "frame": lambda X: pd.DataFrame(X, columns=[f"wörd {j}" for j in range(X.shape[1])]),
}


def fitted(X=DENSE, sample_weight=None, **parameters):
    return SphericalKMeans(5, **{"random_state": 1, **parameters}).fit(X, None, sample_weight)


def same(a, b):
    """Equal in type and in every bit."""
    if isinstance(a, CenterSums):
        return all(same(getattr(a, name), getattr(b, name)) for name in vars(a))
    if sp.issparse(a):
        parts = ("data", "indices", "indptr", "shape")
        return type(a) is type(b) and all(same(getattr(a, p), getattr(b, p)) for p in parts)
    if isinstance(a, np.ndarray) and a.dtype != object:
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.tolist() == b.tolist()
    if isinstance(a, float):
        return isinstance(b, float) and a.hex() == b.hex()
    return type(a) is type(b) and a == b


def assert_same_model(model, other, X=OTHER):
    """Parameters, attributes, centers and predictions."""
    assert type(other) is type(model)
    assert vars(other).keys() == vars(model).keys()
    centers = model.cluster_centers_, other.cluster_centers_
    assert same(*centers)
    for name, value in vars(model).items():
        assert same(value, getattr(other, name)), name
    assert same(model.predict(X), other.predict(X))


def through_a_file(model, path):
    model.save(path)
    return type(model).load(path)


def contents(path):
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("dtype", "weighted"), [(np.float32, True), (np.float64, False)])
def test_every_way_there_and_back(path, dtype, container, algorithm, weighted):
    X = CONTAINERS[container](DENSE.astype(dtype))
    weights = np.linspace(0, 3, len(DENSE)) if weighted else None
    model = fitted(X, weights, algorithm=algorithm)
    new = CONTAINERS[container](OTHER.astype(dtype))
    assert hasattr(model, "feature_names_in_") == (container == "frame")
    for other in (
        through_a_file(model, path),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert_same_model(model, other, new)
        assert same(other.predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
def test_the_cases(case, path):
    """Ties, empty clusters, kept centers, a vocabulary."""
    model = SphericalKMeans(case.n_clusters, init=case.init, empty_cluster="keep").fit(case.X)
    other = through_a_file(model, path)
    assert_same_model(model, other, case.X)
    assert np.array_equal(other.predict(case.X), model.labels_)


def test_every_instruction_set_predicts_the_same_bits(path, simd):
    """The model was fitted and written by the default one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "native", _core.load(_core.simd))
        model = fitted(sp.csr_array(DENSE.astype(np.float32)))
        labels = model.predict(OTHER)
        model.save(path)
    other = SphericalKMeans.load(path)
    assert same(other.predict(OTHER), labels)
    assert same(other.cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize(
    "init",
    [
        DENSE[:5],
        np.asfortranarray(DENSE[:5]),
        DENSE[:10:2, ::-1][:, ::-1],
        DENSE[:5].astype(">f8"),
        DENSE[:5].astype(np.float16),
        DENSE[:5].tolist(),
        tuple(map(tuple, DENSE[:5].tolist())),
        np.arange(5, dtype=np.uint8),
        [np.int64(4), 3, 2, 1, 0],
        sp.csr_array(DENSE[:5]),
        sp.csc_matrix(DENSE[:5].astype(np.float32)),
    ],
    ids=lambda init: f"{type(init).__name__}-{getattr(init, 'dtype', '')}",
)
def test_initial_centers_are_kept(path, init):
    model = fitted(init=init)
    other = through_a_file(model, path)
    if sp.issparse(init):
        assert same(other.init, sp.csr_array(init))
    elif isinstance(init, np.ndarray):
        assert same(other.init, init.astype(init.dtype.newbyteorder("=")))
    else:
        assert other.init == init
        assert type(other.init) is type(init)
    again = clone(other).fit(DENSE)
    assert same(again.center_sums(), model.center_sums())
    assert same(again.labels_, model.labels_)


def test_numbers_keep_every_bit(path):
    model = fitted()
    model.set_params(tol=0.1 + 0.2, alpha=np.float32(1.1), n_clusters=np.int64(5), max_iter=10**30)
    other = through_a_file(model, path)
    assert other.get_params() == model.get_params()
    assert (other.tol, other.alpha) == (0.30000000000000004, 1.100000023841858)
    model.set_params(tol=5e-324, alpha=np.inf)
    assert through_a_file(model, path).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("init", lambda X, n_clusters, random_state: X[:n_clusters]),
        ("random_state", np.random.RandomState(0)),
        ("tol", {"a": 1}),
        ("init", [[[[[1]]]]]),
        ("checkpoint", "fit.npz"),
    ],
)
def test_what_belongs_in_no_file_is_left_out_with_a_warning(path, name, value):
    model = fitted().set_params(**{name: value})
    with pytest.warns(UserWarning, match=rf"model.safetensors: {name}=.* is None in the model"):
        model.save(path)
    other = SphericalKMeans.load(path)
    assert getattr(other, name) is None
    assert_same_model(model.set_params(**{name: None}), other)


def test_attributes_of_others_are_left_out_with_a_warning(path):
    model = fitted()
    model.topics_ = ["a", "b"]
    with pytest.warns(UserWarning, match="the attribute topics_ of SphericalKMeans is not stored"):
        model.save(path)
    assert not hasattr(SphericalKMeans.load(path), "topics_")


class Subclass(SphericalKMeans):
    pass


def test_subclasses(path):
    model = Subclass(5, random_state=0).fit(DENSE)
    assert_same_model(model, through_a_file(model, path))
    with pytest.raises(ValueError, match="holds a Subclass, not a SphericalKMeans"):
        SphericalKMeans.load(path)


def test_a_class_without_a_layout(path):
    class Stranger(BaseEstimator):
        def fit(self):
            self.n_features_in_ = 3
            return self

    with pytest.raises(TypeError, match=r"Stranger cannot be stored in a file; SphericalKMeans"):
        model_files.save_model(Stranger().fit(), path)


def test_the_loaded_model_is_a_model(path):
    """Its arrays can be written to, it outlives the file, it can be fitted and saved again."""
    model = fitted()
    other = through_a_file(model, path)
    path.unlink()
    sums = other.center_sums()
    for array in (other.labels_, other.trace_, sums.scales, sums.vectors.data):
        assert array.flags.writeable
    assert_same_model(model, through_a_file(other, path))
    assert same(other.fit(DENSE).labels_, model.labels_)


def test_feature_names_are_held_to_after_loading(path):
    model = fitted(CONTAINERS["frame"](DENSE))
    other = through_a_file(model, path)
    with pytest.raises(ValueError, match="feature names"):
        other.predict(CONTAINERS["frame"](OTHER).rename(columns=str.upper))


def test_the_header_tells_what_it_is(path):
    fitted(CONTAINERS["frame"](DENSE.astype(np.float32))).save(str(path))
    tensors, header = contents(path)
    assert header["format"] == "arcmeans"
    assert header["format_version"] == "1"
    assert header["class"] == "SphericalKMeans"
    assert header["dtype"] == "float32"
    assert json.loads(header["params"])["n_clusters"] == 5
    assert json.loads(header["feature_names_in_"])[2] == "wörd 2"
    assert tensors["centers.data"].dtype == tensors["centers.indptr"].dtype == np.int64


# --- What is no file of ours.


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def tensor(name, change):
    return lambda tensors, header: tensors.update({name: change(tensors[name])})


def entry(name, text):
    return lambda tensors, header: header.update({name: text})


REFUSED = {
    "no format": (lambda t, h: h.clear(), "not a model of arcmeans: format=None"),
    "other format": (entry("format", "pt"), "format='pt', expected 'arcmeans'"),
    "newer": (entry("format_version", "2"), r"version 2 of .* up to 1: upgrade arcmeans"),
    "no version": (lambda t, h: h.pop("format_version"), "the header has no 'format_version'"),
    "bad version": (entry("format_version", "one"), "format_version='one' .* is not a number"),
    "old version": (entry("format_version", "0"), "format_version=0 should be >= 1"),
    "other class": (
        entry("class", "MiniBatchSphericalKMeans"),
        "holds a MiniBatchSphericalKMeans, not a SphericalKMeans: use MiniBatchSpherical",
    ),
    "params": (entry("params", "[1]"), "params in the header is not a JSON object"),
    "params not JSON": (entry("params", "{"), "params in the header is not JSON"),
    "params too deep": (entry("params", "[" * 100_000), "params in the header is not JSON"),
    "param too deep": (
        entry("params", '{"init": [[[[[1]]]]]}'),
        "parameter init in the header cannot be read",
    ),
    "unknown param": (entry("params", '{"k": 3}'), "no parameter 'k'"),
    "param without tensor": (
        entry("params", '{"init": {"array": "param.init"}}'),
        "parameter init in the header cannot be read",
    ),
    "param of another kind": (
        entry("params", '{"init": {"pickle": "gASV"}}'),
        "parameter init in the header cannot be read",
    ),
    "param sparse": (
        entry("params", '{"init": {"sparse": "param.init", "shape": [-1, 3]}}'),
        r"'param.init' has shape \(-1, 3\); the limit is 2147483647",
    ),
    "param wide": (
        entry("params", '{"init": {"sparse": "param.init", "shape": [5, 1000000000000000000000]}}'),
        r"has shape \(5, 1000000000000000000000\); the limit is",
    ),
    "param that tells where to write": (
        entry("params", '{"checkpoint": "elsewhere"}'),
        "parameter checkpoint should be null in a file",
    ),
    "n_features": (entry("n_features_in_", "13"), r"holds 13 at .*, outside \[0, 13\)"),
    "no n_features": (entry("n_features_in_", "0"), r"n_features_in_=0 should be in \[1, 2147"),
    "many features": (entry("n_features_in_", str(2**31)), r"should be in \[1, 2147483647\]"),
    "names": (entry("feature_names_in_", '["a"]'), "1 feature names for n_features_in_=14"),
    "names not text": (entry("feature_names_in_", "[1]"), "should be a list of strings"),
    "dtype": (entry("dtype", "int8"), "dtype='int8' should be 'float32' or 'float64'"),
    "no inertia": (lambda t, h: h.pop("inertia_"), "the header has no 'inertia_'"),
    "inertia": (entry("inertia_", "much"), "inertia_='much' in the header is not a number"),
    "inertia too large": (entry("inertia_", "0x1p99999"), "is not a number"),
    "n_iter": (entry("n_iter_", "1"), r"'trace_.\w+' has shape \(\d+,\), expected \(1,\)"),
    "huge n_iter": (entry("n_iter_", str(10**15)), r"expected \(1000000000000000,\)"),
    "negative n_iter": (entry("n_iter_", "-1"), "n_iter_=-1 should be >= 0"),
    "one": (entry("one", "0x1.8p+3"), r"one=12.0 should be a power of two in \[1, 2\^61\]"),
    "one too large": (entry("one", "0x1p+62"), "should be a power of two"),
    "one nan": (entry("one", "nan"), "one=nan should be a power of two"),
    "missing": (lambda t, h: t.pop("labels_"), "tensor 'labels_' is missing"),
    "missing centers": (lambda t, h: t.pop("centers.data"), "'centers.data' is missing"),
    "missing trace": (lambda t, h: t.pop("trace_.changed"), "'trace_.changed' is missing"),
    "unknown tensor": (
        lambda t, h: t.update(bias=np.ones(3)),
        "a SphericalKMeans has no tensors 'bias'",
    ),
    "label type": (tensor("labels_", lambda a: a.astype(np.int64)), "is int64, expected int32"),
    "label shape": (tensor("labels_", lambda a: a[:, None]), r"'labels_' has shape \(90, 1\)"),
    "label high": (tensor("labels_", lambda a: changed(a, 7, 5)), r"holds 5 at 7, .* \[-1, 5\)"),
    "label low": (tensor("labels_", lambda a: changed(a, 0, -2)), "'labels_' holds -2 at 0"),
    "scale": (
        tensor("centers.scales", lambda a: changed(a, 2, np.nextafter(a[2], 1))),
        "the scale of center 2 is .*, but one over the length of its vector is",
    ),
    "scale nan": (tensor("centers.scales", lambda a: changed(a, 1, np.nan)), "scale of center 1"),
    "scales type": (
        tensor("centers.scales", lambda a: a.astype(np.float32)),
        "'centers.scales' is float32, expected float64",
    ),
    "scales short": (
        tensor("centers.scales", lambda a: a[:4]),
        r"'centers.indptr' has shape \(6,\), expected \(5,\)",
    ),
    "no centers": (tensor("centers.scales", lambda a: a[:0]), "there are no centers"),
    "vector": (tensor("centers.data", lambda a: changed(a, 0, a[0] + 2**40)), "scale of center 0"),
    "vector long": (tensor("centers.data", lambda a: changed(a, 3, 2**62)), "holds 461168601842"),
    "vector longest": (tensor("centers.data", lambda a: changed(a, 3, -(2**63))), "holds -92233"),
    "vectors long": (
        tensor("centers.data", lambda a: np.full_like(a, 2**61)),
        r"center 0 should have a length above 0 and below 2\^62",
    ),
    "vectors zero": (tensor("centers.data", np.zeros_like), "center 0 should have a length"),
    "data short": (tensor("centers.data", lambda a: a[1:]), "'centers.data' has shape"),
    "data type": (tensor("centers.data", lambda a: a.astype(float)), "is float64, expected int64"),
    "index high": (tensor("centers.indices", lambda a: changed(a, 4, 14)), "holds 14 at 4"),
    "index low": (tensor("centers.indices", lambda a: changed(a, 4, -1)), "holds -1 at 4"),
    "index twice": (
        tensor("centers.indices", lambda a: changed(a, 1, a[0])),
        "does not ascend within each center",
    ),
    "starts": (tensor("centers.indptr", lambda a: changed(a, 0, 1)), "should ascend from 0 to"),
    "starts back": (tensor("centers.indptr", lambda a: changed(a, 1, 2**40)), "should ascend"),
    "starts end": (tensor("centers.indptr", lambda a: changed(a, 5, a[5] - 1)), "should ascend"),
}


@pytest.mark.parametrize("broken", REFUSED)
def test_a_broken_file_is_refused(path, broken):
    fitted().save(path)
    tensors, header = contents(path)
    change, why = REFUSED[broken]
    change(tensors, header)
    save_file(tensors, path, header)
    with pytest.raises(ValueError, match=rf"model\.safetensors: .*{why}"):
        SphericalKMeans.load(path)


def test_a_sparse_parameter_is_checked_too(path):
    fitted(init=sp.csr_array(DENSE[:5])).save(path)
    tensors, header = contents(path)
    tensors["param.init.indices"][0] = 14
    save_file(tensors, path, header)
    with pytest.raises(ValueError, match=r"'param.init.indices' holds 14 at 0, outside \[0, 14\)"):
        SphericalKMeans.load(path)


def test_an_older_file_takes_the_default_of_a_newer_parameter(path):
    fitted(alpha=1.5).save(path)
    tensors, header = contents(path)
    params = json.loads(header["params"])
    del params["alpha"]
    save_file(tensors, path, {**header, "params": json.dumps(params)})
    assert SphericalKMeans.load(path).alpha == 1.0


def test_a_file_cut_short_is_refused(path):
    fitted().save(path)
    whole = path.read_bytes()
    for size in [*range(0, 200, 7), *range(200, len(whole), 199), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"model\.safetensors: not a safetensors file, or not"):
            SphericalKMeans.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match=r"model\.safetensors: not a safetensors file, or not"):
        SphericalKMeans.load(path)


def test_other_files_are_refused(path):
    model = fitted()
    for dump in (pickle.dump, joblib.dump, lambda _, file: np.savez(file, X=DENSE)):
        stream = io.BytesIO()
        dump(model, stream)
        path.write_bytes(stream.getvalue())
        with pytest.raises(ValueError, match=r"model\.safetensors: not a safetensors file"):
            SphericalKMeans.load(path)


def test_number_types_that_numpy_does_not_have(path):
    fitted().save(path)
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    at = header["labels_"]["data_offsets"]
    for dtype, items in (("F8_E4M3", 360), ("F8_E5M2", 360), ("BF16", 180)):
        header["labels_"] = {"dtype": dtype, "shape": [items], "data_offsets": at}
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + whole[8 + size :])
        with pytest.raises(ValueError, match=r"model\.safetensors: .*"):
            SphericalKMeans.load(path)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.safetensors"):
        SphericalKMeans.load(tmp_path / "absent.safetensors")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        SphericalKMeans.load(tmp_path)
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        fitted().save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere.model'"):
        fitted().save(tmp_path / "nowhere" / "model")
    assert list(tmp_path.iterdir()) == []


# --- Writing.


def test_an_unfitted_model_is_not_saved(path):
    with pytest.raises(NotFittedError):
        SphericalKMeans().save(path)
    assert not path.exists()


def test_a_file_is_replaced_whole_or_not_at_all(path, monkeypatch):
    model = fitted()
    model.save(path)
    before = path.read_bytes()

    def fails(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match=r"No space left on device: '.*model\.safetensors'"):
            fitted(random_state=2).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    fitted(random_state=2).save(path)
    assert path.read_bytes() != before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_modes_and_links_are_as_for_any_file(path):
    model = fitted()
    usual = path.with_name("usual")
    usual.touch()
    model.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    link = path.with_name("link")
    link.symlink_to(path)
    path.unlink()
    model.save(link)
    assert link.is_symlink()
    assert_same_model(model, SphericalKMeans.load(path))


def test_a_header_too_long_to_read_is_not_written(path, monkeypatch):
    monkeypatch.setattr(model_files, "MAX_HEADER", 1000)
    with pytest.raises(ValueError, match="more than 1000 bytes of header"):
        fitted().save(path)
    assert not path.exists()


def test_without_the_package(path, monkeypatch):
    model = fitted()
    model.save(path)
    for module in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, module, None)
    for call in (model.save, SphericalKMeans.load):
        with pytest.raises(ImportError, match=r"pip install 'arcmeans\[save\]'"):
            call(path)


def test_squared_lengths_are_exact():
    rng = np.random.default_rng(3)
    for bits in (3, 31, 32, 45, 62):
        vector = rng.integers(1 - 2**bits, 2**bits, 1000)
        assert squared_length(vector) == sum(int(v) ** 2 for v in vector)
    edge = np.array([2**62 - 1, 1 - 2**62, 2**31, 2**31 - 1, 0] * 100)
    assert squared_length(edge) == sum(int(v) ** 2 for v in edge)


# --- Pickles.


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol(protocol):
    model = fitted(CONTAINERS["frame"](DENSE))
    new = CONTAINERS["frame"](OTHER)
    assert_same_model(model, pickle.loads(pickle.dumps(model, protocol)), new)
    sums = pickle.loads(pickle.dumps(model.center_sums(), protocol))
    assert same(model.center_sums(), sums)


def test_pickles_with_buffers_out_of_band():
    model, buffers = fitted(), []
    data = pickle.dumps(model, 5, buffer_callback=buffers.append)
    assert_same_model(model, pickle.loads(data, buffers=buffers))


@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_joblib(tmp_path, mmap_mode):
    """Arrays that are mapped cannot be written to; predicting does not ask for it."""
    model = fitted(sp.csr_array(DENSE))
    joblib.dump(model, tmp_path / "model.joblib")
    other = joblib.load(tmp_path / "model.joblib", mmap_mode=mmap_mode)
    assert same(other.predict(OTHER), model.predict(OTHER))
    assert np.array_equal(other.cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), clone])
def test_unfitted_models(copied):
    model = SphericalKMeans(3, init=DENSE[:3], tol=0.5)
    other = copied(model)
    assert vars(other).keys() == vars(model).keys()
    assert same(other.init, model.init)
    with pytest.raises(NotFittedError):
        other.predict(DENSE)
    assert same(other.fit(DENSE).labels_, model.fit(DENSE).labels_)


def test_neither_pickle_nor_file_holds_the_rows(path):
    X = np.random.default_rng(4).random((20_000, 30))
    model = SphericalKMeans(4, max_iter=3, random_state=0).fit(X)
    model.save(path)
    needed = model.labels_.nbytes + 2 * 8 * 4 * 30
    assert len(pickle.dumps(model)) < needed + 10_000 < X.nbytes / 10
    assert path.stat().st_size < needed + 10_000
