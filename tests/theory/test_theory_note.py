"""docs/theory.md names what exists: results are numbered without gaps, tests and references are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTE = (ROOT / "docs" / "theory.md").read_text()
KINDS = "Lemma|Proposition|Corollary|Theorem"


def test_results_are_numbered_in_order() -> None:
    own = NOTE.split("### 1.3", 1)[1]  # before it stand the paper's
    numbers = [int(n) for n in re.findall(rf"^\*\*(?:{KINDS}) (\d+)", own, re.M)]
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = {int(n): kind for kind, n in re.findall(rf"^\*\*({KINDS}) (\d+)", own, re.M)}
    cited = re.findall(r"(Lemma|Proposition|Corollary|Theorem|Prop\.|Cor\.|Thm\.) (\d+)", own)
    names = {"Prop.": "Proposition", "Cor.": "Corollary", "Thm.": "Theorem"}
    # The paper has Theorems 1 to 3, too.
    wrong = [
        (kind, n)
        for kind, n in cited
        if kinds[int(n)] != names.get(kind, kind) and not (kind == "Theorem" and int(n) <= 3)
    ]
    assert not wrong


def test_sections_and_questions_that_are_named_exist() -> None:
    sections = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)", NOTE, re.M))
    assert (
        set(re.findall(r"sections? (\d+(?:\.\d+)?)(?!\S*’)", NOTE.replace("paper's section 2.1", "")))
        <= sections
    )
    questions = set(re.findall(r"^\*\*(Q\d)\.\*\*", NOTE, re.M))
    assert set(re.findall(r"\bQ\d\b", NOTE)) == questions


def test_tests_and_files_that_are_named_exist() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`([^`]+)`", NOTE.split("## 13.", 1)[1])
    assert len(named) > 30
    for name in named:
        if "/" in name or name.endswith(".py"):
            assert (ROOT / name).exists() or (ROOT / "tests" / "theory" / name).exists(), name
        else:
            assert f"def {name}(" in sources, name


def test_references_are_given_and_used() -> None:
    body, references = NOTE.split("## References", 1)
    for line in references.strip().removeprefix("- ").split("\n- "):
        surname = re.match(r"(?:\S+ )*?([A-Z][\wé]+)[,(. ]", line.replace("J.-P.", "J."))
        assert surname, line
        assert surname[1] in body, surname[1]
