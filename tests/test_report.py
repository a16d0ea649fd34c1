"""The pages: their size, what they may load, and how they behave in a browser."""

import base64
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
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

from .support.cli_inputs import TOPICS, matrix, matrix_file, sentences, text_file

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    '<img src="x" onerror="window.ran = 2">',
    "<!-- <script> --> ]]> {{data}} ${window.ran = 3}",
    '<a href="javascript:window.ran = 4">rocket</a> \u2028 \\u003c &lt;b&gt; \'"`',
    "\x00\x07\x1b[31m\ud800 <svg onload=window.ran=5>",
)


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


# --- In a browser.

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Headless Chromium. Where there is none the tests are skipped, loudly, unless
    ARCMEANS_BROWSER=required says that this must not be, as in continuous integration."""
    from selenium import webdriver

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        message = (
            "NO BROWSER: the report is not tested. Install Chromium and its driver (Debian: "
            "apt-get install chromium chromium-driver)."
        )
        if os.environ.get("ARCMEANS_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # A sanitizer's library that is loaded ahead of Python is not for the browser.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    opened = webdriver.Chrome(options, webdriver.ChromeService(driver, env=environment))
    yield opened
    opened.quit()


class Tab:
    """A page in the browser, by what a user does with it."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        driver.get_log("browser")
        driver.get(path.resolve().as_uri())

    def js(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return [e.text for e in self.driver.find_elements("css selector", selector)]

    def labels(self) -> list[int]:
        """Of the clusters in the table, from the top."""
        return [
            int(label)
            for label in self.js(
                "[...document.querySelectorAll('tr.cluster')].map(r => r.dataset.label)"
            )
        ]

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def point_at(self, chart: str, dataset: int, index: int, click: bool = False) -> None:
        from selenium.webdriver import ActionChains

        canvas = self.find(f"#{chart}")
        self.js(f"document.getElementById('{chart}').scrollIntoView({{block: 'center'}})")
        x, y = self.js(
            f"(p => [p.x, p.y])(Chart.getChart('{chart}').getDatasetMeta({dataset}).data[{index}])"
        )
        size = canvas.size["width"], canvas.size["height"]
        moved = ActionChains(self.driver).move_to_element_with_offset(
            canvas, round(x - size[0] / 2), round(y - size[1] / 2)
        )
        (moved.click() if click else moved).perform()
        # Chart.js answers with the next frame.
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))"
        )

    def tooltip(self, chart: str) -> str:
        tip = f"Chart.getChart('{chart}').tooltip"
        if not self.js(f"{tip}.opacity"):
            return ""
        return str(self.js(f"[...{tip}.title, ...{tip}.body.flatMap(b => b.lines)].join('\\n')"))

    def check_quiet(self) -> None:
        """Nothing in the console, and nothing was asked for."""
        assert self.driver.get_log("browser") == []
        assert self.js("performance.getEntriesByType('resource').length") == 0


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
