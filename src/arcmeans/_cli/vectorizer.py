"""Words to numbers: TF-IDF whose vocabulary, weights and options go with the model.

scikit-learn counts and weighs. Terms are pruned here, from the counts, so that when none is left it
is known which option took the last ones. In a file the vectorizer is a line of JSON: names, numbers
and choices, no patterns and no code.
"""

import base64
import importlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    CountVectorizer,
    TfidfTransformer,
)

from .console import UserError

KEY = "arcmeans.text"
"""In the header of a model file."""
VERSION = 1
FEW = 50
"""Documents below which the default is to prune nothing: frequencies say little."""
WITHOUT_SPACES = ("ja", "km", "lo", "my", "th", "zh")
"""Languages that write words together: pairs of characters are the terms."""
PATTERNS = {"words": re.compile(r"\b[^\W\d_]\w+\b"), "pairs": re.compile(r"(?=([^\W\d_]{2}))")}
"""Words begin with a letter and have two characters or more; numbers are no words."""


@dataclass(frozen=True)
class Pruning:
    """Which terms to leave out: a share of the documents (float) or a number of them (int)."""

    min_df: int | float | None = None
    """Terms in fewer documents; None: 2, or 1 below ``FEW`` documents."""
    max_df: int | float | None = None
    """Terms in more documents; None: half of them, or no limit below ``FEW`` documents."""

    def limits(self, n_documents: int) -> tuple[float, float]:
        few = n_documents < FEW
        least = (1 if few else 2) if self.min_df is None else self.min_df
        most = (1.0 if few else 0.5) if self.max_df is None else self.max_df
        return _documents(least, n_documents), _documents(most, n_documents)


def _documents(limit: int | float, n_documents: int) -> float:
    return limit if isinstance(limit, int) else limit * n_documents


@dataclass
class TextVectorizer:
    """From texts to rows."""

    tokens: str = "words"
    """``words`` or ``pairs`` of characters."""
    ngrams: tuple[int, int] = (1, 1)
    stop_words: Sequence[str] = ()
    terms: list[str] = field(default_factory=list)
    idf: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    tokens_seen: bool = False
    """Whether there was a token in the texts of the fit, stop words included."""

    def __post_init__(self) -> None:
        given = (word.lower() for word in self.stop_words)
        if self.tokens == "pairs":  # parts of longer words may be parts of others
            given = (word for word in given if len(word) == 2)
        self.stop_words = sorted({token for word in given for token in self._tokens(word)})

    def fit(self, texts: Iterable[str], pruning: Pruning) -> Any:
        """Counts the terms of the texts, prunes them, and gives back the rows."""
        counter = self._counter(None)
        try:
            counts = counter.fit_transform(self._looked_at(texts))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise UserError(self._nothing()) from error
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        least, most = pruning.limits(counts.shape[0])
        kept = (frequency >= least) & (frequency <= most)
        if not kept.any():
            raise UserError(_all_pruned(frequency, least, most, counts.shape[0]))
        names = counter.get_feature_names_out()
        self.terms = [str(term) for term in names[kept]]
        weights = TfidfTransformer(sublinear_tf=True)
        X = weights.fit_transform(counts[:, np.flatnonzero(kept)])
        self.idf = weights.idf_.astype(np.float32)
        return X

    def transform(self, texts: Iterable[str]) -> Any:
        """Rows of other texts, by the terms and weights of the fit."""
        counts = self._counter(self.terms).transform(texts)
        weights = TfidfTransformer(sublinear_tf=True)
        weights.idf_ = self.idf
        return weights.transform(counts)

    def _counter(self, vocabulary: list[str] | None) -> Any:
        return CountVectorizer(
            tokenizer=self._tokens,
            token_pattern=None,
            stop_words=list(self.stop_words) or None,
            ngram_range=self.ngrams,
            vocabulary=vocabulary,
            dtype=np.float32,
        )

    def _looked_at(self, texts: Iterable[str]) -> Iterator[str]:
        """The texts. ``tokens_seen`` is about these alone; splitting stop words has set it too."""
        self.tokens_seen = False
        yield from texts

    def _tokens(self, text: str) -> list[str]:
        found = PATTERNS[self.tokens].findall(text)
        self.tokens_seen |= bool(found)
        return found

    def _nothing(self) -> str:
        if self.tokens_seen:
            return (
                "no terms are left: --stop-words and --language took every word of the texts. "
                "--stop-words none keeps them."
            )
        what = "words (of two or more letters)" if self.tokens == "words" else "pairs of letters"
        return f"no terms are left: there are no {what} in the texts."

    # --- In a file.

    def to_json(self) -> str:
        idf = base64.b64encode(self.idf.astype("<f4").tobytes()).decode()
        return json.dumps(
            {
                "version": VERSION,
                "tokens": self.tokens,
                "ngrams": list(self.ngrams),
                "stop_words": list(self.stop_words),
                "idf": idf,
            }
        )

    @classmethod
    def from_json(cls, text: str, terms: Sequence[str] | None, path: str) -> "TextVectorizer":
        """Believes nothing: a UserError where anything is not as ``to_json`` writes it."""

        def check(right: bool, what: str) -> None:
            if not right:
                raise UserError(f"{path}: the text options in it cannot be read: {what}.")

        try:
            stored = json.loads(text)
        except (ValueError, RecursionError):
            stored = None
        check(isinstance(stored, dict) and isinstance(stored.get("version"), int), "no JSON object")
        check(
            stored["version"] <= VERSION,
            f"they are of version {stored['version']}, and this arcmeans reads up to {VERSION}: "
            "upgrade arcmeans",
        )
        tokens, ngrams, words = (stored.get(name) for name in ("tokens", "ngrams", "stop_words"))
        check(tokens in PATTERNS, f"tokens={str(tokens)[:40]!r}")
        check(
            isinstance(ngrams, list)
            and len(ngrams) == 2
            and all(type(n) is int for n in ngrams)
            and 1 <= ngrams[0] <= ngrams[1] <= 10,
            f"ngrams={str(ngrams)[:40]}",
        )
        check(isinstance(words, list) and all(isinstance(w, str) for w in words), "stop_words")
        check(isinstance(stored.get("idf"), str), "idf")
        check(terms is not None and len(set(terms)) == len(terms) > 0, "the terms")
        assert terms is not None
        try:
            idf = np.frombuffer(base64.b64decode(stored["idf"], validate=True), "<f4")
        except ValueError:
            idf = np.empty(0, np.float32)
        check(len(idf) == len(terms), f"{len(idf)} weights for {len(terms)} terms")
        check(bool(np.all(np.isfinite(idf)) and np.all(idf > 0)), "weights that are not above 0")
        return cls(tokens, (ngrams[0], ngrams[1]), words, list(terms), idf.astype(np.float32))


def _all_pruned(frequency: NDArray[np.int64], least: float, most: float, n_documents: int) -> str:
    """A sentence that says which option left no terms."""
    rare, common = int(np.sum(frequency < least)), int(np.sum(frequency > most))
    rarely = f"{rare:,} occur in fewer than {math.ceil(least):,} (--min-df)"
    often = f"{common:,} in more than {math.floor(most):,} (--max-df)"
    parts = [text for count, text in ((rare, rarely), (common, often)) if count]
    return (
        f"no terms are left: of {len(frequency):,} terms in {n_documents:,} documents "
        f"{' and '.join(parts)}."
    )


def stop_words_of(language: str) -> list[str]:
    """The words of a language that say nothing by themselves."""
    if language == "en":
        return sorted(ENGLISH_STOP_WORDS)
    try:
        lists = importlib.import_module("stopwordsiso")
    except ImportError as error:
        raise UserError(
            f"--language {language}: its stop words come with the package stopwordsiso, which is "
            "not installed: pip install 'arcmeans[cli]'"
        ) from error
    known = sorted(lists.langs())
    if language not in known:
        raise UserError(
            f"--language {language}: there is no list of stop words for it, but for "
            f"{', '.join(known)}. --stop-words FILE or none does without."
        )
    return sorted(lists.stopwords(language))


def tokens_of(language: str) -> str:
    return "pairs" if language in WITHOUT_SPACES else "words"
