"""Fitted models in safetensors files: arrays and a header of strings, nothing that could run.

A file holds the integers of the centers, so a model that was loaded predicts the bits of the one
that was saved, on any machine. Reading believes nothing: every array is checked for type, shape and
range, and the scales are computed again from the integers, before there is a model.

A class whose models go into files has two methods that call ``save_model`` and ``load_model``, and
says in ``__model_fields__`` which of its attributes a file holds, in the order they are read: sizes
before arrays that have them. Files of an older version stay readable: a change of fields raises
``VERSION``.
"""

import importlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._rows.unit_rows import MAX_FEATURES
from .._support.caution import caution
from .._support.files import FilePath, written_whole
from .fields import Field, Integer
from .parameters import read_parameters, write_parameters
from .stored import Stored

FORMAT = "arcmeans"
VERSION = 1
MAX_HEADER = 100_000_000
"""Bytes; safetensors reads no longer one."""

Model = TypeVar("Model")

Fields = Mapping[str, Field]
GIVEN_BY_VALIDATION = ("n_features_in_", "feature_names_in_")


def save_model(model: Any, path: FilePath, notes: Mapping[str, str] | None = None) -> None:
    """Write a fitted model to a file, whole or not at all. What is there is replaced.

    ``notes`` go into the header, for ``header_of`` to read; ``load_model`` takes no notice of them.
    """
    check_is_fitted(model)
    fields = _fields(type(model))
    stored = Stored(os.fspath(path))
    stored.header |= {
        **(notes or {}),
        "format": FORMAT,
        "format_version": str(VERSION),
        "arcmeans_version": version("arcmeans"),
        "class": type(model).__name__,
    }
    left_out = write_parameters(stored, model)
    Integer().write(stored, "n_features_in_", model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        stored.header["feature_names_in_"] = json.dumps(model.feature_names_in_.tolist())
    for name, kind in fields.items():
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
    for text in left_out + _unknown_attributes(model, fields):
        caution(f"{stored.path}: {text}")


def load_model(cls: type[Model], path: FilePath) -> Model:
    """The fitted model of a file that ``save_model`` wrote; a ValueError if it is anything else."""
    stored = _read(cls, path)
    model: Any = cls(**read_parameters(stored, cls))
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
    for name, kind in _fields(cls).items():
        setattr(model, name, kind.read(stored, name))
    if stored.tensors:
        unknown = ", ".join(repr(name) for name in sorted(stored.tensors))
        raise stored.refusal(f"a {cls.__name__} has no tensors {unknown}")
    loaded: Model = model
    return loaded


def header_of(cls: type, path: FilePath) -> dict[str, str]:
    """The header of a file that ``save_model`` wrote for this class, notes included."""
    return _read(cls, path, tensors=False).header


def _fields(cls: type) -> Fields:
    fields: Fields | None = getattr(cls, "__model_fields__", None)
    if fields is None:
        raise TypeError(f"{cls.__name__} cannot be stored in a file; SphericalKMeans can.")
    return fields


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            "Models are saved and loaded by the package safetensors, which is not installed: "
            "pip install 'arcmeans[save]'"
        ) from error


def _unknown_attributes(model: Any, fields: Fields) -> list[str]:
    known = {*fields, *GIVEN_BY_VALIDATION, *model.get_params(deep=False)}
    fitted = (name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
    return [
        f"the attribute {name} of {type(model).__name__} is not stored."
        for name in fitted
        if name not in known
    ]


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
