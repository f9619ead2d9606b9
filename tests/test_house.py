"""The house: imports go down only, the public face is frozen, and light parts stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import treemean

SOURCE = Path(treemean.__file__).parent

#: Each room may import those before it; rooms on one line do not know each other.
ROOMS = [
    {"_version", "errors", "program"},
    {"trees"},
    {"_core"},
    {"formats"},
    {"averaging", "evaluation", "sample", "grammars"},
    {"fitting", "parsing"},
    {"training"},
    {"reporting"},
    {"experiments"},
    {"cli"},
]
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}

PUBLIC = """
Constituent Evaluation FormatError InvalidOption InvalidTree MismatchError MissingDependency Problems
Statistics Tree Treebank TreebankWriter TreemeanError Unwritable UnwritableTree __version__ all_optima average
compare count_optima draw draw_svg evaluate k_best read read_batches sample statistics transforms write
""".split()


def room_of(path: Path) -> str:
    part = path.relative_to(SOURCE).parts[0]
    return part.removesuffix(".py")


def home_of(name: str) -> str:
    """Return the module behind a name of the flat face, by which a room must not be entered from below."""
    value = getattr(treemean, name, None)
    return getattr(value, "__module__", None) or getattr(value, "__name__", f"treemean.{name}")


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms that a module names in its imports, wherever in the module they stand."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "treemean" else [home_of(a.name) for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("treemean.")}
    return rooms


def test_imports_go_down_only():
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = room_of(path)
        if room in ("__init__", "__main__"):
            continue  # the doors of the house open on everything
        assert room in FLOOR, f"{path} is in no known room: add it to ROOMS and to docs/architecture.md"
        for other in imported_rooms(path):
            if other == room:
                continue
            if FLOOR[other] >= FLOOR[room]:
                wrong.append(f"{path.relative_to(SOURCE)} imports {other}")
    assert not wrong


def test_the_public_names_are_frozen():
    """A change here is a change of the public interface: note it in CHANGELOG.md."""
    assert sorted(treemean.__all__) == PUBLIC
    assert dir(treemean) == PUBLIC
    for name in PUBLIC:
        assert getattr(treemean, name) is not None


def test_light_parts_import_no_heavy_packages():
    """Trees and evaluation run where neither the core nor PyArrow, Typer, Rich and lxml are installed."""
    code = """
import sys
for name in ("pyarrow", "typer", "rich", "lxml", "treemean._core"):
    sys.modules[name] = None
import treemean, treemean.trees.transforms, treemean.trees.drawing, treemean.trees.statistics
import treemean.evaluation
tree = treemean.Tree(["a", "b"], [({0, 1}, "S")])
bank = treemean.Treebank.from_trees([tree])
print(treemean.evaluate(bank, bank).overall.f1, len(treemean.draw(tree)) > 0)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["0.0", "True"]


def test_there_is_a_type_marker():
    assert (SOURCE / "py.typed").exists()
