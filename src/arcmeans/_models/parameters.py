"""Parameters of a model in its file: JSON in the header, arrays as tensors."""

import inspect
import json
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .sparse import read_csr, write_csr
from .stored import Stored

OF_THIS_MACHINE = ("checkpoint",)
"""Parameters that are never stored: no file from elsewhere tells a fit where to write."""
DEPTH = 4
"""Lists in lists; centers given as lists need two."""


def write_parameters(stored: Stored, model: Any) -> list[str]:
    """Writes the parameters; returns a sentence for each that no file can hold."""
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
            write_csr(arrays, name, matrix, kinds)
            return {"sparse": name, "shape": list(map(int, matrix.shape))}
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
            arrays[name] = array
            return {"array": name}
    raise TypeError(f"{type(value).__name__} has no place in a file.")


def read_parameters(stored: Stored, cls: Any) -> dict[str, Any]:
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
            return read_csr(stored, tensor, (m, n), {"indptr": index, "indices": index})
    raise stored.refusal(f"parameter {name} in the header cannot be read")
