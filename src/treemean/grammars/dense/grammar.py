"""N- and C- grammars: few symbols, and one softmax over all right-hand sides of a parent."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from treemean.errors import InvalidOption
from treemean.grammars.backends import INSTEAD, Backend, tell, uses_kernels
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.decoding.choices import check_numbers
from treemean.grammars.decoding.semirings import Semiring
from treemean.grammars.dense import naive as dense_naive
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense.decoding.chart import DenseChart
from treemean.grammars.dense.decoding.walk import DenseWalker
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.trial import TRIAL
from treemean.grammars.grammar import Grammar, Loss, Masks, check_batch
from treemean.grammars.networks import Residual, embedding, initialise, residual_network
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.spans import SpanPosteriors

#: The kernels hold rules of so many symbols in registers.
_FEW = 64
_LIMITS = (
    f"the Triton kernels for {{kind}} take at most {_FEW} nonterminals, {_FEW - 1} discontinuous ones "
    f"and {4 * _FEW} symbols in all"
)
#: And those that read derivations off charts all pairs of so many.
_FEW_PAIRED = 64


class Encoder(nn.Module):
    """A bidirectional LSTM over the words, max-pooled, that gives mean and log variance of a vector z."""

    def __init__(self, vocabulary_size: int, size: int, latent: int) -> None:
        super().__init__()
        self.words = embedding(vocabulary_size, size)
        self.lstm = nn.LSTM(size, 2 * size, batch_first=True, bidirectional=True)
        self.output = nn.Linear(4 * size, 2 * latent)

    def forward(self, words: Tensor, lengths: Tensor | None = None, *, kernels: bool = False) -> Tensor:
        """Return means and log variances side by side, (B, 2 latent).

        Without lengths all words are real. Only then can it be part of a CUDA graph, since lengths must be
        known on the CPU, and only then it uses kernels.
        """
        if lengths is None and kernels:
            from treemean.grammars.dense.triton.compound import largest_states

            largest = largest_states(self.lstm, torch.embedding(self.words, words.T))
        elif lengths is None:
            largest = self.lstm(self.words[words])[0].amax(1)
        else:
            packed = pack_padded_sequence(
                self.words[words], lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, padding_value=-math.inf)
            largest = states.amax(1)
        encoded: Tensor = self.output(largest)
        return encoded


def _conditioned(layer: nn.Linear, embeddings: Tensor, latent: Tensor | None, kernels: bool) -> Tensor:
    """Apply a layer to embeddings (count, s), each followed by each vector z (B, latent): (B, count, size).

    Products with embeddings are the same for all z. Without z, it is as if there were one.
    """
    if latent is None:
        return linear(embeddings[None], layer.weight, layer.bias)
    if kernels:
        from treemean.grammars.dense.triton.compound import conditioned

        return conditioned(layer, embeddings, latent)
    ours, theirs = layer.weight.tensor_split([embeddings.shape[1]], 1)
    return linear(embeddings, ours) + linear(latent, theirs, layer.bias)[:, None]


def _last_layer(
    network: nn.Sequential, embeddings: Tensor, latent: Tensor | None, kernels: bool
) -> tuple[Tensor, nn.Linear]:
    """Return what the last layer of a network is to be applied to, see `_conditioned`, and that layer."""
    first, *between, last = network
    assert isinstance(first, nn.Linear)
    assert isinstance(last, nn.Linear)
    hidden = _conditioned(first, embeddings, latent, kernels)
    for layer in between:
        assert isinstance(layer, Residual)
        if kernels:
            from treemean.grammars.dense.triton.compound import residual

            hidden = residual(layer, hidden)
        else:
            hidden = layer(hidden)
    return hidden, last


class DenseGrammar(Grammar):
    """N-PCFG, C-PCFG, N-LCFRS or C-LCFRS."""

    def __init__(self, config: GrammarConfig, vocabulary_size: int) -> None:
        super().__init__(config, vocabulary_size)
        sizes = config.nonterminals, config.discontinuous + 1, config.symbols
        self._few = all(size <= limit for size, limit in zip(sizes, (_FEW, _FEW, 4 * _FEW)))
        if config.backend == "triton" and not self._few:
            raise InvalidOption(f"{_LIMITS.format(kind=config.kind)}: use the backend torch")
        size, gapped, symbols = config.embedding, config.discontinuous, config.symbols
        inputs = size + config.latent
        self.root_embedding = embedding(1, size)
        self.nonterminals = embedding(config.nonterminals, size)
        self.preterminals = embedding(config.preterminals, size)
        self.root_network = residual_network(inputs, size, blocks=2, outputs=config.nonterminals)
        self.emission_network = residual_network(inputs, size, blocks=2, outputs=vocabulary_size)
        self.rule_network = nn.Linear(inputs, symbols * (symbols + gapped))
        if config.has_gaps:
            self.gapped_symbols = embedding(gapped, size)
            self.gapped_rule_network = nn.Linear(inputs, symbols * (symbols + 4 * gapped))
        if config.is_compound:
            self.encoder = Encoder(vocabulary_size, size, config.latent)
        initialise(self)

    def rules(self, words: Tensor, latent: Tensor | None = None) -> DenseRules:
        """Return the rules for a batch of sentences, of each its own if there are vectors z (B, latent)."""
        kernels = latent is not None and self.by_kernels()
        branches: list[Callable[[], dict[str, Tensor]]] = [
            lambda: {"words": self._word_log_probs(words, latent, kernels)},
            lambda: {"root": self._root_probs(latent, kernels)},
            lambda: self._rule_probs(latent, kernels),
        ]
        if latent is not None and kernels:
            from treemean.grammars.dense.triton.compound import side_by_side

            parts = side_by_side(branches, (words, latent))
        else:
            parts = [branch() for branch in branches]
        tensors: dict[str, Tensor] = {}
        for part in parts:
            tensors |= part
        return DenseRules(**tensors)

    def _rule_probs(self, latent: Tensor | None, kernels: bool) -> dict[str, Tensor]:
        """Return the rules with two children, as `DenseRules` names them."""
        config = self.config
        symbols, gapped = config.symbols, config.discontinuous
        pairs = symbols * symbols
        side_by_side = _conditioned(self.rule_network, self.nonterminals, latent, kernels).softmax(-1)
        sets, nonterminals = side_by_side.shape[:2]
        wrapping, apart, attaching = side_by_side.new_zeros(3, 0)
        if config.has_gaps:
            side_by_side, wrapping = torch.split(side_by_side, [pairs, symbols * gapped], -1)
            gapped_rules = _conditioned(self.gapped_rule_network, self.gapped_symbols, latent, kernels)
            apart, attaching = torch.split(gapped_rules.softmax(-1), [pairs, 4 * symbols * gapped], -1)
        return {
            "side_by_side": side_by_side.view(sets, nonterminals, symbols, symbols),
            "wrapping": wrapping.view(sets, nonterminals, symbols, gapped),
            "apart": apart.view(sets, gapped, symbols, symbols),
            "attaching": attaching.view(sets, gapped, 4, symbols, gapped),
        }

    def _root_probs(self, latent: Tensor | None, kernels: bool) -> Tensor:
        """Return p(nonterminal | start symbol), (R, NT)."""
        hidden, last = _last_layer(self.root_network, self.root_embedding, latent, kernels)
        logits: Tensor = last(hidden)  # (R, 1, NT)
        return logits.flatten(1).softmax(-1)

    def _word_log_probs(self, words: Tensor, latent: Tensor | None, kernels: bool) -> Tensor:
        """Return log p(word | preterminal), (B, n, T)."""
        hidden, last = _last_layer(self.emission_network, self.preterminals, latent, kernels)
        if kernels:
            from treemean.grammars.dense.triton.compound import word_log_probs

            return word_log_probs(hidden, last.weight, last.bias, words)
        logits: Tensor = last(hidden)  # (R, T, V)
        emissions = logits.log_softmax(-1).expand(len(words), -1, -1)
        index = words[:, None].expand(-1, self.config.preterminals, -1)
        return emissions.gather(2, index).transpose(1, 2)

    def _encode(self, words: Tensor, lengths: Tensor | None) -> Tensor:
        """Return means and log variances of z side by side, (B, 2 latent)."""
        encoded: Tensor = self.encoder(words, lengths, kernels=self.by_kernels())
        return encoded

    def _expected_rules(self, words: Tensor, lengths: Tensor | None) -> DenseRules:
        """Return the rules, given the mean of the posterior of z if there is a z."""
        if not self.config.is_compound:
            return self.rules(words)
        mean, _ = self._encode(words, lengths).chunk(2, -1)
        return self.rules(words, mean)

    def log_prob(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See `Grammar.log_prob`."""
        words, known = check_batch(words, lengths, self.vocabulary_size)
        return self._log_partition(self._expected_rules(words, lengths), known)

    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        generator: torch.Generator | None = None,
        weights: SpanWeights | None = None,
    ) -> Loss:
        """See `Grammar.loss`: for C- grammars -log p(x | z) with z drawn, and KL(q(z | x) ‖ N(0, I))."""
        words, known = check_batch(words, lengths, self.vocabulary_size)
        if not self.config.is_compound:
            log_z = self._log_partition(self.rules(words), known, weights)
            return Loss(-log_z, torch.zeros_like(log_z))
        encoded = self._encode(words, lengths)
        noise = torch.randn(
            (len(words), self.config.latent), generator=generator, device=encoded.device, dtype=encoded.dtype
        )
        latent, divergence = self._draw(encoded, noise)
        log_z = self._log_partition(self.rules(words, latent), known, weights)
        return Loss(-log_z, divergence)

    def _draw(self, encoded: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors z (B, latent) of the distributions that were encoded, and the KL of these (B,)."""
        if self.by_kernels():
            from treemean.grammars.dense.triton.compound import draw

            return draw(encoded, noise)
        mean, log_variance = encoded.chunk(2, -1)
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(-1)
        return mean + noise * (0.5 * log_variance).exp(), divergence

    @torch.no_grad()
    def posteriors(self, words: Tensor, lengths: Tensor | None = None) -> SpanPosteriors:
        """See `Grammar.posteriors`."""
        words, known = check_batch(words, lengths, self.vocabulary_size)
        spans: SpanPosteriors = self._backend().span_posteriors(self._expected_rules(words, lengths), known)
        return spans

    def mbr(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `Grammar.mbr`."""
        spans = self.posteriors(words, lengths)
        if self.by_kernels():
            from treemean.grammars.gpu.mbr import best_trees_of_spans

            return best_trees_of_spans(spans, lengths)
        return mbr.best_trees(spans, lengths)

    @torch.no_grad()
    def viterbi(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `Grammar.viterbi`."""
        if not self.by_kernels():
            return super().viterbi(words, lengths)
        if self.config.symbols > _FEW_PAIRED:
            tell(f"derivations of more than {_FEW_PAIRED} symbols are found by PyTorch, which is slower")
            return super().viterbi(words, lengths)
        from treemean.grammars.dense.triton.viterbi import best_dense_derivations

        words, known = check_batch(words, lengths, self.vocabulary_size)
        rules = self._expected_rules(words, lengths)
        check_numbers(*rules.tensors().values())
        return best_dense_derivations(rules, known)

    def _walker(self, words: Tensor, lengths: Tensor, semiring: Semiring) -> DenseWalker:
        return DenseWalker(DenseChart(self._expected_rules(words, lengths), semiring))

    def entropy(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See `Grammar.entropy`; a derivation names its symbols."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        with torch.no_grad():
            rules = self._expected_rules(words, lengths).double().of_each_sentence()
        return _entropy(rules, lengths).to(self.nonterminals.dtype)

    def _log_partition(
        self, rules: DenseRules, lengths: Tensor, weights: SpanWeights | None = None
    ) -> Tensor:
        """Return log Z (B,) in the precision of the parameters."""
        value: Tensor = self._backend().log_partition(rules, lengths, weights)
        return value.to(self.nonterminals.dtype)

    def by_kernels(self) -> bool:
        """Tell whether kernels are used; `auto` takes them only for as many symbols as they can take."""
        if self.config.backend != "auto" or self._few:
            return uses_kernels(self.config.backend, self.nonterminals, TRIAL)
        if self.nonterminals.is_cuda:
            tell(f"{_LIMITS.format(kind=self.config.kind)}: {INSTEAD}")
        return False

    def _backend(self) -> Backend:
        """Return the inside algorithm."""
        if self.by_kernels():
            from treemean.grammars.dense import triton

            return triton
        return dense_naive if self.config.backend == "naive" else dense_torch


def _entropy(rules: DenseRules, lengths: Tensor) -> Tensor:
    """Return log Z minus the expected log probability of a derivation, which is linear in expected counts."""
    tensors = {name: tensor.requires_grad_() for name, tensor in rules.tensors().items()}
    with torch.enable_grad():
        log_z = dense_torch.log_partition(DenseRules(**tensors), lengths)
    several = lengths > 1
    grads = torch.autograd.grad(
        log_z, list(tensors.values()), several.to(log_z.dtype), materialize_grads=True
    )
    expected = torch.zeros_like(log_z)
    for (name, tensor), grad in zip(tensors.items(), grads):
        tensor = tensor.detach()
        logs = tensor if name == "words" else torch.special.xlogy(tensor, tensor)
        expected = expected + (grad * logs).flatten(1).sum(1)
    return torch.where(several, log_z.detach() - expected, 0.0)
