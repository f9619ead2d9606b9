"""The grammars of the sample: rules, small words and tables of inflected ones, read from text files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from treemean.sample.grammar import Grammar
from treemean.sample.notation import read_grammar, read_paradigms


def table(language: str, name: str) -> str:
    """Return the text of a file, as in `table("dutch", "nouns")`."""
    return files("treemean.sample").joinpath("data", language, f"{name}.txt").read_text("utf-8")


@cache
def dutch() -> Grammar:
    """Return the grammar of simple Dutch."""
    forms = _verb_forms(infinitive="verb/te/*")
    return _grammar(
        "dutch",
        {
            **read_paradigms(table("dutch", "nouns"), ["noun/de/*", "noun/het/*", "noun/pl/*"]),
            **read_paradigms(table("dutch", "adjectives"), ["adj/e/*", "adj/0/*"]),
            **read_paradigms(table("dutch", "verbs"), [*forms, "+verb/heb/*"]),
            **read_paradigms(table("dutch", "motion-verbs"), [*forms, "+verb/zijn/*"]),
        },
    )


@cache
def german() -> Grammar:
    """Return the grammar of simple German."""
    nouns = [
        "noun/nom/m/*",
        "noun/acc/m/* noun/dat/m/*",
        *(" ".join(f"noun/{case}/{gender}/*" for case in ("nom", "acc", "dat")) for gender in "fn"),
        "noun/nom/p/* noun/acc/p/*",
        "noun/dat/p/*",
    ]
    forms = _verb_forms(infinitive="verb/zu/*")
    stems = read_paradigms(table("german", "adjectives"), ["*"])
    return _grammar(
        "german",
        {
            **read_paradigms(table("german", "nouns"), nouns),
            **{
                f"adj/{end}/{kind}": [s + end for s in stems[kind]]
                for kind in stems
                for end in ("e", "en", "er", "es")
            },
            **read_paradigms(table("german", "verbs"), [*forms, "+verb/hab/*"]),
            **read_paradigms(table("german", "motion-verbs"), [*forms, "+verb/sein/*"]),
        },
    )


@cache
def english() -> Grammar:
    """Return the grammar of simple English."""
    forms = [
        "verb/base/* verb/pres/s1/* verb/pres/pl/*",
        "verb/pres/sg/*",
        "verb/past/*",
        "verb/ptc/*",
        "verb/ing/*",
    ]
    return _grammar(
        "english",
        {
            **read_paradigms(table("english", "nouns"), ["noun/sg/*", "noun/pl/*"]),
            **read_paradigms(table("english", "adjectives"), ["adj/*"]),
            **read_paradigms(table("english", "verbs"), forms),
        },
    )


def _grammar(language: str, inflected: dict[str, list[str]]) -> Grammar:
    return read_grammar(table(language, "small-words") + table(language, "rules"), inflected)


def _verb_forms(infinitive: str) -> list[str]:
    """Return the columns of Dutch and German verbs without the participle; they differ in `te` and `zu`."""
    return [
        f"+verb/inf/* {infinitive} {_finite('pl', 'pres')}",
        _finite("s1", "pres"),
        _finite("sg", "pres"),
        f"{_finite('s1', 'past')} {_finite('sg', 'past')}",
        _finite("pl", "past"),
    ]


def _finite(agreement: str, tense: str) -> str:
    form = f"{agreement}/{tense}/*"
    return f"verb/v2/{form} verb/v2/{form}/@ +verb/end/{form}"
