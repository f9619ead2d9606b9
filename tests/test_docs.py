"""What the pages show in the Python prompt is what happens, and they name what there is to make."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", [p for p in PAGES if ">>> " in p.read_text()], ids=lambda p: p.name)
def test_the_examples_of_a_page_run(page: Path) -> None:
    failed, attempted = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert attempted > 0
    assert failed == 0


def test_all_targets_are_explained() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", "")
    targets = set(re.search(r"^\.PHONY:(.*)$", makefile, re.M)[1].split()) - {"help"}
    assert set(re.findall(r'@echo "make (\S+)', makefile)) == targets
    assert set(re.findall(r"^\| `make (\S+)`", (ROOT / "CONTRIBUTING.md").read_text(), re.M)) == targets
