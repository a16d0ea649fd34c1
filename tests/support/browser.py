"""A page in a browser."""

from pathlib import Path
from typing import Any


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
