from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from treemean.evaluation import PROTOCOLS, get_protocol


def test_the_named_protocols() -> None:
    assert list(PROTOCOLS) == ["standard", "paper", "discodop", "sentence"]
    assert all(get_protocol(name).name == name for name in PROTOCOLS)
    own = replace(get_protocol("paper"), name="own", max_gold_fan_out=None)
    assert get_protocol(own) is own
    with pytest.raises(FrozenInstanceError):
        own.name = "other"  # type: ignore[misc]


def test_descriptions_say_what_differs() -> None:
    standard, paper, discodop, sentence = (str(protocol) for protocol in PROTOCOLS.values())
    assert "gold fan-out: all counted" in standard
    assert "labels: not compared" in standard
    assert "the same words and the same label" in str(get_protocol("standard", labelled=True))
    assert get_protocol("standard", labelled=True).title == "standard (labelled)"
    assert "above 2 left out" in paper
    assert "each of its copies if missed" in paper
    assert "labelled ROOT, TOP, VROOT are dropped" in discodop
    assert "length limit: with punctuation" in discodop
    assert "means over sentences" in sentence
    assert "uppermost constituent over the whole sentence is dropped, further ones are counted" in sentence
    assert "of fewer than 2 words are left out" in sentence
    assert "gold fan-out: all counted" in sentence
    counted = replace(get_protocol("paper"), drop_whole_sentence=False)
    assert "root: counted" in str(counted)
