"""Every error that treemean raises on purpose; all derive from `TreemeanError`. And one warning."""

from __future__ import annotations

from collections.abc import Iterable
from errno import EBADF


class TreemeanError(Exception):
    """Base of all errors that a user can cause and should read."""


class InvalidTree(TreemeanError, ValueError):
    """A set of constituents that is not a tree over its words; the message says why."""


class InvalidOption(TreemeanError, ValueError):
    """An option that a function does not know or take; the message says what it does take."""


class WrongType(InvalidOption, TypeError):
    """An argument of a type that a function does not take; the message says which it takes."""


class Unsolved(TreemeanError):
    """A sentence that is beyond the reach of the chosen method.

    Parameters
    ----------
    reason : why, without the place.
    sentence : the sentence's 1-based number, if known.
    id : the sentence's id, if it has one.
    """

    def __init__(self, reason: str, *, sentence: int | None = None, id: str = "") -> None:
        self.reason, self.sentence, self.id = reason, sentence, id
        place = "" if sentence is None else f"sentence {sentence}" + (f" ({id})" if id else "")
        super().__init__(f"{place}: {reason}" if place else reason)


class FormatError(TreemeanError, ValueError):
    """Input that cannot be read; names the file, the line and the sentence.

    Parameters
    ----------
    message : what is wrong, without the place.
    path : the file (or `<standard input>`), if known.
    line : 1-based line number, if known.
    sentence : the sentence's id or 1-based number, if known.
    """

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, sentence: str | None = None
    ) -> None:
        self.message, self.path, self.line, self.sentence = message, path, line, sentence
        place = path or ""
        if line is not None:
            place += f":{line}" if place else f"line {line}"
        parts = [place] if place else []
        if sentence:
            parts.append(f"sentence {sentence}")
        super().__init__(": ".join([*parts, message]))


class UnwritableTree(TreemeanError, ValueError):
    """A tree that the chosen format cannot express."""


class LossWarning(UserWarning):
    """Something was not written because the format has no place for it, such as ids."""


class MismatchError(TreemeanError, ValueError):
    """Treebanks that should have the same sentences and words, and do not."""


class NumericalError(TreemeanError, ArithmeticError):
    """Numbers that are no longer finite; the message says where, and what may help."""


class MissingDependency(TreemeanError, ImportError):
    """An optional package is needed; the message says which extra installs it."""


def no_such(what: str, given: object, known: Iterable[str]) -> str:
    """Return what to say of a name that is none of those to choose from; the nearest one is suggested.

    >>> no_such("test", "singn", ["ins", "sign"])
    "there is no test 'singn'; known are ins, sign. Did you mean sign?"
    """
    names = list(known)
    return f"there is no {what} {given!r}; known are {', '.join(names)}{nearest(given, names)}"


def nearest(given: object, known: Iterable[str]) -> str:
    """Return what to add to a message about a wrong name: the nearest of those to choose from, if any is.

    >>> nearest("singn", ["ins", "sign"]), nearest("x", ["ins", "sign"])
    ('. Did you mean sign?', '')
    """
    from difflib import get_close_matches

    near = get_close_matches(str(given), list(known), n=1)
    return f". Did you mean {near[0]}?" if near else ""


def reason_of(error: BaseException) -> str:
    """Return what an error of the system says, without the name of the file, which we name ourselves.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "a.txt"))
    'No such file or directory'
    """
    if isinstance(error, OSError):
        if error.errno == EBADF:  # of the standard streams: we close no others before we use them
            return "it is closed"
        return error.strerror or str(error) or type(error).__name__
    return str(error) or type(error).__name__


def check_type(name: str, value: object, *kinds: type) -> None:
    """Raise `WrongType` unless a value is of one of these types; `name` is what the message calls it.

    >>> check_type("gold", [1], dict)
    Traceback (most recent call last):
    treemean.errors.WrongType: gold must be a dict, not a list
    """
    if not isinstance(value, kinds):
        wanted = " or a ".join(kind.__name__ for kind in kinds)
        given = "None" if value is None else f"a {type(value).__name__}"
        raise WrongType(f"{name} must be a {wanted}, not {given}")
