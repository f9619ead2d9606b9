"""Models on disk: as they were, or a clear error."""

from __future__ import annotations

import json
import pickle

import pytest
import torch
from safetensors.torch import save_file

from treemean.errors import FormatError, InvalidOption
from treemean.files.sealed import sealed, unsealed
from treemean.grammars import GrammarConfig, build_grammar
from treemean.parsing import Model, Normalisation, Vocabulary

torch.set_num_threads(1)


@pytest.fixture
def model() -> Model:
    torch.manual_seed(3)
    vocabulary = Vocabulary(["de", "kat", "slaapt"])
    config = GrammarConfig("tn-lcfrs", 4, 5, 3, ranks=(4, 2, 4, 2), embedding=8)
    grammar = build_grammar(config, len(vocabulary))
    return Model(grammar, vocabulary, Normalisation(number="#"), {"seed": 3})


def test_a_model_comes_back_as_it_was(model, tmp_path):
    model.save(tmp_path / "model")
    before = torch.random.get_rng_state()
    again = Model.load(tmp_path / "model")
    assert torch.equal(before, torch.random.get_rng_state())
    assert again.vocabulary == model.vocabulary
    assert again.normalisation == model.normalisation
    assert again.provenance == model.provenance
    words = torch.tensor([[1, 2, 3, 0]])
    assert torch.equal(again.grammar.log_prob(words), model.grammar.log_prob(words))


def test_precision_is_kept(model, tmp_path):
    model.grammar.double()
    model.save(tmp_path)
    assert next(Model.load(tmp_path).grammar.parameters()).dtype == torch.float64


def test_equal_models_have_equal_bytes(model, tmp_path):
    for name in ("a", "b"):
        model.save(tmp_path / name)
    for file in ("model.json", "model.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_loading_never_unpickles(model, tmp_path, monkeypatch):
    model.save(tmp_path)

    def refuse(*_args, **_options):
        raise AssertionError("something was unpickled")

    for owner, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (torch, "load")):
        monkeypatch.setattr(owner, name, refuse)
    Model.load(tmp_path)
    torch.save(model.grammar.state_dict(), tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match="checksum"):
        Model.load(tmp_path)


@pytest.mark.parametrize("size", [0, 100, -1])
def test_a_truncated_model_is_refused(model, tmp_path, size):
    model.save(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FormatError, match=r"model.safetensors: the file is damaged or incomplete"):
        Model.load(tmp_path)


def test_a_flipped_bit_is_noticed(model, tmp_path):
    model.save(tmp_path)
    path = tmp_path / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="checksum"):
        Model.load(tmp_path)


def change(tmp_path, **changes):
    """Change the description as one who writes a new checksum, too."""
    path = tmp_path / "model.json"
    path.write_bytes(sealed(unsealed(path.read_bytes()) | changes))


def test_a_model_of_another_version_is_refused(model, tmp_path):
    model.save(tmp_path)
    change(tmp_path, version=99)
    with pytest.raises(FormatError, match=r"model.json: a model of version 99; .* reads version 1"):
        Model.load(tmp_path)


def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(FormatError, match="absent: there is no such folder"):
        Model.load(tmp_path / "absent")
    with pytest.raises(FormatError, match="there is no model in this folder"):
        Model.load(tmp_path)
    model.save(tmp_path)
    change(tmp_path, vocabulary=None)
    with pytest.raises(FormatError, match="description of the model is damaged"):
        Model.load(tmp_path)
    (tmp_path / "model.json").write_text('{"format": "treemean mod')
    with pytest.raises(FormatError, match="description of the model is damaged"):
        Model.load(tmp_path)
    for text in ("[]", "null", "3", "[" * 100_000):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(FormatError, match=r"model\.json: the description of the model is damaged"):
            Model.load(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(FormatError, match="not the description of a model"):
        Model.load(tmp_path)


def test_any_flipped_bit_of_the_description_is_noticed_or_changes_nothing(model, tmp_path):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    data = path.read_bytes()
    told = unsealed(data)
    named = []
    for place in range(0, 8 * len(data), 5):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            Model.load(tmp_path)
        except FormatError as error:
            named.append(error.path)
            continue
        again = json.loads(flipped)
        assert {key: again[key] for key in told} == told  # spaces, or the name of the checksum
    assert set(named) == {str(path)}
    assert len(named) > len(data)


def test_models_without_a_checksum_of_the_description_are_read(model, tmp_path):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(unsealed(path.read_bytes())))
    assert Model.load(tmp_path).vocabulary == model.vocabulary


@pytest.mark.parametrize("value", [None, "text", 3, [1], {"a": None}])
@pytest.mark.parametrize("name", ["grammar", "normalisation", "vocabulary", "provenance", "tensors_sha256"])
def test_wrong_types_are_errors_that_name_the_file(model, tmp_path, name, value):
    model.save(tmp_path)
    change(tmp_path, **{name: value})
    if name == "provenance" and isinstance(value, dict):
        assert Model.load(tmp_path).provenance == value
        return
    with pytest.raises(FormatError, match=r"model\.(json|safetensors): "):
        Model.load(tmp_path)


def test_tensors_of_another_grammar_are_refused(model, tmp_path):
    import hashlib

    model.save(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file({"x": torch.zeros(2)}, path)
    change(tmp_path, tensors_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(FormatError, match="not those of the grammar described"):
        Model.load(tmp_path)


def test_a_description_of_other_sizes_is_refused_in_one_line(model, tmp_path):
    """However large they are: nothing is allocated for them."""
    model.save(tmp_path)
    grammar = json.loads((tmp_path / "model.json").read_text())["grammar"]
    for name, size in (("embedding", 4096), ("nonterminals", 10**11), ("nonterminals", 10**19)):
        change(tmp_path, grammar=grammar | {name: size})
        with pytest.raises(FormatError, match=r"not those of the grammar described|must be at most") as error:
            Model.load(tmp_path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("device", ["nowhere", "cuda:99", "meta", "vulkan", "privateuseone"])
def test_devices_that_cannot_be_used_are_told(model, tmp_path, device):
    model.save(tmp_path)
    with pytest.raises(InvalidOption, match=f"the device '{device}' cannot be used"):
        Model.load(tmp_path, device=device)
