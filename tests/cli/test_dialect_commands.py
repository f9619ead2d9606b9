"""`--dialect`, `--keep-empty`, `--glob` and what commands tell about files."""

from __future__ import annotations

import json
import os

import pytest
import typer.main

from commands import run
from treemean.cli import app
from treemean.training.config import load_config

TALE = """
( (IP-MAT (NP-SBJ *con*) (VBD saw-see) (NP-OB1 (D the-the) (N moon-moon)) (. .-.)) (ID TALE,1))
( (CODE <P_2>))
"""


def test_every_command_that_reads_trees_has_the_option():
    commands = typer.main.get_command(app).commands
    commands |= {f"debug {name}": command for name, command in commands.pop("debug").commands.items()}
    without = {
        name
        for name, command in commands.items()
        if not any("--dialect" in parameter.opts for parameter in command.params)
    }
    assert without == {"sample", "demo", "info", "debug config"}  # which read none


def test_convert_says_what_it_took_a_file_for(tmp_path):
    (tmp_path / "tale.psd").write_text(TALE)
    told = run("convert", "tale.psd", "tale.jsonl", "--keep-lemmas", cwd=tmp_path).stderr
    assert told == (
        "tale.psd: read as the dialect helsinki-lemma (Penn-Helsinki, leaves (tag word-lemma)); "
        "1 empty leaf left out (--keep-empty keeps them); 1 unit without words skipped\n"
        "1 sentences written to tale.jsonl\n"
    )
    tree = json.loads((tmp_path / "tale.jsonl").read_text())
    assert (tree["id"], tree["words"]) == ("TALE,1", ["saw", "the", "moon", "."])
    assert tree["metadata"] == {"lemmas": "see the moon ."}
    run("convert", "tale.psd", "kept.mrg", "--keep-empty", "--dialect", "helsinki", cwd=tmp_path)
    kept = "(IP-MAT (NP-SBJ *con*) (VBD saw-see) (NP-OB1 (D the-the) (N moon-moon)) (. .-.))\n"
    assert (tmp_path / "kept.mrg").read_text() == kept
    doubt = run("average", "kept.mrg", "kept.mrg", "-o", "x.dbr", cwd=tmp_path, code=1).stderr
    assert "kept.mrg: the dialect is not clear: " in doubt
    assert "--dialect helsinki or --dialect ptb" in doubt


def test_patterns_and_folders(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in {"a.mrg": "(S (X a))", "b.mrg": "(S (X b))", "README": "x"}.items():
        (tmp_path / "in" / name).write_text(text)
    told = run("convert", "in", "out/", "--to", "alpino", "--glob", "*.mrg", cwd=tmp_path).stderr
    assert told == "2 sentences written to out/\n"
    assert sorted(os.listdir(tmp_path / "out")) == ["1.xml", "2.xml"]
    told = run("stats", "in", cwd=tmp_path).stderr
    assert told == "in: 1 file is no treebank, skipped: in/README\n"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
def test_a_device_without_end_is_no_corpus(tmp_path):
    told = run(
        "train", "tn-lcfrs-small", "--override", 'data.train=["/dev/zero"]', cwd=tmp_path, code=1
    ).stderr
    assert "/dev/zero is neither a file nor a folder" in told
    assert load_config("tn-lcfrs-small", ["data.dialect=helsinki"]).data.dialect == "helsinki"
