"""`treemean convert`."""

from __future__ import annotations

from random import Random
from typing import Annotated, Literal

import typer

from treemean.cli import options
from treemean.cli.app import app

#: What happens to grammatical functions.
Functions = Literal["keep", "drop", "join", "split"]


#: Which label of a unary chain stays.
KeepLabel = Literal["top", "bottom", "join"]


#: Trees that need no grammar.
Branching = Literal["left", "right", "random"]
#: How trees are made binary.
Direction = Literal["left", "right", "balanced", "head"]


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder or zip of files, or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="A file (.gz compresses), or -.")],
    from_format: options.From = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help=f"Format of the output: {options.FORMAT_NAMES}."),
    ] = None,
    encoding: options.Encoding = "utf-8",
    remove_punctuation: Annotated[
        bool, typer.Option("--remove-punctuation", help="Remove punctuation and renumber the words.")
    ] = False,
    punctuation: options.Punctuation = "auto",
    collapse_unaries: Annotated[
        bool, typer.Option("--collapse-unaries", help="Leave one constituent for each set of words.")
    ] = False,
    keep_label: Annotated[KeepLabel, typer.Option(help="Which label of a collapsed chain stays.")] = "top",
    drop_labels: Annotated[bool, typer.Option("--drop-labels", help="Remove the labels.")] = False,
    functions: Annotated[
        Functions, typer.Option(help="Keep, drop, join to labels (NP-SBJ), or split from labels.")
    ] = "keep",
    binarise: Annotated[
        Direction | None, typer.Option("--binarise", "--binarize", help="Make the trees binary.")
    ] = None,
    branching: Annotated[
        Branching | None, typer.Option(help="Replace the trees by left, right or random branching ones.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random branching.")] = 0,
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

    The output appears only when everything was written. Lengths are counted after punctuation is removed.

    [bold]Examples[/bold]

      treemean convert alpino.xml.gz gold.discbracket --remove-punctuation --collapse-unaries

      treemean convert negra.export negra.ptb --encoding latin-1 --make-continuous

      treemean convert lassy.zip lassy.parquet --skip-bad --bad-file bad.xml

      treemean convert gold.dbr baseline.dbr --branching right

      cat trees.dbr | treemean convert - - --from discbracket --to jsonl
    """
    from treemean.cli.output import report_problems, say, with_progress
    from treemean.formats import Problems, TreebankWriter, Unwritable, read_batches
    from treemean.trees import Treebank, transforms
    from treemean.trees.punctuation import settle_punctuation

    if bad_file is not None:
        options.check_different(str(bad_file), "--bad-file", [source, target])
    chosen = options.punctuation_choice(punctuation)
    changed = 0

    def transformed(batch: Treebank) -> Treebank:
        nonlocal changed, chosen
        if remove_punctuation:
            chosen = settle_punctuation(batch, chosen)  # the first batch decides for all
            batch = transforms.remove_punctuation(batch, chosen)
        batch = transforms.filter_by_length(batch, min_length, max_length)
        if collapse_unaries:
            batch = transforms.collapse_unaries(batch, keep=keep_label)
        if functions == "drop":
            batch = transforms.drop_functions(batch)
        elif functions == "join":
            batch = transforms.join_functions(batch)
        elif functions == "split":
            batch = transforms.split_functions(batch)
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
    read = written = 0
    unwritable = Unwritable("skip" if skip_unwritable else "error")
    with Problems(skip=skip_bad, aside=bad_file) as problems:
        batches = read_batches(source, format=from_format, encoding=encoding, problems=problems)
        with TreebankWriter(target, format=to_format, unwritable=unwritable) as writer:
            for batch in with_progress(batches, f"converting {source}"):
                read += len(batch)
                batch = transformed(batch)
                written += len(batch)
                writer.write(batch)
    report_problems(problems, unwritable)
    if changed:
        say(f"{changed} discontinuous trees made continuous")
    if read - written:
        say(f"{read - written} sentences left out (length, or nothing but punctuation)")
    say(f"{written - unwritable.skipped} sentences written to {target}")
