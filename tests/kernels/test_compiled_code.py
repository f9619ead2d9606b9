"""What kernels become for a Hopper GPU: no asynchronous matrix products, see docs/measurements/gpu.md."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

import treemean.grammars
from commands import python

PROGRAM = Path(__file__).parents[1] / "compiled_kernels.py"
GRAMMARS = Path(treemean.grammars.__file__).parent


def launched(*cases: str) -> dict[str, list[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return json.loads(python(PROGRAM, *cases, env=environment).stdout.splitlines()[-1])


def with_products() -> set[str]:
    """Return the kernels whose source has a matrix product, by itself or by a function that it calls."""
    calls: dict[tuple[Path, str], set[str]] = {}
    for path in GRAMMARS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "jit" in map(last_name, node.decorator_list):
                called = {last_name(x.func) for x in ast.walk(node) if isinstance(x, ast.Call)}
                calls[path, node.name] = called

    def functions(path: Path, name: str) -> set[tuple[Path, str]]:
        """Return what a name means in a module: its own function, or one that it imports."""
        return {(path, name)} if (path, name) in calls else {key for key in calls if key[1] == name}

    means = {key: set().union(*(functions(key[0], name) for name in calls[key])) for key in calls}
    found = {key for key in calls if "dot" in calls[key]}
    while more := {key for key in calls if means[key] & found} - found:
        found |= more
    return {name for _, name in found - set().union(*means.values())}


def last_name(node: ast.expr) -> str:
    """Return b of a.b and of a.b(...)."""
    return ast.unparse(node).partition("(")[0].rpartition(".")[2]


def test_no_kernel_has_asynchronous_products_but_the_one_that_shows_what_is_wrong_with_them() -> None:
    found, expected = launched("published ranks", "published symbols", "hazard"), with_products()
    assert {"large_forward", "large_backward", "attach", "advance"} < expected
    assert expected <= set(found["launched"])
    assert found["asynchronous"] == ["two_products"]


@pytest.mark.slow
def test_nor_with_other_sizes() -> None:
    found = launched("few ranks", "16 ranks", "64 ranks", "rules", "many symbols")
    assert found["asynchronous"] == []
