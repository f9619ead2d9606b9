"""Which sentences are parsed together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treemean.parsing.batches import cut_by_length, cut_by_similar_length


@pytest.mark.parametrize(("cut", "apart"), [(cut_by_length, 0), (cut_by_similar_length, 4)])
@given(given_lengths=st.lists(st.integers(0, 40), max_size=200), words=st.integers(1, 300))
def test_every_sentence_of_several_words_is_in_one_batch(cut, apart, given_lengths, words):
    lengths = np.array(given_lengths, dtype=np.int64)
    batches = cut(lengths, words)
    places = [place for batch in batches for place in batch.tolist()]
    assert sorted(places) == np.flatnonzero(lengths > 1).tolist()
    for batch in batches:
        assert np.ptp(lengths[batch]) <= apart
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= words
