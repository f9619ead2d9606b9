"""What is done is not done again; what changed, or was interrupted, is."""

from __future__ import annotations

import pytest

from treemean.experiments.cache import Cache


@pytest.fixture
def work(tmp_path):
    """A stage that counts how often it works."""

    class Work:
        cache = Cache(tmp_path)
        done = 0
        fails = False

        def __call__(self, inputs=None, outputs=("a.txt",)):
            def make():
                for name in outputs:
                    (tmp_path / name).write_text(f"{inputs}")
                if self.fails:
                    raise KeyboardInterrupt
                self.done += 1

            return self.cache.stage("count", inputs or {"x": 1}, outputs, make)

    return Work()


def test_a_stage_is_done_once(work):
    assert work()
    assert not work()
    assert work.done == 1


def test_other_inputs_or_outputs_do_it_again(work):
    work()
    assert work({"x": 2})
    assert work({"x": 2}, ("a.txt", "b.txt"))
    assert work.done == 3


@pytest.mark.parametrize("harm", ["remove", "change", "spoil the record", "another record"])
def test_harm_does_it_again(work, tmp_path, harm):
    work()
    record = tmp_path / "stages" / "count.json"
    if harm == "remove":
        (tmp_path / "a.txt").unlink()
    elif harm == "change":
        (tmp_path / "a.txt").write_text("other")
    else:
        record.write_text('{"inputs"' if harm == "spoil the record" else "[]")
    assert work()


def test_an_interrupted_stage_is_done_again(work):
    work()
    work.fails = True
    with pytest.raises(KeyboardInterrupt):
        work({"x": 2})
    work.fails = False
    assert work({"x": 2})
    assert not work({"x": 2})
