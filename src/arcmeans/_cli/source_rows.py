"""``SourceRows``: all rows of a source, as ``cluster`` and ``choose-k`` take them."""

from dataclasses import dataclass

from .._report.results import NamedRows
from .._rows.store import RowStore
from .vectorizer import TextVectorizer


@dataclass
class SourceRows(NamedRows):
    """A source as rows to cluster."""

    vectorizer: TextVectorizer | None = None
    """None for matrices."""
    zero_based: bool | None = None
    """How the features of an svmlight file are counted."""
    store: RowStore | None = None
    """Where the rows are a store, which is fitted from disk."""
