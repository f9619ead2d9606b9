"""Jobs: from treebanks to a sharded treebank, with any engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treemean.errors import TreemeanError
from treemean.files.checksums import content_checksum
from treemean.files.filenames import name_as_text
from treemean.formats.sharded import Manifest
from treemean.scaling import folders
from treemean.scaling.engines import Engine
from treemean.scaling.inputs import SHARD_SIZE, Contents, Cut, contents_of
from treemean.scaling.progress import Progress
from treemean.scaling.shards import (
    AsItIs,
    ShardTask,
    Work,
    contents_of_made,
    fingerprint,
    make_shard,
    tasks_for,
)
from treemean.scaling.streams import StreamTask, each_shard, make_shards
from treemean.scaling.sums import Sums


@dataclass(frozen=True)
class Done:
    """What a job did.

    Parameters
    ----------
    manifest : of the treebank that is there now.
    sums : what was counted.
    made, found : how many shards were made now, and how many were there from an earlier attempt.
    before : whether the whole job was finished before, so that nothing was done.
    """

    manifest: Manifest
    sums: Sums
    made: int
    found: int
    before: bool = False


def shard_job(
    work: Work,
    cuts: Sequence[Cut],
    folder: Path,
    engine: Engine,
    progress: Progress,
    prepare: Callable[[], Work] | None = None,
) -> Done:
    """Make the shards of a sharded treebank from cuts of others.

    `prepare` returns the work with all that must be known of the whole before a shard can be made. It is
    asked only where something is left to do.
    """
    tasks = tasks_for(work, cuts, str(folder))
    told = content_checksum([fingerprint(work), [task.file for task in tasks]])
    told_of = {"fingerprint": told, **_provenance(work, engine), "inputs": _inputs(cuts)}
    return _run(
        work, folder, told_of, lambda: _mapped(engine, prepare() if prepare else work, tasks, progress)
    )


def stream_job(work: Work, task: StreamTask, identity: str, engine: Engine, progress: Progress) -> Done:
    """Make the shards of a sharded treebank from one that is read from its beginning, by this process."""
    told = content_checksum([fingerprint(work), identity, task.reading, task.size])

    def made() -> folders.Collected:
        found = folders.Collected()
        for number, one in enumerate(each_shard(work, task)):
            found.add(number, one)
            progress(task.size * (number + 1), None)
        return found

    given = [{"name": _called(task.path), "sha256": identity}]
    told_of = {"fingerprint": told, **_provenance(work, engine), "inputs": given}
    return _run(work, Path(task.folder), told_of, made)


def _run(work: Work, folder: Path, provenance: dict[str, Any], make: Callable[[], folders.Collected]) -> Done:
    if manifest := folders.finished(folder, provenance["fingerprint"]):
        return Done(manifest, Sums.from_dict(manifest.sums), 0, len(manifest.shards), before=True)
    folders.begin(folder, provenance)
    made = make()
    work.check(made.sums)
    manifest = folders.finish(folder, made, provenance)
    return Done(manifest, made.sums, made.new, len(manifest.shards) - made.new)


def _mapped(engine: Engine, work: Work, tasks: Sequence[ShardTask], progress: Progress) -> folders.Collected:
    total = sum(task.cut.sentences for task in tasks)
    made = folders.Collected()
    done = 0
    progress(0, total)
    for number, one in engine.map(make_shard, work, tasks, gpu=work.gpu):
        made.add(number, one)
        done += tasks[number].cut.sentences
        progress(done, total)
    return made


def _provenance(work: Work, engine: Engine) -> dict[str, Any]:
    return {"job": work.name, "work": work.describe(), "engine": engine.name}


def _inputs(cuts: Sequence[Cut]) -> list[dict[str, Any]]:
    """Name every treebank that was read, with a checksum over those of its files."""
    if not cuts:
        return []
    given = []
    for run, name in enumerate(cuts[0].names):
        files = {rows.file.sha256: None for piece in cuts for rows in piece.runs[run]}
        given.append({"name": _called(name), "sha256": content_checksum([*files])})
    return given


def _called(path: str) -> str:
    return name_as_text(os.path.basename(os.path.normpath(path)))


def staged_contents(
    paths: Sequence[str],
    folder: Path,
    engine: Engine,
    reading: dict[str, Any],
    *,
    size: int | None,
) -> list[Contents]:
    """Return treebanks that can be cut; those that cannot are copied as shards into the folder of the job.

    `reading` says how they are read: parameters of `read_batches`.
    """
    found: list[Contents | None] = [contents_of(path, reading.get("format")) for path in paths]
    tasks = [
        StreamTask(path, str(folder / folders.STAGED / str(place)), size or SHARD_SIZE, reading)
        for place, path in enumerate(paths)
        if found[place] is None
    ]
    for task in tasks:
        if task.path == "-" or not os.path.exists(task.path):
            raise TreemeanError(f"{task.path}: an engine reads files and folders that are there")
    staged = dict(engine.map(make_shards, AsItIs(), tasks)) if tasks else {}
    copies = iter(staged[number] for number in range(len(tasks)))
    for place, contents in enumerate(found):
        if contents is None:
            at = folder / folders.STAGED / str(place)
            found[place] = contents_of_made(paths[place], at, next(copies))
    return [contents for contents in found if contents is not None]
