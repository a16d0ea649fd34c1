"""Fitted models in safetensors files: arrays and a header of strings, nothing that could run.

A file holds the integers of the centers, so a model that was loaded predicts the bits of the one
that was saved, on any machine. Reading believes nothing: every array is checked for type, shape and
range, and the scales are computed again from the integers, before there is a model.

``LAYOUTS`` says what each class stores. A class of its own layout needs an entry there, and two
methods that call ``save_model`` and ``load_model``. Files of an older version stay readable: what
changes a layout raises ``VERSION``.
"""

import importlib
import inspect
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._rows.unit_rows import MAX_FEATURES
from .._run.records import CenterSums, trace_array
from .._support.caution import caution
from .._support.files import FilePath, written_whole

FORMAT = "arcmeans"
VERSION = 1
MAX_HEADER = 100_000_000
"""Bytes; safetensors reads no longer one."""

Model = TypeVar("Model")


@dataclass
class Stored:
    """What a file holds. On the way back, arrays are taken out as they are checked."""

    path: str
    header: dict[str, str] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Dimensions met so far, by name: an array that comes later has to agree."""

    def refusal(self, why: str) -> ValueError:
        return ValueError(f"{self.path}: {why}.")

    def text(self, key: str) -> str:
        if key not in self.header:
            raise self.refusal(f"the header has no {key!r}")
        return self.header[key]

    def number(self, key: str, parse: Callable[[str], Any]) -> Any:
        text = self.text(key)
        try:
            return parse(text)
        except (ValueError, OverflowError):
            raise self.refusal(f"{key}={text[:40]!r} in the header is not a number") from None

    def json(self, key: str) -> Any:
        try:
            return json.loads(self.text(key))
        except (json.JSONDecodeError, RecursionError) as error:
            raise self.refusal(f"{key} in the header is not JSON ({error})") from None

    def array(self, name: str, dtype: DTypeLike | None, *shape: str | int) -> NDArray[Any]:
        """Takes out a tensor of this type and shape; a dimension is a number or has a name."""
        if name not in self.tensors:
            raise self.refusal(f"tensor {name!r} is missing")
        array = self.tensors.pop(name)
        if dtype is not None and array.dtype != dtype:
            raise self.refusal(f"tensor {name!r} is {array.dtype}, expected {np.dtype(dtype)}")
        if len(array.shape) == len(shape):
            for size, known in zip(shape, array.shape, strict=True):
                if isinstance(size, str):
                    self.sizes.setdefault(size, known)
        expected = tuple(self.sizes.get(s, s) if isinstance(s, str) else s for s in shape)
        if array.shape != expected:
            raise self.refusal(f"tensor {name!r} has shape {array.shape}, expected {expected}")
        return array


class Field(Protocol):
    """How an attribute of a model is written to a file, and read back and checked."""

    def write(self, stored: Stored, name: str, value: Any) -> None: ...
    def read(self, stored: Stored, name: str) -> Any: ...


@dataclass(frozen=True)
class Integer:
    """A count in the header, which may be the size of arrays that come after it."""

    size: str = ""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header[name] = str(int(value))

    def read(self, stored: Stored, name: str) -> int:
        count: int = stored.number(name, int)
        if count < 0:
            raise stored.refusal(f"{name}={count} should be >= 0")
        if self.size:
            stored.sizes[self.size] = count
        return count


class Float:
    """A number in the header, in hexadecimal: every bit of it."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header[name] = float(value).hex()

    def read(self, stored: Stored, name: str) -> float:
        number: float = stored.number(name, float.fromhex)
        return number


@dataclass(frozen=True)
class Array:
    """A tensor of one type, its dimensions by name."""

    dtype: DTypeLike
    shape: tuple[str, ...]

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.tensors[name] = np.asarray(value, self.dtype)

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        return stored.array(name, self.dtype, *self.shape)


class Labels(Array):
    """Numbers of clusters; −1 for rows without a direction."""

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        labels = super().read(stored, name)
        _check_range(stored, name, labels, -1, stored.sizes["n_clusters"])
        return labels


class Trace:
    """The iterations: a tensor for each field."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        for column in value.dtype.names:
            stored.tensors[f"{name}.{column}"] = value[column]

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        dtype = trace_array([]).dtype
        columns = {
            column: stored.array(f"{name}.{column}", dtype[column], "n_iter")
            for column in dtype.names or ()
        }
        trace = np.empty(stored.sizes["n_iter"], dtype)
        for column, values in columns.items():
            trace[column] = values
        return trace


class FloatType:
    """The dtype of the rows, and so of ``cluster_centers_``."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header["dtype"] = np.dtype(value).name

    def read(self, stored: Stored, name: str) -> np.dtype[Any]:
        text = stored.text("dtype")
        if text not in ("float32", "float64"):
            raise stored.refusal(f"dtype={text[:40]!r} should be 'float32' or 'float64'")
        return np.dtype(text)


class Cache:
    """Made again when asked for."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        pass

    def read(self, stored: Stored, name: str) -> None:
        return None


class Centers:
    """The integer vectors of the centers, their scales, and 1.0 in fixed point."""

    def write(self, stored: Stored, name: str, value: CenterSums) -> None:
        stored.header["one"] = value.one.hex()
        stored.tensors["centers.scales"] = value.scales
        _write_csr(stored.tensors, "centers", value.vectors, CENTERS)

    def read(self, stored: Stored, name: str) -> CenterSums:
        one: float = stored.number("one", float.fromhex)
        if not (1.0 <= one <= 2.0**61 and math.frexp(one)[0] == 0.5):
            raise stored.refusal(f"one={one} should be a power of two in [1, 2^61]")
        scales = stored.array("centers.scales", np.float64, "n_clusters")
        if not len(scales):
            raise stored.refusal("there are no centers")
        shape = (len(scales), stored.sizes["n_features"])
        vectors = _read_csr(stored, "centers", shape, CENTERS)
        within = np.ones(len(vectors.indices), bool)  # all but the first entries of rows
        within[vectors.indptr[:-1][np.diff(vectors.indptr) > 0]] = False
        if np.any(np.diff(vectors.indices, prepend=0)[within] <= 0):
            raise stored.refusal("tensor 'centers.indices' does not ascend within each center")
        _check_range(stored, "centers.data", vectors.data, 1 - 2**62, 2**62)
        _check_scales(stored, vectors, scales)
        return CenterSums(vectors, scales, one)


Layout = Mapping[str, Field]
LAYOUTS: dict[str, Layout] = {
    "SphericalKMeans": {
        "n_iter_": Integer("n_iter"),
        "_dtype": FloatType(),
        "_sums": Centers(),
        "_centers": Cache(),
        "labels_": Labels(np.int32, ("n_samples",)),
        "inertia_": Float(),
        "trace_": Trace(),
    },
}
"""Attributes of each class in the order they are read: sizes before what has them."""
GIVEN_BY_VALIDATION = ("n_features_in_", "feature_names_in_")
OF_THIS_MACHINE = ("checkpoint",)
"""Parameters that are never stored: no file from elsewhere tells a fit where to write."""


def save_model(model: Any, path: FilePath, notes: Mapping[str, str] | None = None) -> None:
    """Write a fitted model to a file, whole or not at all. What is there is replaced.

    ``notes`` go into the header, for ``header_of`` to read; ``load_model`` takes no notice of them.
    """
    check_is_fitted(model)
    layout = _layout(type(model))
    stored = Stored(os.fspath(path))
    stored.header |= {
        **(notes or {}),
        "format": FORMAT,
        "format_version": str(VERSION),
        "arcmeans_version": version("arcmeans"),
        "class": type(model).__name__,
    }
    left_out = _write_parameters(stored, model)
    Integer().write(stored, "n_features_in_", model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        stored.header["feature_names_in_"] = json.dumps(model.feature_names_in_.tolist())
    for name, kind in layout.items():
        kind.write(stored, name, getattr(model, name))
    # The package takes the memory of an array as it lies: C order, this machine's bytes.
    tensors = {
        name: np.array(array, array.dtype.newbyteorder("="), order="C")
        for name, array in stored.tensors.items()
    }
    data = _package("safetensors.numpy").save(tensors, stored.header)
    if int.from_bytes(data[:8], "little") > MAX_HEADER:
        raise stored.refusal(
            f"the parameters and feature names take more than {MAX_HEADER} bytes of header, the "
            "limit of the format"
        )
    with written_whole(path) as file:
        file.write(data)
    for text in left_out + _unknown_attributes(model, layout):
        caution(f"{stored.path}: {text}")


def load_model(cls: type[Model], path: FilePath) -> Model:
    """The fitted model of a file that ``save_model`` wrote; a ValueError if it is anything else."""
    stored = _read(cls, path)
    model: Any = cls(**_read_parameters(stored, cls))
    n_features = Integer("n_features").read(stored, "n_features_in_")
    if not 1 <= n_features <= MAX_FEATURES:
        raise stored.refusal(f"n_features_in_={n_features} should be in [1, {MAX_FEATURES}]")
    model.n_features_in_ = n_features
    if "feature_names_in_" in stored.header:
        names = stored.json("feature_names_in_")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise stored.refusal("feature_names_in_ should be a list of strings")
        if len(names) != n_features:
            raise stored.refusal(f"{len(names)} feature names for n_features_in_={n_features}")
        model.feature_names_in_ = np.array(names, object)
    for name, kind in _layout(cls).items():
        setattr(model, name, kind.read(stored, name))
    if stored.tensors:
        unknown = ", ".join(repr(name) for name in sorted(stored.tensors))
        raise stored.refusal(f"a {cls.__name__} has no tensors {unknown}")
    loaded: Model = model
    return loaded


def header_of(cls: type, path: FilePath) -> dict[str, str]:
    """The header of a file that ``save_model`` wrote for this class, notes included."""
    return _read(cls, path, tensors=False).header


def _layout(cls: type) -> Layout:
    for base in cls.__mro__:
        if base.__name__ in LAYOUTS:
            return LAYOUTS[base.__name__]
    raise TypeError(f"{cls.__name__} cannot be stored in a file; {', '.join(LAYOUTS)} can.")


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            "Models are saved and loaded by the package safetensors, which is not installed: "
            "pip install 'arcmeans[save]'"
        ) from error


# --- Parameters: JSON in the header, arrays as tensors.

DEPTH = 4
"""Lists in lists; centers given as lists need two."""


def _write_parameters(stored: Stored, model: Any) -> list[str]:
    """Returns what to tell the user of those that no file can hold."""
    encoded, left_out = {}, []
    for name, value in model.get_params(deep=False).items():
        arrays: dict[str, NDArray[Any]] = {}
        try:
            encoded[name] = _encoded(value, f"param.{name}", arrays)
        except TypeError:
            encoded[name] = None
        if name in OF_THIS_MACHINE:
            encoded[name] = None
        if encoded[name] is not None:
            stored.tensors |= arrays
        elif value is not None:
            left_out.append(
                f"{name}={value!r} is not stored in a file; it is None in the model that load "
                "returns."
            )
    stored.header["params"] = json.dumps(encoded)
    return left_out


def _encoded(value: Any, name: str, arrays: dict[str, NDArray[Any]], depth: int = DEPTH) -> Any:
    """JSON for a value; its arrays are added to ``arrays``, under names that begin with ``name``.

    JSON's numbers are as long as it takes for every bit to come back.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple) and depth:
        items = [_encoded(item, f"{name}.{i}", arrays, depth - 1) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if sp.issparse(value) and value.ndim == 2:
        matrix = sp.csr_array(value)
        if matrix.dtype.kind in "biuf" and matrix.dtype.itemsize <= 8:
            index = matrix.indices.dtype
            kinds = {"indptr": index, "indices": index, "data": matrix.dtype}
            _write_csr(arrays, name, matrix, kinds)
            return {"sparse": name, "shape": list(map(int, matrix.shape))}
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
            arrays[name] = array
            return {"array": name}
    raise TypeError(f"{type(value).__name__} has no place in a file.")


def _read_parameters(stored: Stored, cls: Any) -> dict[str, Any]:
    """Parameters that came after the file was written have their default."""
    encoded = stored.json("params")
    if not isinstance(encoded, dict):
        raise stored.refusal("params in the header is not a JSON object")
    unknown = sorted(set(encoded) - set(inspect.signature(cls).parameters))
    if unknown:
        raise stored.refusal(f"this version of {cls.__name__} has no parameter {unknown[0]!r}")
    for name in OF_THIS_MACHINE:
        if encoded.get(name) is not None:
            raise stored.refusal(f"parameter {name} should be null in a file")
    return {name: _decoded(stored, name, value) for name, value in encoded.items()}


def _decoded(stored: Stored, name: str, value: Any, depth: int = DEPTH) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() if depth:
            return [_decoded(stored, name, item, depth - 1) for item in value]
        case {"tuple": list(items), **rest} if depth and not rest:
            return tuple(_decoded(stored, name, item, depth - 1) for item in items)
        case {"array": str(tensor), **rest} if not rest and tensor in stored.tensors:
            return stored.tensors.pop(tensor)
        case {"sparse": str(tensor), "shape": [int(m), int(n)], **rest} if not rest:
            short = getattr(stored.tensors.get(f"{tensor}.indices"), "dtype", None) == np.int32
            index = np.int32 if short else np.int64
            return _read_csr(stored, tensor, (m, n), {"indptr": index, "indices": index})
    raise stored.refusal(f"parameter {name} in the header cannot be read")


def _unknown_attributes(model: Any, layout: Layout) -> list[str]:
    known = {*layout, *GIVEN_BY_VALIDATION, *model.get_params(deep=False)}
    fitted = (name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
    return [
        f"the attribute {name} of {type(model).__name__} is not stored."
        for name in fitted
        if name not in known
    ]


# --- Sparse matrices and the checks of numbers.


CENTERS = {"indptr": np.int64, "indices": np.int32, "data": np.int64}
"""Features are fewer than 2^31."""


def _write_csr(
    tensors: dict[str, NDArray[Any]], name: str, matrix: Any, dtypes: Mapping[str, Any]
) -> None:
    for part, dtype in dtypes.items():
        tensors[f"{name}.{part}"] = getattr(matrix, part).astype(dtype)


def _read_csr(
    stored: Stored, name: str, shape: tuple[int, int], dtypes: Mapping[str, Any]
) -> sp.csr_array:
    if min(shape) < 0 or max(shape) > MAX_FEATURES:
        raise stored.refusal(f"{name!r} has shape {shape}; the limit is {MAX_FEATURES}")
    starts = stored.array(f"{name}.indptr", dtypes["indptr"], shape[0] + 1)
    entries = f"entries of {name}"
    columns = stored.array(f"{name}.indices", dtypes["indices"], entries)
    data = stored.array(f"{name}.data", dtypes.get("data"), entries)
    if starts[0] != 0 or np.any(np.diff(starts) < 0) or starts[-1] != len(columns):
        raise stored.refusal(
            f"tensor '{name}.indptr' should ascend from 0 to {len(columns)}, the number of entries"
        )
    _check_range(stored, f"{name}.indices", columns, 0, shape[1])
    return sp.csr_array((data, columns, starts), shape=shape)


def _check_range(stored: Stored, name: str, array: NDArray[Any], least: int, end: int) -> None:
    wrong = (array < least) | (array >= end)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise stored.refusal(f"tensor {name!r} holds {array[i]} at {i}, outside [{least}, {end})")


def _check_scales(stored: Stored, vectors: sp.csr_array, scales: NDArray[np.float64]) -> None:
    for j, scale in enumerate(scales.tolist()):
        squared = _squared_length(vectors.data[vectors.indptr[j] : vectors.indptr[j + 1]])
        if not 0 < squared < 2**124:
            raise stored.refusal(f"center {j} should have a length above 0 and below 2^62")
        if scale != 1.0 / math.sqrt(squared):
            raise stored.refusal(
                f"the scale of center {j} is {scale}, but one over the length of its vector is "
                f"{1.0 / math.sqrt(squared)}"
            )


def _squared_length(vector: NDArray[np.int64]) -> int:
    """Σ v², exactly: halves of 31 bits, whose products' halves add up without overflow."""
    size = np.abs(vector).astype(np.uint64)
    high, low = size >> np.uint64(31), size & np.uint64(2**31 - 1)
    total = 0
    for products, shift in ((high * high, 62), (high * low, 32), (low * low, 0)):
        total += int((products >> np.uint64(32)).sum()) << (shift + 32)
        total += int((products & np.uint64(2**32 - 1)).sum()) << shift
    return total


# --- The file itself.


def _read(cls: type, path: FilePath, tensors: bool = True) -> Stored:
    """The header, checked to be that of a model of this class, and all tensors."""
    safetensors = _package("safetensors")
    stored = Stored(os.fspath(path))
    with open(stored.path, "rb"):  # a missing file, a folder: errors that name it
        pass
    try:
        with safetensors.safe_open(stored.path, framework="numpy") as file:
            stored.header = file.metadata() or {}
            _check_header(stored, cls)
            for name in file.keys() if tensors else ():
                stored.tensors[name] = file.get_tensor(name)
    except (safetensors.SafetensorError, AttributeError, KeyError, TypeError) as error:
        # The others: number types that NumPy does not have.
        raise stored.refusal(f"not a safetensors file, or not all of one ({error})") from error
    return stored


def _check_header(stored: Stored, cls: type) -> None:
    found = stored.header.get("format")
    if found != FORMAT:
        raise stored.refusal(f"not a model of arcmeans: format={found!r}, expected {FORMAT!r}")
    number = stored.number("format_version", int)
    if number > VERSION:
        raise stored.refusal(
            f"written by arcmeans {stored.text('arcmeans_version')[:40]} in version {number} of "
            f"the format, and this one reads versions up to {VERSION}: upgrade arcmeans"
        )
    if number < 1:
        raise stored.refusal(f"format_version={number} should be >= 1")
    name = stored.text("class")
    if name != cls.__name__:
        raise stored.refusal(f"holds a {name[:80]}, not a {cls.__name__}: use {name[:80]}.load")
