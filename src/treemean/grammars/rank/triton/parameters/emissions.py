"""Emissions: how well each preterminal emits the words of a batch, a softmax over the whole vocabulary.

The probabilities of all words are needed only to take gradients: for each preterminal the expected word, and
for each word how often it was expected.
"""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.gpu import emission_kernels as shared_kernels
from treemean.grammars.gpu.matrices import TILE, aligned, half_matrix, parts, product, whole_part
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import power, warps, whole_row
from treemean.grammars.rank.triton.parameters import emission_gradient_kernels, forward_kernels
from treemean.grammars.rank.triton.parameters.layers import Tally, split_matrix
from treemean.grammars.rank.triton.parameters.scaled_kernels import VECTOR_SCALE
from treemean.grammars.rank.triton.parameters.scaled_network import ScaledNetwork, fitted

# How many positions are written at once, are searched for a word, and of how many gradients are added up.
_AT_ONCE, _LOOK, _POSITIONS = 512, 512, 16


class Emissions:
    """The emissions of E runs with a batch each.

    Parameters
    ----------
    network : from symbols to vectors of preterminals.
    preterminals : (E, T, 3 s), as by `split_matrix`.
    embeddings : (E, V, s) of all words, float32.
    words : (E, B, n).
    """

    def __init__(
        self, network: ScaledNetwork, preterminals: Tensor, embeddings: Tensor, words: Tensor
    ) -> None:
        self._network, self._embeddings = network, embeddings
        self._words = words.reshape(len(words), -1).contiguous()  # it may be a part of a larger batch
        self._inputs = preterminals

    def forward(self, *, keep: bool) -> tuple[Tensor, Tensor]:
        """Return emissions (E, B·n, 3 T) as scaled fp16 relative to the largest one, whose logarithm is the
        second result (E, B·n).

        They are as by `split_matrix` with `rest` 1; columns are filled up with zeros to an `aligned`
        number in each part.

        Parameters
        ----------
        keep : whether gradients will be taken.
        """
        hidden = self._network.scaled(self._inputs)
        runs, preterminals = hidden.scales.shape
        table = split_matrix(self._embeddings, rest=1, multiple=TILE)
        self._padded = whole_part(table)
        rows, positions, device = table.shape[1], self._words.shape[1], table.device
        logits = product(hidden.split, table.mT)
        log_probs = torch.empty(runs, positions, preterminals, device=device)
        self._probabilities = half_matrix(runs, preterminals, rows * keep, device=device)
        block = power(rows + 1) // 2
        shared_kernels.normalise[(preterminals, runs)](
            logits=logits,
            scales=hidden.scales,
            words=self._words,
            log_probs=log_probs,
            probabilities=self._probabilities,
            rows=preterminals,
            columns=self._embeddings.shape[1],
            width=rows,
            positions=positions,
            PITCH=self._probabilities.stride(1),
            KEEP=keep,
            BLOCK=block,
            MORE=power(rows - block),
            AT_ONCE=_AT_ONCE,
            num_warps=warps(2 * block),
        )
        del logits
        emitted = half_matrix(runs, positions, parts() * aligned(preterminals), device=device)
        scales = torch.empty(runs, positions, device=device)
        forward_kernels.emit[(positions, runs)](
            log_probs=log_probs,
            emitted=emitted,
            scales=scales,
            positions=positions,
            COLUMNS=preterminals,
            PITCH=emitted.stride(1),
            REST=1 if parts() > 1 else 0,
            **whole_row(aligned(preterminals)),
        )
        if keep:
            self._log_probs, self._scales = log_probs, scales
            self._look_up()
        return emitted, scales

    def _look_up(self) -> None:
        """Find the vectors of the words, and a 1 behind each."""
        runs, positions = self._words.shape
        size = self._embeddings.shape[2]
        self._chosen = half_matrix(runs, positions, aligned(size + 1), device=self._words.device)
        forward_kernels.look_up[(positions, runs)](
            table=self._embeddings,
            words=self._words,
            result=self._chosen,
            positions=positions,
            vocabulary=self._embeddings.shape[1],
            SIZE=size,
            PITCH=self._chosen.stride(1),
            BLOCK=power(size + 1),
        )

    def expect(self) -> None:
        """Find the expected word of each preterminal; nothing waits for it but `backward`."""
        self._expected = product(self._probabilities, self._padded)

    def posteriors(self, gradients: Tensor, steps: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
        """Return the posteriors of preterminals, and the emissions times the steps, both as fp16.

        The emissions are minus their mean, which is in a last column; the posteriors are filled up as the
        emissions of `forward`.

        Parameters
        ----------
        gradients : (E, B·n, T) of the emissions, as the product of those of the views with children.
        steps : (E, B·n), of the gradients of the views.
        units : (E, ·), see `unit_kernels`.
        """
        runs, positions, preterminals = self._log_probs.shape
        posteriors = half_matrix(runs, positions, aligned(preterminals), device=units.device)
        weighted = half_matrix(runs, positions, aligned(preterminals + 1), device=units.device)
        emission_gradient_kernels.emitted_gradients[(positions, runs)](
            log_probs=self._log_probs,
            scales=self._scales,
            gradients=gradients,
            steps=steps,
            units=units,
            posteriors=posteriors,
            weighted=weighted,
            positions=positions,
            COLUMNS=preterminals,
            PITCH=posteriors.stride(1),
            PITCH_WEIGHTED=weighted.stride(1),
            PITCH_GRADIENTS=gradients.stride(1),
            **whole_row(aligned(preterminals)),
        )
        return posteriors, weighted

    def backward(
        self, posteriors: Tensor, units: Tensor, tally: Tally, streams: Streams, side: int
    ) -> tuple[Tensor, Tensor]:
        """Return the gradients of the symbols, in the units of hidden layers, and those of the words.

        Words are done on a side stream; wait for it.
        """
        vectors = self._network.vectors
        runs, preterminals, size = vectors.shape
        vocabulary, positions = self._embeddings.shape[1], self._words.shape[1]
        gradients, weighted = (torch.empty(runs, preterminals, size, device=units.device) for _ in range(2))
        numbers = torch.empty(runs, preterminals, device=units.device)
        chosen = product(posteriors.mT, self._chosen)
        emission_gradient_kernels.hidden_gradients[(preterminals, runs)](
            chosen=chosen,
            expected=self._expected,
            vectors=vectors,
            units=units,
            gradients=gradients,
            weighted=weighted,
            numbers=numbers,
            rows=preterminals,
            padded=chosen.shape[1],
            SIZE=size,
            PITCH_VECTORS=vectors.stride(1),
            PITCH_CHOSEN=chosen.stride(1),
            BLOCK=power(size),
        )
        self._held = (posteriors, weighted, numbers, chosen)
        with streams.beside(side):
            surplus, steps = self._surplus(posteriors, numbers)
            at_words = product(surplus[..., :preterminals], vectors)
            halves = fitted(weighted)[0]
            unchosen = product(self._probabilities.mT, halves.halves)
            of_words = torch.empty(runs, vocabulary, size, device=units.device)
            emission_gradient_kernels.word_gradients[(vocabulary, runs)](
                unchosen=unchosen,
                unchosen_step=halves.step,
                chosen=at_words,
                chosen_steps=steps,
                words=self._words,
                units=units,
                result=of_words,
                positions=positions,
                vocabulary=vocabulary,
                padded=self._padded.shape[1],
                SIZE=size,
                BLOCK=power(size),
                VECTOR=VECTOR_SCALE,
                STEP=_POSITIONS,
                LOOK=_LOOK,
            )
            del at_words, unchosen
        return self._network.backward(gradients, tally), of_words

    def _surplus(self, posteriors: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return how much more often than expected preterminals emit each word, as fp16 with steps."""
        runs, positions, preterminals = self._log_probs.shape
        result = half_matrix(runs, positions, posteriors.shape[2], device=numbers.device)
        steps = torch.empty(runs, positions, device=numbers.device)
        emission_gradient_kernels.surplus[(positions, runs)](
            posteriors=posteriors,
            log_probs=self._log_probs,
            numbers=numbers,
            words=self._words,
            result=result,
            steps=steps,
            positions=positions,
            COLUMNS=preterminals,
            PITCH=result.stride(1),
            STEP=_POSITIONS,
            LOOK=_LOOK,
            **whole_row(aligned(preterminals)),
        )
        return result, steps
