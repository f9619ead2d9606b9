"""Random tables of spans, for tests of several rooms."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from treemean.trees import SpanRow, SpanTable

#: Short decimals, so that weights times posteriors lose nothing where they are rounded to nine decimals.
POSTERIORS = [0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0]


def random_spans(n: int, most: int, rng: random.Random) -> list[tuple[int, float]]:
    """Return different sets of 2 to n - 1 of n words, in any order, some without a gap, with posteriors."""
    masks = set()
    for _ in range(rng.randint(0, most)):
        start, end = sorted((rng.randint(0, n), rng.randint(0, n)))
        mask = rng.getrandbits(n) if n and rng.random() < 0.4 else (1 << end) - (1 << start)
        if 2 <= mask.bit_count() < n:
            masks.add(mask)
    shuffled = sorted(masks)
    rng.shuffle(shuffled)
    return [(mask, rng.choice(POSTERIORS)) for mask in shuffled]


@st.composite
def span_rows(draw: st.DrawFn, max_sentences: int = 5, max_words: int = 9) -> list[SpanRow]:
    """Draw sentences with ids `s0`, `s1`, …, some without words, some of more than 64."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    lengths = st.one_of(st.integers(0, max_words), st.sampled_from([63, 64, 65, 128, 130]))
    rows = []
    for i, n in enumerate(draw(st.lists(lengths, max_size=max_sentences))):
        expected = rng.choice([0.0, n / 3, max(n - 2.0, 0.0)])
        rows.append(
            SpanRow([rng.choice("abcé") for _ in range(n)], f"s{i}", random_spans(n, 8, rng), expected)
        )
    return rows


def rows_of(table: SpanTable) -> list[SpanRow]:
    """Return the rows that a table was made of, one sentence and one span after the other."""
    columns = table.columns
    words, bits = columns.words.tolist(), columns.bits.tolist()
    rows = []
    at = 0
    for s in range(len(table)):
        first, last = columns.word_offsets[s], columns.word_offsets[s + 1]
        width = (int(last - first) + 63) // 64
        spans = []
        for c in range(columns.constituent_offsets[s], columns.constituent_offsets[s + 1]):
            mask = sum(word << 64 * k for k, word in enumerate(bits[at : at + width]))
            spans.append((mask, float(table.posteriors[c])))
            at += width
        if last > first:  # the set of all words is none of the row's
            assert spans.pop(0) == ((1 << int(last - first)) - 1, 1.0)
        rows.append(SpanRow(words[first:last], columns.ids[s], spans, float(table.expected[s])))
    assert at == len(bits)
    return rows
