"""The jobs that `treemean.scaling` offers: each opens an engine and a folder, and runs to the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from treemean.averaging import METHODS
from treemean.averaging import average as average_treebanks
from treemean.averaging.request import make_request
from treemean.errors import InvalidOption, TreemeanError, no_such
from treemean.evaluation import Evaluation, Protocol, get_protocol
from treemean.evaluation.streaming import Scoring
from treemean.files.checksums import checksum, content_checksum
from treemean.files.rows import rows_format
from treemean.fitting.probabilities import with_a_say
from treemean.formats import Problems, read_batches
from treemean.formats.parallel import no_sentences
from treemean.names import EngineName, Match
from treemean.scaling.averages import Averaging, label_frequencies, model_of_votes, settled_objective
from treemean.scaling.by_id import aligned_by_id
from treemean.scaling.conversion import Conversion
from treemean.scaling.engines import Engine, messages, open_engine
from treemean.scaling.evaluations import ShardScorer
from treemean.scaling.folders import STAGED, working_in
from treemean.scaling.inputs import SHARD_SIZE, Contents, contents_of, cut
from treemean.scaling.jobs import Done, shard_job, staged_contents, stream_job
from treemean.scaling.parses import ParserWork, Parsing
from treemean.scaling.progress import Progress, quiet
from treemean.scaling.scratch import scratch_folder
from treemean.scaling.streams import TEXT, StreamTask, read_any
from treemean.scaling.ties import cut_ties

#: How values are named that the constituents of the runs carry.
COLUMN = "column:"

Paths = Sequence[str | os.PathLike[str]]


def average(
    runs: Paths,
    output: str | os.PathLike[str],
    *,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    shard_size: int | None = None,
    match: Match = "position",
    hits: str | None = None,
    probability: bool = False,
    ties_file: str | None = None,
    skip_unsolved: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
    say: Callable[[str], None] | None = None,
    **options: Any,
) -> Done:
    """Average treebanks of the same sentences into a sharded treebank; the same call goes on after a fault.

    Parameters
    ----------
    runs : sharded treebanks and Parquet files are read from where each shard begins; others are copied first.
    output : a folder, new, empty, or with an earlier attempt or result.
    engine, workers, address : see `open_engine`; or an engine that is open, and stays so. They do not change
        a byte of the shards.
    shard_size : sentences of a shard; those of the first run's shards if not given.
    match : `"position"`, or `"id"`: runs in other orders are brought into that of the first.
    hits : a file of `treemean fit`, or `column:NAME` for values that the constituents of the runs carry. A
        model that looks at the whole corpus takes several passes.
    probability : give constituents the probability that the file of hits tells; or without, which takes
        another pass, by how far the runs agree.
    ties_file : a JSON Lines file of values that decide between equally good trees; see docs/averaging.md.
    skip_unsolved : skip and note sentences that are beyond the reach of the method.
    reading : how input that is no Parquet is read: further parameters of `treemean.read`, such as `format`.
    progress : is told how many sentences are done, and of how many.
    say : is told what a user should know; a function of a text.
    options : those of `treemean.average`, but for `jobs` and `time_limit`: a budget is counted in steps of
        the search (`node_limit`), so that results do not depend on machines.
    """
    for name in ("jobs", "time_limit", "frequencies", "skipped"):
        if options.get(name) is not None:
            raise InvalidOption(f"an average of shards takes no {name}; budgets are told by node_limit")
    if not isinstance(options.get("ties", "canonical"), str):
        raise InvalidOption("an average of shards decides ties by a rule, or takes ties_file")
    if hits is not None and hits.startswith(COLUMN):
        options["hits"], hits = hits.removeprefix(COLUMN), None
    _check_options(len(runs), options)
    if ties_file is not None and not os.path.exists(ties_file):
        raise InvalidOption(f"{ties_file}: an engine reads files that are there")
    asked = tuple(with_a_say(options.get("weights"), len(runs)))
    by_votes = probability and hits is None
    if by_votes and len(asked) < 2:
        raise InvalidOption("one run alone gives no probabilities: give two, or a file of hits")
    with working_in(output) as folder, _opened(engine, workers, address) as opened:
        found = staged_contents(
            [os.fspath(run) for run in runs],
            folder,
            opened,
            dict(reading or {}),
            size=shard_size,
        )
        _check_some(found)
        if match == "id":
            found = aligned_by_id(found, folder, shard_size, say or _silent)
        cuts = cut(found, shard_size)
        work = Averaging(
            _plain(options, average_treebanks), _identity(found), hits, probability, skip_unsolved, ties_file
        )

        def prepared() -> Averaging:
            labelled = bool(options.get("labelled"))
            place = str(folder / STAGED / "ties")
            if ties_file is not None:
                cut_ties(ties_file, (piece.sentences for piece in cuts), place)
            return replace(
                work,
                frequencies=label_frequencies(found, cuts, opened),
                settled=None if hits is None else settled_objective(hits, cuts, opened),
                alone=model_of_votes(asked, labelled, cuts, opened) if by_votes else None,
                asked=asked,
                ties_folder=place,
            )

        return shard_job(work, cuts, folder, opened, progress, prepared)


def convert(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    conversion: Conversion | None = None,
    *,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    shard_size: int | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
) -> Done:
    """Write a treebank as a sharded one, its trees changed if wished; the same call goes on after a fault.

    Parquet is read by all workers. Other formats are read from their beginning, by one process. The other
    parameters are those of `average`.

    >>> import tempfile, treemean
    >>> folder = tempfile.mkdtemp()
    >>> trees = [treemean.Tree(["a", "b"], [({0, 1}, "S")])] * 5
    >>> treemean.write(trees, f"{folder}/trees.dbr")
    >>> done = convert(f"{folder}/trees.dbr", f"{folder}/trees", shard_size=2, workers=1)
    >>> len(done.manifest.shards), len(treemean.read(f"{folder}/trees"))
    (3, 5)
    """
    path = os.fspath(source)
    work = conversion or Conversion(source=path)
    with working_in(output) as folder, _opened(engine, workers, address) as opened:
        how = dict(reading or {})
        found = contents_of(path, how.get("format"))
        if found is None:
            if path == "-" or not os.path.exists(path):
                raise TreemeanError(f"{path}: shards are made from files and folders that are there")
            task = StreamTask(path, str(folder), shard_size or SHARD_SIZE, how)
            return stream_job(_settled(work, path, how), task, checksum(path), opened, progress)
        cuts = cut([found], shard_size)
        return shard_job(_settled(work, path, how), cuts, folder, opened, progress)


def parse(
    model: str | os.PathLike[str],
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    device: str = "cpu",
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    shard_size: int | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
    **options: Any,
) -> Done:
    """Parse a treebank, or with the format `text` plain text, into a sharded treebank.

    Parameters
    ----------
    model : the folder of a trained model, which all workers must see.
    device : where models compute. With `cuda` every GPU of a Ray cluster has a process of its own.
    options : those of `treemean.parsing.parse`; the other parameters are those of `average`.
    """
    work = Parsing(os.fspath(model), _plain(options, _parse_options()), device, gpu=device.startswith("cuda"))
    return parse_by(
        work,
        source,
        output,
        engine=engine,
        workers=workers,
        address=address,
        shard_size=shard_size,
        reading=reading,
        progress=progress,
    )


def parse_by(
    work: ParserWork,
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    shard_size: int | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
) -> Done:
    """Parse as `parse` does, by whatever parser."""
    path, how = os.fspath(source), dict(reading or {})
    with working_in(output) as folder, _opened(engine, workers, address) as opened:
        if how.get("format") == TEXT:
            work.check_text()
        first = next(read_any(path, how), None)
        settled = work if first is None else work.settled(first)
        (found,) = staged_contents([path], folder, opened, how, size=shard_size)
        cuts = cut([found], shard_size)
        prepared = partial(settled.prepared, cuts, folder, opened)
        return shard_job(settled, cuts, folder, opened, progress, prepared)


def evaluate(
    predictions: Paths,
    gold: str | os.PathLike[str],
    protocol: str | Protocol = "standard",
    *,
    labelled: bool | None = None,
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    shard_size: int | None = None,
    match: Match = "position",
    per_sentence: str | os.PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    work: str | os.PathLike[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
    say: Callable[[str], None] | None = None,
) -> list[Evaluation]:
    """Score predictions against gold trees, shard by shard, and return an evaluation of each.

    They are what `treemean.evaluate` finds, but know nothing of single sentences. All treebanks must have the
    same sentences. The same call goes on after a fault. The other parameters are those of `treemean.evaluate`
    and `average`.

    Parameters
    ----------
    match : `"position"`, or `"id"`: predictions in other orders are brought into that of the gold trees.
    per_sentence : a file for the scores of every sentence, .csv or .jsonl.
    names : what predictions are called there; their paths if not given.
    work : where a folder is made for what is finished, and for copies of what is not Parquet; among temporary
        files if not given. All workers must see it if there are such copies, or scores of sentences. It is
        gone at the end.
    """
    scoring = Scoring(get_protocol(protocol, labelled=labelled), max_length, punctuation, ignore_case)
    paths = [os.fspath(path) for path in (*predictions, gold)]
    how = dict(reading or {})
    called = list(names) if names is not None else paths[:-1]
    if len(called) != len(predictions):
        raise InvalidOption(f"{len(called)} names for {len(predictions)} predictions")
    if per_sentence is not None:
        rows_format(per_sentence)
    asked = [messages.encoded(scoring), [*map(os.path.abspath, paths)], how, shard_size, match]
    told = content_checksum([*asked, per_sentence is not None])
    with scratch_folder("evaluate", told, work) as folder, _opened(engine, workers, address) as opened:
        found = staged_contents(paths, folder, opened, how, size=shard_size)
        _check_some(found)
        if match == "id":
            ordered = [found[-1], *found[:-1]]
            first, *others = aligned_by_id(ordered, folder, shard_size, say or _silent, or_by_position=False)
            found = [*others, first]
        scorer = ShardScorer(folder, opened, progress, say or _silent, per_sentence, called)
        return scorer.of(scoring, cut(found, shard_size))


def _settled(work: Conversion, path: str, reading: Mapping[str, Any]) -> Conversion:
    """Return the conversion with what the first sentences decide for all shards."""
    if not (work.remove_punctuation or work.move_punctuation):
        return work
    problems = Problems(skip=work.skip_bad)
    first = next(read_batches(path, **reading, problems=problems), None)
    return work if first is None else work.settled(first)


def _check_some(runs: Sequence[Contents]) -> None:
    """Raise `FormatError` if there is nothing to average or to score."""
    if not any(run.sentences for run in runs):
        raise no_sentences(*(run.name for run in runs))


def _identity(runs: Sequence[Contents]) -> str:
    """Return what tells treebanks from any others, however they are cut."""
    return content_checksum([[file.sha256 for file in run.files] for run in runs])


def _check_options(count: int, options: Mapping[str, Any]) -> None:
    """Raise `InvalidOption` before anything runs."""
    asked = dict(options)
    method = asked.pop("method", "exact")
    if method not in METHODS:
        raise InvalidOption(no_such("method", method, METHODS))
    make_request(count, asked.pop("weights", None), **asked)


def _opened(
    engine: EngineName | Engine, workers: int | None, address: str | None
) -> AbstractContextManager[Engine]:
    return (
        open_engine(engine, workers=workers, address=address)
        if isinstance(engine, str)
        else nullcontext(engine)
    )


def _silent(message: str) -> None:
    pass


def _parse_options() -> Callable[..., Any]:
    from treemean.parsing.parse import ParseOptions

    return ParseOptions


def _plain(options: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a function that are not what they are anyway, so that equal jobs look equal."""
    usual = {name: one.default for name, one in signature(function).parameters.items()}
    return {name: value for name, value in sorted(options.items()) if value != usual.get(name)}
