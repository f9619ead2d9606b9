"""The site has every page; pages to be read, not to be looked up, are short; and it is built."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from commands import python

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


NAV = {
    name: pages
    for section in yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    for name, pages in section.items()
}


def pages_of(section: str) -> list[str]:
    pages = NAV[section]
    return [pages] if isinstance(pages, str) else [path for page in pages for path in page.values()]


def test_every_page_is_on_the_site() -> None:
    listed = [path for section in NAV for path in pages_of(section)]
    assert len(listed) == len(set(listed))
    assert set(listed) == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


@pytest.mark.parametrize(
    "path", [p for s in ("Tutorials", "How to", "Explanation") for p in pages_of(s) if p != "theory.md"]
)
def test_pages_to_be_read_are_short(path: str) -> None:
    assert len((DOCS / path).read_text().split()) <= 1500


def test_the_python_page_has_all_public_names() -> None:
    import treemean

    shown = set(re.findall(r"^::: treemean\.(\w+)$", (DOCS / "api.md").read_text(), re.M))
    errors = {
        name for name in treemean.__all__ if name.endswith(("Error", "Option", "Dependency", "Warning"))
    }
    elsewhere = {"__version__", "sample", "transforms", "InvalidTree", "UnwritableTree", *errors}
    assert set(treemean.__all__) - elsewhere <= shown


def test_docstrings_are_written_for_the_site() -> None:
    import doctest
    import importlib.util

    spec = importlib.util.spec_from_file_location("docstrings", DOCS / "docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert doctest.testmod(module) == (0, 1)


@pytest.mark.slow
def test_the_site_is_built(tmp_path: Path) -> None:
    """Without a warning, with formulas that need no script, and without anything that is fetched."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    python("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path, cwd=ROOT, env=environment)
    assert "<math" in (tmp_path / "theory" / "index.html").read_text()
    assert 'id="treemean.average"' in (tmp_path / "api" / "index.html").read_text()
    for page in tmp_path.rglob("*.html"):
        fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?:[^">\s]+)', page.read_text())
        assert not fetched, (page, fetched)
