"""`treemean convert`."""

from __future__ import annotations

from random import Random
from typing import Annotated, Literal

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.names import BinarisingRule, BranchingRule, ChainLabel

#: What happens to grammatical functions.
Functions = Literal["keep", "drop", "join", "split"]


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder or zip of files, or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="A file (.gz compresses), or -.")],
    from_format: options.From = None,
    to_format: options.To = None,
    encoding: options.Encoding = "utf-8",
    sentences: options.Sentences = None,
    ids: Annotated[
        str | None,
        typer.Option("--ids", metavar="FILE", help="Only sentences whose ids are in this file, one a line."),
    ] = None,
    discontinuous: Annotated[
        bool,
        typer.Option("--discontinuous", help="Only sentences that have a discontinuous constituent."),
    ] = False,
    min_support: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, max=1, help="Remove constituents with less support."),
    ] = None,
    min_probability: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, max=1, help="Remove constituents that are less probable."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="NP,VP", help="Remove constituents with other labels than these."),
    ] = None,
    move_punctuation: Annotated[
        bool,
        typer.Option(
            "--move-punctuation",
            help="Attach punctuation where it makes no gap: to the smallest constituent with the words on "
            "both sides of it.",
        ),
    ] = False,
    remove_punctuation: Annotated[
        bool, typer.Option("--remove-punctuation", help="Remove punctuation and renumber the words.")
    ] = False,
    punctuation: options.Punctuation = "auto",
    collapse_unaries: Annotated[
        bool, typer.Option("--collapse-unaries", help="Leave one constituent for each set of words.")
    ] = False,
    keep_label: Annotated[ChainLabel, typer.Option(help="Which label of a collapsed chain stays.")] = "top",
    drop_labels: Annotated[bool, typer.Option("--drop-labels", help="Remove the labels.")] = False,
    functions: Annotated[
        Functions, typer.Option(help="Keep, drop, join to labels (NP-SBJ), or split from labels.")
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
        bool, typer.Option("--normalise-numbers", "--normalize-numbers", help="Write numbers as N.")
    ] = False,
    make_continuous: Annotated[
        bool,
        typer.Option(
            "--make-continuous", help="Raise the parts of discontinuous constituents until none is left."
        ),
    ] = False,
    skip_unwritable: Annotated[
        bool, typer.Option("--skip-unwritable", help="Skip and count trees that the format cannot express.")
    ] = False,
    skip_bad: options.SkipBad = False,
    bad_file: options.BadFile = None,
) -> None:
    """Convert a treebank to another format, changing trees on the way if wished.

    The output appears only when everything was written. However options are
    given, sentences are taken by number and id first; then punctuation is moved
    or removed, lengths are counted, and functions are split from labels; then
    constituents are removed by support, probability and label (their children
    move up, the root stays), and with [cyan]--discontinuous[/cyan] sentences without gaps are
    left out; all other changes come last. Whatever fails one condition is out.

    [bold]Examples[/bold]

      treemean convert alpino.xml.gz gold.dbr --remove-punctuation

      treemean convert negra.export negra.ptb --encoding latin-1 --make-continuous

      treemean convert lassy.zip lassy.parquet --skip-bad --bad-file bad.xml

      treemean convert gold.dbr baseline.dbr --branching right

      treemean convert gold.dbr some.dbr --sentences 3,7-9

      treemean convert mean.jsonl sure.jsonl --min-support 0.8

      treemean convert gold.export gaps.export --move-punctuation --discontinuous

      cat trees.dbr | treemean convert - - --from discbracket --to jsonl
    """
    from treemean.cli.output import naming_options, report_losses, report_problems, say, with_progress
    from treemean.formats import Problems, TreebankWriter, Unwritable, read_batches
    from treemean.trees import Treebank, transforms
    from treemean.trees.punctuation import settle_punctuation
    from treemean.trees.selecting import ConstituentSelector, SentenceSelector

    if move_punctuation and remove_punctuation:
        raise typer.BadParameter("what is removed cannot be moved", param_hint="--move-punctuation")
    if ids is not None:
        options.check_different(ids, "--ids", [source, target])
        if ids == source == "-":
            raise typer.BadParameter("standard input is the treebank already", param_hint="--ids")
    wanted = SentenceSelector(
        options.ranges(sentences, "--sentences"), None if ids is None else options.lines_of(ids), source
    )
    minimum = {"support": min_support, "probability": min_probability}
    kept = ConstituentSelector(
        {name: least for name, least in minimum.items() if least is not None},
        options.label_list(labels, "--labels"),
        source,
    )
    if bad_file is not None:
        options.check_different(str(bad_file), "--bad-file", [source, target])
    chosen = options.punctuation_choice(punctuation)
    changed = taken = written = 0

    def transformed(batch: Treebank) -> Treebank:
        nonlocal changed, chosen, taken
        if remove_punctuation or move_punctuation:
            chosen = settle_punctuation(batch, chosen)  # the first batch decides for all
        batch = wanted.take(batch)
        taken += len(batch)
        if move_punctuation:
            batch = transforms.move_punctuation(batch, chosen)
        if remove_punctuation:
            batch = transforms.remove_punctuation(batch, chosen)
        batch = transforms.filter_by_length(batch, min_length, max_length)
        if functions == "split":  # before labels are looked at
            batch = transforms.split_functions(batch)
        batch = kept.take(batch)
        if discontinuous:
            batch = transforms.discontinuous_sentences(batch)
        if collapse_unaries:
            batch = transforms.collapse_unaries(batch, keep=keep_label)
        if functions == "drop":
            batch = transforms.drop_functions(batch)
        elif functions == "join":
            batch = transforms.join_functions(batch)
        if drop_labels:
            batch = transforms.drop_labels(batch)
        if lower_case:
            batch = transforms.lower_case(batch)
        if normalise_numbers:
            batch = transforms.normalise_numbers(batch)
        if make_continuous and (batch.fan_outs > 1).any():
            trees = [tree if tree.is_continuous else transforms.make_continuous(tree) for tree in batch]
            changed += len({*batch.sentence_of[batch.fan_outs > 1].tolist()})
            batch = Treebank.from_trees(trees)
        if branching is not None:
            batch = transforms.branching(batch, branching, seed=draw)
        if binarise is not None:
            batch = Treebank.from_trees(transforms.binarise(tree, binarise) for tree in batch)
        return batch

    draw = Random(seed)  # one for all batches
    unwritable = Unwritable("skip" if skip_unwritable else "error")
    with Problems(skip=skip_bad, aside=bad_file) as problems:
        batches = read_batches(source, format=from_format, encoding=encoding, problems=problems)
        writer = TreebankWriter(target, format=to_format or options.printed_as(target), unwritable=unwritable)
        helpful = ["--skip-unwritable leaves such trees out"]
        if not make_continuous:
            helpful.insert(0, "--make-continuous raises the parts of discontinuous constituents")
        with naming_options(*helpful), writer:
            for batch in with_progress(batches, f"converting {source}"):
                batch = transformed(batch)
                written += len(batch)
                writer.write(batch)
                if wanted.done:
                    break
            wanted.finish()
            kept.finish()
    report_problems(problems, unwritable)
    report_losses(writer)
    if changed:
        say(f"{changed} discontinuous trees made continuous")
    if kept.removed:
        say(f"{kept.removed} constituents removed")
    for label in kept.absent_labels:
        say(f"no constituent has the label {label!r}")
    if taken - written:
        say(f"{taken - written} sentences left out (length, no gaps, or nothing but punctuation)")
    if not written:
        say("no sentence is left: the output is empty")
    say(f"{written - unwritable.skipped} sentences written to {target}")
