"""`treemean convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zipfile import is_zipfile

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES_FOLDER
from treemean.files.inputs import is_same
from treemean.names import BinarisingRule, BranchingRule, ChainLabel, EngineName, FunctionRule

if TYPE_CHECKING:
    from treemean.scaling.conversion import Conversion
    from treemean.scaling.sums import Sums


@app.command()
def convert(
    source: Annotated[
        str,
        READS,
        typer.Argument(
            metavar="IN", help="A file, a folder or zip of files, a pattern such as 'wsj/*.mrg', or -."
        ),
    ],
    target: Annotated[
        str,
        WRITES_FOLDER,
        typer.Argument(
            metavar="OUT",
            help="A file (compressed if it ends in .gz), - to print, or a FOLDER/ for Parquet files, or for "
            "Alpino XML with --to alpino. Not needed with --in-place.",
        ),
    ] = "",
    from_format: options.From = None,
    to_format: options.To = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    keep_lemmas: Annotated[
        bool,
        typer.Option(
            "--keep-lemmas", help="Keep lemmas of PTB brackets as metadata (jsonl, parquet, conllu)."
        ),
    ] = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
    sentences: options.Sentences = None,
    ids: Annotated[
        str | None,
        READS,
        typer.Option(
            "--ids", metavar="FILE", help="Only sentences whose ids are in this file, one id per line."
        ),
    ] = None,
    discontinuous: Annotated[
        bool,
        typer.Option("--discontinuous", help="Only sentences with a discontinuous constituent."),
    ] = False,
    min_support: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, max=1, help="Remove constituents with a lower support."),
    ] = None,
    min_probability: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, max=1, help="Remove constituents with a lower probability."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="NP,VP", help="Keep only constituents with these labels."),
    ] = None,
    move_punctuation: Annotated[
        bool,
        typer.Option(
            "--move-punctuation",
            help="Attach punctuation where it makes no gap: to the smallest constituent that has the words "
            "on both sides of it.",
        ),
    ] = False,
    remove_punctuation: Annotated[
        bool, typer.Option("--remove-punctuation", help="Remove punctuation and renumber the words.")
    ] = False,
    punctuation: options.Punctuation = "auto",
    collapse_unaries: Annotated[
        bool, typer.Option("--collapse-unaries", help="Make one constituent of each unary chain.")
    ] = False,
    keep_label: Annotated[ChainLabel, typer.Option(help="Which label of a collapsed chain stays.")] = "top",
    drop_labels: Annotated[bool, typer.Option("--drop-labels", help="Remove the labels.")] = False,
    functions: Annotated[
        FunctionRule, typer.Option(help="Keep, drop, join to labels (NP-SBJ), or split from labels.")
    ] = "keep",
    binarise: Annotated[
        BinarisingRule | None, typer.Option("--binarise", "--binarize", help="Make the trees binary.")
    ] = None,
    branching: Annotated[
        BranchingRule | None, typer.Option(help="Replace the trees by left, right or random branching ones.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random branching.")] = 0,
    min_length: Annotated[int, typer.Option(min=0, help="Leave out shorter sentences.")] = 0,
    max_length: Annotated[int | None, typer.Option(min=1, help="Leave out longer sentences.")] = None,
    lower_case: Annotated[bool, typer.Option("--lower-case", help="Write words in lower case.")] = False,
    normalise_numbers: Annotated[
        bool,
        typer.Option(
            "--normalise-numbers", "--normalize-numbers", help="Write N for words that are numbers."
        ),
    ] = False,
    make_continuous: Annotated[
        bool,
        typer.Option(
            "--make-continuous", help="Make trees continuous: move parts of discontinuous constituents up."
        ),
    ] = False,
    skip_unwritable: Annotated[
        bool, typer.Option("--skip-unwritable", help="Skip and count trees that the format cannot express.")
    ] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Overwrite IN, in its own format unless --to names another.")
    ] = False,
    skip_bad: options.SkipBad = False,
    bad_file: options.BadFile = None,
    shard_size: options.ShardSize = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    address: options.Address = None,
) -> None:
    """Convert a treebank to another format, and change its trees if you like.

    The order of the options does not matter. These steps follow one another: take sentences by number and
    id; move or remove punctuation; take sentences by length; split functions from labels; remove constituents
    by support, probability and label (their children move up, and the root stays); with
    [cyan]--discontinuous[/cyan], leave out sentences without gaps; make all other changes. A sentence is
    kept if it meets all conditions. The output appears when everything is written.

    [bold]Examples[/bold]

      treemean convert alpino.xml.gz gold.dbr --remove-punctuation

      treemean convert negra.export negra.ptb --encoding latin-1 --make-continuous

      treemean convert lassy.zip lassy.parquet --skip-bad --bad-file bad.xml

      treemean convert gold.dbr baseline.dbr --branching right

      treemean convert gold.dbr --in-place --collapse-unaries

      treemean convert gold.dbr some.dbr --sentences 3,7-9

      treemean convert mean.jsonl sure.jsonl --min-support 0.8

      treemean convert gold.export gaps.export --move-punctuation --discontinuous

      treemean convert 'wsj/*.mrg' wsj.parquet

      treemean convert corpus.psd corpus.jsonl --dialect helsinki

      treemean convert lassy.dbr lassy/ --to alpino

      treemean convert big.dbr.gz big/ --shard-size 100000

      cat trees.dbr | treemean convert - - --from discbracket --to jsonl
    """
    from treemean.cli.scaling import check_engine, folder_wanted
    from treemean.formats.registry import format_of_file, format_of_name
    from treemean.scaling.conversion import Conversion

    if move_punctuation and remove_punctuation:
        raise typer.BadParameter(
            "give either --move-punctuation or --remove-punctuation", param_hint="--move-punctuation"
        )
    if ids == source == "-":
        raise typer.BadParameter("standard input cannot be both the treebank and the ids", param_hint="--ids")
    if ids is not None and is_same(ids, source):
        raise typer.BadParameter(
            f"{ids} is also an input, or another output, of this command", param_hint="--ids"
        )
    target = _in_place(source, target) if in_place else target
    if not target:
        raise typer.BadParameter("give a file, - to print the trees, or --in-place", param_hint="OUT")
    if in_place and to_format is None and format_of_name(target) is None:
        to_format = from_format or format_of_file(source).name  # as it was found
    options.ranges(sentences, "--sentences")
    minimum = {"support": min_support, "probability": min_probability}
    named = options.label_list(labels, "--labels")

    conversion = Conversion(
        source=source,
        sentences=sentences,
        ids=None if ids is None else tuple(options.lines_of(ids)),
        discontinuous=discontinuous,
        minimum={name: least for name, least in minimum.items() if least is not None},
        labels=None if named is None else tuple(named),
        move_punctuation=move_punctuation,
        remove_punctuation=remove_punctuation,
        punctuation=options.punctuation_choice(punctuation),
        collapse_unaries=collapse_unaries,
        keep_label=keep_label,
        drop_labels=drop_labels,
        functions=functions,
        binarise=binarise,
        branching=branching,
        seed=seed,
        min_length=min_length,
        max_length=max_length,
        lower_case=lower_case,
        normalise_numbers=normalise_numbers,
        make_continuous=make_continuous,
        skip_bad=skip_bad,
    )
    reading = options.reading(from_format, encoding, dialect, keep_empty, glob) | {"keep_lemmas": keep_lemmas}
    if folder_wanted(target, engine, shard_size) and to_format != "alpino":
        check_engine(target, to_format, workers, address, engine)
        _convert_to_folder(conversion, target, reading, bad_file, shard_size, engine, workers, address)
    else:
        check_engine(None, to_format, workers, address, engine)
        _convert_to_file(conversion, target, to_format, reading, bad_file, skip_unwritable)


def _convert_to_file(
    conversion: Conversion,
    target: str,
    to_format: str | None,
    reading: dict[str, Any],
    bad_file: Path | None,
    skip_unwritable: bool,
) -> None:
    from treemean.cli.output import (
        naming_options,
        report_losses,
        report_problems,
        say,
        with_progress,
        written_to,
    )
    from treemean.formats import Problems, TreebankWriter, Unwritable, read_batches
    from treemean.scaling.conversion import Converter
    from treemean.scaling.sums import Sums

    sums = Sums()
    converter = Converter(conversion, sums)
    unwritable = Unwritable("skip" if skip_unwritable else "error")
    with Problems(skip=conversion.skip_bad, aside=bad_file) as problems:
        batches = read_batches(conversion.source, **reading, problems=problems)
        writer = TreebankWriter(
            target,
            format=to_format or options.printed_as(target),
            unwritable=unwritable,
            keep_empty=bool(reading["keep_empty"]),
        )
        helpful = ["--skip-unwritable leaves such trees out"]
        if not conversion.make_continuous:
            helpful.insert(0, "--make-continuous raises the parts of discontinuous constituents")
        with naming_options(*helpful), writer:
            for batch in with_progress(batches, f"converting {conversion.source}"):
                writer.write(converter.change(batch))
                if converter.done:
                    break
            converter.finish()
    report_problems(problems, unwritable)
    report_losses(writer)
    _tell(sums, converter.absent_labels, conversion)
    say(f"{sums.counts['written'] - unwritable.skipped} sentences {written_to(target)}")


def _convert_to_folder(
    conversion: Conversion,
    target: str,
    reading: dict[str, Any],
    bad_file: Path | None,
    shard_size: int | None,
    engine: EngineName | None,
    workers: int | None,
    address: str | None,
) -> None:
    from treemean import scaling
    from treemean.cli.output import say
    from treemean.cli.scaling import job_progress, save_bad, tell_done

    if bad_file is not None and not conversion.skip_bad:
        raise typer.BadParameter(
            "only skipped sentences are written there: give --skip-bad as well", param_hint="--bad-file"
        )
    with job_progress(f"converting {conversion.source}") as progress:
        done = scaling.convert(
            conversion.source,
            target,
            conversion,
            engine=engine or "local",
            workers=workers if engine else 1,
            address=address,
            shard_size=shard_size,
            reading=reading,
            progress=progress,
        )
    if bad_file is not None:
        save_bad(target, done, bad_file)
    _tell(done.sums, conversion.absent_labels(done.sums), conversion)
    tell_done(done, target)
    say(f"{done.manifest.sentences} sentences written to {target}")


def _tell(sums: Sums, absent_labels: list[str], conversion: Conversion) -> None:
    from treemean.cli.output import say

    counts = sums.counts
    if counts["changed"]:
        say(f"{counts['changed']} discontinuous trees made continuous")
    if counts["removed"]:
        say(f"{counts['removed']} constituents removed")
    for label in absent_labels:
        say(f"no constituent has the label {label!r}")
    if counts["taken"] - counts["written"]:
        left = counts["taken"] - counts["written"]
        why = {
            "length": conversion.min_length > 0 or conversion.max_length is not None,
            "no gaps": conversion.discontinuous,
            "nothing but punctuation": conversion.remove_punctuation,
        }
        reasons = " or ".join(reason for reason, possible in why.items() if possible)
        say(f"{left} {'sentence' if left == 1 else 'sentences'} left out ({reasons})")
    if not counts["read"]:
        say(f"{conversion.source}: there are no sentences; the output is empty")
    elif not counts["written"]:
        say("no sentence is left: the output is empty")


def _in_place(source: str, target: str) -> str:
    """Return the file to write over; refuse what is no single file, and another output."""
    if target and not is_same(target, source):
        raise typer.BadParameter(f"it overwrites {source}: leave out {target}", param_hint="--in-place")
    if not Path(source).is_file() or is_zipfile(source):
        raise typer.BadParameter(
            f"{source} is not a single file that can be overwritten", param_hint="--in-place"
        )
    return source
