"""`treemean train`, `treemean parse` and `treemean debug`, and the look at a corpus before a run."""

from __future__ import annotations

import json
import re

import pytest
import torch
from typer.testing import CliRunner

from parser_instances import SENTENCES, gold_trees, tiny_config, write_instance
from treemean import average, read, write
from treemean.cli import app
from treemean.cli.training_progress import Bars
from treemean.errors import FormatError, TreemeanError
from treemean.program import STOPPED
from treemean.training import Progress, load_config, train
from treemean.training.corpus import prepare
from treemean.training.inspection import inspect

torch.set_num_threads(1)
runner = CliRunner()


def call(*arguments, **options):
    return runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False, **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return train(tiny_config(folder), folder / "out").model


@pytest.mark.parametrize("command", ["train", "parse", "debug data", "debug config"])
def test_help_shows_examples(command):
    result = call(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Examples" in result.stdout
    assert f"treemean {command}" in result.stdout


def test_train_by_command(tmp_path):
    config = write_instance(tmp_path)
    short = ["-o", tmp_path / "out", "--override", "training.epochs=1"]
    result = call("train", config, *short, "--runs", 1, "--json")
    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)
    assert told["select"] == "f1"
    assert set(told["development"]) >= {"f1", "f1_continuous", "f1_discontinuous", "perplexity"}
    assert "run 1, epoch 1/1: development perplexity" in result.stderr
    result = call("train", config, *short, "--run", 1)
    assert "selected by F1 of gold development trees" in result.stdout.replace("\n", " ")
    assert call("train", config, "--run", 1, "--runs", 2).exit_code == 2


def test_training_in_pieces_and_together(tmp_path):
    command = ["train", write_instance(tmp_path), "-o", tmp_path / "out", "--runs", "2", "--together"]
    stopped = call(*command, "--seconds", "0")
    assert stopped.exit_code == STOPPED
    assert "training was stopped on request; the same command goes on with it" in stopped.stderr
    assert not (tmp_path / "out" / "run01" / "model").exists()
    assert call(*command).exit_code == 0
    assert (tmp_path / "out" / "run02" / "model").exists()
    assert call(*command[:4], "--run", "1", "--together").exit_code == 2


def test_a_ruined_run_is_told_in_few_digits():
    event = Progress("step", 1, 1, 1, step=1, steps=1, loss=1e40, perplexity=2e120)
    assert "loss 1.0e+40, perplexity 2.0e+120," in event.describe()
    with Bars(1) as bars:
        bars(event)
        assert "loss 1.0e+40  perplexity 2.0e+120 " in bars._bars.tasks[0].fields["details"]


def test_bars_come_and_go(capsys):
    with Bars(2) as bars:
        bars.stage("reading [text]")
        assert [task.description for task in bars._bars.tasks] == ["reading [text]"]
        bars(Progress("step", run=1, epoch=1, epochs=3, step=2, steps=8))
        assert [task.description for task in bars._bars.tasks] == ["run 1/2, epoch 1/3"]
        bars(Progress("end", run=1, epoch=3, epochs=3, message="done"))
        assert not bars._bars.tasks
    assert "reading [text]" in capsys.readouterr().err


def test_parsing_text_in_another_encoding(model, tmp_path):
    (tmp_path / "text.txt").write_bytes("De Bär slaapt\n".encode("latin-1"))
    assert "1=Bär" in call("parse", model, tmp_path / "text.txt", "--encoding", "latin-1").stdout
    with pytest.raises(FormatError, match="not valid UTF-8"):
        call("parse", model, tmp_path / "text.txt")


def test_debug_config_says_where_values_come_from(tmp_path):
    config = write_instance(tmp_path)
    result = call("debug", "config", config, "--override", "run.runs=7")
    assert re.search(r"^runs = 7 +# override$", result.stdout, re.M)
    assert re.search(r"^epochs = 2 +# .*config\.toml$", result.stdout, re.M)
    assert re.search(r"^clip = 3\.0 +# preset tn-lcfrs$", result.stdout, re.M)
    told = json.loads(call("debug", "config", config, "--json").stdout)
    assert told["origins"]["run.order_seed"] == "preset tn-lcfrs"


def test_debug_data_counts(tmp_path):
    config = write_instance(tmp_path)
    text = "\n".join([*SENTENCES, "", "! ?", "een twee drie vier vijf zes zeven acht"])
    (tmp_path / "train.txt").write_text(text)
    report = inspect(load_config(config))
    file = report.files[0]
    assert (file.sentences, file.counts.empty_lines, file.counts.punctuation_only) == (13, 1, 1)
    assert (file.one_word, file.too_long, file.repeated) == (1, 1, 0)
    assert dict(file.histogram()) == {"1": 1, "2-5": 7, "6-10": 5}
    assert sum(file.lengths.values()) == 13
    assert report.overlap == 11
    assert report.errors == []
    assert report.first_epoch_steps == 5
    assert any("also trained on: 11 development sentences" in w for w in report.warnings)
    assert 99 < report.train_coverage <= 100
    result = call("debug", "data", config, "--format", "markdown")
    assert result.exit_code == 0
    assert "| empty lines | 1 | 0 |" in result.stdout
    assert "note: train.txt: 1 empty line left out" in result.stderr
    told = json.loads(call("debug", "data", config, "--json").stdout)
    assert told["files"][0]["lengths"]["1"] == 1


def test_debug_data_counts_what_training_sees(tmp_path):
    path = write_instance(tmp_path)
    (tmp_path / "train.txt").write_text("".join(f"x{'x' * n} en nog iets\n" for n in range(40)))
    config = load_config(path, ["data.development=", "training.select=likelihood", "data.held_out=0.2"])
    report, data = inspect(config), prepare(config.data)
    assert len(data.development) == 8
    assert report.vocabulary == report.types == len(data.vocabulary.words)
    unknown = (data.development.numbers == 0).mean()
    assert 0 < unknown < 1
    assert report.development_coverage == pytest.approx(100 * (1 - unknown))
    (tmp_path / "train.txt").write_text("een zin\n")
    assert "one sentence in data.train is not enough" in inspect(config).errors[0]


def test_debug_data_says_what_would_stop_a_run(tmp_path):
    config = write_instance(tmp_path)
    (tmp_path / "train.txt").write_bytes(b"goed zo\n" + b"caf\xe9 toe\n" * 12)
    result = call("debug", "data", config, "--override", "data.development=train.txt")
    assert result.exit_code == 1
    assert "train.txt:2: not valid UTF-8" in result.stderr
    assert "2 more lines are not valid UTF-8" in result.stderr
    result = call("debug", "data", tmp_path / "absent.txt")
    assert result.exit_code == 1
    assert "absent.txt" in result.stderr


def test_debug_data_looks_at_the_test_trees_of_an_ensemble(tmp_path):
    config = write_instance(tmp_path)
    write(gold_trees(), tmp_path / "test.discbracket")
    (tmp_path / "empty.discbracket").touch()

    def look(name):
        return call("debug", "data", config, "--override", f"ensemble.test={tmp_path / name}")

    result = look("test.discbracket")
    assert result.exit_code == 0, result.output
    assert "test.discbracket" in result.stdout
    for name, message in [
        ("absent.discbracket", "No such file"),
        ("train.txt", "ensemble.test needs gold trees"),
        ("empty.discbracket", "there are no trees in ensemble.test"),
    ]:
        result = look(name)
        assert result.exit_code == 1
        assert message in result.stderr


def test_debug_data_takes_files(tmp_path):
    write_instance(tmp_path)
    result = call("debug", "data", tmp_path / "train.txt", tmp_path / "dev.jsonl", "--format", "csv")
    assert result.exit_code == 0, result.output
    assert "train.txt,dev.jsonl" in result.stdout


def test_parse_writes_any_format_in_order(model, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join([*SENTENCES, "", "Onbekende woorden hier !"]))
    for name in ("trees.dbr", "trees.parquet", "trees.jsonl.gz", "trees.export", "trees.xml"):
        arguments = ["--to", "tiger"] if name.endswith("xml") else []
        result = call("parse", model, tmp_path / "text.txt", "-o", tmp_path / name, *arguments)
        assert result.exit_code == 0, result.output
        assert "1 empty line left out" in result.stderr
        assert "13 sentences parsed, 4 of 56" in result.stderr
        bank = read(tmp_path / name)
        assert [" ".join(tree.words) for tree in bank][-1] == "Onbekende woorden hier"
        assert len(bank) == 13


def test_formats_without_gaps_need_continuous_trees(model, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES))
    result = call("parse", model, tmp_path / "text.txt", "-o", tmp_path / "trees.ptb", "--make-continuous")
    assert result.exit_code == 0
    assert all(tree.is_continuous for tree in read(tmp_path / "trees.ptb"))
    changed = re.search(r"(\d+) discontinuous trees? made continuous", result.stderr)
    with_gaps = call("parse", model, tmp_path / "text.txt", "--to", "jsonl").stdout.splitlines()
    gaps = sum(any(len(c["spans"]) > 1 for c in json.loads(line)["constituents"]) for line in with_gaps)
    assert gaps == (int(changed[1]) if changed else 0)


def test_parse_reads_standard_input_and_puts_punctuation_back(model):
    result = call("parse", model, "--to", "jsonl", "--punctuation", "put-back", input="De hond , slaapt .\n")
    assert json.loads(result.stdout)["words"] == ["De", "hond", ",", "slaapt", "."]
    printed = call("parse", model, input="De kat\n")  # without a file and a format
    assert printed.stdout == "(NT 0=De 1=kat)\n"


def test_posteriors_can_be_averaged_from_files(model, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES))
    for name, decoder in (("a.parquet", "mbr"), ("b.jsonl", "viterbi")):
        options = ["--posteriors", "--decoder", decoder]
        assert call("parse", model, tmp_path / "text.txt", "-o", tmp_path / name, *options).exit_code == 0
    banks = [read(tmp_path / name) for name in ("a.parquet", "b.jsonl")]
    assert all((bank.constituent_values["posterior"] <= 1).all() for bank in banks)
    assert len(average(banks, hits="posterior")) == len(SENTENCES)


def test_parse_takes_treebanks_and_keeps_ids(model, tmp_path):
    write(gold_trees(), tmp_path / "gold.export")
    result = call("parse", model, tmp_path / "gold.export", "-o", tmp_path / "out.export", "--jobs", 1)
    assert result.exit_code == 0
    assert read(tmp_path / "out.export").ids.tolist() == gold_trees().ids.tolist()


def test_parse_says_what_is_wrong(model, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"goed\n\xff\n")
    out = tmp_path / "out.dbr"
    out.write_text("as it was")
    for arguments, message in [
        ([model, tmp_path / "bad.txt"], "bad.txt:2: not valid UTF-8"),
        ([model, tmp_path / "bad.txt", "--posteriors"], "cannot hold probabilities: write jsonl or parquet"),
        ([tmp_path, tmp_path / "bad.txt"], "there is no model in this folder"),
        (
            [model, tmp_path / "bad.txt", "--jobs", 2, "--device", "cuda"],
            "several processes",
        ),
    ]:
        with pytest.raises(TreemeanError, match=re.escape(message)):
            call("parse", *arguments, "-o", out)
    assert out.read_text() == "as it was"
    assert call("parse", model, out, "-o", out).exit_code == 2
