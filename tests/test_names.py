"""Every list of names is told once, in `treemean.names`; what stands under the names has the same ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import treemean
from treemean import names, sample
from treemean.averaging import METHODS
from treemean.evaluation import PROTOCOLS
from treemean.fitting import MODELS
from treemean.fitting.models.objectives import OBJECTIVES
from treemean.formats import all_formats
from treemean.formats.dialects import all_dialects
from treemean.grammars.config import PUBLISHED

ROOT = Path(__file__).parents[1]
LISTS = {name: get_args(value) for name, value in vars(names).items() if get_args(value)}


def test_registries_have_the_names_that_are_told():
    assert set(get_args(names.FormatName)) == set(all_formats())
    assert set(get_args(names.FileFormat)) == {"", "text", *all_formats()}
    assert set(get_args(names.DialectName)) == {"auto", *all_dialects()}
    assert set(get_args(names.MethodName)) == set(METHODS)
    assert set(get_args(names.ProtocolName)) == set(PROTOCOLS)
    assert set(get_args(names.HitModelName)) == set(MODELS)
    assert set(get_args(names.ObjectiveName)) == set(OBJECTIVES)
    assert set(get_args(names.Language)) == set(sample.LANGUAGES)
    assert set(get_args(names.GrammarKind)) == set(PUBLISHED)


def test_no_list_is_told_again():
    """Neither as a `Literal` elsewhere nor as a tuple or a list of all of its names."""
    told = {frozenset(options): name for name, options in LISTS.items() if len(options) > 2}
    source = Path(treemean.__file__).parent
    again = []
    for path in sorted(source.rglob("*.py")):
        if path.name == "names.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Tuple | ast.List | ast.Set):
                texts = [entry.value for entry in node.elts if isinstance(entry, ast.Constant)]
                name = told.get(frozenset(texts)) if len(texts) == len(node.elts) else None
                if name:
                    again.append(f"{path.relative_to(source)}:{node.lineno} tells {name} again")
    assert not again


def test_the_pages_know_them_all():
    """Each list on the page that explains it, in code."""
    for name, page in (
        ("FormatName", "formats"),
        ("DialectName", "formats"),
        ("MethodName", "averaging"),
        ("HitModelName", "fitting"),
        ("ObjectiveName", "fitting"),
        ("ProtocolName", "evaluation"),
        ("SignificanceTest", "evaluation"),
    ):
        text = (ROOT / "docs" / f"{page}.md").read_text()
        for option in LISTS[name]:
            assert re.search(rf"`[^`\n]*\b{option}\b[^`\n]*`", text), f"docs/{page}.md does not name {option}"
