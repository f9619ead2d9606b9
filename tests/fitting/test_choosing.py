"""Choosing runs, beta, and a place on the front between two scores."""

from __future__ import annotations

import numpy as np
import pytest

from treemean.averaging import average
from treemean.errors import InvalidOption
from treemean.evaluation import evaluate
from treemean.fitting import fit
from treemean.fitting.procedure.selection import select


def test_selections() -> None:
    worth = {0: 3.0, 1: -1.0, 2: 2.0, 3: -2.0}
    order = [0, 2, 1, 3]

    def score(chosen: tuple[int, ...]) -> float:
        return sum(worth[k] for k in chosen)

    for selection in ("top", "forward", "backward"):
        assert select(selection, order, None, score) == (0, 2)
        assert select(selection, order, 3, score) == (0, 1, 2)
        assert select(selection, order, 1, score) == (0,)
    assert select("all", order, None, score) == (0, 1, 2, 3)
    with pytest.raises(InvalidOption, match="5 of 4"):
        select("top", order, 5, score)
    with pytest.raises(InvalidOption, match="sideways"):
        select("sideways", order, None, score)


@pytest.mark.parametrize("name", ["equal", "typed", "em", "logistic"])
def test_chosen_runs_alone_decide(name, runs, gold) -> None:
    fitted = fit(runs, gold, name, select="top", size=2, folds=2)
    assert len(fitted.chosen) == 2
    scores = [evaluate(run, gold).overall.f1 for run in runs]
    assert set(fitted.chosen) == set(np.argsort(scores)[-2:].tolist())
    alone = fit([runs[k] for k in fitted.chosen], gold, name, folds=2)
    assert np.array_equal(fitted.average(runs).bits, alone.average([runs[k] for k in fitted.chosen]).bits)


def test_beta_is_searched_for(runs, gold) -> None:
    fitted = fit(runs, gold, "equal", beta=None, target="overall")
    assert fitted.report["schemes"] > 1
    best = evaluate(average(runs, beta=fitted.objective.beta), gold).overall.f1
    assert best >= evaluate(average(runs), gold).overall.f1


def test_a_trade_off_has_a_front(runs, gold) -> None:
    for name in ("logistic", "equal"):
        points = fit(runs, gold, name, trade_off=True).report["trade_off"]
        front = [p for p in points if p["front"]]
        assert front
        for point in points:
            better = [o for o in points if o["discontinuous"] > point["discontinuous"]]
            assert not (point["front"] and any(o["overall"] >= point["overall"] for o in better))
