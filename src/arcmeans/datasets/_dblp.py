"""DBLP: who publishes where, from the dump ``dblp.xml.gz``.

A conference is what DBLP keeps under one key: the papers ``conf/nips/...`` are of ``conf/nips``, in
whatever volume; a journal likewise ``journals/...``. An author is a name as DBLP tells people apart
by it. Only authors of papers are rows: people who have a home page and no papers are not.
"""

from array import array
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from ._cache import Dataset
from ._xml import parse

PREFIXES = {"inproceedings": "conf/", "article": "journals/"}
"""Where the key of a publication begins, by its element."""


def build(paths: list[Path]) -> list[Dataset]:
    """The three data sets, from one reading of the dump."""
    (path,) = paths
    papers = Papers()
    parse(path, papers)
    counts = papers.counts()
    if not counts.nnz:
        raise ValueError(f"{path}: no paper with an author is in it. Is it a dump of DBLP?")
    authors = np.array(list(papers.authors), object)
    venues = np.array(list(papers.venues), object)
    conferences = np.array([venue.startswith("conf/") for venue in venues])
    some = np.diff(counts[:, conferences].indptr) > 0
    by_conference = counts[some][:, conferences]
    of_conferences = tuple(authors[some]), tuple(venues[conferences])
    return [
        _weighed("dblp-author-conference", by_conference, *of_conferences),
        _weighed("dblp-conference-author", by_conference.T.tocsr(), *of_conferences[::-1]),
        _weighed("dblp-author-venue", counts, tuple(authors), tuple(venues)),
    ]


def _weighed(
    name: str, counts: sp.csr_matrix, rows: tuple[str, ...], columns: tuple[str, ...]
) -> Dataset:
    """TF-IDF with the rows as documents."""
    if not counts.nnz:
        X = sp.csr_matrix(counts.shape, dtype=np.float64)
    else:
        X = sp.csr_matrix(TfidfTransformer().fit_transform(counts.astype(np.float64)))
    return Dataset(name, X, rows, columns)


class Papers:
    """The papers of a dump, as pairs of numbers of authors and venues."""

    def __init__(self) -> None:
        self.authors: dict[str, int] = {}
        self.venues: dict[str, int] = {}
        self._author_numbers, self._venue_numbers = array("i"), array("i")
        self._depth = 0
        self._venue: str | None = None
        """Of the paper that is being read; None where it is none of ours."""
        self._names: list[str] = []
        self._text: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 2:
            self._venue = _venue(tag, attributes.get("key", ""))
            self._names.clear()
        elif self._depth == 3 and tag == "author" and self._venue is not None:
            self._text = []

    def text(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._depth == 2 and self._text is not None:
            name = " ".join("".join(self._text).split())
            if name:
                self._names.append(name)
            self._text = None
        elif self._depth == 1 and self._venue is not None and self._names:
            venue = self.venues.setdefault(self._venue, len(self.venues))
            for name in dict.fromkeys(self._names):
                self._author_numbers.append(self.authors.setdefault(name, len(self.authors)))
                self._venue_numbers.append(venue)

    def counts(self) -> sp.csr_matrix:
        """Papers by author and venue."""
        rows = np.frombuffer(self._author_numbers, np.intc)
        columns = np.frombuffer(self._venue_numbers, np.intc)
        ones = np.ones(len(rows), np.int32)
        shape = len(self.authors), len(self.venues)
        return sp.coo_matrix((ones, (rows, columns)), shape=shape).tocsr()


def _venue(element: str, key: str) -> str | None:
    """``conf/nips`` for a paper whose key is ``conf/nips/...``."""
    prefix = PREFIXES.get(element)
    if prefix is None or not key.startswith(prefix):
        return None
    return "/".join(key.split("/", 2)[:2])
