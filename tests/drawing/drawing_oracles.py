"""Readers of drawings: they know only what a person sees, and give the tree back.

Both readers follow lines. A line is joined to another only by corners and tees; where a plain │ stands in a
horizontal line, the two pass each other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

from treemean.trees import Tree

UP, DOWN, LEFT, RIGHT = "│└┘├┤┴┼", "│┌┐├┤┬┼", "─┐┘┤┴┬┼", "─┌└├┴┬┼"
LINES = set(UP + DOWN + LEFT + RIGHT)

Grid = list[list[str]]


def grid_of(drawing: str) -> Grid:
    """Return the columns of every line: a wide character fills two, a combining one none of its own."""
    rows = []
    for line in drawing.split("\n"):
        cells: list[str] = []
        for character in line:
            if unicodedata.combining(character):
                cells[-1 if cells[-1] else -2] += character
            else:
                wide = unicodedata.east_asian_width(character) in "WF"
                cells += [character, ""] if wide else [character]
        rows.append(cells)
    width = max(map(len, rows))
    return [cells + [" "] * (width - len(cells)) for cells in rows]


def texts_of(cells: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (first column, column after the last, text) of everything on a line but spaces and lines."""
    start = None
    for column, cell in enumerate([*cells, " "]):
        if start is None and cell != " " and cell not in LINES:
            start = column
        elif start is not None and (cell == " " or cell in LINES):
            yield start, column, "".join(cells[start:column])
            start = None


def read_upright(drawing: str, with_tags: bool) -> Tree:
    """Read a drawing that has the root on top."""
    grid = grid_of(drawing)
    texts = [list(texts_of(cells)) for cells in grid]
    words = texts[-1]
    tags = texts[-2] if with_tags else [(a, b, "") for a, b, _ in words]
    leaf_row = len(grid) - 1 - with_tags
    constituents: list[tuple[set[int], str]] = []

    def below(row: int, column: int) -> set[int]:
        """Follow a line downwards and return the words under it."""
        while row < leaf_row and grid[row][column] == "│":
            row += 1
        for number, (start, end, text) in enumerate(texts[row]):
            if start <= column < end:
                return {number} if row == leaf_row else under(row, start, end, text)
        raise AssertionError(f"the line at row {row}, column {column} leads nowhere:\n{drawing}")

    def under(row: int, start: int, end: int, label: str) -> set[int]:
        """Return the words under a label."""
        bar = grid[row + 1]
        (anchor,) = [column for column in range(start, end) if bar[column] in UP]
        entry = len(constituents)
        constituents.append((set(), label))
        ends = [anchor] if bar[anchor] in DOWN else []
        ends += along(lambda c: bar[c], anchor, -1, LEFT, RIGHT, DOWN)
        ends += along(lambda c: bar[c], anchor, 1, RIGHT, LEFT, DOWN)
        positions = set().union(*(below(row + 2, column) for column in ends))
        constituents[entry] = positions, label
        return positions

    ((start, end, label),) = texts[0]
    under(0, start, end, label)
    return _tree([text for _, _, text in words], constituents, [text for _, _, text in tags])


def read_sideways(drawing: str, with_tags: bool) -> Tree:
    """Read a drawing that has the root at the left and one word on each line."""
    grid = grid_of(drawing)
    texts = [list(texts_of(cells)) for cells in grid]
    words = [line[-1][2] for line in texts]
    tags = [line[-2][2] if with_tags else "" for line in texts]
    leaf_column = min(line[-1 - with_tags][0] for line in texts)
    constituents: list[tuple[set[int], str]] = []

    def beyond(row: int, column: int) -> set[int]:
        """Follow a line to the right and return the words beyond it."""
        while grid[row][column] in "─│":
            column += 1
        assert grid[row][column] == " ", drawing
        (found,) = [text for text in texts[row] if text[0] == column + 1]
        return {row} if found[0] == leaf_column else right_of(row, *found)

    def right_of(row: int, start: int, end: int, label: str) -> set[int]:
        """Return the words to the right of a label."""
        entry = len(constituents)
        constituents.append((set(), label))
        column = end + 1
        while grid[row][column] in "─│":
            column += 1
        if grid[row][column] == " ":  # a line without a bar: an only child
            positions = beyond(row, column - 1)
        else:
            assert grid[row][column] in LEFT, drawing
            ends = [row] if grid[row][column] in RIGHT else []
            ends += along(lambda r: grid[r][column], row, -1, UP, DOWN, RIGHT)
            ends += along(lambda r: grid[r][column], row, 1, DOWN, UP, RIGHT)
            positions = set().union(*(beyond(r, column + 1) for r in ends))
        constituents[entry] = positions, label
        return positions

    (root,) = [(row, text) for row, line in enumerate(texts) for text in line if text[0] == 0]
    right_of(root[0], *root[1])
    return _tree(words, constituents, tags)


def along(
    cell: Callable[[int], str], start: int, step: int, onward: str, backward: str, branch: str
) -> list[int]:
    """Follow a bar from its anchor in one direction and return where it branches off to children."""
    found = []
    place = start
    while cell(place) in onward or (place != start and _passed(cell(place), onward)):
        place += step
        if _passed(cell(place), onward):
            continue
        assert cell(place) in backward, f"{cell(place)!r} does not continue the line"
        if cell(place) in branch:
            found.append(place)
    return found


def _passed(cell: str, onward: str) -> bool:
    """Tell whether a line in a horizontal direction passes a vertical one here."""
    return cell == "│" and "│" not in onward


def _tree(words: list[str], constituents: list[tuple[set[int], str]], tags: list[str]) -> Tree:
    return Tree(
        words, [(positions, "" if label == "•" else label) for positions, label in constituents], tags=tags
    )
