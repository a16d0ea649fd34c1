"""A wiki's dump: articles, lemmas, and archives."""

import bz2
import sys

import py7zr
import pytest

from arcmeans import datasets
from arcmeans.datasets import _wiki as wiki

PAGE = "<page><title>{}</title><ns>{}</ns>{}<revision><text>{}</text></revision></page>"
WIKI = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">{}</mediawiki>'
TEXT = """{{Infobox|hidden=templates}}'''Homer''' was [[Donut|eating donuts]] with the children of
[[Springfield]] in {{Year|1989}}. &lt;ref&gt;footnotes&lt;/ref&gt; [[Category:Characters]] He ate 3
donuts_x. [[File:Homer.jpg|thumb|A [[donut]] picture]]
{| class="wikitable"
|-
| Springfield
|}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCMEANS_DATA", str(tmp_path / "cache"))


def dump(tmp_path, pages, name="wiki.xml", pack=bytes):
    path = tmp_path / name
    path.write_bytes(pack(WIKI.format("".join(pages)).encode()))
    return path


def articles(n=6):
    pages = [PAGE.format(f"Homer {i}", 0, "", TEXT + f" once{'abcdefgh'[i]}") for i in range(n)]
    pages.insert(1, PAGE.format("Talk:Homer", 1, "", "talking"))
    pages.insert(2, PAGE.format("Simpson", 0, '<redirect title="Homer" />', "#REDIRECT [[Homer]]"))
    pages.append(PAGE.format("Empty", 0, "", "of the and {{stub}}"))
    return pages


def test_articles(tmp_path):
    found = datasets.load("simpsons-wiki", source=dump(tmp_path, articles()))
    assert found.row_names == tuple(f"Homer {i}" for i in range(6))  # no talk, redirect or stub
    assert {"homer", "eat", "donut", "child", "springfield"} <= set(found.column_names)
    words = " ".join(found.column_names)
    gone = "infobox hide template category character jpg picture class wikitable ref"
    gone += " 1989 with was oncea donuts ate redirect talk"
    for word in gone.split():
        assert word not in words.split()
    eat, homer = (found.column_names.index(word) for word in ("eat", "homer"))
    assert found.X[0, eat] == pytest.approx(2 * found.X[0, homer])  # eating, ate


def test_words_of_few_articles_go(tmp_path):
    kept = wiki.build([dump(tmp_path, articles(wiki.MIN_ARTICLES))])
    assert len(kept[0].row_names) == wiki.MIN_ARTICLES
    with pytest.raises(ValueError, match="none of the words of its 5 articles is in 5 of them"):
        wiki.build([dump(tmp_path, articles(wiki.MIN_ARTICLES - 1))])


def test_last_revision(tmp_path):
    twice = "<page><title>A</title><ns>0</ns>{}</page>"
    revision = "<revision><text>{}</text></revision>"
    pages = [twice.format(revision.format("older") + revision.format("donut"))] * 5
    assert wiki.build([dump(tmp_path, pages)])[0].column_names == ("donut",)


def test_packed(tmp_path):
    assert wiki.build([dump(tmp_path, articles(), "w.xml.bz2", bz2.compress)])
    dump(tmp_path, articles(), "inner.xml")
    path = tmp_path / "wiki.xml.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.write(tmp_path / "inner.xml", "inner.xml")
    before = sorted(tmp_path.iterdir())
    assert len(wiki.build([path])[0].row_names) == 6
    assert sorted(tmp_path.iterdir()) == before  # nothing unpacked is left
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"wiki\.xml\.7z: the archive is broken or not all there"):
        wiki.build([path])
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr("x", "readme.txt")
    with pytest.raises(ValueError, match=r"there should be one \.xml file in it, not \[\]"):
        wiki.build([path])


def test_no_wiki(tmp_path):
    with pytest.raises(ValueError, match=r"no article is in it\. Is it a dump of a wiki"):
        wiki.build([dump(tmp_path, [])])


@pytest.mark.parametrize("package", ["mwparserfromhell", "simplemma"])
def test_without_the_extra(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"package {package}.*arcmeans\[datasets\]"):
        wiki.build([dump(tmp_path, articles())])
