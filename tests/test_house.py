"""The house is as docs/architecture.md shows it, without circles; its public face and light parts stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import treemean
from commands import python

SOURCE = Path(treemean.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"

#: The doors of the house open on everything.
DOORS = {"__init__", "__main__"}
#: Modules that import each other in a circle. Nothing may be added here; what is mended is to be removed.
CIRCLES: list[set[str]] = []

#: Of a file of sources.
LONGEST = 450

PUBLIC = """
Constituent Evaluation FormatError InvalidOption InvalidTree LossWarning MismatchError MissingDependency
Problems SpanTable Statistics Tree Treebank TreebankWriter TreemeanError Unwritable UnwritableTree __version__
agree all_optima average compare count_optima draw draw_svg evaluate from_arrow from_brackets from_nltk k_best
read read_batches read_spans sample statistics to_brackets transforms write write_spans
""".split()


# ---- what the modules say ---------------------------------------------------------------------------


def _module_name(path: Path) -> str:
    parts = ("treemean", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_name(path): path for path in sorted(SOURCE.rglob("*.py"))} | {
    "treemean._core": SOURCE / "_core.pyi"
}


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield everything below a node, but for what only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from _nodes(child)


def _home_of(name: str) -> str:
    """Return the module behind a name of the flat face, by which a room must not be entered from below."""
    value = getattr(treemean, name, None)
    return getattr(value, "__module__", None) or getattr(value, "__name__", f"treemean.{name}")


@cache
def imports_of(module: str) -> frozenset[str]:
    """Return the modules of ours that a module imports, wherever in it."""
    found = set()
    for node in _nodes(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "treemean"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "treemean":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                outside = _home_of(alias.name) if node.module == "treemean" else node.module
                found.add(full if full in MODULES else str(outside))
    return frozenset(found - {module})


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


# ---- what the page says -----------------------------------------------------------------------------


def rooms_of_the_page() -> dict[str, set[str]]:
    """Return, in the order of the table, what each room may import; all rooms may import the first row."""
    rooms: dict[str, set[str]] = {}
    first: set[str] = set()
    for names, allowed in re.findall(r"^\| (`.*?) \|.*\| ([^|]*) \|$", PAGE.read_text(), re.M):
        above = set(rooms)
        told = above if allowed == "all above" else set(re.findall(r"[a-z_]+", allowed)) | first
        assert told <= above, f"{names} may import {told - above}, which is not above it"
        found = re.findall(r"`(\w+)`", names)
        rooms |= dict.fromkeys(found, told)
        first = first or set(found)
    return rooms


def test_every_room_imports_what_the_page_says():
    rooms = rooms_of_the_page()
    assert set(rooms) | DOORS == {room_of(module) for module in MODULES}
    for room in rooms:
        inside = [module for module in MODULES if room_of(module) == room]
        used = {room_of(other): module for module in inside for other in imports_of(module)}
        used.pop(room, None)
        wrong = {other: module for other, module in used.items() if other not in rooms[room]}
        assert not wrong, f"docs/architecture.md does not let {room} import these: {wrong}"


def test_the_page_allows_nothing_that_is_not_needed():
    rooms = rooms_of_the_page()
    everybody = set(list(rooms)[:4])
    for room, allowed in list(rooms.items())[:-1]:  # the last row may import all
        used = {
            room_of(other) for module in MODULES if room_of(module) == room for other in imports_of(module)
        }
        assert allowed - everybody <= used, f"{room} does not import {allowed - everybody - used}"


def test_what_the_page_places_is_there():
    places = re.findall(r"`([\w./]+)`", PAGE.read_text().partition("## Where is")[2])
    assert len(places) > 15
    missing = [
        place for place in places if not ((SOURCE / place).exists() or (SOURCE.parents[1] / place).exists())
    ]
    assert not missing


# ---- sizes ------------------------------------------------------------------------------------------


def test_no_file_is_long():
    """Who reads a file to its end should still know its beginning."""
    root = PAGE.parents[1]
    folders = ("src", "tests", "benchmarks", "docs", "fuzz")
    files = [path for folder in folders for path in (root / folder).rglob("*.*")]
    lines = {
        str(path.relative_to(root)): len(path.read_text().splitlines())
        for path in files
        if path.suffix in {".py", ".pyi", ".cpp", ".hpp", ".js"}
    }
    assert len(lines) > 500
    assert not {name: count for name, count in lines.items() if count > LONGEST}


# ---- circles ----------------------------------------------------------------------------------------


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions count: they hide a circle, and do not open it."""

    assert circles_among({module: imports_of(module) for module in MODULES}) == set(map(frozenset, CIRCLES))


def test_no_folders_of_a_room_import_each_other_in_a_circle():
    """Neither directly nor by way of a module beside them, at any depth; imports inside functions count.

    A module beside folders stands for itself: it may import a folder, and another folder may import it. The
    `__init__` of what holds the folders is left out, as it may re-export what is in them; that of a folder
    belongs to the folder.
    """
    checked = set()
    for holder in (module for module, path in MODULES.items() if path.name == "__init__.py"):
        if holder == "treemean":
            continue  # its folders are the rooms, which the page is about
        imported: dict[str, set[str]] = {}
        for module in MODULES:
            if (own := part_of(holder, module)) is not None:
                parts = {part_of(holder, other) for other in imports_of(module)} - {None, own}
                imported[own] = imported.get(own, set()) | parts
        assert not (found := circles_among(imported)), f"circles in {holder}: {found}"
        checked |= imported.keys()
    assert {"treemean.grammars.rank", "treemean.grammars.rank.triton", "treemean.fitting.models"} < checked


def part_of(holder: str, module: str) -> str | None:
    """Return the folder or module of a package that a module is, or is in; None for all others.

    >>> part_of("treemean.grammars", "treemean.grammars.rank.rules")
    'treemean.grammars.rank'
    >>> part_of("treemean.grammars", "treemean.grammars")
    """
    start, _, rest = module.partition(f"{holder}.")
    return f"{holder}.{rest.split('.')[0]}" if rest and not start else None


def circles_among(imported: Mapping[str, Collection[str]]) -> set[frozenset[str]]:
    """Return the sets of those that import each other, directly or by way of others."""

    @cache
    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        todo = list(imported[start])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += imported[one]
        return frozenset(seen)

    return {
        frozenset(other for other in reached(one) if one in reached(other))
        for one in imported
        if one in reached(one)
    }


# ---- pickles ----------------------------------------------------------------------------------------


def test_no_module_packs_or_unpacks_pickles():
    """What travels between processes is JSON; a pipe carries bytes only (`recv` would unpickle)."""
    packing = {"pickle", "shelve", "marshal", "dill", "cloudpickle", "joblib", "ProcessPoolExecutor", "Pool"}
    found = {}
    for module, path in MODULES.items():
        for node in _nodes(ast.parse(path.read_text())):
            names = set()
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {getattr(node, "module", None), *(alias.name for alias in node.names)} & packing
                names |= {"multiprocessing"} & {alias.name for alias in node.names}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                names = {node.func.attr} & {"recv", "get_context"}
            if names:
                found[module] = names
    assert not found


# ---- face and weight --------------------------------------------------------------------------------


def test_the_public_names_are_frozen():
    """A change here is a change of the public interface: note it in CHANGELOG.md."""
    assert sorted(treemean.__all__) == PUBLIC
    assert dir(treemean) == PUBLIC
    for name in PUBLIC:
        assert getattr(treemean, name) is not None


def without(*absent: str, code: str) -> str:
    """Run code where some packages are not installed; return what it prints."""
    start = f"import sys\nfor name in {absent!r}:\n    sys.modules[name] = None\n"
    return python("-c", start + code).stdout


def test_light_parts_import_no_heavy_packages():
    """Trees and evaluation run where neither the core nor PyArrow, Typer, Rich and lxml are installed."""
    code = """
import treemean, treemean.trees.transforms, treemean.trees.drawing, treemean.trees.statistics
import treemean.evaluation
tree = treemean.Tree(["a", "b"], [({0, 1}, "S")])
bank = treemean.Treebank.from_trees([tree])
print(treemean.evaluate(bank, bank).overall.f1, len(treemean.draw(tree)) > 0)
"""
    found = without("pyarrow", "typer", "rich", "lxml", "treemean._core", code=code)
    assert found.split() == ["0.0", "True"]


def test_plain_formats_need_nothing_but_numpy(tmp_path):
    """And importing the formats imports neither lxml nor PyArrow nor the core, where they are installed."""
    code = f"""
import os, treemean.formats
assert not {{"pyarrow", "lxml", "treemean._core"}} & sys.modules.keys()
os.chdir({str(tmp_path)!r})
tree = treemean.Tree(["a", "b", "c"], [({{0, 1, 2}}, "S"), ({{0, 2}}, "X")])
for name in ("a.jsonl", "b.export", "c.export4", "d.jsonl.gz"):
    treemean.write([tree], name)
    assert treemean.read(name)[0].masks == tree.masks
    os.rename(name, "nameless")
    assert treemean.read("nameless")[0].masks == tree.masks
for name in ("a.dbr", "a.ptb", "a.tiger", "a.alpino", "a.parquet"):
    try:
        treemean.write([tree], name)
    except treemean.MissingDependency as error:
        print("all of treemean" in str(error), os.path.exists(name))
"""
    absent = ("torch", "pyarrow", "typer", "rich", "lxml", "scipy", "sklearn", "treemean._core")
    assert without(*absent, code=code.replace("assert not {", "pass  # {")).split() == ["True", "False"] * 5
    without(code=code.split("os.chdir")[0])
