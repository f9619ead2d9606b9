"""Make docs/images/report.png: a report of the sample, open at a telling sentence, as Chromium shows it.

Needs Chromium and Playwright, which `make test-browser` installs.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from treemean import sample
from treemean.experiments.demo import telling_sentence
from treemean.experiments.report import report_of_runs
from treemean.reporting.html import make_page

TARGET = Path(__file__).parent / "images" / "report.png"
SIZE = {"width": 1360, "height": 860}
COLOURS = 96


def main() -> None:
    """Make the picture."""
    runs = {f"run{number}": run for number, run in enumerate(sample.runs(), 1)}
    subject = report_of_runs(runs, sample.gold(), title="Five noisy parsers of three languages")
    assert subject.gold is not None
    assert subject.average is not None
    trees = [side.trees for side in subject.runs]
    number = telling_sentence(subject.gold.trees, subject.average.trees, trees, 5, 7) + 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        make_page(subject).write(path)
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{path.as_uri()}#s={number}&gap=gold&sort=gain&show=support")
        page.locator("figure svg").first.wait_for()
        page.locator("figure[data-tree='1'] .constituent.gapped .label").first.hover()
        page.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(TARGET, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
