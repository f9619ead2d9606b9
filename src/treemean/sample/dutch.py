"""A grammar of simple Dutch: verb second, verb clusters in cross-serial order, stranded prepositions.

The analyses follow the habits of Dutch treebanks: flat clauses whose head is the finite verb, a VP for every
infinitive or participle with something of its own, no phrase above a single word, and one constituent for
what belongs together even if it does not stand together.
"""

from __future__ import annotations

from functools import cache

from treemean.sample.dutch_words import ADJECTIVES, MOTION_VERBS, NOUNS, SMALL_WORDS, VERBS
from treemean.sample.grammar import Grammar
from treemean.sample.notation import read_grammar, read_paradigms

RULES = """
$n = sg sg sg sg pl pl s1  # who the finite verb agrees with: one, many, I
$m = sg sg pl
$t = pres past
$g = de de het pl pl     # gender, or plural
$h = de de het
$e = e 0                 # inflection of an adjective; the determiner decides it
$s = hum ani             # kinds of subjects
$o = hum ani text food obj abs
$i = ani text food obj abs
$c = text food obj abs
$d = text obj            # what one gives to somebody
$r = in op town          # places
$p = op aan naar over    # prepositions of prepositional objects
$v = weg terug binnen op uit vast vrij voor klaar schoon mee goed
$k = tr/hum tr/ani tr/text tr/food tr/obj tr/abs di/text di/obj pc/op pc/aan pc/naar pc/over loc ld
$b = ani text food obj    # what one sees others do something with, or helps with
$j = tr/hum tr/ani tr/text tr/food tr/obj tr/abs di/text di/obj ld  # what one tries to do
$z = act come            # verbs without any complement
$f = inf heb zijn        # infinitive, participle with hebben, participle with zijn
$x = heb zijn
$q = decl wh

# ---- whole sentences
6   S(x p) -> _decl(x) punct/stop:punct(p)
1   S(x p) -> _ask(x) punct/ask:punct(p)

9   _decl(x)         -> _main(x)
1.5 _decl(x c)       -> _main(x) CP/because:mod(c)

4   _main(s f m)     -> _FIRST/$n/hum:su(s) _F/hum/$n/$t(f, m)
0.8 _main(s f m)     -> _FIRST/$n/hum:su(s) _FP/$n/$t(f, m)
3   _main(s f a m)   -> _FIRST/$n/hum:su(s) _F/hum/$n/$t(f, m) adv/time/$t:mod(a)
0.8 _main(s f m)     -> _FIRST/$n/ani:su(s) _F/ani/$n/$t(f, m)
2   _main(a f s m)   -> adv/time/$t:mod(a) _F/hum/$n/$t(f, m) _SU/$n/hum:su(s)
0.4 _main(a f s m)   -> adv/time/$t:mod(a) _FP/$n/$t(f, m) _SU/$n/hum:su(s)
4   _main(x f s m)   -> _T/decl/$n(x, f, m) _SU/$n/hum:su(s)
0.4 _main(e f n v r) -> adv/er:mod(e) verb/v2/$n/$t/$x:hd(f) _NX/$n/hum:su(n, r) _V0/$x:vc(v)
0.4 _main(x f n v r) -> VP/top/decl/heb:vc(x, v) verb/v2/$n/$t/heb:hd(f) _NX/$n/hum:su(n, r)
0.4 _main(s f a)     -> _SU/$n/$s:su(s) verb/v2/$n/$t/cop:hd(f) _PRED/$s:predc(a)
0.6 _main(s f b v)   -> _NP/$n/$i:su(s) verb/v2/$n/$t/word:hd(f) VP/pass/$i:vc(b, v)
0.2 _main(v f s o a) -> VP/front:vc(v, o) verb/v2/$n/$t/heb:hd(f) _SU/$n/hum:su(s) adv/neg:mod(a)

1   _ask(f s m)      -> _F/hum/$m/$t(f, m) _SU/$m/hum:su(s)
1   _ask(w f m)      -> pron/wh/hum:su(w) _F/hum/sg/$t(f, m)
0.3 _ask(w f m)      -> pron/wh/hum:su(w) _FP/sg/$t(f, m)
2   _ask(x f s m)    -> _T/wh/$m(x, f, m) _SU/$m/hum:su(s)

# ---- the finite verb in second place, and the rest
3   _F/hum/$n/$t(f, m)     -> verb/v2/$n/$t/$k:hd(f) _M/$k(m)
2   _F/hum/$n/$t(f, m p)   -> V/$n/$t/$k:hd(f, p) _M/$k(m)
0.7 _F/$s/$n/$t(f, m)      -> verb/v2/$n/$t/intr/$s:hd(f) _M/intr/$s(m)
0.7 _F/hum/$n/$t(f, o)     -> verb/v2/$n/$t/tr/$o:hd(f) NP/rel/$g/$o:obj1(o)
0.5 _F/hum/$n/$t(f, a p)   -> V/$n/$t/come:hd(f, p) adv/mid:mod(a)
0.3 _F/hum/$n/$t(f, a)     -> verb/v2/$n/$t/come:hd(f) adv/mid:mod(a)
5   _F/$s/$n/past(f, m v)  -> verb/v2/$n/$t/heb:hd(f) VP/$s/heb:vc(m, v)
0.8 _F/hum/$n/past(f, m v) -> verb/v2/$n/$t/zijn:hd(f) VP/hum/zijn:vc(m, v)
3   _F/$s/$n/$t(f, m v)    -> verb/v2/$n/$t/modal:hd(f) VP/$s/inf:vc(m, v)
0.8 _F/hum/$n/past(f, m v) -> verb/v2/$n/$t/heb:hd(f) VP/ipp:vc(m, v)
0.6 _F/hum/$n/$t(f, o m v) -> verb/v2/$n/$t/aci:hd(f) _OB/hum:obj1(o) VP/act:vc(m, v)
0.4 _F/hum/$n/$t(f, o m v) -> verb/v2/$n/$t/help:hd(f) _OB/hum:obj1(o) VP/deed:vc(m, v)
0.3 _F/hum/$n/$t(f, o v)   -> verb/v2/$n/$t/hear:hd(f) _OB/hum:obj1(o) verb/inf/act:vc(v)
0.8 _F/hum/$n/$t(f, c)     -> verb/v2/$n/$t/say:hd(f) CP/dat:vc(c)
0.4 _F/hum/$n/past(f, c)   -> verb/v2/$n/$t/heb:hd(f) VP/say:vc(c)
0.8 _F/hum/$n/$t(f, m v)   -> verb/v2/$n/$t/try:hd(f) VP/te:vc(m, v)

# the same with a pronoun for an object, which comes before any adverb
2   _FP/$n/past(f, o v)  -> verb/v2/$n/$t/heb:hd(f) VP/pron/heb:vc(o, v)
2   _FP/$n/$t(f, o v)    -> verb/v2/$n/$t/modal:hd(f) VP/pron/inf:vc(o, v)
1   _FP/$n/$t(f, o a)    -> verb/v2/$n/$t/tr/hum:hd(f) pron/acc:obj1(o) adv/mid:mod(a)
1   _FP/$n/$t(f, o p)    -> V/$n/$t/tr/hum:hd(f, p) pron/acc:obj1(o)
1   _FP/$n/$t(f, i o)    -> verb/v2/$n/$t/di/$d:hd(f) pron/acc:obj2(i) _OB/$d:obj1(o)

V/$n/$t/$k(v, p)   -> verb/v2/$n/$t/$k/$v:hd(v) part/$v:svp(p)
V/$n/$t/come(v, p) -> verb/v2/$n/$t/come/$v:hd(v) part/$v:svp(p)

# ---- something other than the subject in first place: topic, finite verb, the rest
2   _T/$q/$n(x, f, p)   -> _TOP/$q/$o:obj1(x) V/$n/$t/tr/$o:hd(f, p)
1   _T/$q/$n(x, f, a)   -> _TOP/$q/$o:obj1(x) verb/v2/$n/$t/tr/$o:hd(f) adv/often:mod(a)
2.5 _T/$q/$n(x, f, v)   -> VP/top/$q/heb:vc(x, v) verb/v2/$n/$t/heb:hd(f)
0.5 _T/decl/$n(x, f, v) -> VP/top/decl/zijn:vc(x, v) verb/v2/$n/$t/zijn:hd(f)
1.5 _T/$q/$n(x, f, v)   -> VP/top/$q/inf:vc(x, v) verb/v2/$n/$t/modal:hd(f)
1.5 _T/$q/$n(x, f, m v) -> VP/wide/$q/heb:vc(x, m, v) verb/v2/$n/$t/heb:hd(f)
1   _T/$q/$n(x, f, m v) -> VP/wide/$q/inf:vc(x, m, v) verb/v2/$n/$t/modal:hd(f)
0.5 _T/$q/$n(x, f, m v) -> VP/outer/$q:vc(x, m, v) verb/v2/$n/$t/heb:hd(f)
0.5 _T/$q/$n(x, f, y)   -> PP/r/$q/$p:pc(x, y) verb/v2/$n/$t/pc/$p:hd(f)
0.7 _T/$q/$n(x, f, a y) -> PP/r/$q/$p:pc(x, y) verb/v2/$n/$t/pc/$p:hd(f) adv/often:mod(a)

3   VP/top/$q/$f(x, v)       -> _TOP/$q/$o:obj1(x) verb/$f/tr/$o:hd(v)
1   VP/top/$q/$f(x, y v)     -> PP/r/$q/$p:pc(x, y) verb/$f/pc/$p:hd(v)
0.7 VP/top/wh/$f(x, y v)     -> NP/watvoor/$c:obj1(x, y) verb/$f/tr/$c:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/$p:pc(x) verb/$f/pc/$p:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/ld:ld(x) verb/$f/ld:hd(v)
0.7 VP/top/decl/$f(x, v)     -> PP/place:mod(x) verb/$f/intr/hum:hd(v)
2   VP/wide/$q/$f(x, m, v)   -> _TOP/$q/$d:obj1(x) PP/aan/hum:obj2(m) verb/$f/di/$d:hd(v)
1   VP/wide/decl/$f(x, m, v) -> PP/place:mod(x) _OB/$c:obj1(m) verb/$f/tr/$c:hd(v)
VP/outer/$q(x, m, w v)       -> verb/inf/modal:hd(w) VP/wide/$q/inf:vc(x, m, v)
VP/front(v, o)               -> verb/heb/tr/$o:hd(v) _TOP/decl/$o:obj1(o)

# ---- infinitives and participles: what stands before the verb cluster, and what is added to it
5   VP/hum/$f(m, v)      -> _M/$k(m) verb/$f/$k:hd(v)
0.5 VP/$s/$f(m, v)       -> _M/intr/$s(m) verb/$f/intr/$s:hd(v)
0.3 VP/hum/$f(a, v)      -> adv/mid:mod(a) verb/$f/$z:hd(v)
0.7 VP/hum/$f(n, v r)    -> _NX/$m/$o:obj1(n, r) verb/$f/tr/$o:hd(v)
0.3 VP/hum/inf(o m, h v) -> verb/inf/help:hd(h) _OB/hum:obj1(o) VP/deed:vc(m, v)
4   VP/act(o, v)         -> _OB/$b:obj1(o) verb/inf/tr/$b:hd(v)
1   VP/act(o, h v)       -> verb/inf/teach:hd(h) _OB/hum:obj1(o) verb/inf/act:vc(v)
1   VP/act(o m, h v)     -> verb/inf/help:hd(h) _OB/hum:obj1(o) VP/deed:vc(m, v)
4   VP/deed(o, v)        -> _OB/$b:obj1(o) verb/inf/tr/$b:hd(v)
1   VP/deed(i o, v)      -> _OB/hum:obj2(i) _OB/$d:obj1(o) verb/inf/di/$d:hd(v)
2   VP/ipp(m, w v)       -> verb/inf/modal:hd(w) VP/hum/inf:vc(m, v)
1   VP/ipp(o m, h v)     -> verb/inf/aci:hd(h) _OB/hum:obj1(o) VP/act:vc(m, v)
2   VP/pron/$f(o, v)     -> pron/acc:obj1(o) verb/$f/tr/hum:hd(v)
1   VP/pron/$f(o a, v)   -> pron/acc:obj1(o) adv/mid:mod(a) verb/$f/tr/hum:hd(v)
1   VP/pron/$f(i o, v)   -> pron/acc:obj2(i) _OB/$d:obj1(o) verb/$f/di/$d:hd(v)
VP/say(v c)              -> verb/heb/say:hd(v) CP/dat:vc(c)
VP/te(m, z v)            -> _M/$j(m) comp/te:cmp(z) verb/te/$j:hd(v)
VP/pass/$i(b, v)         -> PP/by:mod(b) verb/heb/tr/$i:hd(v)
_V0/$f(v)                -> verb/$f/$z(v)

# ---- subordinate clauses: all verbs at the end, the finite one first among them or last
CP/dat(c x)     -> comp/dat:cmp(c) S/sub:body(x)
CP/because(c x) -> comp/because:cmp(c) S/sub:body(x)
4   S/sub(s x)      -> _SU/$n/hum:su(s) _E/hum/$n(x)
0.5 S/sub(s x)      -> _SU/$n/ani:su(s) _E/ani/$n(x)
0.4 S/sub(s a f)    -> _SU/$n/$s:su(s) _PRED/$s:predc(a) verb/end/$n/$t/cop:hd(f)
0.5 S/sub(s b f v)  -> _NP/$n/$i:su(s) verb/end/$n/$t/word:hd(f) VP/pass/$i:vc(b, v)

2   _E/$s/$n(x)       -> _SHORT/$s/$n(x)
1   _E/$s/$n(m f v)   -> verb/end/$n/$t/heb:hd(f) VP/$s/heb:vc(m, v)
1   _E/$s/$n(m f v)   -> verb/end/$n/$t/modal:hd(f) VP/$s/inf:vc(m, v)
0.5 _E/hum/$n(m f v)  -> verb/end/$n/$t/zijn:hd(f) VP/hum/zijn:vc(m, v)
1   _E/hum/$n(o m f v) -> verb/end/$n/$t/aci:hd(f) _OB/hum:obj1(o) VP/act:vc(m, v)
0.5 _E/hum/$n(o m f v) -> verb/end/$n/$t/help:hd(f) _OB/hum:obj1(o) VP/deed:vc(m, v)
0.5 _E/hum/$n(m f v)  -> verb/end/$n/$t/try:hd(f) VP/te:vc(m, v)

3   _SHORT/hum/$n(m f)   -> _M/$k(m) verb/end/$n/$t/$k:hd(f)
1   _SHORT/$s/$n(m f)    -> _M/intr/$s(m) verb/end/$n/$t/intr/$s:hd(f)
1   _SHORT/hum/$n(m f v) -> verb/end/$n/$t/heb:hd(f) VP/plain/heb:vc(m, v)
1   _SHORT/hum/$n(m v f) -> verb/end/$n/$t/heb:hd(f) VP/plain/heb:vc(m, v)
1   _SHORT/hum/$n(m f v) -> verb/end/$n/$t/modal:hd(f) VP/plain/inf:vc(m, v)
0.5 _SHORT/hum/$n(o f v) -> verb/end/$n/$t/modal:hd(f) VP/pron/inf:vc(o, v)
0.4 _SHORT/hum/$n(f v)   -> verb/end/$n/$t/modal:hd(f) _V0/inf:vc(v)
0.4 _SHORT/hum/$n(f v)   -> verb/end/$n/$t/$x:hd(f) _V0/$x:vc(v)
0.4 _SHORT/hum/$n(o f v) -> verb/end/$n/$t/hear:hd(f) _OB/hum:obj1(o) verb/inf/act:vc(v)
VP/plain/$f(m, v)        -> _M/$k(m) verb/$f/$k:hd(v)

# ---- relative clauses, in which the noun is the subject (people, animals) or the object (all else)
REL/de/$s(r x)     -> pron/rel/de:rhd(r) S/rel/sg/$s:body(x)
REL/het/$s(r x)    -> pron/rel/het:rhd(r) S/rel/sg/$s:body(x)
REL/pl/$s(r x)     -> pron/rel/pl:rhd(r) S/rel/pl/$s:body(x)
REL/$g/$c(r x)     -> pron/rel/$g:rhd(r) S/orel/$c:body(x)
S/rel/$n/$s(x)     -> _SHORT/$s/$n(x)
1 S/orel/$c(s f)   -> _SU/$n/hum:su(s) verb/end/$n/$t/tr/$c:hd(f)
2 S/orel/$c(s f v) -> _SU/$n/hum:su(s) verb/end/$n/$t/heb:hd(f) verb/heb/tr/$c:vc(v)
1 S/orel/$c(s f v) -> _SU/$n/hum:su(s) verb/end/$n/$t/modal:hd(f) verb/inf/tr/$c:vc(v)

# ---- the middle field: objects and adverbs
4   _M/tr/$o(o)      -> _OB/$o:obj1(o)
1.5 _M/tr/$o(a o)    -> adv/mid:mod(a) _OB/$o:obj1(o)
1.5 _M/tr/$c(a o)    -> PP/place:mod(a) _OB/$c:obj1(o)
1   _M/tr/ani(o a)   -> _OB/ani:obj1(o) PP/yard:mod(a)
1   _M/tr/hum(o a)   -> _OB/hum:obj1(o) PP/place:mod(a)
1   _M/di/$d(i o)    -> _OB/hum:obj2(i) _OB/$d:obj1(o)
1   _M/di/$d(o i)    -> _OB/$d:obj1(o) PP/aan/hum:obj2(i)
3   _M/pc/$p(x)      -> PP/$p:pc(x)
1   _M/pc/$p(a x)    -> adv/mid:mod(a) PP/$p:pc(x)
0.7 _M/pc/$p(a x)    -> adv/neg:mod(a) PP/$p:pc(x)
2   _M/ld(x)         -> PP/ld:ld(x)
1   _M/ld(a x)       -> adv/mid:mod(a) PP/ld:ld(x)
_M/loc(x)            -> PP/town:ld(x)
3   _M/intr/hum(x)   -> PP/place:mod(x)
1   _M/intr/hum(a x) -> adv/mid:mod(a) PP/place:mod(x)
1   _M/intr/hum(a b) -> adv/mid:mod(a) adv/how:mod(b)
3   _M/intr/ani(x)   -> PP/yard:mod(x)
1   _M/intr/ani(a x) -> adv/mid:mod(a) PP/yard:mod(x)

# ---- prepositional phrases
PP/op(p x)       -> prep/op:hd(p) _OB/hum:obj1(x)
PP/aan(p x)      -> prep/aan:hd(p) _OB/abs:obj1(x)
PP/naar(p x)     -> prep/naar:hd(p) _OB/hum:obj1(x)
2 PP/over(p x)   -> prep/over:hd(p) _OB/abs:obj1(x)
1 PP/over(p x)   -> prep/over:hd(p) _OB/hum:obj1(x)
PP/aan/hum(p x)  -> prep/aan:hd(p) _OB/hum:obj1(x)
PP/by(p x)       -> prep/door:hd(p) _OB/hum:obj1(x)
PP/place(p x)    -> prep/in:hd(p) NP/in:obj1(x)
PP/place(p x)    -> prep/op:hd(p) NP/op:obj1(x)
PP/yard(p x)     -> prep/in:hd(p) NP/yard:obj1(x)
2 PP/ld(p x)     -> prep/naar:hd(p) NP/$r:obj1(x)
1 PP/ld(p x)     -> prep/naar:hd(p) name/town:obj1(x)
1 PP/town(p x)   -> prep/in:hd(p) NP/town:obj1(x)
3 PP/town(p x)   -> prep/in:hd(p) name/town:obj1(x)
PP/from(p x)     -> prep/uit:hd(p) name/town:obj1(x)
PP/of(p x)       -> prep/van:hd(p) _OB/hum:obj1(x)
PP/r/$q/$p(x, y) -> adv/r/$q:obj1(x) prep/$p:hd(y)

# ---- noun phrases
3 _SU/sg/$s(x)    -> _NP/sg/$s(x)
1 _SU/sg/hum(x)   -> pron/nom/sg(x)
3 _SU/pl/$s(x)    -> _NP/pl/$s(x)
1 _SU/pl/hum(x)   -> pron/nom/pl(x)
_SU/s1/hum(x)     -> pron/nom/s1(x)
8 _FIRST/$n/$s(x) -> _SU/$n/$s(x)
1 _FIRST/sg/$s(x) -> NP/rel/$h/$s(x)
1 _FIRST/pl/$s(x) -> NP/rel/pl/$s(x)
3 _OB/$o(x)       -> _NP/sg/$o(x)
1 _OB/$o(x)       -> _NP/pl/$o(x)
4 _NP/sg/hum(x)   -> name/hum(x)
8 _NP/sg/$o(x)    -> NP/$h/$o(x)
4 _NP/pl/$o(x)    -> NP/pl/$o(x)
1 _NP/pl/hum(x)   -> NP/and(x)
_NX/sg/$o(x, r)   -> NP/gap/$h/$o(x, r)
_NX/pl/$o(x, r)   -> NP/gap/pl/$o(x, r)

6   NP/$g/$o(d n)     -> det/$g/$e:det(d) noun/$g/$o:hd(n)
4   NP/$g/$o(d a n)   -> det/$g/$e:det(d) _A/$e/$o:mod(a) noun/$g/$o:hd(n)
1.5 NP/$g/$i(d n)     -> det/poss:det(d) noun/$g/$i:hd(n)
1.5 NP/$g/hum(d n)    -> det/poss:det(d) noun/$g/kin:hd(n)
0.5 NP/$g/hum(d a n)  -> det/poss:det(d) adj/e/kin:mod(a) noun/$g/kin:hd(n)
1   NP/$g/hum(d n x)  -> det/$g/$e:det(d) noun/$g/hum:hd(n) PP/from:mod(x)
1.5 NP/$g/$d(d n x)   -> det/$g/the:det(d) noun/$g/$d:hd(n) PP/of:mod(x)
NP/rel/$g/$o(d n r)   -> det/$g/the:det(d) noun/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/gap/$g/$o(d n, r)  -> det/$g/indef:det(d) noun/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/and(x c y)         -> name/hum:cnj(x) conj/and:crd(c) name/hum:cnj(y)
2 NP/top/$g/$o(d n)   -> det/$g/dem:det(d) noun/$g/$o:hd(n)
1 NP/top/$g/$o(d a n) -> det/$g/dem:det(d) _A/e/$o:mod(a) noun/$g/$o:hd(n)
NP/wh/$g/$o(d n)      -> det/$g/wh:det(d) noun/$g/$o:hd(n)
NP/watvoor/$c(x, p n) -> pron/wh/thing:det(x) prep/voor:mod(p) noun/pl/$c:hd(n)
3 NP/$r(d n)          -> det/$h/the:det(d) noun/$h/$r:hd(n)
1 NP/$r(d a n)        -> det/$h/place/$e:det(d) adj/$e/$r:mod(a) noun/$h/$r:hd(n)
3 NP/yard(d n)        -> det/$h/the:det(d) noun/$h/yard:hd(n)
1 NP/yard(d a n)      -> det/$h/place/$e:det(d) adj/$e/yard:mod(a) noun/$h/yard:hd(n)
_TOP/decl/$o(x)       -> NP/top/$g/$o(x)
0.5 _TOP/decl/hum(x)  -> name/hum(x)
_TOP/wh/$o(x)         -> NP/wh/$g/$o(x)
_TOP/wh/hum(x)        -> pron/wh/hum(x)
_TOP/wh/$c(x)         -> pron/wh/thing(x)

# ---- adjectives
5 _A/$e/$o(a)         -> adj/$e/$o(a)
1 _A/$e/$o(a)         -> AP/$e/$o(a)
AP/$e/$o(x a)         -> adv/degree:mod(x) adj/$e/$o:hd(a)
1 _PRED/$s(a)         -> adj/pred/$s(a)
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
