"""A grammar of simple English: particle verbs, questions, topics, extraposed relative clauses.

Here the analyses follow the habits of English treebanks: S consists of NP and VP, every auxiliary has a VP of
its own, and there are phrases above single words.
"""

from __future__ import annotations

from functools import cache

from treemean.sample.english_words import ADJECTIVES, NOUNS, SMALL_WORDS, VERBS
from treemean.sample.grammar import Grammar
from treemean.sample.notation import read_grammar, read_paradigms

RULES = """
$n = sg sg sg pl pl s1   # who the finite verb agrees with: one, many, I
$m = sg sg pl
$t = pres past
$o = hum text obj
$d = text obj            # things
$w = up away back        # particles of transitive verbs
$z = in back             # particles of intransitive verbs
$p = for about           # prepositions of prepositional objects
$f = base ptc ing        # after a modal or do, after have, after be
$y = base ptc ing past

# ---- whole sentences
6   S(x p) -> _decl(x) punct/stop:punct(p)
2   S(x p) -> _ask(x) punct/ask:punct(p)
0.7 S(v p) -> VP/base:hd(v) punct/call:punct(p)

6   _decl(s v)     -> NP/su/$n:su(s) VP/fin/$n:hd(v)
1.5 _decl(a s v)   -> adv/time:mod(a) NP/su/$n:su(s) VP/past:hd(v)
1   _decl(x s v)   -> VP/top/$n:hd(x, v) NP/su/$n:su(s)
1   _decl(n v r)   -> NP/gap/$m:su(n, r) VP/come/$m:hd(v)
0.6 _decl(s v c)   -> NP/su/$n:su(s) VP/fin/$n:hd(v) SBAR/because:mod(c)
0.4 _decl(c s v)   -> SBAR/because:mod(c) NP/su/$n:su(s) VP/fin/$n:hd(v)

1   _ask(f s v)    -> verb/do/$m:hd(f) NP/su/$m:su(s) VP/base:vc(v)
1   _ask(f s v)    -> verb/have/$m:hd(f) NP/su/$m:su(s) VP/ptc:vc(v)
1   _ask(f s v)    -> verb/be/$m:hd(f) NP/su/$m:su(s) VP/ing:vc(v)
1   _ask(w v)      -> NP/who:su(w) VP/fin/sg:hd(v)
1.5 _ask(x f s v)  -> VP/wh/base:vc(x, v) verb/do/$m:hd(f) NP/su/$m:su(s)
1   _ask(x f s v)  -> VP/wh/base:vc(x, v) verb/modal:hd(f) NP/su/$m:su(s)
1   _ask(x f s v)  -> VP/wh/ptc:vc(x, v) verb/have/$m:hd(f) NP/su/$m:su(s)
1   _ask(x f s v)  -> VP/wh/ing:vc(x, v) verb/be/$m:hd(f) NP/su/$m:su(s)

# ---- finite verb phrases
3   VP/fin/$n(f v)   -> verb/have/$n:hd(f) VP/ptc:vc(v)
2   VP/fin/$n(f v)   -> verb/be/$n:hd(f) VP/ing:vc(v)
3   VP/fin/$n(f v)   -> verb/modal:hd(f) VP/base:vc(v)
1   VP/fin/$n(f a)   -> verb/be/$n:hd(f) AP/pred:predc(a)
1   VP/fin/$n(a v)   -> adv/mid:mod(a) _DO/past(v)
5   VP/fin/$n(v)     -> _FIN/$n(v)
3   _FIN/$n(v)       -> _PAST(v)
1   _FIN/$n(v o)     -> verb/pres/$n/tr/$o:hd(v) NP/ob/$o:obj1(o)
0.5 _FIN/$n(v o)     -> verb/pres/$n/tr/$o:hd(v) NP/rel/$o:obj1(o)
1   _FIN/$n(v x)     -> verb/pres/$n/live:hd(v) PP/town:ld(x)
1   _FIN/$n(v c)     -> verb/pres/$n/say:hd(v) SBAR/that:vc(c)
VP/past(v)           -> _PAST(v)
3   _PAST(v)         -> _DO/past(v)
1   _PAST(v c)       -> verb/past/say:hd(v) SBAR/that:vc(c)
1   VP/come/$m(v)    -> V/come/past:hd(v)
1   VP/come/$m(f v)  -> verb/have/$m:hd(f) V/come/ptc:vc(v)
V/come/$y(v p)       -> verb/$y/come/$z:hd(v) part/$z:svp(p)

# ---- other verb phrases
VP/$f(v)           -> _DO/$f(v)
4   _DO/$y(v o)    -> verb/$y/tr/$o:hd(v) NP/ob/$o:obj1(o)
1   _DO/$y(v o)    -> verb/$y/tr/$o:hd(v) NP/rel/$o:obj1(o)
1   _DO/$y(v o a)  -> verb/$y/tr/$o:hd(v) NP/ob/$o:obj1(o) PP/place:mod(a)
3   _DO/$y(v o p)  -> V/$y/$w/$o:hd(v, p) NP/ob/$o:obj1(o)
1   _DO/$y(v i o)  -> verb/$y/give/$d:hd(v) NP/ob/hum:obj2(i) NP/ob/$d:obj1(o)
1   _DO/$y(v o i)  -> verb/$y/give/$d:hd(v) NP/ob/$d:obj1(o) PP/to:obj2(i)
2   _DO/$y(v x)    -> verb/$y/pp/$p:hd(v) PP/$p:pc(x)
1   _DO/$y(v x)    -> verb/$y/intr:hd(v) PP/place:mod(x)
V/$y/$w/$o(v, p)   -> verb/$y/sep/$w/$o:hd(v) part/$w:svp(p)

# ---- verb phrases whose object comes first
VP/top/$n(x, v)     -> NP/top/$o:obj1(x) verb/past/tr/$o:hd(v)
VP/top/$n(x, f v)   -> VP/front/ptc:vc(x, v) verb/have/$n:hd(f)
VP/top/$n(x, f v)   -> VP/front/base:vc(x, v) verb/modal:hd(f)
VP/front/$f(x, v)   -> NP/top/$o:obj1(x) verb/$f/tr/$o:hd(v)
VP/front/$f(x, v i) -> NP/top/$d:obj1(x) verb/$f/give/$d:hd(v) PP/to:obj2(i)
3 VP/wh/$f(x, v)    -> NP/wh/$o:obj1(x) verb/$f/tr/$o:hd(v)
1 VP/wh/$f(x, v i)  -> NP/wh/$d:obj1(x) verb/$f/give/$d:hd(v) PP/to:obj2(i)
2 VP/wh/$f(x, v y)  -> PP/strand/$p:pc(x, y) verb/$f/pp/$p:hd(v)
1 VP/wh/$f(x, v)    -> NP/wh/$o:obj1(x) V/wh/$f/$o:hd(v)
V/wh/$f/$o(v p)     -> verb/$f/sep/$w/$o:hd(v) part/$w:svp(p)

# ---- clauses
SBAR/that(c s)      -> comp/that:cmp(c) S/sub:body(s)
SBAR/because(c s)   -> comp/because:cmp(c) S/sub:body(s)
S/sub(s v)          -> NP/su/$n:su(s) VP/fin/$n:hd(v)
SBAR/hum/$m(r v)    -> pron/rel/hum:rhd(r) VP/rel/$m:body(v)
SBAR/$d/$m(r x)     -> pron/rel/thing:rhd(r) S/orel/$d:body(x)
VP/rel/$m(v x)      -> verb/pres/$m/live:hd(v) PP/town:ld(x)
VP/rel/$m(v)        -> _DO/past(v)
S/orel/$d(s v)      -> NP/su/$n:su(s) VP/orel/$n/$d:hd(v)
VP/orel/$n/$d(v)    -> verb/past/tr/$d:hd(v)
VP/orel/$n/$d(f v)  -> verb/have/$n:hd(f) verb/ptc/tr/$d:vc(v)

# ---- prepositional phrases
PP/for(p x)         -> prep/for:hd(p) NP/ob/hum:obj1(x)
PP/about(p x)       -> prep/about:hd(p) NP/ob/$o:obj1(x)
PP/to(p x)          -> prep/to:hd(p) NP/ob/hum:obj1(x)
PP/place(p x)       -> prep/in:hd(p) NP/place:obj1(x)
PP/town(p x)        -> prep/in:hd(p) NP/town:obj1(x)
PP/from(p x)        -> prep/from:hd(p) NP/town:obj1(x)
PP/by(p x)          -> prep/by:hd(p) NP/name:obj1(x)
PP/strand/$p(x, y)  -> NP/wh/$o:obj1(x) prep/$p:hd(y)

# ---- noun phrases
2 NP/su/sg(x)       -> name/hum:hd(x)
1 NP/su/sg(x)       -> pron/nom/sg:hd(x)
5 NP/su/sg(x)       -> _N/sg/hum(x)
1 NP/su/pl(x)       -> pron/nom/pl:hd(x)
1 NP/su/pl(x c y)   -> name/hum:cnj(x) conj/and:crd(c) name/hum:cnj(y)
4 NP/su/pl(x)       -> _N/pl/hum(x)
NP/su/s1(x)         -> pron/nom/s1:hd(x)
2 NP/ob/hum(x)      -> name/hum:hd(x)
1 NP/ob/hum(x)      -> pron/acc:hd(x)
6 NP/ob/$o(x)       -> _N/$m/$o(x)
NP/rel/$o(d n r)    -> det/$m/the:det(d) noun/$m/$o:hd(n) SBAR/$o/$m:mod(r)
NP/gap/$m(d n, r)   -> det/$m/a:det(d) noun/$m/hum:hd(n) SBAR/hum/$m:mod(r)
5 _N/$m/$o(d n)     -> det/$m:det(d) noun/$m/$o:hd(n)
1 _N/$m/$d(d n)     -> det/poss:det(d) noun/$m/$d:hd(n)
1 _N/$m/hum(d n)    -> det/poss:det(d) noun/$m/kin:hd(n)
3 _N/$m/$o(d a n)   -> det/$m:det(d) _A/$o:mod(a) noun/$m/$o:hd(n)
1 _N/$m/hum(d n x)  -> det/$m:det(d) noun/$m/hum:hd(n) PP/from:mod(x)
1 _N/$m/text(d n x) -> det/$m:det(d) noun/$m/text:hd(n) PP/by:mod(x)
NP/top/$o(d n)      -> det/$m/dem:det(d) noun/$m/$o:hd(n)
NP/top/$o(d a n)    -> det/$m/dem:det(d) adj/$o:mod(a) noun/$m/$o:hd(n)
NP/wh/$o(d n)       -> det/which:det(d) noun/$m/$o:hd(n)
NP/wh/hum(x)        -> pron/who:hd(x)
NP/wh/$d(x)         -> pron/what:hd(x)
NP/who(x)           -> pron/who:hd(x)
NP/name(x)          -> name/hum:hd(x)
NP/town(x)          -> name/town:hd(x)
2 NP/place(d n)     -> det/place:det(d) noun/sg/place:hd(n)
1 NP/place(d a n)   -> det/place:det(d) adj/place:mod(a) noun/sg/place:hd(n)

# ---- adjectives
4 _A/$o(a)          -> adj/$o(a)
1 _A/$o(x)          -> AP/$o(x)
AP/$o(x a)          -> adv/degree:mod(x) adj/$o:hd(a)
AP/pred(a)          -> adj/pred:hd(a)
AP/pred(x a)        -> adv/degree:mod(x) adj/pred:hd(a)
"""


@cache
def grammar() -> Grammar:
    """Return the grammar of simple English."""
    verbs = [
        "verb/base/* verb/pres/s1/* verb/pres/pl/*",
        "verb/pres/sg/*",
        "verb/past/*",
        "verb/ptc/*",
        "verb/ing/*",
    ]
    words = {
        **read_paradigms(NOUNS, ["noun/sg/*", "noun/pl/*"]),
        **read_paradigms(ADJECTIVES, ["adj/*"]),
        **read_paradigms(VERBS, verbs),
    }
    return read_grammar(SMALL_WORDS + RULES, words)
