"""TN-PCFG and TN-LCFRS: grammars of many symbols whose rules are factored through ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from treemean.grammars.backends import Backend, uses_kernels
from treemean.grammars.charts.logarithms import log
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.decoding.choices import check_numbers
from treemean.grammars.decoding.semirings import Semiring
from treemean.grammars.grammar import Grammar, Loss, Masks, check_batch
from treemean.grammars.networks import embedding, initialise, projection, residual_network, word_log_probs
from treemean.grammars.rank import naive as rank_naive
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.rank.decoding.chart import LogRankRules, RankChart
from treemean.grammars.rank.decoding.walk import RankWalker
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.trial import trial_of
from treemean.grammars.spans import SpanPosteriors

if TYPE_CHECKING:
    from treemean.grammars.rank.triton.one_grammar import Kernels


class Factors(NamedTuple):
    """The probabilities that a TN grammar multiplies, S = NT + T symbols of fan-out one, D of fan-out two.

    Parameters
    ----------
    root : (NT) of the start symbol's child.
    parents : (NT, r1 + r2) a symbol of fan-out one chooses a rank.
    gapped_parents : (D, r3 + r4) a symbol of fan-out two chooses a rank.
    left, right : (r1 + r3, S) a rank chooses its left and right child.
    continuous_child : (r2 + r4, S), and discontinuous_child : (r2 + r4, D), of the ranks that have them.
    attachment : (r4, 4) a rank chooses one of R5-R8.
    at_root : (r1 + r2) weights of the topmost rule's ranks; ones unless gaps are weighed.
    words : (B, n, T) log probabilities of the words given the preterminals.
    """

    root: Tensor
    parents: Tensor
    gapped_parents: Tensor
    left: Tensor
    right: Tensor
    continuous_child: Tensor
    discontinuous_child: Tensor
    attachment: Tensor
    at_root: Tensor
    words: Tensor


class LowRankGrammar(Grammar):
    """TN-PCFG or TN-LCFRS."""

    def __init__(self, config: GrammarConfig, vocabulary_size: int) -> None:
        super().__init__(config, vocabulary_size)
        self.ranks = Ranks(*config.ranks)
        size, ranks = config.embedding, self.ranks
        self.symbols = embedding(config.symbols, size)
        self.root_embedding = embedding(1, size)
        self.words = embedding(vocabulary_size, size)
        self.emission_network = residual_network(size, size, blocks=3)
        self.root_network = residual_network(size, size, blocks=2, outputs=config.nonterminals)
        self.parent = projection(size)
        self.left = projection(size)
        self.right = projection(size)
        self.rank1 = embedding(size, ranks.r1)
        if config.has_gaps:
            self.gapped_symbols = embedding(config.discontinuous, size)
            self.gapped_parent = projection(size)
            self.continuous_child = projection(size)
            self.discontinuous_child = projection(size)
            self.rank2, self.rank3 = embedding(size, ranks.r2), embedding(size, ranks.r3)
            self.rank4 = embedding(size, ranks.r4)
            self.attachment_network = residual_network(size, size, blocks=1, outputs=4)
        initialise(self)
        if config.gap_share and not self.symbols.is_meta:
            begin_with_share(
                self.rank2, self.rank1, self.parent(self.symbols[: config.nonterminals]), config.gap_share
            )
            begin_with_share(
                self.rank4, self.rank3, self.gapped_parent(self.gapped_symbols), config.gap_share
            )

    def factors(self, words: Tensor) -> Factors:
        """Compute all probabilities; symbols are on the last axis of every softmax over them."""
        nonterminals = self.config.nonterminals
        root = self.root_network(self.root_embedding)[0].softmax(-1)
        hidden = self.emission_network(self.symbols[nonterminals:])
        log_probs = word_log_probs(hidden, self.words, words)
        parent = self.parent(self.symbols[:nonterminals])
        left, right = self.left(self.symbols), self.right(self.symbols)
        if not self.config.has_gaps:
            nothing = self.symbols.new_zeros
            return Factors(
                root=root,
                parents=(parent @ self.rank1).softmax(-1),
                gapped_parents=nothing(0, 0),
                left=(self.rank1.T @ left.T).softmax(-1),
                right=(self.rank1.T @ right.T).softmax(-1),
                continuous_child=nothing(0, self.config.symbols),
                discontinuous_child=nothing(0, 0),
                attachment=nothing(0, 4),
                at_root=self.symbols.new_ones(self.ranks.r1),
                words=log_probs,
            )
        siblings = torch.cat([self.rank1, self.rank3], 1).T
        mixed = torch.cat([self.rank2, self.rank4], 1).T
        factors = Factors(
            root=root,
            parents=(parent @ torch.cat([self.rank1, self.rank2], 1)).softmax(-1),
            gapped_parents=(
                self.gapped_parent(self.gapped_symbols) @ torch.cat([self.rank3, self.rank4], 1)
            ).softmax(-1),
            left=(siblings @ left.T).softmax(-1),
            right=(siblings @ right.T).softmax(-1),
            continuous_child=(mixed @ self.continuous_child(self.symbols).T).softmax(-1),
            discontinuous_child=(mixed @ self.discontinuous_child(self.gapped_symbols).T).softmax(-1),
            attachment=self.attachment_network(self.rank4.T).softmax(-1),
            at_root=self.symbols.new_ones(self.ranks.r1 + self.ranks.r2),
            words=log_probs,
        )
        return weigh_gaps(factors, self.config) if self.config.weighs_gaps else factors

    def rules(self, words: Tensor) -> RankRules:
        """Return the rules in rank space for a batch of sentences without padding marks."""
        return contract(self.factors(words), self.ranks, self.config.floor)

    def log_prob(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See `Grammar.log_prob`."""
        return self._log_partition(words, lengths, None)

    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        generator: torch.Generator | None = None,
        weights: SpanWeights | None = None,
    ) -> Loss:
        """See `Grammar.loss`; the divergence is zero."""
        log_z = self._log_partition(words, lengths, weights)
        return Loss(-log_z, torch.zeros_like(log_z))

    def _log_partition(self, words: Tensor, lengths: Tensor | None, weights: SpanWeights | None) -> Tensor:
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        if kernels := self._kernels():
            return kernels.log_prob(words, lengths, weights)
        value: Tensor = self._backend().log_partition(self.rules(words), lengths, weights)
        return value.to(self.symbols.dtype)

    @torch.no_grad()
    def posteriors(self, words: Tensor, lengths: Tensor | None = None) -> SpanPosteriors:
        """See `Grammar.posteriors`."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        if kernels := self._kernels():
            return kernels.posteriors(words, lengths).spans()
        spans: SpanPosteriors = self._backend().span_posteriors(self.rules(words), lengths)
        return spans

    @torch.no_grad()
    def mbr(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `Grammar.mbr`."""
        if kernels := self._kernels():
            return kernels.log_prob_and_mbr(*check_batch(words, lengths, self.vocabulary_size))[1]
        return mbr.best_trees(self.posteriors(words, lengths), lengths)

    @torch.no_grad()
    def log_prob_and_mbr(self, words: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, list[Masks]]:
        """See `Grammar.log_prob_and_mbr`."""
        if kernels := self._kernels():
            return kernels.log_prob_and_mbr(*check_batch(words, lengths, self.vocabulary_size))
        return super().log_prob_and_mbr(words, lengths)

    @torch.no_grad()
    def viterbi(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `Grammar.viterbi`."""
        if self._kernels() is None:
            return super().viterbi(words, lengths)
        from treemean.grammars.gpu.max_plus import KernelMax
        from treemean.grammars.rank.triton.viterbi import best_derivations

        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        rules = contract_logarithms(self.factors(words), self.ranks, KernelMax())
        check_numbers(rules.views, rules.continuous, rules.discontinuous, rules.root)
        return best_derivations(rules, lengths)

    def _walker(self, words: Tensor, lengths: Tensor, semiring: Semiring) -> RankWalker:
        # The floor plays no part in derivations.
        return RankWalker(RankChart(contract_logarithms(self.factors(words), self.ranks, semiring), semiring))

    def entropy(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See `Grammar.entropy`; a derivation names symbols and ranks, and the floor plays no part."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        with torch.no_grad():
            factors = Factors(*(part.double() for part in self.factors(words)))
        return _entropy(factors, self.ranks, lengths).to(self.symbols.dtype)

    def by_kernels(self) -> bool:
        """Tell whether kernels are used."""
        trial = trial_of(LowRankGrammar, self.config.ranks)
        return uses_kernels(self.config.backend, self.symbols, trial)

    def _kernels(self) -> Kernels | None:
        """Return the grammar by kernels, if these are used."""
        if not self.by_kernels():
            return None
        from treemean.grammars.rank.triton.one_grammar import Kernels

        return Kernels(dict(self.named_parameters()), self.config)

    def _backend(self) -> Backend:
        """Return the module of the inside algorithm where kernels are not used."""
        return rank_naive if self.config.backend == "naive" else rank_torch


def weigh_gaps(factors: Factors, config: GrammarConfig) -> Factors:
    """Return the factors with the weights of gaps in them; then not all of them sum to one.

    Every gap is closed by one rule that wraps a continuous child, chosen by a rank of r2; a gap of one word
    wraps a preterminal.
    """
    ranks, nonterminals = Ranks(*config.ranks), config.nonterminals
    wrapping, at_root = torch.ones_like(factors.at_root), torch.ones_like(factors.at_root)
    wrapping[ranks.r1 :], at_root[ranks.r1 :] = config.wrapping, config.root_wrapping
    wrapped = torch.ones_like(factors.continuous_child)
    wrapped[: ranks.r2, nonterminals:] = config.wrapped_words
    return factors._replace(
        parents=factors.parents * wrapping,
        continuous_child=factors.continuous_child * wrapped,
        at_root=at_root,
    )


@torch.no_grad()
def begin_with_share(raised: Tensor, others: Tensor, parents: Tensor, share: float) -> None:
    """Add a number to an embedding of ranks, so that parents choose these ranks with a given mean share.

    Parents are not negative, after a ReLU: what is added to all rows of a column raises its logits.
    """
    logits = (parents @ torch.cat([others, raised], 1)).double()
    steps = parents.double().sum(-1, keepdim=True)  # by what a logit grows
    low, high = -1e3, 1e3
    while high - low > 1e-9:
        middle = (low + high) / 2
        chosen = torch.cat([logits[:, : others.shape[1]], logits[:, others.shape[1] :] + middle * steps], 1)
        if float(chosen.softmax(-1)[:, others.shape[1] :].sum(-1).mean()) < share:
            low = middle
        else:
            high = middle
    raised += (low + high) / 2


def contract(factors: Factors, ranks: Ranks, floor: float = 0.0) -> RankRules:
    """Contract symbols away: what each rank's choice of a child means for the ranks of that child.

    Takes O(NT · (r1 + r2) · C + B · n · T · C) time for C views.
    """
    nonterminals, children = len(factors.root), _children(factors, ranks)
    scales = factors.words.detach().amax(-1)
    emitted = (factors.words - scales[..., None]).exp()
    views = emitted @ children[:, nonterminals:].T
    return RankRules(
        views=views + floor if floor else views,
        scales=scales,
        continuous=(children[:, :nonterminals] @ factors.parents).T,
        discontinuous=(factors.discontinuous_child @ factors.gapped_parents).T,
        root=(factors.root @ factors.parents) * factors.at_root,
        ranks=ranks,
        floor=floor,
    )


def contract_logarithms(factors: Factors, ranks: Ranks, semiring: Semiring) -> LogRankRules:
    """Do the same in log space, in float64, by any semiring."""
    nonterminals = len(factors.root)
    children, parents = log(_children(factors, ranks).double()), log(factors.parents.double())
    gapped_parents = log(factors.gapped_parents.double())
    discontinuous_child = log(factors.discontinuous_child.double())
    gapped = parents.new_zeros(0, 0)
    if ranks.has_gaps:
        gapped = semiring.product(gapped_parents.T, discontinuous_child.T)
    return LogRankRules(
        views=semiring.product(factors.words.double(), children[:, nonterminals:].T),
        continuous=semiring.product(parents.T, children[:, :nonterminals].T),
        discontinuous=gapped,
        root=semiring.product(log(factors.root.double()), parents) + log(factors.at_root.double()),
        ranks=ranks,
    )


def _children(factors: Factors, ranks: Ranks) -> Tensor:
    """Return (C, S): how each view chooses the symbol of a continuous span."""
    attached = factors.attachment.T[:, :, None] * factors.continuous_child[ranks.r2 :]
    return torch.cat(
        [
            factors.left[: ranks.r1],
            factors.right[: ranks.r1],
            factors.continuous_child[: ranks.r2],
            factors.left[ranks.r1 :],
            factors.right[ranks.r1 :],
            attached.flatten(0, 1),
        ]
    )


def _entropy(factors: Factors, ranks: Ranks, lengths: Tensor) -> Tensor:
    """Return log Z minus the expected log probability of a derivation, per sentence.

    That expectation is the derivative of log Z when all factors are raised to the power 1 + ε. Giving every
    sentence rules of its own keeps the sentences' derivatives apart.
    """
    tangents = [torch.special.xlogy(part, part) for part in factors[:-1]] + [factors.words]
    directions = _directional_derivatives(factors, ranks, tangents)
    rules, batch = contract(factors, ranks), len(lengths)
    own = RankRules(
        views=rules.views[:, None].requires_grad_(),
        scales=rules.scales[:, None],
        continuous=rules.continuous.repeat(batch, 1, 1).requires_grad_(),
        discontinuous=rules.discontinuous.repeat(batch, 1, 1).requires_grad_(),
        root=rules.root.repeat(batch, 1).requires_grad_(),
        ranks=ranks,
    )
    with torch.enable_grad():
        log_z = rank_torch.log_partition(own, lengths[:, None])[:, 0]
    several = lengths > 1
    grads = torch.autograd.grad(
        log_z, (own.views, own.continuous, own.discontinuous, own.root), several.to(log_z.dtype)
    )
    views, *others = directions
    expected = (grads[0][:, 0] * views).sum((1, 2))
    for grad, direction in zip(grads[1:], others):
        expected = expected + (grad * direction).flatten(1).sum(1)
    return torch.where(several, log_z.detach() - expected, 0.0)


def _directional_derivatives(factors: Factors, ranks: Ranks, tangents: list[Tensor]) -> tuple[Tensor, ...]:
    """Return how views, continuous, discontinuous and root of the rules change along a change of the factors.

    The gradient for an output's weights u is linear in u; its own gradient by u is the derivative.
    """
    with torch.enable_grad():
        parts = [part.detach().requires_grad_() for part in factors]
        rules = contract(Factors(*parts), ranks)
        outputs = (rules.views, rules.continuous, rules.discontinuous, rules.root)
        weights = [torch.zeros_like(output, requires_grad=True) for output in outputs]
        grads = torch.autograd.grad(
            outputs, parts, weights, create_graph=True, allow_unused=True, materialize_grads=True
        )
        change = torch.stack([(grad * tangent).sum() for grad, tangent in zip(grads, tangents)]).sum()
    return torch.autograd.grad(change, weights, allow_unused=True, materialize_grads=True)
