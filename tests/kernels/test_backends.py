"""The choice between kernels and the vectorised version, and grammars that use kernels; NaNs of kernels."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grammar_instances import tiny_grammar
from parser_instances import tiny_config
from treemean.errors import NumericalError
from treemean.grammars import Grammar, backends
from treemean.grammars.dense import trial as dense_trial
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.grammar import DenseGrammar
from treemean.grammars.dense.triton import compound
from treemean.grammars.dense.triton import partition as dense_partition
from treemean.grammars.dense.triton.compound import lstm_kernels
from treemean.grammars.gpu import emission_kernels as shared_kernels
from treemean.grammars.gpu.matrices import precision
from treemean.grammars.nan_policy import Careful
from treemean.grammars.rank import trial as rank_trial
from treemean.grammars.rank import triton as kernels
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.triton import one_grammar, partition
from treemean.grammars.rank.triton import parameters as fused
from treemean.grammars.rank.triton.parameters import backward_kernels, forward_kernels
from treemean.grammars.rank.triton.parameters import rules as fused_rules
from treemean.grammars.rank.triton.posteriors import compact_posteriors
from treemean.training import StepOutcome
from treemean.training.distributed import World
from treemean.training.gpu.objective import objective_of
from treemean.training.learner import EagerLearner, Request


def uses_kernels(backend: str, sample: torch.Tensor, *, dense: bool = False) -> bool:
    trial = dense_trial.TRIAL if dense else rank_trial.trial_of(LowRankGrammar, ())
    return backends.uses_kernels(backend, sample, trial)


def cases(every: dict[str, Any], *quick: str) -> list[Any]:
    """Return parameters of a test; all but some wait for `make test-slow`, since each tries kernels anew."""
    return [
        pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name not in quick))
        for name, case in every.items()
    ]


@pytest.fixture(autouse=True)
def _tell_again() -> None:
    """Let what was told in one test be told in the next, too."""
    backends.tell.cache_clear()


@pytest.fixture
def _ask_again() -> Iterator[None]:
    """Let kernels be tried anew, which takes a second or two, and forget what was found."""
    backends.problem_of_kernels.cache_clear()
    yield
    backends.problem_of_kernels.cache_clear()


ask_again = pytest.mark.usefixtures("_ask_again")


def grammars(kind: str, device: str) -> tuple[Grammar, Grammar]:
    """Return the same grammar by kernels and by the vectorised version in float64."""
    fast = tiny_grammar(kind, backend="triton", vocabulary_size=5, embedding=32).float().to(device)
    slow = tiny_grammar(kind, backend="torch", vocabulary_size=5, embedding=32)
    for grammar in (fast, slow):
        with torch.no_grad():
            for parameter in grammar.parameters():
                parameter.mul_(0.5)  # logits of the size that they have in grammars of many symbols
    return fast, slow


@pytest.mark.parametrize("kind", ["tn-lcfrs", pytest.param("tn-pcfg", marks=pytest.mark.slow)])
def test_a_grammar_by_kernels_is_the_same_grammar(kind: str, device: str) -> None:
    fast, slow = grammars(kind, device)
    words = torch.tensor([[0, 1, 2], [4, 3, 0], [2, 0, 0]])
    lengths = torch.tensor([3, 2, 1])
    value, expected = fast.log_prob(words.to(device), lengths), slow.log_prob(words, lengths)
    torch.testing.assert_close(value.detach().cpu().double(), expected.detach(), rtol=0, atol=5e-3)
    value[:2].sum().backward()
    expected[:2].sum().backward()
    for found, wanted in zip(fast.parameters(), slow.parameters()):
        assert found.grad is not None
        assert wanted.grad is not None
        assert float((found.grad.cpu() - wanted.grad).norm()) <= 2e-2 * float(wanted.grad.norm()) + 1e-3
    spans, wanted_spans = (
        fast.posteriors(words.to(device), lengths).to("cpu"),
        slow.posteriors(words, lengths),
    )
    torch.testing.assert_close(spans.continuous.double(), wanted_spans.continuous, rtol=0, atol=5e-3)
    assert spans.discontinuous.keys() == wanted_spans.discontinuous.keys()
    assert fast.mbr(words.to(device), lengths) == slow.mbr(words, lengths)
    log_probs, trees = fast.log_prob_and_mbr(words.to(device), lengths)
    torch.testing.assert_close(log_probs.cpu().double(), expected.detach(), rtol=0, atol=1e-3)
    assert trees == slow.mbr(words, lengths)
    assert isinstance(fast, LowRankGrammar)
    assert fast.by_kernels()


@ask_again
def test_auto_is_kernels_for_float32_on_a_gpu_only(device: str) -> None:
    assert uses_kernels("auto", torch.zeros(1, device=device)) == (device == "cuda")
    assert not uses_kernels("auto", torch.zeros(1, device=device, dtype=torch.float64))
    assert not uses_kernels("naive", torch.zeros(1))
    assert not uses_kernels("torch", torch.zeros(1))
    assert uses_kernels("triton", torch.zeros(1, device=device))
    with pytest.warns(RuntimeWarning, match="float32"):
        assert not uses_kernels("triton", torch.zeros(1, device=device, dtype=torch.float64))


@ask_again
def test_without_triton_the_vectorised_version_is_used_and_said_so(monkeypatch: Any, device: str) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.warns(RuntimeWarning, match="Triton is missing.*torch is used instead"):
        assert not uses_kernels("triton", torch.zeros(1, device=device))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert not uses_kernels("triton", torch.zeros(1, device=device))


class Broken:
    """A function, or a kernel, that does not compile."""

    def __call__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no compiler here\nsecond line")

    def __getitem__(self, _: Any) -> Broken:
        return self


BROKEN = {
    "inside": (kernels, "log_partition", False),
    "inside, gradients": (partition, "fill_gradients", False),
    "rules": (forward_kernels, "choose_children", False),
    "rules, products": (fused_rules, "product", False),
    "rules, gradients": (backward_kernels, "child_gradients", False),
    "dense": (dense_kernels, "log_partition", True),
    "dense, gradients": (dense_partition, "Outside", True),
    "encoder": (lstm_kernels, "advance", True),
    "encoder, gradients": (lstm_kernels, "retreat", True),
    "emissions": (shared_kernels, "normalise", True),
}


@ask_again
@pytest.mark.parametrize(
    ("module", "name", "dense"),
    cases(BROKEN, "inside", "rules", "rules, gradients", "dense", "encoder, gradients", "emissions"),
)
def test_kernels_that_do_not_compile_are_not_used(
    monkeypatch: Any, device: str, module: Any, name: str, dense: bool
) -> None:
    monkeypatch.setattr(module, name, Broken())
    with pytest.warns(RuntimeWarning, match=r"cannot be compiled or run .*no compiler here\)"):
        assert not uses_kernels("triton", torch.zeros(1, device=device), dense=dense)


@ask_again
@pytest.mark.parametrize("backend", ["triton", "auto"])
def test_runs_that_are_trained_together_do_without_kernels_too(
    monkeypatch: Any, device: str, backend: str
) -> None:
    monkeypatch.setattr(kernels, "log_partition", Broken())
    words = torch.tensor([[[0, 1, 2]], [[4, 3, 0]]], device=device)
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is told, other tests take care
        for name in (backend, "torch"):
            both = [tiny_grammar("tn-lcfrs", backend=name, vocabulary_size=5).float().to(device)] * 2
            stacked = {name: torch.stack([p.detach()] * 2) for name, p in both[0].named_parameters()}
            losses.append(objective_of(both, stacked).loss(words, None).negative_log_likelihood)
    torch.testing.assert_close(*losses, rtol=0, atol=0)


WRONG = {
    "inside": (kernels, "log_partition", False, lambda log_z: log_z + 1.0),
    "inside, not a number": (kernels, "log_partition", False, lambda log_z: log_z + torch.nan),
    "rules": (fused, "rank_rules", False, lambda rules: replace(rules, root=1.1 * rules.root)),
    "rules, gradients": (
        fused,
        "rank_rules",
        False,
        lambda rules: replace(rules, views=rules.views.detach()),
    ),
    "encoder": (compound, "largest_states", True, lambda states: 0.9 * states),
    "emissions, gradients": (
        compound,
        "word_log_probs",
        True,
        lambda log_probs: log_probs.detach() + 0 * log_probs,
    ),
}


@ask_again
@pytest.mark.parametrize(
    ("module", "name", "dense", "change"),
    cases(WRONG, "inside, not a number", "rules, gradients", "emissions, gradients"),
)
def test_kernels_that_are_wrong_are_not_used(
    monkeypatch: Any, device: str, module: Any, name: str, dense: bool, change: Callable[[Any], Any]
) -> None:
    plain = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *arguments: change(plain(*arguments)))
    with pytest.warns(RuntimeWarning, match="wrong"):
        assert not uses_kernels("triton", torch.zeros(1, device=device), dense=dense)


@ask_again
@pytest.mark.parametrize("dense", [False, True])
def test_kernels_are_tried_once_and_leave_no_trace(monkeypatch: Any, device: str, dense: bool) -> None:
    sample, state = torch.zeros(1, device=device), torch.get_rng_state()
    with torch.no_grad(), precision(torch.float32):  # wherever it is asked
        assert uses_kernels("triton", sample, dense=dense)
    assert torch.equal(torch.get_rng_state(), state)
    monkeypatch.setattr(dense_trial if dense else rank_trial, "apart", Broken())
    assert uses_kernels("triton", sample, dense=dense)


def dense_grammars(kind: str, device: str) -> tuple[DenseGrammar, Grammar]:
    """Return the same grammar of few symbols by kernels, which have been tried, and in float64."""
    fast = tiny_grammar(kind, backend="triton", vocabulary_size=5).float().to(device)
    assert isinstance(fast, DenseGrammar)
    assert uses_kernels("triton", fast.nonterminals, dense=True)
    return fast, tiny_grammar(kind, backend="torch", vocabulary_size=5)


# What is no number is told by the interpreter, too.
not_numbers = pytest.mark.filterwarnings(
    "ignore:All-NaN slice:RuntimeWarning",
    "ignore:invalid value:RuntimeWarning",
    "ignore:overflow encountered:RuntimeWarning",
)


def some_grammars(kind: str, device: str) -> tuple[LowRankGrammar | DenseGrammar, Grammar]:
    """Return a grammar by kernels, which have been tried, and the same one in float64."""
    fast, slow = dense_grammars(kind, device) if kind[0] in "nc" else grammars(kind, device)
    assert isinstance(fast, LowRankGrammar | DenseGrammar)
    assert fast.by_kernels()
    return fast, slow


@not_numbers
@pytest.mark.parametrize(
    ("kind", "module", "name"),
    [
        ("tn-lcfrs", kernels, "log_partition"),
        ("n-lcfrs", dense_kernels, "log_partition"),
        ("c-pcfg", compound, "word_log_probs"),
        pytest.param("c-pcfg", compound, "largest_states", marks=pytest.mark.slow),
    ],
)
def test_steps_whose_log_z_is_not_finite_change_nothing_unless_they_are_exact(
    monkeypatch: Any, device: str, tmp_path: Path, kind: str, module: Any, name: str
) -> None:
    fast, _ = some_grammars(kind, device)
    words = torch.tensor([[0, 1, 2], [4, 3, 3]], device=device)
    request = Request(words, None, 6, rate=0.1, limit=math.inf)
    learner = EagerLearner(fast, tiny_config(tmp_path), seed=1, world=World())
    before = {name: x.clone() for name, x in learner.state().items() if not name.startswith("random")}
    plain = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **k: plain(*a, **k) * torch.nan)
    assert fast.log_prob(words).isnan().all()
    outcome = learner.step(request)
    assert outcome[StepOutcome.LIKELIHOOD].isnan()
    assert outcome[StepOutcome.APPLIED] == 0
    after = learner.state()
    assert all(torch.equal(before[name], after[name]) for name in before)
    again = learner.step(replace(request, exact=True))
    assert again.isfinite().all()
    assert again[StepOutcome.APPLIED] == 1


@not_numbers
@pytest.mark.parametrize("kind", ["tn-lcfrs", "c-lcfrs"])
def test_posteriors_that_are_not_finite_are_computed_again(monkeypatch: Any, device: str, kind: str) -> None:
    fast, slow = some_grammars(kind, device)
    words, lengths = torch.tensor([[0, 1, 2], [4, 3, 0]]), torch.tensor([3, 2])
    careful, there = Careful(fast), words.to(device)
    expected = slow.mbr(words, lengths)
    assert careful.compute(2, lambda g: g.mbr(there, lengths)) == expected
    assert careful.again == 0
    if kind == "tn-lcfrs":
        module, name = one_grammar, "compact_posteriors"
    else:
        module, name = dense_kernels, "span_posteriors"
    plain = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a: replace(found := plain(*a), continuous=found.continuous / 0))
    with pytest.raises(NumericalError, match="sentence 1 of the batch has posteriors that are not finite"):
        fast.mbr(there, lengths)
    assert careful.compute(2, lambda g: g.mbr(there, lengths)) == expected
    assert careful.compute(2, lambda g: g.log_prob_and_mbr(there, lengths))[1] == expected
    assert careful.again == 4


def test_which_posteriors_are_not_finite_is_told(device: str) -> None:
    """One wrong cell is enough, continuous or not, in the form of kernels and in the common one."""
    fast, _ = some_grammars("tn-lcfrs", device)
    words = torch.tensor([[0, 1, 2, 3], [4, 3, 0, 1]], device=device)
    for continuous, wrong in itertools.product([True, False], [torch.nan, torch.inf]):
        found = compact_posteriors(fast.rules(words).stack(), torch.tensor([[4, 4]], device=device))
        found.check_finite()
        found.spans().check_finite()
        if continuous:
            found.continuous[1, 0, 2] = wrong
        else:
            found.cells[1, -1] = wrong
        for form in (found, found.spans()):
            with pytest.raises(NumericalError, match="sentence 2 of the batch"):
                form.check_finite()
