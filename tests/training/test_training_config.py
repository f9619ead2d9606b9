"""Configurations: presets, files that extend them, overrides, and what is wrong with them."""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files

import pytest

from parser_instances import tiny_config
from treemean.errors import FormatError, InvalidOption
from treemean.experiments import config as experiments
from treemean.training import load_config, preset_names, resolve, train
from treemean.training.config import _toml_value, to_toml
from treemean.training.sections import flat

KINDS = {
    "tn-lcfrs",
    "tn-lcfrs-small",
    "tn-lcfrs-text",
    "tn-pcfg",
    "tn-pcfg-text",
    "n-pcfg",
    "c-pcfg",
    "n-lcfrs",
    "c-lcfrs",
}


def test_there_is_a_preset_for_every_grammar():
    assert set(preset_names()) == KINDS


def test_the_first_preset_is_complete_and_explained_and_the_others_extend_it(tmp_path, monkeypatch):
    text = files("treemean.training").joinpath("presets", "tn-lcfrs.toml").read_text("utf-8")
    settings = set(flat(tomllib.loads(text)))
    assert settings == set(flat(experiments.load_config("tn-lcfrs").to_dict()))
    assert text.count("#") > len(settings)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tn-lcfrs").write_text('extends = "nothing"\n')  # presets do not look at files
    for name in KINDS - {"tn-lcfrs"}:
        origins = set(experiments.resolve(name).origins.values())
        assert origins <= {f"preset {known}" for known in KINDS}
        assert {f"preset {name}", "preset tn-lcfrs"} <= origins


def test_training_leaves_the_section_of_ensembles_to_experiments(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('extends = "n-pcfg"\n[ensemble]\nkeep = 0\n')
    assert load_config(path, ["ensemble.keep=0"]) == load_config("n-pcfg")
    with pytest.raises(InvalidOption, match=r"ensemble\.keep must be from 1 to"):
        experiments.load_config(path)
    given = experiments.load_config("n-pcfg", ["ensemble.keep=3"])
    assert given.deciding() == load_config("n-pcfg").deciding()


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
    assert origins["optimiser.rate"] == "preset n-lcfrs"  # which n-pcfg extends
    assert origins["run.runs"] == "override"


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    (tmp_path / "c.toml").write_text('extends = "n-pcfg"\n[run]\nruns = 3\n', encoding="utf-8-sig")
    assert load_config(tmp_path / "c.toml").run.runs == 3


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
        ("training.epoch=3", "Did you mean training.epochs?"),
        ("epochs=3", "there is no setting epochs. Did you mean"),
        ("optimiser.epochs=3", "Did you mean"),
        ("training.epochs=three", "training.epochs should be a whole number, not 'three'"),
        ("training.epochs=2.5", "should be a whole number"),
        ("training.epochs=true", "should be a whole number"),
        ("training.epochs=0", "training.epochs must be from 1 to 1000000000, not 0"),
        ("training.epochs=100000000000", "training.epochs must be from 1 to"),
        ("training.select=luck", "should be one of 'f1', 'likelihood'"),
        ("optimiser.betas=[0.5]", "should be a list of 2 numbers"),
        ("grammar.ranks=['a', 2, 3, 4]", "should be a list of whole numbers"),
        ("optimiser.betas=[0.5, 1.5]", "below 1"),
        ("data.lower_case=1", "should be true or false"),
        ("data.train=3", "a list of texts"),
        ("data.held_out=2", "data.held_out must be more than 0 and less than 1, not 2"),
        ("data.max_length=1", "data.max_length must be from 2"),
        ("grammar.kind=x-pcfg", "kind must be one of"),
        ("grammar.nonterminals=0", "grammar: nonterminals must be 1 or more for tn-lcfrs, not 0"),
        ("grammar.preterminals=0", "grammar: preterminals must be 1 or more for tn-lcfrs, not 0"),
        ("grammar.discontinuous=0", "discontinuous must be 1 or more for tn-lcfrs, not 0 (PCFGs have none)"),
        ("training", "an override looks like"),
        ("optimiser.rate=inf", "optimiser.rate must be more than 0 and at most 1e+30, not inf"),
        ("optimiser.rate=nan", "optimiser.rate must be more than 0 and at most 1e+30, not nan"),
        ("optimiser.rate=1e300", "optimiser.rate must be more than 0 and at most 1e+30, not 1e+300"),
        ("optimiser.weight_decay=1e300", "optimiser.weight_decay must be from 0 to 1000, not 1e+300"),
        ("optimiser.weight_decay=nan", "optimiser.weight_decay must be from 0 to 1000, not nan"),
        ("optimiser.weight_decay=inf", "optimiser.weight_decay must be from 0 to 1000, not inf"),
        ("optimiser.epsilon=1e-300", "optimiser.epsilon must be from 1e-30 to 1, not 1e-300"),
        ("optimiser.epsilon=2", "optimiser.epsilon must be from 1e-30 to 1, not 2"),
        ("checkpoint.seconds=nan", "checkpoint.seconds must be from 0 to"),
        ("batches.size=99999999999999999999", "batches.size must be from 1 to 1000000, not 9999"),
        ("batches.at_once=99999999999999999999", "batches.at_once must be from 0 to 1000000, not 9999"),
        pytest.param("training.epochs=" + 400 * "9", "training.epochs has too many digits", id="400"),
        pytest.param("optimiser.rate=" + 400 * "9", "optimiser.rate has too many digits", id="as 400"),
        pytest.param(
            "optimiser.betas=[0, 0x" + 5000 * "f" + "]", "optimiser.betas has too many digits", id="0x"
        ),
        pytest.param("training.epochs=" + 5000 * "9", "override: training.epochs cannot be '9999", id="5000"),
        pytest.param("run.runs=" + 3000 * "[" + 3000 * "]", "run.runs cannot be '[[[[", id="brackets"),
        pytest.param(
            "run.runs=" + 200 * "[" + 200 * "]", "run.runs should be a whole number, not [[", id="200"
        ),
        ("training.device=meta", "training.device cannot be 'meta', which computes no numbers"),
        ("data.train=~no-such-user/x.txt", "data.train names the home folder of an unknown user"),
        ('data.development="a\\u0000b"', "data.development has a name that no file can have"),
        ("data.train=", "data.train has an empty file name"),
        ("data.train=['a.txt', '']", "data.train has an empty file name"),
        ("data.format=foo", "data.format should be one of '', 'text', 'alpino'"),
        ("data.development_format=foo", "data.development_format should be one of"),
        ("ensemble.weigh=luck", "ensemble.weigh should be one of 'discontinuous', 'overall'"),
        ("ensemble.protocol=luck", "ensemble.protocol should be one of 'standard', 'paper'"),
        ("training.threads=100000", "training.threads must be from 0 to 1024"),
        ("run.init_seed=9223372036854775808", "run.init_seed must be from 0 to 9223372036854775807"),
    ],
)
def test_wrong_overrides_are_explained(override, message):
    with pytest.raises(InvalidOption) as error:
        experiments.load_config("tn-lcfrs", [override])
    assert message in str(error.value)
    assert str(error.value).startswith(("override", "an override"))
    assert len(str(error.value)) < 250


def test_text_in_place_of_a_configuration_is_explained(tmp_path):
    (tmp_path / "text.txt").write_text("De hond slaapt .\n")
    with pytest.raises(
        FormatError, match=r"not valid TOML.*give a preset and --override data\.train=.*text\.txt"
    ):
        load_config(str(tmp_path / "text.txt"))


def test_wrong_files_are_explained(tmp_path):
    path = tmp_path / "c.toml"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.toml").symlink_to(path)
    for text, message in [
        ("[training\n", "not valid TOML"),
        ('extends = "tn-lcrfs"\n', "Did you mean tn-lcfrs"),
        ('extends = "c.toml"\n', "in a circle"),
        ("extends = 3\n", "extends should be the name of a preset or of a file"),
        ("[trainin]\nepochs = 3\n", "Did you mean training"),
        ("epochs = 3\n", "there is no setting epochs"),
        ("[training]\nepochs = 3\n", "c.toml: the configuration names no grammar.kind"),
        ("", "c.toml: the configuration names no grammar.kind"),
        ('training = "x"\n', "c.toml: training is a section: write [training]"),
        ("[[training]]\nepochs = 3\n", "c.toml: training is a section: write [training]"),
        ('extends = "sub/../c.toml"\n', "in a circle"),
        ('extends = "sub/link.toml"\n', "in a circle"),
        ('extends = "a\\u0000b"\n', "c.toml: there is no configuration 'a\\x00b'"),
        (
            'extends = "n-pcfg"\n[data]\ntrain = "a\\u0000b"\n',
            "c.toml: data.train has a name that no file can have",
        ),
        (f"[training]\nepochs = {5000 * '9'}\n", "c.toml:2: a number has too many digits"),
        (f"[run]\nruns = {400 * '9'}\n", "c.toml: run.runs has too many digits"),
        (f"x = {3000 * '['}\n", "c.toml: not a configuration: brackets are nested too deeply"),
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
    with pytest.raises(InvalidOption, match=r"there is no configuration '.*sub': that is a folder"):
        load_config(tmp_path / "sub")


def test_sizes_of_zero_are_for_what_a_grammar_does_not_have():
    assert load_config("tn-pcfg", ["grammar.discontinuous=0", "grammar.latent=0"]).grammar.discontinuous == 0
    changed = load_config("n-pcfg", ["grammar.kind=c-lcfrs"]).grammar  # the preset has no size for these
    assert (changed.discontinuous, changed.latent) == (15, 64)


def test_infinite_numbers_are_written_as_toml_has_them():
    """JSON's way to write them is another, and a folder with it could not be used again."""
    assert [_toml_value(value) for value in (math.inf, -math.inf, 1e22)] == ["inf", "-inf", "1e+22"]


def test_what_is_no_number_is_refused_and_leaves_no_folder_behind(tmp_path):
    for setting in ("checkpoint.seconds=nan", "optimiser.weight_decay=nan", "recovery.drift=nan"):
        with pytest.raises(InvalidOption, match=r"nan"):
            train(tiny_config(tmp_path, setting), tmp_path / "out")
    assert not (tmp_path / "out").exists()
