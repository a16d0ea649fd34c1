"""Models on the command line: the estimator, and the vectorizer that goes with it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._api.kmeans import SphericalKMeans
from .._models.model_files import MAX_HEADER, header_of, save_model
from . import vectorizer
from .console import UserError
from .vectorizer import TextVectorizer

FILE = "model.safetensors"
ZERO_BASED = "arcmeans.zero_based"
"""In the header: how the features of the svmlight file were counted."""


@dataclass
class Model:
    """A model that was loaded, with what the file says besides."""

    path: str
    estimator: SphericalKMeans
    vectorizer: TextVectorizer | None
    zero_based: bool | None
    header: dict[str, str]


def load(path: str) -> Model:
    """A model from its file, or from the folder that ``arcmeans cluster`` wrote."""
    file = Path(path)
    if file.is_dir():
        file = file / FILE
        if not file.exists():
            raise UserError(f"{path}: the folder holds no {FILE}.")
    elif not file.exists():
        raise UserError(f"{path}: there is no such file.")
    header = header_of(SphericalKMeans, file)
    estimator = SphericalKMeans.load(file)
    text = None
    if vectorizer.KEY in header:
        names = getattr(estimator, "feature_names_in_", None)
        terms = None if names is None else names.tolist()
        text = TextVectorizer.from_json(header[vectorizer.KEY], terms, str(file))
    based = header.get(ZERO_BASED)
    return Model(str(file), estimator, text, None if based is None else based == "true", header)


def name_features(
    estimator: SphericalKMeans, text: TextVectorizer | None, names: list[str] | None
) -> None:
    """Gives the features their names, as a fit to a table with names would."""
    given = names if text is None else text.terms
    if given is not None:
        estimator.feature_names_in_ = np.array(given, object)


def check_names(text: TextVectorizer | None, names: list[str] | None) -> None:
    """Before a long fit: whether the names will have room in the file."""
    given = (names if text is None else text.terms) or []
    size = len(json.dumps(given)) + (0 if text is None else len(text.to_json()))
    if size > MAX_HEADER * 0.9:
        raise UserError(
            f"the {len(given):,} terms take {size / 1e6:.0f} MB, and a model file has room for "
            f"{MAX_HEADER * 0.9 / 1e6:.0f}: a higher --min-df or fewer --ngrams leaves fewer."
        )


def save(estimator: Any, text: TextVectorizer | None, zero_based: bool | None, path: Path) -> None:
    notes = {} if text is None else {vectorizer.KEY: text.to_json()}
    if zero_based is not None:
        notes[ZERO_BASED] = json.dumps(zero_based)
    save_model(estimator, path, notes)
