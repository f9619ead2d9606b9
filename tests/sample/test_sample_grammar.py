"""The formalism: rules, their notation, and what is wrong with bad ones."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treemean.errors import TreemeanError
from treemean.sample import (
    LANGUAGES,
    Derivation,
    Grammar,
    GrammarError,
    Rule,
    read_grammar,
    read_paradigms,
    tree_of,
)
from treemean.sample.languages import english, table

COPY = """
    word/a = a
    word/b = b
    $w = a b
    S(x y) -> A(x, y)
    2 A(v x, w y) -> word/$w(v) word/$w(w) A(x, y)
    3 A(x, y) -> word/$w(x) word/$w(y)
"""


def strings_of(derivation: Derivation) -> tuple[tuple[str, ...], ...]:
    """Evaluate a derivation by the definition of a rewriting system: tuples of strings."""
    if derivation.rule is None:
        return ((derivation.word,),)
    parts = [strings_of(child) for child in derivation.children]
    return tuple(
        sum((parts[child][component] for child, component in argument), ())
        for argument in derivation.rule.arguments
    )


def nodes_of(derivation: Derivation) -> list[tuple[str, tuple[str, ...]]]:
    """List label and sorted words of every visible node."""
    below = [node for child in derivation.children for node in nodes_of(child)]
    if derivation.rule is None or derivation.is_hidden:
        return below
    return [(derivation.name, tuple(sorted(sum(strings_of(derivation), ())))), *below]


def simple(**changes: object) -> Rule:
    rule = Rule("S", ("A", "w"), (((0, 0), (1, 0), (0, 1)),), ("", ""))
    return replace(rule, **changes)


PAIR = Rule("A", ("w", "w"), (((0, 0),), ((1, 0),)), ("", ""))


def test_a_copy_language_is_generated():
    grammar = read_grammar(COPY)
    random = Random(3)
    seen = set()
    for _ in range(300):
        (sentence,) = strings_of(grammar.derive(random))
        half = len(sentence) // 2
        assert sentence[:half] == sentence[half:]
        seen.add(sentence)
    assert ("a", "b", "a", "b") in seen
    assert ("b", "a", "b", "a") in seen


def test_probabilities_sum_to_one_and_govern_what_is_drawn():
    grammar = read_grammar(COPY)
    by_parent: Counter[str] = Counter()
    for rule in grammar.rules:
        by_parent[rule.parent] += grammar.probability(rule)
    assert all(total == pytest.approx(1) for total in by_parent.values())
    lengths = [len(strings_of(d)[0]) for d, _ in zip(grammar.derivations(Random(0)), range(4000))]
    assert Counter(lengths)[2] / 4000 == pytest.approx(3 / 5, abs=0.03)
    assert sum(lengths) / 4000 == pytest.approx(grammar.expected_length, rel=0.05)
    assert grammar.expected_length == pytest.approx(2 / (3 / 5))


def test_weight_is_shared_among_instances_and_repeated_values_count():
    grammar = read_grammar(
        "$n = sg sg pl\nn/sg = kat\nn/pl = katten\n3 S(x) -> n/$n(x)\n1 S(x y) -> n/sg(x) n/pl(y)"
    )
    assert [round(grammar.probability(rule), 6) for rule in grammar.rules] == [0.5, 0.25, 0.25]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@given(seed=st.integers(0, 10**6))
def test_trees_say_what_derivations_say(language, seed):
    derivation = LANGUAGES[language]().derive(Random(seed))
    tree = tree_of(derivation, punctuation=False)
    (words,) = strings_of(derivation)
    lower = [word.lower() for word in words if word not in {".", ",", "?", "!"}]
    assert [word.lower() for word in tree.words] == lower
    expected = Counter(
        (label, tuple(sorted(w.lower() for w in members if w not in {".", ",", "?", "!"})))
        for label, members in nodes_of(derivation)
    )
    assert expected == Counter(
        (c.label, tuple(sorted(tree.words[p].lower() for p in c.positions))) for c in tree
    )


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ([simple(arguments=(((0, 0), (1, 0), (0, 1), (0, 0)),)), PAIR], "not linear"),
        ([simple(arguments=(((0, 0), (0, 1)),)), PAIR], "erases a component of w"),
        ([simple(arguments=(((0, 1), (1, 0)),)), PAIR], "erases a component of A"),
        ([simple(arguments=(((0, 0), (1, 0)),)), PAIR], "A has fan-out 2, but 1 are used"),
        ([simple(arguments=(((0, 0), (1, 0), (0, 1)), ())), PAIR], "component is empty"),
        ([simple(arguments=(((0, 0), (1, 0), (0, 1), (2, 0)),)), PAIR], "child that does not exist"),
        ([simple(functions=("hd",)), PAIR], "1 functions for 2 children"),
        ([simple(weight=0.0), PAIR], "not a positive number"),
        ([simple(weight=-1.0), PAIR], "not a positive number"),
        ([simple(weight=float("nan")), PAIR], "not a positive number"),
        ([simple(weight=float("inf")), PAIR], "not a positive number"),
        ([simple(), PAIR, Rule("A", ("w",), (((0, 0),),), ("",))], "A has fan-out 2 elsewhere"),
        ([simple()], "nothing rewrites A"),
        ([simple(), PAIR, Rule("B", ("w",), (((0, 0),),), ("",))], "no sentence uses B"),
        ([simple(), PAIR, Rule("w", ("w",), (((0, 0),),), ("",))], "w has both words and rules"),
        (
            [simple(), replace(PAIR, children=("w", "B")), Rule("B", ("B",), (((0, 0),),), ("",))],
            "never ends",
        ),
        ([PAIR, Rule("S", ("A",), (((0, 0),), ((0, 1),)), ("",))], "start symbol"),
        ([PAIR], "start symbol"),
        ([simple(), PAIR, replace(PAIR, children=("S", "S"), weight=2.0)], "infinite"),
    ],
)
def test_improper_grammars_are_refused(rules, complaint):
    with pytest.raises(GrammarError, match=complaint):
        Grammar(rules, {"w": ["w"]})


@pytest.mark.parametrize("words", [[], ["a", ""]])
def test_symbols_need_words(words):
    with pytest.raises(GrammarError, match="w has no words"):
        Grammar([simple(), PAIR], {"w": words})


def test_a_proper_grammar_is_accepted():
    grammar = Grammar([simple(), PAIR], {"w": ["w"]})
    assert grammar.expected_length == pytest.approx(3)
    assert grammar.reachable() == {"S", "A", "w"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("w = a\nS(x -> w(x)", "line 2: .* not of the form"),
        ("w = a\nS(x) -> w(x) w", "line 2: cannot read 'w'"),
        ("w = a\nS(x y) -> w(x)", "line 2: no child has the variable 'y'"),
        ("w = a\nS(x) -> w(x) w(x)", "line 2: variable 'x' names two things"),
        ("w = a\nS(x) -> w()", "names two things, or nothing"),
        ("w = a\nS(x) -> w/$q(x)", "line 2: \\$q has no values"),
        ("w = a\nnonsense", "line 2: 'nonsense' is no rule"),
        ("w =\nS(x) -> w(x)", "line 1: 'w =' is no rule"),
        ("w = a\nS(x) -> w(x)\nS(x) -> q(x)", "line 3: no sentence can use the rule"),
        ("w = a\nS(x) -> w(x)\nB(x) -> w(x)", "line 3: no sentence can use the rule"),
        ("w = a\nv = b\nS(x) -> w(x)", "no sentence uses v"),
        ("w = a\nS(x) -> w(x) w(y)", "erases a component of w"),
    ],
)
def test_bad_notation_is_refused_with_its_line(text, complaint):
    with pytest.raises(GrammarError, match=complaint) as caught:
        read_grammar(text)
    assert isinstance(caught.value, TreemeanError)


def test_instances_without_words_are_left_out():
    grammar = read_grammar(
        "$g = de het\nn/de = man\nd/de = de\nd/het = het\nS(d n) -> d/$g(d) n/$g(n)\nS(d) -> d/het(d)"
    )
    assert [str(rule) for rule in grammar.rules] == ["S(x1 x2) -> d/de(x1) n/de(x2)", "S(x1) -> d/het(x1)"]


@pytest.mark.parametrize("table", ["a b", "hum:\na", "hum:\na b c"])
def test_bad_paradigms_are_refused(table):
    with pytest.raises(GrammarError, match="should have 2 forms"):
        read_paradigms(table, ["sg/*", "pl/*"])


def test_paradigms_know_classes_gaps_and_particles():
    table = "x y:\nzien -\nop|bellen belt  # a comment\n"
    assert read_paradigms(table, ["+inf/*", "fin/*/@ fin/*"]) == {
        "inf/x": ["zien", "opbellen"],
        "inf/y": ["zien", "opbellen"],
        "fin/x/op": ["belt"],
        "fin/y/op": ["belt"],
        "part/op": ["op"],
    }


@pytest.mark.parametrize("grammar", LANGUAGES.values())
def test_every_word_of_the_tables_can_be_said(grammar):
    said = {word for words in grammar().lexicon.values() for word in words}
    names = ["nouns", "verbs"] if grammar is english else ["nouns", "verbs", "motion-verbs"]
    lines = [line for name in names for line in table(grammar.__name__, name).splitlines()]
    rows = [line for line in lines if line and line[-1] != ":" and line[0] != "#"]
    assert len(rows) > 50
    for row in rows:
        particle, _, forms = row.rpartition("|")
        listed = {form for form in forms.split() if form != "-"}
        assert listed & said or {particle + form for form in listed} & said, row
