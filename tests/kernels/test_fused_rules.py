"""From parameters to rules by kernels, against the plain version in float64: values and all gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from kernel_checks import rounded_at_random
from torch import Tensor

from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.triton.parameters import emissions, rank_rules

pytestmark = pytest.mark.usefixtures("poisoned")

VOCABULARY = 37
CONFIGS: dict[str, dict[str, Any]] = {
    "tn-lcfrs": {"discontinuous": 11, "ranks": (7, 3, 5, 2)},
    "tn-pcfg": {"ranks": (9, 0, 0, 0)},
}


def make_grammar(kind: str, seed: int = 0, **changes: Any) -> LowRankGrammar:
    torch.manual_seed(seed)
    sizes = {"nonterminals": 13, "preterminals": 21, "embedding": 19} | CONFIGS[kind] | changes
    grammar = build_grammar(GrammarConfig(kind, **sizes), VOCABULARY)
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        for parameter in grammar.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return grammar


def grow(grammar: LowRankGrammar, gain: float) -> None:
    """Multiply what each block of the network of emissions adds."""
    for block in grammar.emission_network[1:]:
        for layer in (0, 2):
            block.layers[layer].weight *= gain**0.5


def stack(grammars: list[LowRankGrammar], device: str) -> dict[str, Tensor]:
    every = [dict(grammar.named_parameters()) for grammar in grammars]
    return {
        name: torch.stack([one[name].detach() for one in every]).to(device).requires_grad_()
        for name in every[0]
    }


def difference(found: Tensor, expected: Tensor) -> float:
    """Return the norm of the difference, relative to that of what is expected; huge where that is 0."""
    off = (found.cpu().double() - expected).detach().norm()
    return float(off / expected.detach().norm().clamp(min=1e-30))


def gradients_of(
    rules: RankRules, parameters: Mapping[str, Tensor], lengths: Tensor | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Return log Z and its gradients, sentences weighted as in the mean of a batch."""
    value = rank_torch.log_partition(rules, lengths)
    weights = torch.linspace(0.5, 1.5, value.shape[-1], dtype=value.dtype, device=value.device)
    total = (torch.where(value.isfinite(), value, 0.0) * weights).sum() / value.shape[-1]
    gradients = torch.autograd.grad(
        total, list(parameters.values()), allow_unused=True, materialize_grads=True
    )
    return value.detach(), list(gradients)


CASES = {
    "gaps": ("tn-lcfrs", 1, {}),
    "no gaps": ("tn-pcfg", 1, {}),
    "floor": ("tn-lcfrs", 1, {"floor": 1e-2}),
    "two runs": ("tn-lcfrs", 2, {"wrapping": 2.0, "wrapped_words": 0.25}),
    "two runs without gaps": ("tn-pcfg", 2, {}),
    "small sizes": (
        "tn-lcfrs",
        1,
        {"embedding": 3, "ranks": (3, 2, 3, 2), "nonterminals": 2, "discontinuous": 3},
    ),
    "larger sizes": ("tn-lcfrs", 1, {"embedding": 33, "ranks": (37, 16, 43, 17), "preterminals": 35}),
}


#: Halves are tested where runs lie side by side, float32 where there is one; the others take long.
QUICK = {("no gaps", torch.float32), ("floor", torch.float32), ("two runs", torch.float16)}
ALL = [
    pytest.param(case, dtype, marks=[] if (case, dtype) in QUICK else pytest.mark.slow)
    for case in CASES
    for dtype in (torch.float32, torch.float16)
]


@pytest.mark.parametrize(("case", "dtype"), ALL)
def test_rules_and_gradients_are_those_of_the_plain_version(
    case: str, dtype: torch.dtype, device: str
) -> None:
    kind, runs, settings = CASES[case]
    grammars = [make_grammar(kind, seed, **settings) for seed in range(1, runs + 1)]
    words = torch.randint(VOCABULARY, (runs, 3, 5), generator=torch.Generator().manual_seed(5))
    words[:, 0, 1] = words[:, 0, 0]  # a word that stands twice
    lengths = torch.tensor([5, 2, 1])
    parameters = stack(grammars, device)
    rules = rank_rules(parameters, words.to(device), grammars[0].config, dtype=dtype)
    value, gradients = gradients_of(rules, parameters, lengths.expand(runs, 3).to(device))
    # Rounded to halves, some ReLU are on the other side of their kink, which shows where units are so few.
    tolerance, tolerance_each, tolerance_whole = (
        (1e-5, 2e-4, 1e-5) if dtype == torch.float32 else (2e-5, 0.05, 2e-3)
    )
    for run, grammar in enumerate(grammars):
        grammar.double()
        own = dict(grammar.named_parameters())
        expected_rules = grammar.rules(words[run])
        factor = (rules.scales[run].cpu() - expected_rules.scales).exp()[..., None]
        assert difference(rules.views[run].cpu() * factor, expected_rules.views) < tolerance
        for name in ("continuous", "root", *["discontinuous"] * grammar.config.has_gaps):
            assert difference(getattr(rules, name)[run], getattr(expected_rules, name)) < tolerance, name
        expected, expected_gradients = gradients_of(expected_rules, own, lengths)
        torch.testing.assert_close(value[run].cpu().double(), expected, rtol=0, atol=5 * tolerance)
        found = [gradient[run] for gradient in gradients]
        for name, gradient, wanted in zip(own, found, expected_gradients):
            off = difference(gradient, wanted)
            assert off <= tolerance_each, f"{name} is off by {off}"
        whole, expected_whole = (torch.cat([x.flatten() for x in y]) for y in (found, expected_gradients))
        assert difference(whole, expected_whole) <= tolerance_whole


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_preterminals_with_one_word_emit_it_for_sure_however_large_their_logits(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, device: str
) -> None:
    """Hidden layers grow beyond what halves hold, and sums on a GPU depend on the shape of a product."""
    grammar = make_grammar("tn-pcfg")
    with torch.no_grad():
        grammar.emission_network[3].layers[2].weight *= 3e4
        hidden = grammar.emission_network(grammar.symbols[13:])
    assert hidden.max() > 65_504
    assert hidden.max() / hidden.amax(1).median() < 100  # all of them are large
    monkeypatch.setattr(emissions, "product", rounded_at_random(emissions.product))
    log_probs = (hidden.double() @ grammar.words.double().T).log_softmax(1)
    likely = log_probs.max(0).values > -1e-6
    words = likely.nonzero()[:6].view(1, 2, 3)
    rules = rank_rules(stack([grammar], device), words.to(device), grammar.config, dtype=dtype)
    assert rules.scales.cpu().abs().max() < 1e-5
    expected = grammar.double().rules(words[0])
    assert difference(rules.views[0] * rules.scales[0].exp()[..., None], expected.views) < 1e-4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("gain", [12.0, 60.0])
def test_networks_that_have_grown_keep_their_digits(gain: float, dtype: torch.dtype, device: str) -> None:
    """Hidden layers of trained grammars are in the thousands; those of the second case are beyond halves."""
    grammar = make_grammar("tn-pcfg", seed=1)
    with torch.no_grad():
        grow(grammar, gain)
        grammar.words *= 0.1
        largest = float(grammar.emission_network(grammar.symbols[13:]).max())
    assert 1e3 < largest < 1e4 if gain == 12 else 65_504 < largest < 1e6
    words = torch.randint(VOCABULARY, (1, 3, 5), generator=torch.Generator().manual_seed(5))
    parameters = stack([grammar], device)
    rules = rank_rules(parameters, words.to(device), grammar.config, dtype=dtype)
    value, gradients = gradients_of(rules, parameters)
    own = dict(grammar.double().named_parameters())
    expected, expected_gradients = gradients_of(grammar.rules(words[0]), own)
    # Float32 has no more digits than that for logits as large as these.
    torch.testing.assert_close(value[0].cpu().double(), expected, rtol=0, atol=2e-7 * largest)
    for name, gradient, wanted in zip(own, gradients, expected_gradients):
        off = difference(gradient[0], wanted)
        assert off <= (1e-3 if dtype == torch.float32 else 2e-2), f"{name} is off by {off}"
    whole, expected_whole = (
        torch.cat([gradient.cpu().flatten() for gradient in some]) for some in (gradients, expected_gradients)
    )
    assert difference(whole, expected_whole) <= 2e-3


def test_words_of_preterminals_that_emit_nothing_else_are_left_where_they_are(device: str) -> None:
    """Their vectors are so large that rounding would move words more than all that is to be learnt."""
    grammar = make_grammar("tn-pcfg", seed=1)
    with torch.no_grad():
        grow(grammar, 12.0)
        hidden = grammar.emission_network(grammar.symbols[13:])
        sure = (hidden @ grammar.words.T).softmax(1).max(1)
    assert hidden.norm(dim=1).max() > 3000
    word = int(sure.indices.mode().values)  # that of most preterminals
    assert sure.values[sure.indices == word].min() > 0.999
    words = torch.full((1, 3, 5), word)
    words[0, [0, 1, 2], [2, 1, 2]] = torch.tensor([4, 11, 11])
    lengths = torch.tensor([5, 4, 3])
    parameters = stack([grammar], device)
    rules = rank_rules(parameters, words.to(device), grammar.config)
    _, gradients = gradients_of(rules, parameters, lengths[None].to(device))
    own = dict(grammar.double().named_parameters())
    _, expected = gradients_of(grammar.rules(words[0]), own, lengths)
    place = list(own).index("words")
    found, wanted = gradients[place][0].cpu().double(), expected[place]
    assert difference(found, wanted) < 1e-3
    assert wanted[word].norm() < 1e-3
    assert found[word].norm() < 1e-3


def test_a_part_of_a_batch_of_several_runs_is_learnt_from_as_if_it_were_whole(device: str) -> None:
    grammars = [make_grammar("tn-pcfg", seed) for seed in (1, 2)]
    words = torch.randint(VOCABULARY, (2, 4, 3), generator=torch.Generator().manual_seed(5)).to(device)
    parameters = stack(grammars, device)
    found = [
        gradients_of(rank_rules(parameters, some, grammars[0].config), parameters)
        for some in (words[:, 1:3], words[:, 1:3].clone())
    ]
    assert torch.equal(found[0][0], found[1][0])
    assert all(map(torch.equal, found[0][1], found[1][1]))


@pytest.mark.parametrize(
    "name",
    ["left.0.weight", "parent.0.bias", "emission_network.2.layers.0.weight", "words", "root_embedding"],
)
def test_what_is_no_number_is_not_lost(name: str, device: str) -> None:
    """Compiled kernels take the larger of a number and no number for the number, unless they are told."""
    grammar = make_grammar("tn-pcfg")
    parameters = stack([grammar], device)
    with torch.no_grad():
        parameters[name].view(-1)[0] = torch.nan
    words = torch.tensor([[[0, 1, 2]]], device=device)
    rules = rank_rules(parameters, words, grammar.config)
    assert not all(bool(part.isfinite().all()) for part in (rules.views, rules.continuous, rules.root))


@pytest.mark.parametrize("name", ["views", "continuous", "root"])
def test_gradients_that_are_no_numbers_are_not_lost(name: str, device: str) -> None:
    grammar = make_grammar("tn-pcfg")
    parameters = stack([grammar], device)
    rules = rank_rules(parameters, torch.tensor([[[0, 1, 2]]], device=device), grammar.config)
    target = getattr(rules, name)
    gradient = torch.ones_like(target)
    gradient.view(-1)[1] = torch.nan
    found = torch.autograd.grad(target, list(parameters.values()), gradient, materialize_grads=True)
    assert not all(bool(part.isfinite().all()) for part in found)


@pytest.mark.parametrize("rare", [False, True])
def test_gradients_of_small_parts_keep_their_digits(rare: bool, device: str) -> None:
    """Attachments that are chosen almost alike, and symbols of fan-out two that are hardly ever used."""
    torch.manual_seed(2)
    sizes = {"nonterminals": 13, "preterminals": 21, "embedding": 19} | CONFIGS["tn-lcfrs"]
    grammar = build_grammar(GrammarConfig("tn-lcfrs", **sizes), VOCABULARY)
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        for name, parameter in grammar.named_parameters():
            parameter *= 2.0 if name.startswith("rank") or name == "words" else 1.0
        if rare:  # parents hardly ever choose a rank with a discontinuous child
            grammar.parent[0].bias += 1
            grammar.rank2 -= 0.9
    words = torch.randint(VOCABULARY, (1, 2, 5), generator=torch.Generator().manual_seed(5))
    parameters = stack([grammar], device)
    _, gradients = gradients_of(rank_rules(parameters, words.to(device), grammar.config), parameters)
    own = dict(grammar.double().named_parameters())
    _, expected = gradients_of(grammar.rules(words[0]), own)
    checked = 0
    for name, gradient, wanted in zip(own, gradients, expected):
        if name.startswith(("attachment", "gapped", "discontinuous", "root")):
            off = difference(gradient[0], wanted)
            assert off <= 1e-2, f"{name} is off by {off}"
            checked += 1
    assert checked == 26


def test_gradients_do_not_depend_on_the_weight_of_the_batch(device: str) -> None:
    grammar = make_grammar("tn-lcfrs")
    words = torch.randint(VOCABULARY, (1, 2, 3), generator=torch.Generator().manual_seed(5)).to(device)
    parameters = stack([grammar], device)

    def weighted(weight: float) -> tuple[Tensor, ...]:
        value = rank_torch.log_partition(rank_rules(parameters, words, grammar.config))
        total = (value * value.new_tensor([weight, weight / 3])).sum()
        return torch.autograd.grad(total, list(parameters.values()))

    for small, large in zip(weighted(2.0**-20), weighted(2.0**20)):
        assert torch.equal(small, large * 2.0**-40)


def test_words_are_found_wherever_they_stand(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    grammar = make_grammar("tn-pcfg")
    words = torch.tensor(
        [[[1, 2, 3, 1, 4, 5, 1], [6, 1, 2, 7, 8, 9, 2], [1, 7, 7, 3, 2, 0, 36]]], device=device
    )
    parameters = stack([grammar], device)

    def of_words() -> Tensor:
        value = rank_torch.log_partition(rank_rules(parameters, words, grammar.config, dtype=torch.float32))
        return torch.autograd.grad(value.sum(), parameters["words"])[0]

    at_once = of_words()
    monkeypatch.setattr(emissions, "_LOOK", 8)
    monkeypatch.setattr(emissions, "_AT_ONCE", 4)
    monkeypatch.setattr(emissions, "_POSITIONS", 2)
    torch.testing.assert_close(of_words(), at_once)


def test_nothing_is_kept_without_gradients(device: str) -> None:
    grammar = make_grammar("tn-lcfrs")
    words = torch.zeros(1, 2, 3, dtype=torch.long, device=device)
    parameters = stack([grammar], device)
    with torch.no_grad():
        silent = rank_rules(parameters, words, grammar.config)
    kept = rank_rules(parameters, words, grammar.config)
    assert not silent.views.requires_grad
    assert kept.views.requires_grad
    assert not kept.scales.requires_grad
    assert torch.equal(silent.views, kept.views)
