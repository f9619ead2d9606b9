"""Files that a command makes under names that nobody gave it: those of users stay."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from filecmp import cmp
from pathlib import Path

from treemean.errors import TreemeanError
from treemean.files.output import open_output


@contextmanager
def all_or_none(paths: Sequence[Path], *, overwrite: bool = False) -> Iterator[Mapping[Path, Path]]:
    """Let files be written elsewhere first, and put them into their places if nothing else is there.

    Files that are there already with the same content stay as they are. Raises `TreemeanError`, and changes
    nothing, if one holds something else, unless `overwrite` says that it may be replaced.

    Parameters
    ----------
    paths : the files; the block gets for each of them where to write it.
    """
    with tempfile.TemporaryDirectory(prefix="treemean-") as folder:
        places = {path: Path(folder, str(number), path.name) for number, path in enumerate(paths)}
        for place in places.values():
            place.parent.mkdir()
        yield places
        changed = [path for path in paths if not (path.is_file() and cmp(places[path], path, shallow=False))]
        for path in changed:
            if os.path.lexists(path) and not overwrite and (path.is_file() or path.is_symlink()):
                raise TreemeanError(
                    f"{path}: this file exists with other content: remove it, or give another place"
                )
        for path in changed:
            unpacked = gzip.open if path.name.endswith(".gz") else open
            with open_output(path) as target, unpacked(places[path], "rb") as source:
                shutil.copyfileobj(source, target)
