"""What is shown of long work: to a terminal while it goes on, to a log now and then."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from treemean.cli import scaling
from treemean.cli.output import with_progress, working
from treemean.cli.scaling import job_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Let errors go to a terminal; not a fixture, as pytest puts its own stream in place before each test."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return terminal


def test_batches_pass_by_and_their_sentences_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    batches = [[1, 2, 3], [4, 5]]
    assert list(with_progress(batches, "reading [b]x[/b]\x1b[0m")) == batches
    shown = terminal.getvalue()
    assert "5 sentences" in shown
    assert r"reading [b]x[/b]\x1b[0m" in shown  # neither markup nor an escape sequence


def test_work_without_numbers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    with working("loading [PyTorch]"):
        pass
    assert "loading [PyTorch]" in terminal.getvalue()


def test_jobs_show_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    with job_progress("averaging") as advance:
        advance(0, None)
        advance(1500, 3000)
    assert "averaging" in terminal.getvalue()
    assert "1,500 sentences" in terminal.getvalue()


def test_a_log_has_a_line_every_half_minute(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    clock = iter([0.0, 10.0, 40.0, 45.0, 80.0])
    monkeypatch.setattr(scaling, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with job_progress("averaging") as advance:
        for done, total in ((100, None), (1000, None), (1100, None), (2000, 3000)):
            advance(done, total)
    assert capsys.readouterr().err.splitlines() == [
        "averaging: 1,000 sentences (25 a second)",
        "averaging: 2,000 sentences of 3,000, 40 s left (25 a second)",
    ]
