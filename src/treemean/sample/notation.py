"""A notation in which grammars are written by hand, and its reader.

A text has three kinds of lines, besides empty ones and comments after `#`:

    $g = de het                                     a feature variable and its values
    noun/de = man vrouw                             a symbol above words, and the words
    2 NP(x y) -> det/$g:det(x) noun/$g:hd(y)        a rule with its weight (1 if not given)

A rule with feature variables stands for all its instances: every variable is replaced, everywhere in the
rule, by each of its values. Instances that cannot be completed, because nothing rewrites one of their
children (`noun/het` above), or that no sentence uses, are left out; but at least one instance of every rule
must remain, and all symbols above words must be in use, so that a misspelt one is found. The instances with
the same parent share the weight of their rule equally; a value that is listed twice counts twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from treemean.sample.grammar import Grammar, GrammarError, Rule

_RULE = re.compile(
    r"(?:(?P<weight>[\d.]+)\s+)?(?P<parent>\S+?)\((?P<arguments>[^)]*)\)\s*->\s*(?P<children>.+)"
)
_CHILD = re.compile(r"(?P<symbol>[^\s:()]+)(?::(?P<function>\w+))?\((?P<variables>[^)]*)\)\s*")
_VARIABLE = re.compile(r"\$\w+")


def read_grammar(text: str, words: Mapping[str, Sequence[str]] | None = None, *, start: str = "S") -> Grammar:
    """Make a grammar from its text.

    Parameters
    ----------
    text : variables, words and rules in the notation of this module.
    words : more symbols above words, from `read_paradigms`; of these, not all must be in use.
    start : the symbol of whole sentences.

    >>> grammar = read_grammar('''
    ...     $n = sg pl
    ...     noun/sg = kat
    ...     noun/pl = katten
    ...     verb/sg = slaapt
    ...     verb/pl = slapen
    ...     S(x y) -> noun/$n:su(x) verb/$n:hd(y)
    ... ''')
    >>> [str(rule) for rule in grammar.rules]
    ['S(x1 x2) -> noun/sg:su(x1) verb/sg:hd(x2)', 'S(x1 x2) -> noun/pl:su(x1) verb/pl:hd(x2)']
    """
    paradigms = words or {}
    lexicon: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    written: list[tuple[int, str]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if "->" in line:
            written.append((number, line))
        elif line:
            name, equals, values = (part.strip() for part in line.partition("="))
            if not equals or not values:
                raise GrammarError(f"line {number}: {line!r} is no rule, no words and no variable")
            (variables if name.startswith("$") else lexicon).setdefault(name, []).extend(values.split())
    instances = [(number, rule) for number, line in written for rule in _instances(line, number, variables)]
    kept = _useful(instances, lexicon.keys() | paradigms.keys(), start)
    remaining = {number for number, _ in kept}
    for number, line in written:
        if number not in remaining:
            raise GrammarError(f"line {number}: no sentence can use the rule {line}")
    sharing = Counter((number, rule.parent) for number, rule in kept)
    used = {child for _, rule in kept for child in rule.children}
    for symbol, listed in paradigms.items():
        if symbol in used:
            lexicon.setdefault(symbol, []).extend(listed)
    weighted = (
        replace(rule, weight=rule.weight * times / sharing[number, rule.parent])
        for (number, rule), times in Counter(kept).items()
    )
    return Grammar(weighted, lexicon, start)


def read_paradigms(table: str, columns: Sequence[str]) -> dict[str, list[str]]:
    """Read a table of inflected words into a lexicon.

    Parameters
    ----------
    table : under a line that names one or more classes, as in `food obj:`, one line per word with its forms;
        `-` for a form that does not exist. Words with a separable particle begin with it: `op|bellen belt`.
    columns : for each form the symbols under which it is entered, divided by spaces. In a symbol `*` stands
        for the class and `@` for the particle. Symbols with `@` are for words with a particle only, others
        for words without; but after `+` a symbol is for both, and the particle is put before the form. The
        particles themselves are entered as `part/@`.

    >>> read_paradigms("food:\\nappel appels\\nbrood broden", ["noun/sg/*", "noun/pl/*"])
    {'noun/sg/food': ['appel', 'brood'], 'noun/pl/food': ['appels', 'broden']}
    >>> read_paradigms("tr:\\nop|bellen belt\\nzien ziet", ["+inf/*", "fin/* fin/*/@ +end/*"])
    {'inf/tr': ['opbellen', 'zien'], 'fin/tr/op': ['belt'], 'end/tr': ['opbelt', 'ziet'], 'part/op': ['op'], \
'fin/tr': ['ziet']}
    """
    lexicon: dict[str, list[str]] = {}
    classes: list[str] = []
    for number, raw in enumerate(table.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if line.endswith(":"):
            classes = line[:-1].split()
        elif line:
            particle, bar, rest = line.rpartition("|")
            forms = rest.split()
            if len(forms) != len(columns) or not classes:
                raise GrammarError(
                    f"line {number}: {line!r} should have {len(columns)} forms and a class above"
                )
            for symbol, form in _entries(forms, columns, particle, classes):
                if form not in lexicon.setdefault(symbol, []):
                    lexicon[symbol].append(form)
            if bar:
                lexicon[f"part/{particle}"] = [particle]
    return lexicon


def _entries(
    forms: Sequence[str], columns: Sequence[str], particle: str, classes: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the symbols and forms of one word."""
    for form, column in zip(forms, columns):
        for pattern in column.split() if form != "-" else ():
            joined = pattern.startswith("+")
            if particle if "@" in pattern else joined or not particle:
                for kind in classes:
                    symbol = pattern.removeprefix("+").replace("*", kind).replace("@", particle)
                    yield symbol, particle + form if joined else form


def _instances(line: str, number: int, variables: Mapping[str, Sequence[str]]) -> Iterator[Rule]:
    """Yield a rule with its variables replaced in all ways."""
    names = list(dict.fromkeys(_VARIABLE.findall(line)))
    for name in names:
        if name not in variables:
            raise GrammarError(f"line {number}: {name} has no values")
    for values in product(*(variables[name] for name in names)):
        yield _rule(_substitute(line, dict(zip(names, values))), number)


def _substitute(line: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match.group()], line)


def _rule(line: str, number: int) -> Rule:
    match = _RULE.fullmatch(line)
    if match is None:
        raise GrammarError(
            f"line {number}: {line!r} is not of the form PARENT(x y, z) -> CHILD(x, z) CHILD(y)"
        )
    symbols: list[str] = []
    functions: list[str] = []
    places: dict[str, tuple[int, int]] = {}
    position = 0
    text = match["children"]
    while position < len(text):
        child = _CHILD.match(text, position)
        if child is None:
            raise GrammarError(f"line {number}: cannot read {text[position:]!r}")
        for component, variable in enumerate(name.strip() for name in child["variables"].split(",")):
            if variable in places or not variable:
                raise GrammarError(
                    f"line {number}: variable {variable!r} names two things, or nothing: {line}"
                )
            places[variable] = len(symbols), component
        symbols.append(child["symbol"])
        functions.append(child["function"] or "")
        position = child.end()
    try:
        arguments = tuple(
            tuple(places[variable] for variable in argument.split())
            for argument in match["arguments"].split(",")
        )
    except KeyError as unknown:
        raise GrammarError(f"line {number}: no child has the variable {unknown}: {line}") from None
    return Rule(match["parent"], tuple(symbols), arguments, tuple(functions), float(match["weight"] or 1))


def _useful(
    instances: Sequence[tuple[int, Rule]], above_words: set[str], start: str
) -> list[tuple[int, Rule]]:
    """Return the instances that derive words and that the start symbol can reach."""
    productive = set(above_words)
    grown = True
    while grown:
        new = {r.parent for _, r in instances if productive.issuperset(r.children)} - productive
        productive |= new
        grown = bool(new)
    complete = [(number, rule) for number, rule in instances if productive.issuperset(rule.children)]
    reached = {start}
    grown = True
    while grown:
        new = {child for _, r in complete if r.parent in reached for child in r.children} - reached
        reached |= new
        grown = bool(new)
    return [(number, rule) for number, rule in complete if rule.parent in reached]
