"""Configurations: presets, files that extend them, overrides, and what is wrong with them."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from treemean.errors import FormatError, InvalidOption
from treemean.training import load_config, preset_names, resolve
from treemean.training.config import to_toml
from treemean.training.sections import flat

KINDS = {"tn-lcfrs", "tn-lcfrs-small", "tn-pcfg", "n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs"}


def test_there_is_a_preset_for_every_grammar():
    assert set(preset_names()) == KINDS


@pytest.mark.parametrize("name", sorted(KINDS))
def test_presets_are_complete_and_every_line_of_the_first_is_explained(name):
    text = files("treemean.training").joinpath("presets", f"{name}.toml").read_text("utf-8")
    resolved = resolve(name)
    assert set(flat(tomllib.loads(text))) == set(flat(resolved.config.to_dict()))
    assert set(resolved.origins.values()) == {f"preset {name}"}
    assert text.count("#") > 50


def test_the_published_settings():
    config = load_config("tn-lcfrs")
    assert config.grammar.ranks == (400, 4, 400, 4)
    assert (config.batches.size, config.optimiser.rate, config.optimiser.betas) == (20, 0.002, (0.75, 0.999))
    assert (config.optimiser.clip, config.training.epochs, config.training.patience) == (3.0, 30, 10)
    assert (config.data.vocabulary, config.data.max_length) == (10_000, 40)
    assert (load_config("c-pcfg").optimiser.rate, load_config("c-pcfg").batches.size) == (0.001, 4)
    assert load_config("tn-pcfg").grammar.ranks == (500, 0, 0, 0)


def test_a_file_extends_a_preset_or_another_file_and_overrides_count_most(tmp_path):
    (tmp_path / "base.toml").write_text('extends = "n-pcfg"\n[training]\nepochs = 7\npatience = 2\n')
    (tmp_path / "mine.toml").write_text(
        'extends = "base.toml"\n[training]\npatience = 3\n[data]\ntrain = "a.txt"\n'
    )
    resolved = resolve(tmp_path / "mine.toml", ["run.runs=4", "data.development=dev.dbr", "data.number=0"])
    config, origins = resolved.config, resolved.origins
    assert (config.training.epochs, config.training.patience, config.run.runs) == (7, 3, 4)
    assert config.data.train == (str(tmp_path / "a.txt"),)  # from the folder of the file that says so
    assert config.data.number == "0"
    assert origins["training.epochs"].endswith("base.toml")
    assert origins["training.patience"].endswith("mine.toml")
    assert origins["optimiser.rate"] == "preset n-pcfg"
    assert origins["run.runs"] == "override"


def test_what_is_shown_is_a_configuration(tmp_path):
    resolved = resolve("tn-lcfrs-small", ["data.train=['a b.txt', 'c\"d.txt']", "data.held_out=0.125"])
    path = tmp_path / "shown.toml"
    path.write_text(resolved.to_toml())
    assert load_config(path) == resolved.config
    path.write_text(to_toml(resolved.config))
    assert load_config(path) == resolved.config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epoch=3", "did you mean training.epochs?"),
        ("epochs=3", "there is no setting epochs, did you mean"),
        ("optimiser.epochs=3", "did you mean"),
        ("training.epochs=three", "training.epochs should be a whole number, not 'three'"),
        ("training.epochs=2.5", "should be a whole number"),
        ("training.epochs=true", "should be a whole number"),
        ("training.epochs=0", "training.epochs must be more than 0"),
        ("training.select=luck", "should be one of 'f1', 'likelihood'"),
        ("optimiser.betas=[0.5]", "should be a list of 2 numbers"),
        ("grammar.ranks=['a', 2, 3, 4]", "should be a list of whole numbers"),
        ("optimiser.betas=[0.5, 1.5]", "below 1"),
        ("data.lower_case=1", "should be true or false"),
        ("data.train=3", "a list of texts"),
        ("data.held_out=2", "between 0 and 1"),
        ("data.max_length=1", "2 or more"),
        ("grammar.kind=x-pcfg", "kind must be one of"),
        ("training", "an override looks like"),
        ("optimiser.rate=inf", "optimiser.rate must be more than 0 and finite"),
        ("optimiser.rate=nan", "optimiser.rate must be more than 0 and finite"),
        ("training.threads=100000", "training.threads must be from 0 to 1024"),
        ("run.init_seed=9223372036854775808", "from 0 to 2**63 - 1"),
    ],
)
def test_wrong_overrides_are_explained(override, message):
    with pytest.raises(InvalidOption) as error:
        load_config("tn-lcfrs", [override])
    assert message in str(error.value)


def test_wrong_files_are_explained(tmp_path):
    path = tmp_path / "c.toml"
    for text, message in [
        ("[training\n", "not valid TOML"),
        ('extends = "tn-lcrfs"\n', "did you mean tn-lcfrs"),
        ('extends = "c.toml"\n', "in a circle"),
        ("extends = 3\n", "should be a text"),
        ("[trainin]\nepochs = 3\n", "did you mean training"),
        ("epochs = 3\n", "there is no setting epochs"),
        ("[training]\nepochs = 3\n", "names no grammar.kind"),
    ]:
        path.write_text(text)
        with pytest.raises((InvalidOption, FormatError)) as error:
            load_config(path)
        assert message in str(error.value), text
    path.write_text('extends = "tn-lcfrs"\n[grammar]\nfloor = -1\n[optimiser]\nrate = 0.1\n')
    with pytest.raises(InvalidOption, match=r"c\.toml, section grammar: floor must be at least 0"):
        load_config(path)
    with pytest.raises(InvalidOption, match=r"^override, section optimiser: optimiser\.rate must be more"):
        load_config(path, ["optimiser.rate=-1", "grammar.floor=0"])
    path.write_bytes(b"# caf\xe9\n")
    with pytest.raises(FormatError, match="not valid UTF-8"):
        load_config(path)
    with pytest.raises(InvalidOption, match="no such file"):
        load_config(tmp_path / "absent.toml")
