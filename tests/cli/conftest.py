"""Every command runs in a folder of its own."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arcmeans._cli import main

from ..support.cli_inputs import text_file


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fails(here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that should fail with exit code 1 and leave no new file; what it said."""

    def run(*arguments: str, code: int = 1) -> str:
        before = sorted(here.rglob("*"))
        capsys.readouterr()
        assert main(list(arguments)) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert sorted(here.rglob("*")) == before
        return captured.err

    return run


@pytest.fixture
def model(here: Path) -> Path:
    text_file(here, "txt")
    assert main(["cluster", "texts.txt", "-k", "4", "-o", "model", "-q"]) == 0
    return here / "model" / "model.safetensors"


@pytest.fixture
def topics(here: Path) -> Path:
    """The folder that ``cluster`` writes for the sentences."""
    text_file(here, "csv")
    arguments = ["texts.csv", "-k", "4", "-o", "out", "--runs", "5", "--id", "name", "--quiet"]
    assert main(["cluster", *arguments]) == 0
    return here / "out"


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
