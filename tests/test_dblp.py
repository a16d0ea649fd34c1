"""DBLP's dump: what is read from it, and what broken or hostile ones come to."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pytest

from arcmeans import datasets
from arcmeans.datasets import _dblp as dblp
from arcmeans.datasets import _xml as xml

from .support.dblp_dumps import HEAD, written


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCMEANS_DATA", str(tmp_path / "cache"))


def test_counts(tmp_path):
    papers = dblp.Papers()
    xml.parse(written(tmp_path), papers)
    assert list(papers.authors) == ["Erich Schubert", "Jörg Álvarez", "Ann 0002"]
    assert list(papers.venues) == ["conf/sisap", "conf/nips", "journals/is"]
    assert papers.counts().toarray().tolist() == [[2, 0, 1], [1, 1, 0], [0, 0, 1]]


def test_three_data_sets_from_one_reading(tmp_path, monkeypatch):
    read = []
    parse = dblp.parse
    monkeypatch.setattr(dblp, "parse", lambda *a: (read.append(a), parse(*a)))
    path = written(tmp_path)
    venue = datasets.load("dblp-author-venue", source=path)
    conference = datasets.load("dblp-author-conference")
    transposed = datasets.load("dblp-conference-author")
    assert len(read) == 1
    assert venue.row_names == ("Erich Schubert", "Jörg Álvarez", "Ann 0002")
    assert venue.column_names == ("conf/sisap", "conf/nips", "journals/is")
    assert conference.row_names == ("Erich Schubert", "Jörg Álvarez")  # Ann has no conference paper
    assert conference.column_names == ("conf/sisap", "conf/nips")
    assert transposed.row_names == conference.column_names
    assert transposed.column_names == conference.row_names
    # Of two authors two are at sisap and one at nips: idf = ln(3/3) + 1 and ln(3/2) + 1.
    row = np.array([1.0, np.log(1.5) + 1])
    assert conference.X.toarray()[1] == pytest.approx(row / np.linalg.norm(row))
    # Of two conferences, Schubert is at one and Álvarez at both: TF-IDF is of the row's side.
    row = np.array([2 * (np.log(1.5) + 1), 1.0])
    assert transposed.X.toarray()[0] == pytest.approx(row / np.linalg.norm(row))


@pytest.mark.parametrize(
    ("name", "pack"), [("a.xml", bytes), ("a.bz2", bz2.compress), ("a", lzma.compress)]
)
def test_compressed_or_not(name, pack, tmp_path):
    path = written(tmp_path, name=name, pack=pack)
    assert datasets.load("dblp-author-venue", source=path).X.shape == (3, 3)


def test_truncated(tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(
        ValueError, match=r"dblp\.xml\.gz: the compressed file is broken or not all"
    ):
        dblp.build([path])
    assert not datasets.folder().exists()


def test_trouble_with_the_disk_is_not_the_files(tmp_path):
    with pytest.raises(IsADirectoryError):
        xml.parse(tmp_path, dblp.Papers())


def test_damaged(tmp_path):
    path = written(tmp_path)
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"dblp\.xml\.gz[:,]"):
        dblp.build([path])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<dblp><article></dblp>", r"line 3, column 17: mismatched tag"),
        ("<dblp><article>", r"line 3, column 15: no element found"),
        ("", r"no element found"),
        ("<dblp>\n<author>&nosuch;</author></dblp>", r"line 4: the entity &nosuch; is not known"),
        ("<dblp>\x01</dblp>", r"line 3, column 6: not well-formed"),
        ("<html><p>404</p></html>", r"no paper with an author is in it. Is it a dump of DBLP\?"),
    ],
)
def test_broken(body, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        dblp.build([written(tmp_path, body)])


def test_an_entity_without_a_dtd(tmp_path):
    with pytest.raises(ValueError, match="line 2, column 0: undefined entity"):
        dblp.build([written(tmp_path, "<dblp>\n&ouml;</dblp>", head="")])


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE dblp [
<!ENTITY lol "lol">
<!ENTITY lol1 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
<!ENTITY lol2 "&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;">
]>
"""
OUTSIDE = '<?xml version="1.0"?>\n<!DOCTYPE dblp [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'
PARAMETER = '<!DOCTYPE dblp [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]>\n'


@pytest.mark.parametrize("head", [LAUGHS, OUTSIDE, PARAMETER])
def test_declared_entities_are_refused(head, tmp_path):
    body = '<dblp><article key="journals/a/b"><author>&lol2;&x;</author></article></dblp>'
    with pytest.raises(ValueError, match=r"it declares the entity '(lol|x)'"):
        dblp.build([written(tmp_path, body, head)])


def test_a_zipped_bomb_is_read_in_little_memory(tmp_path):
    """A hundred megabytes of blanks, packed to a hundred kilobytes, leave nothing behind."""
    path = tmp_path / "bomb.xml.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(HEAD.encode() + b"<dblp>")
        for _ in range(100):
            file.write(b" " * (1 << 20))
        file.write(b"</dblp>")
    papers = dblp.Papers()
    tracemalloc.start()
    try:
        xml.parse(path, papers)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6
    assert not papers.authors


def test_progress(tmp_path, capsys):
    xml.parse(written(tmp_path), dblp.Papers())
    assert "MB: dblp.xml.gz" in capsys.readouterr().err
