"""The data sets that there are, and the original files that each is built from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import _corpora as corpora
from . import _dblp as dblp
from . import _wiki as wiki
from ._cache import Dataset
from ._download import Remote


@dataclass(frozen=True)
class Origin:
    """What data sets are built from, and how."""

    files: tuple[Remote, ...]
    build: Callable[[list[Path]], list[Dataset]]
    found: Callable[[], list[Dataset]] = list
    """Finds the data sets in the cache of another library; empty where they are not there."""


_DUMP = Remote(
    "dblp.xml.gz",
    "https://dblp.org/xml/dblp.xml.gz",
    md5_url="https://dblp.org/xml/dblp.xml.gz.md5",
    page="https://dblp.org/xml/",
)
_WIKI = Remote(
    "simpsons_pages_current.xml.7z",
    "https://s3.amazonaws.com/wikia_xml_dumps/s/si/simpsons_pages_current.xml.7z",
    page="https://simpsons.fandom.com/wiki/Special:Statistics",
)
_FROM_DBLP = Origin((_DUMP,), dblp.build)
ORIGINS = {
    "20-newsgroups": Origin(corpora.NEWSGROUPS, corpora.build_newsgroups, corpora.find_newsgroups),
    "rcv1": Origin(corpora.RCV1, corpora.build_rcv1, corpora.find_rcv1),
    "dblp-author-conference": _FROM_DBLP,
    "dblp-conference-author": _FROM_DBLP,
    "dblp-author-venue": _FROM_DBLP,
    "simpsons-wiki": Origin((_WIKI,), wiki.build),
}
TITLES = {
    "20-newsgroups": "20 Newsgroups",
    "rcv1": "Reuters RCV-1",
    "dblp-author-conference": "DBLP Author-Conference",
    "dblp-conference-author": "DBLP Conference-Author",
    "dblp-author-venue": "DBLP Author-Venue",
    "simpsons-wiki": "Simpsons Wiki",
}
"""The names of the paper's Table 1."""
NAMES = tuple(TITLES)
