"""`treemean parse`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, READS_MODEL, WRITES, WRITES_FOLDER
from treemean.names import DecoderName, FormatName, PutBack


@app.command()
def parse(
    model: Annotated[
        str,
        READS_MODEL,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a trained model, or that of [cyan]treemean ensemble[/cyan], to parse with "
            "all its chosen models.",
        ),
    ],
    text: Annotated[
        str,
        READS,
        typer.Argument(
            metavar="TEXT",
            help="Plain text, one tokenised sentence per line, or a treebank; standard input if not given.",
        ),
    ] = "-",
    output: Annotated[
        str, WRITES_FOLDER, typer.Option("--output", "-o", help="Where to write the trees; - prints them.")
    ] = "-",
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            autocompletion=lambda: ["text", *get_args(FormatName)],
            help="Format of the input; if not given, file names and contents decide. One of text, "
            f"{options.FORMAT_NAMES}.",
        ),
    ] = None,
    to_format: options.To = None,
    decoder: Annotated[
        DecoderName | None,
        typer.Option(
            help="Minimum Bayes risk (mbr), or the best derivation (viterbi). If not given mbr, or what the "
            "ensemble uses."
        ),
    ] = None,
    binary: Annotated[
        bool,
        typer.Option("--binary", help="With an ensemble: make binary trees, as single models always do."),
    ] = False,
    posteriors: Annotated[
        bool,
        typer.Option(
            "--posteriors", help="Store the posterior of each constituent (only in jsonl and parquet)."
        ),
    ] = False,
    span_posteriors: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            metavar="FILE",
            help="Write, beside the trees, a table of all spans that are likely enough, with their "
            "posteriors (Parquet), for --spans of [cyan]treemean fit[/cyan] and "
            "[cyan]treemean average[/cyan].",
        ),
    ] = None,
    span_threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --span-posteriors: keep only spans with a larger posterior; 0.02 if not given.",
        ),
    ] = None,
    punctuation: Annotated[
        PutBack,
        typer.Option(
            help="Leave punctuation out, put it back where it makes no gap, or attach it to the root."
        ),
    ] = "keep-out",
    make_continuous: Annotated[
        bool,
        typer.Option(
            "--make-continuous",
            help="If the format cannot hold discontinuous trees, make them continuous.",
        ),
    ] = False,
    max_length: Annotated[
        int, typer.Option(min=1, help="Do not parse longer sentences: they get a tree with only a root.")
    ] = 60,
    batch_words: Annotated[
        int | None,
        typer.Option(min=1, help="About how many words to parse at a time; if not given 800, on a GPU more."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes.")] = 1,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
    dialect: options.Dialect = "auto",
    encoding: options.Encoding = "utf-8",
    shard_size: options.ShardSize = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    address: options.Address = None,
) -> None:
    """Parse text with a trained model and write the trees in any format, in the order of the sentences.

    With the folder of an ensemble, all its models parse every sentence, and their trees are averaged with
    the weights or hits of the ensemble. Words that a model does not know are parsed as unknown words; the
    trees have the words of the text.

    [bold]Examples[/bold]

      treemean parse runs/run01/model text.txt -o trees.discbracket

      treemean parse runs/run01/model a.export -o b.export --punctuation put-back

      echo "Wat heb jij gisteren gezien ?" | treemean parse runs/run01/model

      treemean parse runs/run01/model text.txt.gz -o soft.parquet --posteriors

      treemean parse runs/run01/model a.txt -o a.jsonl --span-posteriors a.parquet

      treemean parse runs/run01/model text.txt -o trees.ptb --make-continuous

      treemean parse runs/run01/model text.txt -o trees/ --engine local

      treemean parse out text.txt -o trees.dbr    [dim]# out: from treemean ensemble[/dim]
    """
    from treemean.cli.output import loading, naming_options, report_losses, say, with_progress
    from treemean.cli.scaling import check_engine, folder_wanted
    from treemean.errors import InvalidOption
    from treemean.formats import TreebankWriter, Unwritable
    from treemean.formats.spans import SpanWriter
    from treemean.trees.arrow import load_pyarrow

    with loading("PyTorch"):
        from treemean.experiments.parser import EnsembleParser, is_ensemble
        from treemean.parsing import Model, ParseCounts, ReadCounts, read_sentences
        from treemean.parsing import parse as parse_sentences
        from treemean.parsing.parse import SPAN_THRESHOLD, ParseOptions
        from treemean.parsing.text import counted, format_of
        from treemean.scaling.windows import parse_in_parallel

    if span_posteriors is not None and str(span_posteriors) == "-":
        raise typer.BadParameter("a table is no text: name a file", param_hint="--span-posteriors")
    if span_threshold is not None and span_posteriors is None:
        raise typer.BadParameter("it works only with --span-posteriors", param_hint="--span-threshold")
    if folder_wanted(output, engine, shard_size):
        check_engine(output, to_format, workers, address, engine)
        if span_posteriors is not None:
            raise typer.BadParameter(
                "it cannot be used when shards are written; see docs/scaling.md",
                param_hint="--span-posteriors",
            )
        if jobs > 1:
            raise typer.BadParameter(
                "set the number of processes of an engine by --workers", param_hint="--jobs"
            )
        if binary and not is_ensemble(model):
            raise InvalidOption("--binary is for ensembles: the trees of a single model are binary")
        _parse_shards(
            model,
            text,
            output,
            {
                "device": device,
                "batch_words": batch_words,
                "posteriors": posteriors,
                "punctuation": punctuation,
                "max_length": max_length,
            },
            binary if is_ensemble(model) else None,
            decoder,
            engine=engine or "local",
            workers=workers if engine else 1,
            address=address,
            shard_size=shard_size,
            reading={
                "format": from_format or format_of(text),
                "encoding": encoding,
                "dialect": dialect,
            },
        )
        return
    check_engine(None, to_format, workers, address, engine)
    if jobs > 1 and device != "cpu":
        raise InvalidOption("several processes parse on the CPU only: give either --jobs or --device")
    ensemble = EnsembleParser.read(model) if is_ensemble(model) else None
    if ensemble is None and binary:
        raise InvalidOption("--binary is for ensembles: the trees of a single model are binary")
    if ensemble is not None and posteriors:
        raise InvalidOption(
            "an average has no posteriors: parse with single models, or leave out --posteriors"
        )
    if span_posteriors is not None:
        if ensemble is not None:
            raise InvalidOption(
                "an average has no spans of its own: parse with single models, or leave out --span-posteriors"
            )
        load_pyarrow()  # now, and not when everything is parsed
    models = [Model.load(model, device=device)] if ensemble is None else ensemble.load(device)
    read, parsed = ReadCounts(), ParseCounts()
    sentences = read_sentences(
        text, models[0].normalisation, format=from_format, encoding=encoding, dialect=dialect, counts=read
    )
    usual = "mbr" if ensemble is None else ensemble.decoder
    threshold = SPAN_THRESHOLD if span_threshold is None else span_threshold
    chosen = ParseOptions(decoder or usual, batch_words, posteriors, punctuation, max_length, threshold)
    table = None if span_posteriors is None else SpanWriter(span_posteriors)
    spans = None if table is None else table.write
    described = f"parsing {text}"
    if ensemble is not None:
        told = ensemble.parse(models, sentences, chosen, jobs=jobs, counts=parsed)
        shown = with_progress(told, f"{described} with {counted(len(models), 'model')}")
        batches = ensemble.averages(shown, chosen, binary=binary, jobs=jobs)
    elif jobs > 1:
        batches = with_progress(
            parse_in_parallel(model, sentences, chosen, jobs=jobs, counts=parsed, spans=spans), described
        )
    else:
        batches = with_progress(
            parse_sentences(models[0], sentences, options=chosen, counts=parsed, spans=spans),
            described,
        )
    unwritable = Unwritable("make-continuous" if make_continuous else "error")
    writer = TreebankWriter(output, format=to_format or options.printed_as(output), unwritable=unwritable)
    if posteriors:
        options.check_keeps_probabilities(writer)
    naming = naming_options("--make-continuous raises the parts of discontinuous constituents")
    with naming, table or nullcontext(), writer:
        for batch in batches:
            writer.write(batch)
    for message in [*read.describe(), *parsed.describe(max_length)]:
        say(message)
    report_losses(writer)
    if unwritable.changed:
        say(f"{counted(unwritable.changed, 'discontinuous tree')} made continuous")
    if not parsed.sentences:
        say(f"{text}: there are no sentences; the output is empty")
    known = f"{parsed.unknown} of {counted(parsed.words, 'word')} unknown to the model"
    by = "" if ensemble is None else f" by {counted(len(models), 'model')} and averaged"
    say(f"{counted(parsed.sentences, 'sentence')} parsed{by}, {known}")


def _parse_shards(
    model: str,
    text: str,
    output: str,
    chosen: dict[str, Any],
    binary: bool | None,
    decoder: DecoderName | None,
    **how: Any,
) -> None:
    """Parse into a folder of shards; `binary` is None where it is no ensemble that parses."""
    from treemean import scaling
    from treemean.cli.output import say
    from treemean.cli.scaling import job_progress, tell_done
    from treemean.parsing import ParseCounts
    from treemean.parsing.text import counted

    with job_progress(f"parsing {text}") as progress:
        if binary is None:
            usual = decoder or "mbr"
            done = scaling.parse(model, text, output, progress=progress, decoder=usual, **chosen, **how)
        else:
            from treemean.experiments.shards import ensemble_parsing
            from treemean.scaling.api import parse_by

            work = ensemble_parsing(model, binary=binary, decoder=decoder, **chosen)
            done = parse_by(work, text, output, progress=progress, **how)
    tell_done(done, output)
    names = ("sentences", "words", "unknown", "too_long", "again")
    met = ParseCounts(*(done.sums.counts[name] for name in names))
    for message in met.describe(chosen["max_length"]):
        say(message)
    known = f"{met.unknown} of {counted(met.words, 'word')} unknown to the model"
    say(f"{counted(met.sentences, 'sentence')} parsed, {known}")
