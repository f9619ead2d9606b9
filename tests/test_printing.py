"""Whatever text is printed, a terminal shows it and does nothing else."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from treemean.errors import FormatError
from treemean.files.shown import ShownStream
from treemean.printing import harmless, harmless_json
from treemean.reporting import Table

texts = st.text(st.characters() | st.sampled_from("\x1b\x9b\x07\r\n\t\x7f\u202e\u2066\udcff[]0;m"))


def is_harmless(text: str, allowed: str = "") -> bool:
    bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in "\u2028\u2029\u202e\u2066"]
    return all(c in allowed for c in bad)


@given(texts)
def test_nothing_harmful_is_left(text: str) -> None:
    assert is_harmless(harmless(text))
    assert is_harmless(harmless(text, lines=True), "\n\t")
    assert harmless(text, lines=True).count("\n") == text.count("\n")


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"))))
def test_plain_text_stays(text: str) -> None:
    assert harmless(text) == text


@given(st.recursive(texts.filter(lambda t: is_harmless(t, "\x1b\x9b\r\n\t\x7f\u202e\u2066")), st.lists))
def test_json_stays_what_it_says(data: object) -> None:
    text = harmless_json(json.dumps(data, ensure_ascii=False, indent=1))
    assert is_harmless(text, "\n")
    assert json.loads(text) == data


def test_tables_in_the_terminal_are_harmless() -> None:
    from rich.console import Console

    table = Table(["a\x1b[2J", "b"], [["\x1b]0;x\x07", 1], ["[red]x[/y]", 2]], "t\x9b", ["n\x1b", "second"])
    console = Console(width=60, file=None)
    with console.capture() as capture:
        console.print(table.to_rich(60))
    shown = capture.get()
    assert is_harmless(shown, "\n")
    for text in (r"a\x1b[2J", r"\x1b]0;x\x07", "[red]x[/y]", r"t\x9b", r"n\x1b", "second"):
        assert text in shown


def test_names_that_are_not_text_are_shown() -> None:
    name = b"caf\xe9.dbr".decode("utf-8", "surrogateescape")
    assert harmless(str(FormatError("no", path=name))) == r"caf\xe9.dbr: no"


def test_files_on_a_terminal() -> None:
    class Terminal:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None: ...

    terminal = Terminal()
    stream = ShownStream(terminal)
    for byte in "(S é\x1b[2J\t€)\n".encode() + b"\xff\n":
        stream.write(bytes([byte]))
    assert terminal.text == "(S é\\x1b[2J\t€)\n\\xff\n"
