"""The interface of all grammars: batches, short sentences, gradients, configuration."""

from __future__ import annotations

import resource

import pytest
import torch
from torch.func import functional_call

from commands import python
from grammar_instances import tiny_grammar
from treemean.errors import InvalidOption
from treemean.grammars import KINDS, GrammarConfig, backends, build_grammar
from treemean.grammars.config import PUBLISHED
from treemean.grammars.dense.grammar import DenseGrammar

torch.set_num_threads(1)
WORDS = torch.randint(6, (5, 8), generator=torch.Generator().manual_seed(1))
LENGTHS = torch.tensor([8, 5, 1, 2, 7])


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_mixed_lengths_is_its_sentences_one_by_one(kind: str) -> None:
    grammar = tiny_grammar(kind, 6)
    padded = WORDS.clone()
    padded[torch.arange(8) >= LENGTHS[:, None]] = 99  # anything, even what is no word
    together = grammar.log_prob(padded, LENGTHS)
    posteriors, entropy = grammar.posteriors(padded, LENGTHS), grammar.entropy(padded, LENGTHS)
    mbr, viterbi = grammar.mbr(padded, LENGTHS), grammar.viterbi(padded, LENGTHS)
    for k, length in enumerate(LENGTHS.tolist()):
        one = WORDS[k : k + 1, :length]
        torch.testing.assert_close(grammar.log_prob(one), together[k : k + 1], rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(grammar.entropy(one), entropy[k : k + 1], rtol=1e-10, atol=1e-10)
        alone = grammar.posteriors(one)
        for mask in range(1, 1 << 8):
            assert posteriors.of(k, mask) == pytest.approx(alone.of(0, mask), abs=1e-11)
        assert grammar.mbr(one) == [mbr[k]]
        assert grammar.viterbi(one) == [viterbi[k]]


@pytest.mark.parametrize("kind", KINDS)
def test_one_word_has_no_derivation_and_no_gradient(kind: str) -> None:
    grammar = tiny_grammar(kind, 6)
    for words in (WORDS[:2, :1], WORDS[:2, :4]):
        lengths = torch.tensor([1, 1])
        value = grammar.log_prob(words, lengths)
        assert (value == -torch.inf).all()
        value.sum().backward()
        for parameter in grammar.parameters():
            assert parameter.grad is None or (parameter.grad == 0).all()
        assert grammar.mbr(words, lengths) == grammar.viterbi(words, lengths) == [[], []]
        assert grammar.sample(words, lengths, count=2) == [[[], []], [[], []]]
        assert grammar.entropy(words, lengths).tolist() == [0.0, 0.0]
        assert grammar.posteriors(words, lengths).of(0, 1) == 1.0
    assert grammar.mbr(WORDS[:1, :2]) == [[3]]


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_of_one_word_leave_the_gradients_of_others_alone(kind: str) -> None:
    grammar = tiny_grammar(kind, 6)

    def gradients(words, lengths):
        grammar.zero_grad()
        value = grammar.log_prob(words, lengths)
        value[value.isfinite()].sum().backward()
        return [p.grad.clone() for p in grammar.parameters() if p.grad is not None]

    mixed, alone = gradients(WORDS[1:3], LENGTHS[1:3]), gradients(WORDS[1:2, :5], None)
    for a, b in zip(mixed, alone, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_naive_and_vectorised_grammars_agree(kind: str) -> None:
    grammar = tiny_grammar(kind, 6)
    naive = build_grammar(grammar.config.replace(backend="naive"), 6).double()
    naive.load_state_dict(grammar.state_dict())
    lengths = torch.tensor([4, 5, 1, 2, 3])
    values = []
    for model in (grammar, naive):
        loss = model.loss(WORDS[:, :5], lengths, generator=torch.Generator().manual_seed(2))
        total = loss.negative_log_likelihood + loss.divergence
        total[total.isfinite()].sum().backward()
        values.append((total, [p.grad for p in model.parameters() if p.grad is not None]))
    torch.testing.assert_close(values[0][0], values[1][0], rtol=1e-10, atol=1e-10)
    for a, b in zip(values[0][1], values[1][1], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)
    for mask in range(1, 1 << 5):
        found, expected = (m.posteriors(WORDS[:, :5], lengths).of(1, mask) for m in (grammar, naive))
        assert found == pytest.approx(expected, abs=1e-10)


def test_gradients_of_tn_lcfrs_agree_with_naive_when_ranks_and_symbols_are_several() -> None:
    sizes = {"nonterminals": 6, "preterminals": 8, "discontinuous": 4, "ranks": (5, 3, 4, 2), "embedding": 8}
    grammar = tiny_grammar("tn-lcfrs", 6, **sizes)
    naive = build_grammar(grammar.config.replace(backend="naive"), 6).double()
    naive.load_state_dict(grammar.state_dict())
    for model in (grammar, naive):
        model.log_prob(WORDS[:2, :7], torch.tensor([7, 6])).sum().backward()
    for (name, found), expected in zip(grammar.named_parameters(), naive.parameters(), strict=True):
        assert found.grad is not None, name
        assert found.grad.abs().max() > 0, name
        torch.testing.assert_close(found.grad, expected.grad, rtol=1e-8, atol=1e-11, msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_parameters_by_finite_differences(kind: str) -> None:
    grammar = tiny_grammar(kind, 4)
    parameters = {name: p.detach().clone().requires_grad_() for name, p in grammar.named_parameters()}
    generator = torch.Generator()

    def objective(*values):
        generator.manual_seed(3)
        call = (WORDS[:2, :4] % 4, torch.tensor([4, 3]))
        loss = functional_call(_Loss(grammar), dict(zip(names, values)), (*call, generator))
        return loss

    names = [f"grammar.{name}" for name in parameters]
    torch.manual_seed(0)
    directions = [torch.randn_like(p) for p in parameters.values()]
    values = list(parameters.values())
    slope = torch.autograd.grad(objective(*values), values, allow_unused=True, materialize_grads=True)
    expected = sum((g * d).sum() for g, d in zip(slope, directions))
    step = 1e-6
    with torch.no_grad():
        up, down = (objective(*(p + s * d for p, d in zip(values, directions))) for s in (step, -step))
    assert ((up - down) / (2 * step)).item() == pytest.approx(expected.item(), rel=1e-5)


class _Loss(torch.nn.Module):
    def __init__(self, grammar) -> None:
        super().__init__()
        self.grammar = grammar

    def forward(self, words, lengths, generator):
        loss = self.grammar.loss(words, lengths, generator=generator)
        return (loss.negative_log_likelihood + loss.divergence).sum()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("c-")])
def test_all_sentences_together_have_probability_less_than_one(kind: str) -> None:
    grammar = tiny_grammar(kind, 3)
    pairs = torch.cartesian_prod(torch.arange(3), torch.arange(3))
    mass = grammar.log_prob(pairs).exp().sum().item()
    triples = torch.cartesian_prod(*[torch.arange(3)] * 3)
    assert 0 < mass < mass + grammar.log_prob(triples).exp().sum().item() < 1


def test_compound_grammars_draw_z_from_the_generator_and_use_its_mean_at_test_time() -> None:
    grammar = tiny_grammar("c-lcfrs", 6)
    assert isinstance(grammar, DenseGrammar)
    draws = [grammar.loss(WORDS, generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2)]
    assert torch.equal(draws[0].negative_log_likelihood, draws[1].negative_log_likelihood)
    assert not torch.equal(draws[0].negative_log_likelihood, draws[2].negative_log_likelihood)
    assert torch.equal(draws[0].divergence, draws[2].divergence)
    mean, log_variance = grammar.encoder(WORDS, LENGTHS).chunk(2, -1)
    posterior = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    prior = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
    expected = torch.distributions.kl_divergence(posterior, prior).sum(-1)
    torch.testing.assert_close(grammar.loss(WORDS, LENGTHS).divergence, expected)
    assert torch.equal(grammar.log_prob(WORDS), grammar.log_prob(WORDS))


def test_all_rules_of_a_parent_add_up_to_one() -> None:
    lcfrs = tiny_grammar("n-lcfrs")
    assert isinstance(lcfrs, DenseGrammar)
    rules = lcfrs.rules(WORDS[:1] % 3)
    ones = torch.ones(2, dtype=torch.float64)
    torch.testing.assert_close(rules.side_by_side.sum((0, 2, 3)) + rules.wrapping.sum((0, 2, 3)), ones)
    torch.testing.assert_close(rules.apart.sum((0, 2, 3)) + rules.attaching.sum((0, 2, 3, 4)), ones[:1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_parameters_which_are_xavier_uniform(kind: str) -> None:
    def build(seed: int):
        torch.manual_seed(seed)
        sizes = {"nonterminals": 5, "preterminals": 9, "embedding": 16}
        return build_grammar(GrammarConfig(kind, **sizes), 50).state_dict()

    first, again, other = build(1), build(1), build(2)
    for name, value in first.items():
        assert torch.equal(value, again[name])
        if value.dim() > 1:
            assert not torch.equal(value, other[name])
            bound = (6 / (value.shape[0] + value.shape[1])) ** 0.5
            assert value.abs().max() <= bound
            assert value.abs().max() > 0.7 * bound


def test_published_sizes_are_the_defaults() -> None:
    assert GrammarConfig("n-lcfrs").symbols == 60
    assert GrammarConfig("n-lcfrs").discontinuous == 15
    assert GrammarConfig("c-pcfg").latent == 64
    lcfrs = GrammarConfig("tn-lcfrs")
    sizes = (lcfrs.nonterminals, lcfrs.preterminals, lcfrs.discontinuous, lcfrs.ranks, lcfrs.embedding)
    assert sizes == (1500, 4500, 1500, (400, 4, 400, 4), 512)
    assert set(PUBLISHED) == set(KINDS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "x"}, "kind must be one of"),
        ({"kind": "n-pcfg", "backend": "gpu"}, "backend must be one of"),
        ({"kind": "n-pcfg", "nonterminals": -1}, "nonterminals must be"),
        ({"kind": "n-pcfg", "discontinuous": 3}, "discontinuous has no meaning"),
        ({"kind": "n-pcfg", "latent": 3}, "latent has no meaning"),
        ({"kind": "n-pcfg", "ranks": (1, 0, 0, 0)}, "ranks have no meaning"),
        ({"kind": "n-pcfg", "floor": 0.1}, "only TN- grammars have a floor"),
        ({"kind": "tn-pcfg", "ranks": (4, 1, 0, 0)}, "must be \\(r1, 0, 0, 0\\)"),
        ({"kind": "tn-lcfrs", "ranks": (4, 0, 4, 4)}, "must be positive"),
        ({"kind": "tn-lcfrs", "ranks": (4, 4)}, "four integers"),
        ({"kind": "tn-lcfrs", "floor": -0.5}, "floor must be"),
    ],
)
def test_configurations_that_make_no_sense(options, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        GrammarConfig(**options)


@pytest.mark.parametrize(
    ("words", "lengths", "message"),
    [
        (WORDS[0], None, "words must have the shape"),
        (WORDS, torch.tensor([8]), "lengths must have the shape \\(5,\\)"),
        (WORDS, torch.tensor([8, 5, 0, 2, 7]), "from 1 to 8, .*, not 0"),
        (WORDS, torch.tensor([9, 5, 1, 2, 7]), "from 1 to 8, .*, not 9"),
        (WORDS + 5, None, "from 0 to 5, .*, not (6|7|8|9|10)"),
    ],
)
def test_batches_that_make_no_sense(words, lengths, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        tiny_grammar("n-pcfg", 6).log_prob(words, lengths)


def test_where_kernels_cannot_run_the_vectorised_version_is_used_and_said_so() -> None:
    backends.tell.cache_clear()
    grammar = tiny_grammar("tn-pcfg", 6, backend="triton")  # in float64, which kernels do not take
    with pytest.warns(RuntimeWarning, match="torch is used instead"):
        found = grammar.log_prob(WORDS)
    torch.testing.assert_close(found, tiny_grammar("tn-pcfg", 6, backend="torch").log_prob(WORDS))


@pytest.mark.slow
def test_a_training_step_of_the_published_tn_lcfrs_on_the_cpu() -> None:
    torch.manual_seed(0)
    grammar = build_grammar(GrammarConfig("tn-lcfrs"), 10_000)
    words = torch.randint(10_000, (20, 10))
    optimizer = torch.optim.Adam(grammar.parameters(), lr=0.002, betas=(0.75, 0.999))
    losses = []
    for _ in range(2):
        loss = grammar.loss(words).negative_log_likelihood.mean()
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(grammar.parameters(), 3.0)
        assert norm.isfinite()
        optimizer.step()
        losses.append(loss.item())
    assert losses[1] < losses[0]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 8 * 2**20  # KiB


def test_grammars_need_nothing_but_pytorch_and_numpy() -> None:
    code = """
import sys
for name in ("pyarrow", "typer", "rich", "lxml", "sklearn", "scipy", "matplotlib", "treemean._core"):
    sys.modules[name] = None
import torch
from treemean.grammars import GrammarConfig, build_grammar
grammar = build_grammar(GrammarConfig("tn-lcfrs", 2, 2, 2, ranks=(2, 1, 2, 1), embedding=4), 3)
print(grammar.mbr(torch.tensor([[0, 1]])))
"""
    assert python("-c", code).stdout.strip() == "[[3]]"
