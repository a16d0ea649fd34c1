"""How the pages behave in a browser."""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcmeans._cli import main

from ..support.browser import Tab
from ..support.cli_inputs import HOSTILE, TOPICS, matrix, matrix_file, sentences


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of hostile texts among the sentences, and one of a matrix, and a choice of k."""
    folder = tmp_path_factory.mktemp("pages")
    before = os.getcwd()
    os.chdir(folder)
    try:
        source = folder / "<b>texts<i onclick=alert(1)>.jsonl"
        between = ["rocket orbit judge jury", "tulip compost soil butter"]
        hostile = [f"rocket orbit launch {text}" for text in HOSTILE]
        texts = [*sentences()[: 120 - len(between)], *between, *hostile]
        records = [{"text": text, "name": f"n{i} {HOSTILE[1]}"} for i, text in enumerate(texts)]
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        run = ["-q", "--runs", "5"]
        assert main(["cluster", source.name, "--id", "name", "-k", "4", "-o", "texts", *run]) == 0
        # The same with HTML at the beginning of every text, and none of its words as terms.
        stop = " ".join(re.findall(r"\w+", " ".join(HOSTILE)))
        (folder / "stop").write_text(stop.replace("rocket", "the number"))
        every = [f"{HOSTILE[i % 4]} {text}" for i, text in enumerate(sentences())]
        (folder / "every.jsonl").write_text("".join(json.dumps(text) + "\n" for text in every))
        words = ["--stop-words", "stop"]
        assert main(["cluster", "every.jsonl", "-k", "4", "-o", "hostile", *words, *run]) == 0
        rows = matrix_file(folder, "npy")
        (folder / "names").write_text("\n".join((HOSTILE[0], HOSTILE[1], *map(str, range(28)))))
        names = ["--feature-names", "names"]
        assert main(["cluster", *rows, "-k", "12", "-o", "rows", *names, *run]) == 0
        assert main(["choose-k", source.name, "--to", "6", "-o", "choice", *run]) == 0
        np.save(folder / "few.npy", np.repeat(np.eye(3), 5, axis=0))
        assert main(["cluster", "few.npy", "-k", "6", "-o", "empty", *run]) == 0
        (folder / "one.txt").write_text("just one document\n")
        assert main(["cluster", "one.txt", "-k", "1", "-o", "one", *run]) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def report(chromium: Any, pages: Path) -> Iterator[Tab]:
    tab = Tab(chromium, pages / "texts" / "report.html")
    yield tab
    tab.check_quiet()


def test_overview(report: Tab) -> None:
    facts = dict(zip(report.texts("#facts dt"), report.texts("#facts dd"), strict=True))
    summary = report.js("JSON.parse(document.getElementById('data').textContent).summary")
    assert facts["Documents"].split()[0] == "125"
    assert facts["Clusters (k)"].split()[0] == "4"
    assert facts["Iterations"].split() == [str(summary["iterations"]), "converged"]
    assert facts["Objective"].startswith(f"{summary['objective']:.1f}".rstrip("0").rstrip("."))
    assert f"{summary['similarities']['computed']:,} computed of" in facts["Similarities saved"]
    assert "s to read" in facts["Time"]
    assert report.find("#source").text == "<b>texts<i onclick=alert(1)>.jsonl"
    assert report.find("#detail").text.startswith("None chosen: the histogram shows all")


def test_charts_are_drawn(report: Tab) -> None:
    for name in (
        "map",
        "histogram",
        "sizes",
        "spread",
        "trace-mean",
        "trace-changed",
        "trace-work",
    ):
        assert report.js(f"Chart.getChart('{name}').data.datasets[0].data.length") > 0
        assert report.js(f"document.getElementById('{name}').getAttribute('aria-label')")
    for name in ("sizes", "histogram", "trace-changed", "trace-work"):
        assert report.js(f"Chart.getChart('{name}').scales.y.min") == 0
    assert "the axis does not begin at 0" in report.find("#trace-mean-note").text
    across, up = (
        report.js(
            "(s => Math.abs(s.getPixelForValue(1) - s.getPixelForValue(0)))"
            f"(Chart.getChart('map').scales.{axis})"
        )
        for axis in "xy"
    )
    assert across == pytest.approx(up, rel=0.03)


def test_sorting(report: Tab) -> None:
    shown = report.js("JSON.parse(document.getElementById('data').textContent).clusters")
    assert report.labels() == [c["label"] for c in sorted(shown, key=lambda c: -c["size"])]
    assert report.find("th[data-key=size]").get_attribute("aria-sort") == "descending"
    report.find("th[data-key=label] button").click()
    assert report.labels() == [0, 1, 2, 3]
    report.find("th[data-key=label] button").click()
    assert report.labels() == [3, 2, 1, 0]
    report.find("th[data-key=cohesion] button").click()
    assert report.labels() == [c["label"] for c in sorted(shown, key=lambda c: -c["cohesion"])]
    report.find("th[data-key=terms] button").click()
    terms = report.texts("td.terms")
    assert terms == sorted(terms)
    assert report.find("th[data-key=terms]").get_attribute("aria-sort") == "ascending"
    assert report.find("th[data-key=size]").get_attribute("aria-sort") is None


def test_searching(report: Tab) -> None:
    box = report.find("#search")
    for word, words in (("compost", "garden"), ("JUDGE", "court"), ("butter flour", "kitchen")):
        box.clear()
        box.send_keys(word)
        (terms,) = report.texts("td.terms")
        assert set(terms.split(", ")) == set(TOPICS[words].split())
        assert report.find("#found").text == "1 of 4 clusters"
    box.clear()
    box.send_keys("number 7")
    assert len(report.labels()) <= 4
    box.clear()
    box.send_keys("no such word anywhere")
    assert report.labels() == []
    assert report.find("#found").text == "0 of 4 clusters"
    box.clear()
    box.send_keys(" ")
    assert len(report.labels()) == 4


def test_a_click_on_a_row_shows_it_everywhere(report: Tab) -> None:
    report.find("th[data-key=label] button").click()
    report.find("tr.cluster[data-label='2'] td.terms").click()
    assert report.find("tr.cluster[data-label='2'] button").get_attribute("aria-expanded") == "true"
    assert "Sets it apart" in report.find("tr.more").text
    assert "chosen" in report.find("tr.cluster[data-label='2']").get_attribute("class")
    assert report.js("document.getElementById('chosen').selectedOptions[0].textContent").startswith(
        "2: "
    )
    assert "cluster 2" in report.find("#histogram-note").text
    report.find("tr.cluster[data-label='2'] td.terms").click()
    assert not report.find("tr.more").is_displayed()
    assert "all clusters" in report.find("#histogram-note").text
    report.find("#expand").click()
    assert len([e for e in report.texts("tr.more") if "Typical documents" in e]) == 4


def test_map_shows_texts_and_takes_clicks(report: Tab) -> None:
    rows = report.js("JSON.parse(document.getElementById('data').textContent).map.rows")
    between = next(i for i, row in enumerate(rows) if row[4] == "rocket orbit judge jury")
    report.point_at("map", 0, between)
    tip = report.tooltip("map")
    assert "rocket orbit judge jury" in tip
    assert rows[between][3].split()[0] in tip
    assert f"cosine {rows[between][5]:.3f}" in tip
    report.point_at("map", 1, 2, click=True)
    assert report.js("document.getElementById('chosen').value") == "2"
    assert "Cluster" in report.tooltip("map")
    report.point_at("sizes", 0, 3, click=True)
    assert report.js("document.getElementById('chosen').value") == "3"


def test_everything_by_the_keyboard(report: Tab) -> None:
    from selenium.webdriver import Keys

    reached = []
    for _ in range(40):
        report.press(Keys.TAB)
        focused = report.js(
            "(e => e.id || e.closest('th, tr')?.className || e.className)(document.activeElement)"
        )
        reached.append(focused)
    for name in ("skip", "theme", "map", "chosen", "search", "expand"):
        assert name in reached
    assert sum("cluster" in (name or "") for name in reached) >= 4
    report.js("document.getElementById('map').focus()")
    report.press(Keys.ARROW_RIGHT)
    report.press(Keys.ARROW_RIGHT)
    assert report.js("document.getElementById('chosen').value") == "1"
    report.press(Keys.ARROW_LEFT)
    report.press(Keys.ARROW_LEFT)
    assert report.js("document.getElementById('chosen').value") == "3"
    report.press(Keys.ESCAPE)
    assert report.js("document.getElementById('chosen').value") == ""
    report.js("document.querySelector('tr.cluster button').focus()")
    report.press(Keys.ENTER)
    assert report.find("tr.more").is_displayed()
    report.js("document.querySelector('th[data-key=label] button').focus()")
    report.press(Keys.SPACE)
    assert report.labels() == [0, 1, 2, 3]


def contrast(tab: Tab, front: str, back: str) -> float:
    """Of two colors of the theme, as WCAG has it."""

    def luminance(name: str) -> float:
        value = tab.js(f"page.color('{name}')").lstrip("#")
        value = "".join(2 * c for c in value) if len(value) == 3 else value
        parts = [int(value[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(front), luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_light_and_dark(report: Tab) -> None:
    def emulate(scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    for scheme in ("dark", "light"):
        emulate(scheme)
        report.driver.refresh()
        assert report.js("document.documentElement.dataset.theme") == scheme
        ink = report.js("getComputedStyle(document.body).color")
        for front in ("ink", "soft", "accent", "mark"):
            for back in ("card", "paper"):
                assert contrast(report, front, back) >= 4.5
        report.find("#theme").click()
        assert report.js("document.documentElement.dataset.theme") != scheme
        assert report.js("getComputedStyle(document.body).color") != ink
        line = report.js("Chart.getChart('trace-mean').data.datasets[0].borderColor")
        assert line == report.js("page.color('accent')")


@pytest.mark.parametrize("name", ["texts/report.html", "rows/report.html", "choice/choose-k.html"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out(name: str, width: int, chromium: Any, pages: Path) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        tab = Tab(chromium, pages / name)
        if "report" in name:
            tab.find("#expand").click()
        assert tab.js("document.documentElement.scrollWidth") <= width
        tab.check_quiet()
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_printing(report: Tab) -> None:
    report.find("#theme").click()
    report.js(
        "(window.themes = [], window.addEventListener('beforeprint',"
        " () => themes.push(document.documentElement.dataset.theme)))"
    )
    before = report.js("document.documentElement.dataset.theme")
    printed = report.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF-")
    assert report.js("themes") == ["light"]
    assert report.js("document.documentElement.dataset.theme") == before


@pytest.mark.parametrize(
    "name",
    ["texts/report.html", "hostile/report.html", "rows/report.html", "choice/choose-k.html"],
)
def test_hostile_texts_are_texts(name: str, chromium: Any, pages: Path) -> None:
    tab = Tab(chromium, pages / name)
    if "report" in name:
        tab.find("#expand").click()
        for i in range(4):
            tab.js(
                f"(s => {{ s.value = '{i}'; s.dispatchEvent(new Event('change')); }})"
                "(document.getElementById('chosen'))"
            )
    made = "img, svg, a:not(.skip), b b, i b, [onclick], [onerror]"
    assert tab.js(f"document.querySelectorAll('{made}').length") == 0
    assert tab.js("document.scripts.length") == 3
    shown = tab.js("document.body.innerText")
    if name.startswith("texts"):
        text = tab.js("document.getElementById('clusters').textContent")
        assert '<img src="x" onerror="window.ran = 2">' in text
    if name.startswith("hostile"):
        for i in range(4):
            tab.point_at("map", 1, i)
            tab.point_at("map", 0, i)
        assert "<" in tab.texts("td.typical")[0]
    if name.startswith("rows"):
        assert "</script><s" in shown  # the names of features are cut
    assert tab.js("window.ran") is None
    tab.check_quiet()


def test_policy_stops_what_would_run(chromium: Any, pages: Path) -> None:
    """The second wall: even an element put into the page by mistake runs nothing."""
    tab = Tab(chromium, pages / "texts" / "report.html")
    tab.js(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 6\">')"
    )
    tab.js(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.ran = 7'}))"
    )
    assert tab.js("window.ran") is None
    assert any(
        "Content Security Policy" in entry["message"] for entry in chromium.get_log("browser")
    )


def test_page_of_a_choice(chromium: Any, pages: Path) -> None:
    tab = Tab(chromium, pages / "choice" / "choose-k.html")
    for name in ("simplified_silhouette", "calinski_harabasz", "inertia"):
        assert tab.js(f"Chart.getChart('chart-{name}').data.datasets[0].data.map(p => p.x)") == [
            2,
            3,
            4,
            5,
            6,
        ]
        assert tab.js(f"Chart.getChart('chart-{name}').scales.y.min") == 0
    assert tab.texts("figcaption")[0].startswith("simplified silhouette: largest at k = 4")
    assert len(tab.texts("tbody tr")) == 5
    tab.check_quiet()


def test_rows_of_a_matrix(chromium: Any, pages: Path) -> None:
    tab = Tab(chromium, pages / "rows" / "report.html")
    assert tab.texts("#facts dt")[0] == "Rows"
    assert len(tab.labels()) == 12
    assert matrix().shape == (120, 30)
    tab.check_quiet()


@pytest.mark.parametrize(("name", "k"), [("empty", 6), ("one", 1)])
def test_clusters_without_rows_and_a_single_one(
    name: str, k: int, chromium: Any, pages: Path
) -> None:
    tab = Tab(chromium, pages / name / "report.html")
    assert len(tab.labels()) == k
    tab.find("#expand").click()
    for chart in ("map", "sizes", "spread"):
        tab.point_at(
            chart, 0, tab.js(f"Chart.getChart('{chart}').data.datasets[0].data.length") - 1
        )
        tab.point_at(chart, 1 if chart != "sizes" else 0, 0, click=True)
    tab.press("\ue00c")  # Escape
    tab.check_quiet()
