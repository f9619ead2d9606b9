from __future__ import annotations

from treemean.evaluation import Evaluation
from treemean.evaluation.results import METRICS


def assert_all_100(evaluation: Evaluation) -> None:
    """Every number of an evaluation is 100, or there was nothing to score."""
    for counts in [
        *(evaluation.counts(metric) for metric in METRICS),
        *(getattr(part, metric) for part in evaluation.by_length for metric in METRICS),
    ]:
        assert counts.matched == counts.predicted == counts.gold
        assert set(counts.shown) == ({100.0} if counts.gold else {None})
    for score in [*evaluation.by_label.values(), *evaluation.by_label_discontinuous.values()]:
        assert score.recall == 100.0
        assert score.f1 == score.precision == (100.0 if evaluation.protocol.labelled else None)
    assert evaluation.confusions == ()
    assert evaluation.exact.all()
    assert evaluation.exact_match == (100.0 if len(evaluation.sentences) else 0.0)
    assert evaluation.tag_accuracy in (None, 100.0)
    assert (evaluation.sentence_f1 == 100.0).all()
