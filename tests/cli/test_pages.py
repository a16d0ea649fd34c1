"""The pages as files: their size, their data, and what they may load."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans
from arcmeans._cli import main
from arcmeans._report import data, page, write_report
from arcmeans._report.map import place_centers, place_rows
from arcmeans._report.results import NamedRows, Results, Times

from ..support.cli_inputs import HOSTILE, text_file


def stored(path: Path) -> dict[str, Any]:
    """The data within a page."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return dict(json.loads(found[1]))


# --- The file.


def results_of(X: Any, texts: list[str], k: int) -> Results:
    model = SphericalKMeans(k, random_state=0, max_iter=2).fit(X)
    return Results.of("texts", NamedRows(X, texts, texts, "documents"), model, Times(1.0, 1.0))


def test_under_5_mb_for_100_000_rows(tmp_path: Path) -> None:
    X = sp.random(100_000, 200, 0.01, format="csr", random_state=0, dtype=np.float32)
    X = sp.hstack([np.ones((100_000, 1), np.float32), X], format="csr")
    text = "Ein Text wie andere, nur länger als das, was man davon auf einer Seite sieht. " * 4
    write_report(tmp_path / "report.html", results_of(X, [text[:300]] * 100_000, 20))
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


@pytest.mark.parametrize("text", ["<" * 300, "\U0001f680" * 300, '"' * 300, "\x01" * 300])
def test_under_5_mb_whatever_the_texts(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "place_centers", lambda centers: np.zeros((len(centers), 2)))
    k = data.LARGEST + 50
    X = sp.random(2100, 60, 0.2, format="csr", random_state=0, dtype=np.float32)
    results = results_of(X, [text] * 2100, k)
    results.model.feature_names_in_ = np.array([text] * 60, object)
    again = Results.of("<" * 300, results.rows, results.model, results.times)
    write_report(tmp_path / "report.html", again)
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    assert len(stored(tmp_path / "report.html")["clusters"]) == data.LARGEST


@pytest.mark.parametrize("text", ["", "short", "x" * 1000, "<" * 1000, "é" * 1000, "\x01" * 1000])
@pytest.mark.parametrize("most", [10, 60, 400])
def test_texts_are_cut_to_bytes(text: str, most: int) -> None:
    cut = data.cut(text, most)
    assert len(page.embedded({"": cut}).encode()) - len('{"":""}') <= most
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
    if len(text) < most / 6:
        assert cut == text


def test_data_cannot_leave_its_element(tmp_path: Path) -> None:
    text = page.render("report", HOSTILE[0], {"texts": HOSTILE[:4], "</script>": "<!--"})
    assert text.count("<script>") == 2  # the library and the page
    assert text.count("</script>") == 3
    assert "<img" not in text
    embedded = page.embedded({"texts": list(HOSTILE[:4])})
    assert not set("<>&\u2028") & set(embedded)
    assert json.loads(embedded)["texts"] == list(HOSTILE[:4])


class Elements(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", ["report", "choose"])
def test_page_asks_for_nothing_and_names_its_scripts(name: str) -> None:
    text = page.render(name, "title", {})
    elements = Elements(text).found
    for tag, attributes in elements:
        assert tag not in ("link", "iframe", "img", "base", "object", "embed", "form")
        assert "src" not in attributes
        assert "style" not in attributes
        assert not any(attribute.startswith("on") for attribute in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    (policy,) = (a["content"] for t, a in elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        for body in re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.S):
            digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
    assert "sourceMappingURL" not in text


def test_the_library_is_as_published_and_its_license_is_in_the_page() -> None:
    folder = Path(page.__file__).parent / "vendor"
    digest = hashlib.sha256((folder / "chart.umd.min.js").read_bytes()).hexdigest()
    assert digest in (folder / "README.md").read_text()
    text = page.render("report", "title", {})
    assert "Permission is hereby granted, free of charge" in text
    assert "Copyright (c) 2014-2024 Chart.js Contributors" in text


def test_data_says_what_the_files_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text_file(tmp_path, "csv")
    assert main(["cluster", "texts.csv", "--id", "name", "-k", "4", "-o", "out", "-q"]) == 0
    shown, written = (
        stored(Path("out/report.html")),
        json.loads(Path("out/clusters.json").read_text()),
    )
    assert {**shown["summary"], "clusters": written["clusters"]} == written
    for cluster in shown["clusters"]:
        full = written["clusters"][cluster["label"]]
        assert cluster["size"] == full["size"] == sum(cluster["histogram"])
        assert [t[0] for t in cluster["descriptive"]] == [t["name"] for t in full["descriptive"]]
        assert [r[:2] for r in cluster["typical"]] == [
            [r["id"], r["text"]] for r in full["typical"]
        ]
        assert cluster["quantiles"] == sorted(cluster["quantiles"])
    assert sum(shown["all"]["histogram"]) == 120
    assert len(shown["map"]["rows"]) == 120
    assert len(shown["map"]["centers"]) == 4


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 30])
def test_map_of_any_number_of_centers(k: int) -> None:
    X = np.random.RandomState(0).standard_normal((k, 10))
    X /= np.linalg.norm(X, axis=1)[:, None]
    places = place_centers(X)
    assert places.shape == (k, 2)
    assert np.all(np.isfinite(places))
    assert np.abs(places).max() == pytest.approx(1.0 if k > 1 else 0.0)
    assert np.array_equal(places, place_centers(X))
    rows = place_rows(X @ X.T, places)
    assert np.abs(rows - places).max() < 1
    far = place_rows(np.zeros((1, k)), places)
    assert far == pytest.approx(places.mean(axis=0)[None])


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8])
def test_centers_that_differ_lie_apart(k: int) -> None:
    places = place_centers(np.eye(k))
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(k)
    assert apart.min() > 0.3


def test_centers_that_differ_beyond_the_plane_lie_apart() -> None:
    near = np.array([[1, 0, 0, 0.3], [1, 0, 0, -0.3], [0, 1, 0, 0], [0, 0, 1, 0]])
    near /= np.linalg.norm(near, axis=1)[:, None]
    places = place_centers(near)
    assert np.linalg.norm(places[0] - places[1]) > 0.05


def test_equal_centers_have_a_map() -> None:
    assert np.array_equal(place_centers(np.eye(1, 5).repeat(3, axis=0)), np.zeros((3, 2)))
    assert np.all(np.isfinite(place_centers(np.eye(1, 5).repeat(8, axis=0))))
