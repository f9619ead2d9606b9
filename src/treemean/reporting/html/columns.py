"""The trees of a report as columns of JSON, small and quickly read, from which the page draws.

Of a sentence, every different pair of a set of words and its labels (a *branch*) stands once, with the trees
that have it. Branches are in canonical order, so those of one tree are a tree in canonical order.

sentences   number, id, dispute, words
words       codes of texts; `punctuation` lists those that are no part of the trees
tags        of these words, as the gold says, or the first treebank; `own_tags` has those of each tree, of the
            words that are part of it: null if they are the same, no codes if there are none
branches    for each sentence how many; then for each branch
  spans     first word, then number of words; negative if the words after a gap follow: gap, number, …
  chain     its labels, from the top of the unary chain: number of an entry of `chains`, which are numbers of
            entries of `labels`, pairs of label and function
  has       bits of the trees that have it, 30 in a column
  verdict   for each label of the chain a digit of base 3: 0 does not count, 1 wrong, 2 right
  gold      for branches of the gold tree, bits: which labels of the chain count
  probability  in thousandths, -1 where it is not known
scores      by tree, for each sentence: matched, predicted, gold
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treemean.files.checksums import content_checksum
from treemean.fitting.candidates import group, rows_of
from treemean.reporting.html.subject import RIGHT, SCORED, Subject
from treemean.trees import Treebank, bitsets
from treemean.trees.bitsets import Ints
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import gather

#: Trees in one column of bits; JavaScript's operators see 32 of them, one for the sign.
BITS = 30
#: Longer unary chains are beyond what a number can tell; what lies below does not count.
_CHAIN = 30


def explorer_data(subject: Subject, chosen: Ints) -> dict[str, Any]:
    """Return the columns for some of the sentences that a subject holds (int64, their places in it)."""
    tokens = gather(subject.whole.word_offsets, chosen)
    whole = subject.whole
    data: dict[str, Any] = {
        "number": (subject.sentences[chosen] + 1).tolist(),
        "length": whole.lengths[chosen].tolist(),
        "words": _coded(whole.words, tokens),
        "punctuation": np.flatnonzero(subject.removed[tokens]).tolist(),
    }
    for name, column in (("tags", whole.tags), ("functions", whole.word_functions)):
        if not column.where("".__eq__)[tokens].all():
            data[name] = _coded(column, tokens)
    ids = [whole.ids[int(s)] for s in chosen]
    if any(ids):
        data["id"] = ids
    data["branches"] = _branches([side.trees.take(chosen) for side in subject.sides], subject)
    data["fingerprint"] = content_checksum(data)[:16]
    texts = whole.tags.tolist()
    tags = [texts[token] for token in tokens[~subject.removed[tokens]].tolist()]
    own = [_own_tags(side.trees.take(chosen).tags, tags) for side in subject.sides]
    if any(own):
        data["own_tags"] = own
    if subject.agreement is not None:
        data["dispute"] = [round(value, 4) for value in subject.dispute[chosen].tolist()]
    data["scores"] = [
        None if side.scores is None else [getattr(side.scores, name)[chosen].tolist() for name in _COUNTS]
        for side in subject.sides
    ]
    return data


_COUNTS = ("matched", "predicted", "gold")


def _own_tags(own: CodedStrings, usual: list[str]) -> dict[str, Any] | None:
    """Return the tags of a tree, None if they are the usual ones."""
    tags = own.tolist()
    if tags == usual:
        return None
    return _coded(own, np.arange(len(tags))) if any(tags) else {"texts": [""], "codes": []}


def _coded(column: CodedStrings, chosen: Ints) -> dict[str, Any]:
    """Return texts once each, and which of them stands where."""
    texts, codes = _as_they_come(column.take(chosen))
    return {"texts": texts, "codes": codes.tolist()}


def _as_they_come(column: CodedStrings) -> tuple[list[str], Ints]:
    """Return texts in order of first appearance, and codes of these, whatever else the vocabulary has."""
    seen, first, codes = np.unique(column.codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    texts = column.texts
    return [texts[code] for code in seen[order].tolist()], np.argsort(order)[codes]


def _branches(banks: list[Treebank], subject: Subject) -> dict[str, Any]:
    count = len(banks[0])
    everything = Treebank.concatenate(banks)
    heads = np.flatnonzero(~everything.repeats)
    labels, chains, chain = _chains(everything, heads)
    tree, sentence = np.divmod(everything.sentence_of[heads], max(1, count))
    bits = rows_of(everything, heads, max(1, bitsets.width(int(everything.lengths.max(initial=0)))))
    order = [chain, *bits.T, -everything.sizes[heads], everything.firsts[heads], sentence]
    number, first = group(order)

    has = np.zeros((len(first), len(banks)), dtype=bool)
    has[number, tree] = True
    is_gold = np.array([side.kind == "gold" for side in subject.sides])[tree]
    scored, right = (everything.constituent_values[name] for name in (SCORED, RIGHT))
    verdict = _of_branches(scored * (1 + right), 3, heads, number, ~is_gold, len(first))
    counted = _of_branches(scored, 2, heads, number, is_gold, len(first))
    found: dict[str, Any] = {
        "labels": labels,
        "chains": chains,
        "count": np.bincount(sentence[first], minlength=count).tolist(),
        "spans": _spans(bits[first]),
        "chain": chain[first].tolist(),
        "has": [_packed(has[:, start : start + BITS]) for start in range(0, len(banks), BITS)],
        "verdict": verdict.tolist(),
    }
    if subject.gold is not None:
        found["gold"] = counted[has[:, [side.kind == "gold" for side in subject.sides]].any(axis=1)].tolist()
    if (values := everything.constituent_values.get("probability")) is not None:
        known = np.full(len(first), np.nan)
        told = ~np.isnan(values[heads])
        known[number[told]] = values[heads][told]
        found["probability"] = np.where(np.isnan(known), -1, np.round(1000 * known)).astype(int).tolist()
    return found


def _chains(bank: Treebank, heads: Ints) -> tuple[list[list[str]], list[list[int]], Ints]:
    """Return the pairs of label and function, the unary chains of them, and the chain of every head."""
    (names, name), (functions, function) = _as_they_come(bank.labels), _as_they_come(bank.functions)
    width = max(1, len(functions))
    pairs, codes = np.unique(name * width + function, return_inverse=True)
    labels = [[names[p // width], functions[p % width]] for p in pairs.tolist()]
    chains = [[code] for code in range(len(labels))]
    chain = codes[heads]
    sizes = np.diff(heads, append=len(codes))
    known: dict[tuple[int, ...], int] = {}
    for place in np.flatnonzero(sizes > 1).tolist():
        own = tuple(codes[heads[place] : heads[place] + sizes[place]].tolist())
        if own not in known:
            known[own] = len(chains)
            chains.append(list(own))
        chain[place] = known[own]
    return labels, chains, chain


def _of_branches(digits: Any, base: int, heads: Ints, number: Ints, use: Any, count: int) -> Ints:
    """Return for every branch the digits of its chain as one number, the upper label's first."""
    sizes = np.diff(heads, append=len(digits))
    rank = np.arange(len(digits)) - np.repeat(heads, sizes)
    factors = np.where(rank < _CHAIN, np.int64(base) ** np.minimum(rank, _CHAIN), 0)
    sums = np.add.reduceat(digits.astype(np.int64) * factors, heads) if len(heads) else np.zeros(0, np.int64)
    result = np.zeros(count, dtype=np.int64)
    result[number[use]] = sums[use]
    return result


def _spans(rows: Any) -> list[int]:
    """Return first words and sizes, with what follows after gaps."""
    firsts, sizes, fan_outs = bitsets.row_firsts(rows), bitsets.row_sizes(rows), bitsets.row_fan_outs(rows)
    result: list[int] = []
    for row, (first, size, fan_out) in enumerate(zip(firsts.tolist(), sizes.tolist(), fan_outs.tolist())):
        if fan_out == 1:
            result += (first, size)
            continue
        spans = bitsets.spans_of(int.from_bytes(rows[row].astype("<u8").tobytes(), "little"))
        end = 0
        for start, stop in spans[:-1]:
            result += (start - end, start - stop)
            end = stop
        result += (spans[-1][0] - end, spans[-1][1] - spans[-1][0])
    return result


def _packed(has: Any) -> list[int]:
    """Return rows of at most 30 flags as numbers."""
    packed: list[int] = (has.astype(np.int64) << np.arange(has.shape[1])).sum(axis=1).tolist()
    return packed
