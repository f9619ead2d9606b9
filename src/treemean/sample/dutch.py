"""A grammar of simple Dutch: verb second, verb clusters in cross-serial order, stranded prepositions.

The analyses follow the habits of Dutch treebanks: flat clauses whose head is the finite verb, a VP for every
infinitive or participle with something of its own, no phrase above a single word, and one constituent for what
belongs together even if it does not stand together.
"""

from __future__ import annotations

from functools import cache

from treemean.sample.dutch_words import ADJECTIVES, MOTION_VERBS, NOUNS, SMALL_WORDS, VERBS
from treemean.sample.grammar import Grammar
from treemean.sample.notation import read_grammar, read_paradigms

RULES = """
$n = s1 sg pl            # who the finite verb agrees with: I, one, many
$t = pres past
$g = de het pl           # gender, or plural
$h = de het
$e = e 0                 # inflection of an adjective; the determiner decides it
$s = hum ani             # kinds of subjects
$o = hum ani text food obj abs
$i = ani text food obj abs
$d = text obj            # what one gives to somebody
$r = in yard op town     # places
$p = op aan naar over    # prepositions of prepositional objects
$v = weg terug binnen op uit vast voor klaar schoon mee goed
$k = tr/hum tr/ani tr/text tr/food tr/obj tr/abs di/text di/obj pc/op pc/aan pc/naar pc/over loc ld
$a = tr/ani tr/text tr/food tr/obj di/text di/obj ld                 # what one sees others do
$j = tr/hum tr/ani tr/text tr/food tr/obj tr/abs di/text di/obj pc/over ld loc  # what one tries to do
$z = act come            # without any complement
$f = inf heb zijn        # infinitive, participle with hebben, participle with zijn
$x = heb zijn
$q = decl wh

# ---- whole sentences
6   S(x p) -> _decl(x) punct/stop:punct(p)
1   S(x p) -> _ask(x) punct/ask:punct(p)

9   _decl(x)         -> _main(x)
1   _decl(x c)       -> _main(x) CP/because:mod(c)

4   _main(s f m)     -> _SU/$n/hum:su(s) _F/hum/$n/$t(f, m)
0.7 _main(s f m)     -> _SU/$n/ani:su(s) _F/ani/$n/$t(f, m)
2   _main(a f s m)   -> adv/first/$t:mod(a) _F/hum/$n/$t(f, m) _SU/$n/hum:su(s)
4   _main(x f s m)   -> _T/decl/$n(x, f, m) _SU/$n/hum:su(s)
0.4 _main(e f n v r) -> adv/er:mod(e) verb/v2/$n/$t/$x:hd(f) _NX/$n/hum:su(n, r) _V0/$x:vc(v)
0.4 _main(x f n v r) -> VP/top/decl/heb:vc(x, v) verb/v2/$n/$t/heb:hd(f) _NX/$n/hum:su(n, r)
0.4 _main(s f a)     -> _SU/$n/$s:su(s) verb/v2/$n/$t/cop:hd(f) _PRED/$s:predc(a)
0.5 _main(s f b v)   -> _NP/$n/$i:su(s) verb/v2/$n/$t/word:hd(f) VP/pass/$i:vc(b, v)
0.2 _main(v f s o a) -> VP/front:vc(v, o) verb/v2/$n/$t/heb:hd(f) _SU/$n/hum:su(s) adv/neg:mod(a)

1   _ask(f s m)      -> _F/hum/$n/$t(f, m) _SU/$n/hum:su(s)
1   _ask(w f m)      -> pron/wh/hum:su(w) _F/hum/sg/$t(f, m)
2   _ask(x f s m)    -> _T/wh/$n(x, f, m) _SU/$n/hum:su(s)

# ---- the finite verb in second place, and the rest
3   _F/hum/$n/$t(f, m)   -> verb/v2/$n/$t/$k:hd(f) _M/$k/$t(m)
2   _F/hum/$n/$t(f, m p) -> V/$n/$t/$k:hd(f, p) _M/$k/$t(m)
0.7 _F/$s/$n/$t(f, m)    -> verb/v2/$n/$t/intr/$s:hd(f) _M/intr/$s/$t(m)
0.5 _F/hum/$n/$t(f, a p) -> V/$n/$t/come:hd(f, p) adv/$t:mod(a)
4   _F/$s/$n/past(f, m v) -> verb/v2/$n/$t/heb:hd(f) VP/$s/heb/past:vc(m, v)
0.6 _F/hum/$n/past(f, m v) -> verb/v2/$n/$t/zijn:hd(f) VP/hum/zijn/past:vc(m, v)
3   _F/$s/$n/$t(f, m v)  -> verb/v2/$n/$t/modal:hd(f) VP/$s/inf/$t:vc(m, v)
0.7 _F/hum/$n/past(f, m v) -> verb/v2/$n/$t/heb:hd(f) VP/ipp:vc(m, v)
0.8 _F/hum/$n/$t(f, o m v) -> verb/v2/$n/$t/aci:hd(f) _OB/hum:obj1(o) VP/act/$t:vc(m, v)
0.8 _F/hum/$n/$t(f, c)   -> verb/v2/$n/$t/say:hd(f) CP/dat:vc(c)
0.4 _F/hum/$n/past(f, c) -> verb/v2/$n/$t/heb:hd(f) VP/say:vc(c)
0.8 _F/hum/$n/$t(f, m v) -> verb/v2/$n/$t/try:hd(f) VP/te/$t:vc(m, v)

V/$n/$t/$k(v, p)   -> verb/v2/$n/$t/$k/$v:hd(v) part/$v:svp(p)
V/$n/$t/come(v, p) -> verb/v2/$n/$t/come/$v:hd(v) part/$v:svp(p)

# ---- something other than the subject in first place: topic, finite verb, the rest
2   _T/$q/$n(x, f, p)   -> _TOP/$q/$o:obj1(x) V/$n/$t/tr/$o:hd(f, p)
1   _T/$q/$n(x, f, a)   -> _TOP/$q/$o:obj1(x) verb/v2/$n/$t/tr/$o:hd(f) adv/$t:mod(a)
3   _T/$q/$n(x, f, v)   -> VP/top/$q/heb:vc(x, v) verb/v2/$n/$t/heb:hd(f)
0.5 _T/decl/$n(x, f, v) -> VP/top/decl/zijn:vc(x, v) verb/v2/$n/$t/zijn:hd(f)
2   _T/$q/$n(x, f, v)   -> VP/top/$q/inf:vc(x, v) verb/v2/$n/$t/modal:hd(f)
1   _T/$q/$n(x, f, m v) -> VP/wide/$q/heb:vc(x, m, v) verb/v2/$n/$t/heb:hd(f)
0.7 _T/$q/$n(x, f, m v) -> VP/wide/$q/inf:vc(x, m, v) verb/v2/$n/$t/modal:hd(f)
0.5 _T/$q/$n(x, f, m v) -> VP/outer/$q:vc(x, m, v) verb/v2/$n/$t/heb:hd(f)
0.7 _T/$q/$n(x, f, y)   -> PP/r/$q/$p:pc(x, y) verb/v2/$n/$t/pc/$p:hd(f)
0.7 _T/$q/$n(x, f, a y) -> PP/r/$q/$p:pc(x, y) verb/v2/$n/$t/pc/$p:hd(f) adv/$t:mod(a)

3   VP/top/$q/$f(x, v)       -> _TOP/$q/$o:obj1(x) verb/$f/tr/$o:hd(v)
1   VP/top/$q/$f(x, y v)     -> PP/r/$q/$p:pc(x, y) verb/$f/pc/$p:hd(v)
0.7 VP/top/wh/$f(x, y v)     -> NP/watvoor/$i:obj1(x, y) verb/$f/tr/$i:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/$p:pc(x) verb/$f/pc/$p:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/ld:ld(x) verb/$f/ld:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/place:mod(x) verb/$f/intr/hum:hd(v)
2   VP/wide/$q/$f(x, m, v)   -> _TOP/$q/$d:obj1(x) PP/aan/hum:obj2(m) verb/$f/di/$d:hd(v)
1   VP/wide/decl/$f(x, m, v) -> PP/place:mod(x) _OB/$i:obj1(m) verb/$f/tr/$i:hd(v)
VP/outer/$q(x, m, w v)       -> verb/inf/modal:hd(w) VP/wide/$q/inf:vc(x, m, v)
VP/front(v, o)               -> verb/heb/tr/$o:hd(v) _TOP/decl/$o:obj1(o)

# ---- infinitives and participles: what stands before the verb cluster, and what is added to it
5   VP/hum/$f/$t(m, v)      -> _M/$k/$t(m) verb/$f/$k:hd(v)
0.5 VP/$s/$f/$t(m, v)       -> _M/intr/$s/$t(m) verb/$f/intr/$s:hd(v)
0.6 VP/hum/$f/$t(n, v r)    -> _NX/$n/$o:obj1(n, r) verb/$f/tr/$o:hd(v)
0.3 VP/hum/inf/$t(o m, h v) -> verb/inf/aci:hd(h) _OB/hum:obj1(o) VP/act/$t:vc(m, v)
4   VP/act/$t(m, v)         -> _M/$a/$t(m) verb/inf/$a:hd(v)
1   VP/act/$t(o, h v)       -> verb/inf/aci:hd(h) _OB/hum:obj1(o) verb/inf/act:vc(v)
1   VP/act/$t(o m, h v)     -> verb/inf/aci:hd(h) _OB/hum:obj1(o) VP/act/$t:vc(m, v)
2   VP/ipp(m, w v)          -> verb/inf/modal:hd(w) VP/hum/inf/past:vc(m, v)
1   VP/ipp(o m, h v)        -> verb/inf/aci:hd(h) _OB/hum:obj1(o) VP/act/past:vc(m, v)
VP/say(v c)                 -> verb/heb/say:hd(v) CP/dat:vc(c)
VP/te/$t(m, z v)            -> _M/$j/$t(m) comp/te:cmp(z) verb/te/$j:hd(v)
VP/pass/$i(b, v)            -> PP/by:mod(b) verb/heb/tr/$i:hd(v)
_V0/$f(v)                   -> verb/$f/$z(v)

# ---- subordinate clauses: all verbs at the end, the finite one first among them or last
CP/dat(c x)     -> comp/dat:cmp(c) S/sub:body(x)
CP/because(c x) -> comp/because:cmp(c) S/sub:body(x)
4   S/sub(s x)      -> _SU/$n/hum:su(s) _E/hum/$n/$t(x)
0.5 S/sub(s x)      -> _SU/$n/ani:su(s) _E/ani/$n/$t(x)
0.4 S/sub(s a f)    -> _SU/$n/$s:su(s) _PRED/$s:predc(a) verb/end/$n/$t/cop:hd(f)
0.5 S/sub(s b f v)  -> _NP/$n/$i:su(s) verb/end/$n/$t/word:hd(f) VP/pass/$i:vc(b, v)

3   _E/hum/$n/$t(m f)     -> _M/$k/$t(m) verb/end/$n/$t/$k:hd(f)
0.5 _E/$s/$n/$t(m f)      -> _M/intr/$s/$t(m) verb/end/$n/$t/intr/$s:hd(f)
1.5 _E/$s/$n/past(m f v)  -> verb/end/$n/$t/heb:hd(f) VP/$s/heb/past:vc(m, v)
0.4 _E/hum/$n/past(m f v) -> verb/end/$n/$t/zijn:hd(f) VP/hum/zijn/past:vc(m, v)
1   _E/hum/$n/past(m v f) -> verb/end/$n/$t/heb:hd(f) VP/plain:vc(m, v)
1.5 _E/$s/$n/$t(m f v)    -> verb/end/$n/$t/modal:hd(f) VP/$s/inf/$t:vc(m, v)
0.5 _E/hum/$n/$t(f v)     -> verb/end/$n/$t/modal:hd(f) _V0/inf:vc(v)
0.5 _E/hum/$n/past(f v)   -> verb/end/$n/$t/$x:hd(f) _V0/$x:vc(v)
0.7 _E/hum/$n/$t(o m f v) -> verb/end/$n/$t/aci:hd(f) _OB/hum:obj1(o) VP/act/$t:vc(m, v)
0.3 _E/hum/$n/$t(o f v)   -> verb/end/$n/$t/hear:hd(f) _OB/hum:obj1(o) verb/inf/act:vc(v)
0.7 _E/hum/$n/$t(m f v)   -> verb/end/$n/$t/try:hd(f) VP/te/$t:vc(m, v)
VP/plain(m, v)            -> _M/$k/past(m) verb/heb/$k:hd(v)

# ---- relative clauses
REL/de/$s(r x)   -> pron/rel/de:rhd(r) S/rel/sg/$s:body(x)
REL/het/$s(r x)  -> pron/rel/het:rhd(r) S/rel/sg/$s:body(x)
REL/pl/$s(r x)   -> pron/rel/pl:rhd(r) S/rel/pl/$s:body(x)
REL/$g/$i(r x)   -> pron/rel/$g:rhd(r) S/orel/$i:body(x)
S/rel/$n/$s(x)   -> _E/$s/$n/$t(x)
1 S/orel/$i(s f)   -> _SU/$n/hum:su(s) verb/end/$n/$t/tr/$i:hd(f)
2 S/orel/$i(s f v) -> _SU/$n/hum:su(s) verb/end/$n/$t/heb:hd(f) verb/heb/tr/$i:vc(v)
1 S/orel/$i(s f v) -> _SU/$n/hum:su(s) verb/end/$n/$t/modal:hd(f) verb/inf/tr/$i:vc(v)

# ---- the middle field: objects and adverbs
4   _M/tr/$o/$t(o)      -> _OB/$o:obj1(o)
1.5 _M/tr/$o/$t(a o)    -> adv/$t:mod(a) _OB/$o:obj1(o)
0.7 _M/tr/$i/$t(a o)    -> PP/place:mod(a) _OB/$i:obj1(o)
0.7 _M/tr/hum/$t(o a)   -> _OB/hum:obj1(o) PP/place:mod(a)
1   _M/tr/hum/$t(o)     -> pron/acc:obj1(o)
0.7 _M/tr/hum/$t(o a)   -> pron/acc:obj1(o) adv/$t:mod(a)
1   _M/di/$d/$t(i o)    -> _OB/hum:obj2(i) _OB/$d:obj1(o)
1   _M/di/$d/$t(o i)    -> _OB/$d:obj1(o) PP/aan/hum:obj2(i)
0.5 _M/di/$d/$t(i o)    -> pron/acc:obj2(i) _OB/$d:obj1(o)
3   _M/pc/$p/$t(x)      -> PP/$p:pc(x)
1   _M/pc/$p/$t(a x)    -> adv/$t:mod(a) PP/$p:pc(x)
0.7 _M/pc/$p/$t(a x)    -> adv/neg:mod(a) PP/$p:pc(x)
2   _M/ld/$t(x)         -> PP/ld:ld(x)
1   _M/ld/$t(a x)       -> adv/$t:mod(a) PP/ld:ld(x)
_M/loc/$t(x)            -> PP/town:ld(x)
2   _M/intr/hum/$t(x)   -> PP/place:mod(x)
1   _M/intr/hum/$t(a x) -> adv/$t:mod(a) PP/place:mod(x)
1   _M/intr/hum/$t(a b) -> adv/$t:mod(a) adv/how:mod(b)
2   _M/intr/ani/$t(x)   -> PP/yard:mod(x)
1   _M/intr/ani/$t(a x) -> adv/$t:mod(a) PP/yard:mod(x)

# ---- prepositional phrases
PP/op(p x)       -> prep/op:hd(p) _OB/hum:obj1(x)
PP/aan(p x)      -> prep/aan:hd(p) _OB/abs:obj1(x)
PP/naar(p x)     -> prep/naar:hd(p) _OB/hum:obj1(x)
2 PP/over(p x)   -> prep/over:hd(p) _OB/abs:obj1(x)
1 PP/over(p x)   -> prep/over:hd(p) _OB/hum:obj1(x)
PP/aan/hum(p x)  -> prep/aan:hd(p) _OB/hum:obj1(x)
PP/by(p x)       -> prep/door:hd(p) _OB/hum:obj1(x)
PP/place(p x)    -> prep/in:hd(p) NP/place/in:obj1(x)
PP/place(p x)    -> prep/in:hd(p) NP/place/yard:obj1(x)
PP/place(p x)    -> prep/op:hd(p) NP/place/op:obj1(x)
PP/yard(p x)     -> prep/in:hd(p) NP/place/yard:obj1(x)
2 PP/ld(p x)     -> prep/naar:hd(p) NP/place/$r:obj1(x)
1 PP/ld(p x)     -> prep/naar:hd(p) name/town:obj1(x)
1 PP/town(p x)   -> prep/in:hd(p) NP/place/town:obj1(x)
3 PP/town(p x)   -> prep/in:hd(p) name/town:obj1(x)
PP/from(p x)     -> prep/uit:hd(p) name/town:obj1(x)
PP/of(p x)       -> prep/van:hd(p) _OB/hum:obj1(x)
PP/r/$q/$p(x, y) -> adv/r/$q:obj1(x) prep/$p:hd(y)

# ---- noun phrases, adjectives
3 _SU/sg/$s(x)    -> _NP/sg/$s(x)
1 _SU/sg/hum(x)   -> pron/nom/sg(x)
3 _SU/pl/$s(x)    -> _NP/pl/$s(x)
1 _SU/pl/hum(x)   -> pron/nom/pl(x)
_SU/s1/hum(x)     -> pron/nom/s1(x)
3 _OB/$o(x)       -> _NP/sg/$o(x)
1 _OB/$o(x)       -> _NP/pl/$o(x)
4 _NP/sg/hum(x)   -> name/hum(x)
4 _NP/sg/$o(x)    -> NP/de/$o(x)
3 _NP/sg/$o(x)    -> NP/het/$o(x)
4 _NP/pl/$o(x)    -> NP/pl/$o(x)
1 _NP/pl/hum(x)   -> NP/and(x)
_NX/sg/$o(x, r)   -> NP/x/$h/$o(x, r)
_NX/pl/$o(x, r)   -> NP/x/pl/$o(x, r)

6   NP/$g/$o(d n)     -> det/$g/$e:det(d) noun/$g/$o:hd(n)
3   NP/$g/$o(d a n)   -> det/$g/$e:det(d) _A/$e/$o:mod(a) noun/$g/$o:hd(n)
0.4 NP/$g/hum(d n x)  -> det/$g/$e:det(d) noun/$g/hum:hd(n) PP/from:mod(x)
0.4 NP/$g/$d(d n x)   -> det/$g/def:det(d) noun/$g/$d:hd(n) PP/of:mod(x)
0.4 NP/$g/$o(d n r)   -> det/$g/def:det(d) noun/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/x/$g/$o(d n, r)    -> det/$g/indef:det(d) noun/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/and(x c y)         -> name/hum:cnj(x) conj/and:crd(c) name/hum:cnj(y)
NP/top/$g/$o(d n)     -> det/$g/def:det(d) noun/$g/$o:hd(n)
NP/top/$g/$o(d a n)   -> det/$g/def:det(d) _A/e/$o:mod(a) noun/$g/$o:hd(n)
NP/wh/$g/$o(d n)      -> det/$g/wh:det(d) noun/$g/$o:hd(n)
NP/watvoor/$i(x, p n) -> pron/wh/thing:det(x) prep/voor:mod(p) noun/pl/$i:hd(n)
3 NP/place/$r(d n)    -> det/$h/place/$e:det(d) noun/$h/$r:hd(n)
1 NP/place/$r(d a n)  -> det/$h/place/$e:det(d) _A/$e/$r:mod(a) noun/$h/$r:hd(n)
_TOP/decl/$o(x)       -> NP/top/$g/$o(x)
_TOP/decl/hum(x)      -> name/hum(x)
_TOP/wh/$o(x)         -> NP/wh/$g/$o(x)
_TOP/wh/hum(x)        -> pron/wh/hum(x)
_TOP/wh/$i(x)         -> pron/wh/thing(x)

5 _A/$e/$o(a)         -> adj/$e/$o(a)
1 _A/$e/$o(a)         -> AP/$e/$o(a)
_A/$e/$r(a)           -> adj/$e/$r(a)
AP/$e/$o(x a)         -> adv/degree:mod(x) adj/$e/$o:hd(a)
2 _PRED/$s(a)         -> adj/pred/$s(a)
1 _PRED/$s(a)         -> AP/pred/$s(a)
AP/pred/$s(x a)       -> adv/degree:mod(x) adj/pred/$s:hd(a)
"""


def _finite(agreement: str, tense: str) -> str:
    form = f"{agreement}/{tense}/*"
    return f"verb/v2/{form} verb/v2/{form}/@ +verb/end/{form}"


@cache
def grammar() -> Grammar:
    """Return the grammar of simple Dutch."""
    forms = [
        f"+verb/inf/* verb/te/* {_finite('pl', 'pres')}",
        _finite("s1", "pres"),
        _finite("sg", "pres"),
        f"{_finite('s1', 'past')} {_finite('sg', 'past')}",
        _finite("pl", "past"),
    ]
    words = {
        **read_paradigms(NOUNS, ["noun/de/*", "noun/het/*", "noun/pl/*"]),
        **read_paradigms(ADJECTIVES, ["adj/e/*", "adj/0/*"]),
        **read_paradigms(VERBS, [*forms, "+verb/heb/*"]),
        **read_paradigms(MOTION_VERBS, [*forms, "+verb/zijn/*"]),
    }
    return read_grammar(SMALL_WORDS + RULES, words)
