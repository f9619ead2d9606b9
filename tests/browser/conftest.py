"""Chromium, and reports to open in it. `make test-browser` installs what is needed; without it tests skip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from report_instances import nasty, small
from treemean import Treebank
from treemean.reporting.html import Subject, compare_sides, make_page
from treemean.trees import CodedStrings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = {"desktop": (1360, 850), "phone": (390, 844)}
#: Where pictures of the report are put, for people to look at.
PICTURES = Path(__file__).parents[2] / "build" / "browser" / "pictures"

Opened = Callable[..., "Page"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs Playwright")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium: make test-browser installs it, or CHROMIUM names one")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=quiet)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def subjects() -> dict[str, Subject]:
    runs, gold = small(60)
    odd_runs, odd_gold = nasty()
    return {
        "small": compare_sides(runs, gold, title="Five parsers of three languages"),
        "nasty": compare_sides(odd_runs, odd_gold, title="<b>Nasty</b> words", labelled=True),
        "without gold": compare_sides(odd_runs),
        "one run": compare_sides({"ann": odd_runs["ann"]}, odd_gold),
        "other tags": compare_sides(_retagged(odd_runs), odd_gold),
    }


def _retagged(runs: dict[str, Treebank]) -> dict[str, Treebank]:
    """Return three runs: with their own tags, with others, and with none."""
    ann, bob, cem = runs.values()
    none = CodedStrings.of([""] * len(cem.words))
    own = CodedStrings.of([f"{tag}-bob" for tag in bob.tags.tolist()])
    return {"ann": ann, "bob": bob.with_columns(tags=own), "cem": cem.with_columns(tags=none)}


@pytest.fixture(scope="session")
def files(subjects: dict[str, Subject], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for name, subject in subjects.items():
        found[name] = folder / f"{name.replace(' ', '-')}.html"
        make_page(subject).write(found[name])
    return found


@pytest.fixture
def opened(chromium: Browser, files: dict[str, Path]) -> Iterator[Opened]:
    """Open a report at an address, in a browser that knows nothing yet; nothing may go wrong in it."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opening(
        name: str = "small", address: str = "", *, size: str = "desktop", scheme: str = "light"
    ) -> Page:
        width, height = SIZES[size]
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: _check_local(request.url, wrong))
        page.goto(files[name].as_uri() + address)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert wrong == []


def _check_local(url: str, wrong: list[str]) -> None:
    if not url.startswith(("file:", "data:", "blob:")):
        wrong.append(f"asks for {url}")
