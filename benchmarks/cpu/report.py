"""The report of 2,000 sentences and ten runs: its size, and how long it takes to make and to open.

Opening is timed by the browser itself, until its load event, by which the page is ready; the median of five.
It needs Chromium and Playwright, which `make test-browser` installs.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import treemean
from benchmarks.common import data_folder
from treemean import Treebank
from treemean.reporting.html import compare_sides, make_page

SENTENCES, RUNS, TIMES = 2000, 10, 5
ADDRESSES = {"overview": "", "a sentence": "#s=77", "sorted and filtered": "#s=77&sort=gain&gap=gold"}


def trees(name: str, number: int) -> Treebank:
    """Return as many trees of a run as are asked for, over and over again if there are fewer."""
    data = data_folder()
    if data is not None:
        folder = data / "lassy-predictions"
        bank = Treebank.concatenate(
            [treemean.read(folder / part / f"{name}.discbracket.gz") for part in ("test", "dev")]
        )
    else:
        sample = [treemean.sample.gold(), *treemean.sample.runs()]
        bank = sample[0 if name == "gold" else 1 + number % 5]
    return Treebank.concatenate([bank] * (1 + SENTENCES // len(bank)))[:SENTENCES]


def main() -> None:
    runs = {f"run{number:02d}": trees(f"run{number:02d}", number) for number in range(1, RUNS + 1)}
    gold = trees("gold", 0)
    begun = time.perf_counter()
    page = make_page(compare_sides(runs, gold))
    seconds = time.perf_counter() - begun
    size = len(page.html.encode()) / 1e6
    print(f"{page.shown:,} sentences, {RUNS} runs: {size:.2f} MB, made in {seconds:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        page.write(path)
        for name, milliseconds in opened(path).items():
            print(f"opened at {name}: {milliseconds:.0f} ms")


def opened(path: Path) -> dict[str, float]:
    """Return how many milliseconds the page takes at each address."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, address in ADDRESSES.items():
            taken = []
            for _ in range(TIMES):
                page = browser.new_page()
                page.goto(path.as_uri() + address)
                if address:
                    page.locator("figure svg").first.wait_for()
                told = "performance.getEntriesByType('navigation')[0].loadEventEnd"
                taken.append(page.evaluate(told))
                page.close()
            found[name] = statistics.median(taken)
        browser.close()
    return found


if __name__ == "__main__":
    main()
