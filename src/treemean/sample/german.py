"""A grammar of simple German: verb second, separable verbs, scrambling, extraposed relative clauses.

The analyses are those of the Dutch grammar; the verb cluster is different (the finite verb comes last in it),
nouns and determiners have case, and there are commas.
"""

from __future__ import annotations

from functools import cache

from treemean.sample.german_words import ADJECTIVES, MOTION_VERBS, NOUNS, SMALL_WORDS, VERBS
from treemean.sample.grammar import Grammar
from treemean.sample.notation import read_grammar, read_paradigms

RULES = """
$n = sg sg sg sg pl pl s1  # who the finite verb agrees with: one, many, I
$m = sg sg pl
$t = pres past
$c = nom acc dat
$g = m m f f n p p       # gender, or plural
$h = m m f f n
$e = e en er es          # ending of an adjective; the determiner decides it
$s = hum ani             # kinds of subjects
$o = hum ani text food obj abs
$i = ani text food obj abs
$y = text food obj abs
$d = text obj            # what one gives to somebody
$r = in town             # places
$p = auf an über         # prepositions of prepositional objects
$v = an ein ab vor weg auf mit frei zurück zu
$k = acc/hum acc/ani acc/text acc/food acc/obj acc/abs dat di/text di/obj pc/auf pc/an pc/über loc ld
$j = acc/hum acc/ani acc/text acc/food acc/obj acc/abs dat di/text di/obj ld   # what one tries to do
$z = act come            # verbs without any complement
$f = inf hab sein        # infinitive, participle with haben, participle with sein
$q = decl wh

# ---- whole sentences
6   S(x p) -> _decl(x) punct/stop:punct(p)
1   S(x p) -> _ask(x) punct/ask:punct(p)

9   _decl(x)   -> _main(x)
1.8 _decl(x c) -> _main(x) CP/because:mod(c)

4   _main(s f m)     -> _FIRST/$n/hum:su(s) _F/hum/$n/$t(f, m)
0.8 _main(s f m)     -> _FIRST/$n/hum:su(s) _FP/$n/$t(f, m)
3   _main(s f a m)   -> _FIRST/$n/hum:su(s) _F/hum/$n/$t(f, m) adv/time/$t:mod(a)
0.8 _main(s f m)     -> _FIRST/$n/ani:su(s) _F/ani/$n/$t(f, m)
2   _main(a f s m)   -> adv/time/$t:mod(a) _F/hum/$n/$t(f, m) _SU/$n/hum:su(s)
0.3 _main(a f s m)   -> adv/time/$t:mod(a) _FP/$n/$t(f, m) _SU/$n/hum:su(s)
0.8 _main(a f o s v) -> adv/time/past:mod(a) VP/pron/hab:vc(o, v) verb/v2/$m/$t/hab:hd(f) _NP/nom/$m/hum:su(s)
0.5 _main(a f o s v) -> adv/time/$t:mod(a) VP/pron/inf:vc(o, v) verb/v2/$m/$t/modal:hd(f) _NP/nom/$m/hum:su(s)
4   _main(x f s m)   -> _T/decl/$n(x, f, m) _SU/$n/hum:su(s)
0.4 _main(x f n v r) -> VP/top/decl/hab:vc(x, v) verb/v2/$n/$t/hab:hd(f) _NX/nom/$n/hum:su(n, r)
0.4 _main(s f a)     -> _SU/$n/$s:su(s) verb/v2/$n/$t/cop:hd(f) _PRED/$s:predc(a)
0.6 _main(s f v)     -> _NP/nom/$n/$i:su(s) verb/v2/$n/$t/werd:hd(f) VP/by/$i:vc(v)
0.8 _main(x f s v)   -> VP/pass/$d:vc(x, v) verb/v2/$n/$t/werd:hd(f) _NP/nom/$n/$d:su(s)
0.6 _main(x f s v)   -> VP/werden/$d:vc(x, v) verb/v2/$n/$t/may:hd(f) _NP/nom/$n/$d:su(s)
0.3 _main(v f s o a) -> VP/front:vc(v, o) verb/v2/$n/$t/hab:hd(f) _SU/$n/hum:su(s) adv/neg:mod(a)

1   _ask(f s m)      -> _F/hum/$m/$t(f, m) _SU/$m/hum:su(s)
1   _ask(w f m)      -> pron/wh/nom:su(w) _F/hum/sg/$t(f, m)
0.3 _ask(w f m)      -> pron/wh/nom:su(w) _FP/sg/$t(f, m)
2   _ask(x f s m)    -> _T/wh/$m(x, f, m) _SU/$m/hum:su(s)

# ---- the finite verb in second place, and the rest
3   _F/hum/$n/$t(f, m)     -> verb/v2/$n/$t/$k:hd(f) _M/$k(m)
2   _F/hum/$n/$t(f, m p)   -> V/$n/$t/$k:hd(f, p) _M/$k(m)
0.7 _F/$s/$n/$t(f, m)      -> verb/v2/$n/$t/intr/$s:hd(f) _M/intr/$s(m)
0.7 _F/hum/$n/$t(f, o)     -> verb/v2/$n/$t/acc/$o:hd(f) NP/rel/acc/$g/$o:obj1(o)
0.5 _F/hum/$n/$t(f, a p)   -> V/$n/$t/come:hd(f, p) adv/mid:mod(a)
0.3 _F/hum/$n/$t(f, a)     -> verb/v2/$n/$t/come:hd(f) adv/mid:mod(a)
5   _F/$s/$n/past(f, m)    -> verb/v2/$n/$t/hab:hd(f) VP/$s/hab:vc(m)
0.8 _F/hum/$n/past(f, m)   -> verb/v2/$n/$t/sein:hd(f) VP/hum/sein:vc(m)
3   _F/$s/$n/$t(f, m)      -> verb/v2/$n/$t/modal:hd(f) VP/$s/inf:vc(m)
1   _F/hum/$n/past(f, m r) -> verb/v2/$n/$t/hab:hd(f) VP/ext/hab:vc(m, r)
0.6 _F/hum/$n/$t(f, m r)   -> verb/v2/$n/$t/modal:hd(f) VP/ext/inf:vc(m, r)
0.6 _F/hum/$n/past(f, m v) -> verb/v2/$n/$t/hab:hd(f) VP/ipp:vc(m, v)
0.8 _F/hum/$n/$t(f, c)     -> verb/v2/$n/$t/say:hd(f) CP/dass:vc(c)
0.4 _F/hum/$n/past(f, c)   -> verb/v2/$n/$t/hab:hd(f) VP/say:vc(c)
0.7 _F/hum/$n/$t(f, k m v) -> verb/v2/$n/$t/try:hd(f) punct/comma:punct(k) VP/zu:vc(m, v)

# the same with a pronoun for an object, which comes before any adverb
2   _FP/$n/past(f, o v)  -> verb/v2/$n/$t/hab:hd(f) VP/pron/hab:vc(o, v)
2   _FP/$n/$t(f, o v)    -> verb/v2/$n/$t/modal:hd(f) VP/pron/inf:vc(o, v)
1   _FP/$n/$t(f, o a)    -> verb/v2/$n/$t/acc/hum:hd(f) pron/acc:obj1(o) adv/mid:mod(a)
1   _FP/$n/$t(f, o p)    -> V/$n/$t/acc/hum:hd(f, p) pron/acc:obj1(o)
1   _FP/$n/$t(f, o a)    -> verb/v2/$n/$t/dat:hd(f) pron/dat:obj1(o) adv/mid:mod(a)
1   _FP/$n/$t(f, i o)    -> verb/v2/$n/$t/di/$d:hd(f) pron/dat:obj2(i) _OB/acc/$d:obj1(o)

V/$n/$t/$k(v, p)   -> verb/v2/$n/$t/$k/$v:hd(v) part/$v:svp(p)
V/$n/$t/come(v, p) -> verb/v2/$n/$t/come/$v:hd(v) part/$v:svp(p)

# ---- something other than the subject in first place: topic, finite verb, the rest
2   _T/$q/$n(x, f, p)   -> _TOP/$q/$o:obj1(x) V/$n/$t/acc/$o:hd(f, p)
1   _T/$q/$n(x, f, a)   -> _TOP/$q/$o:obj1(x) verb/v2/$n/$t/acc/$o:hd(f) adv/often:mod(a)
1   _T/$q/$n(x, f, a)   -> adv/r/$q/$p:pc(x) verb/v2/$n/$t/pc/$p:hd(f) adv/often:mod(a)
3   _T/$q/$n(x, f, v)   -> VP/top/$q/hab:vc(x, v) verb/v2/$n/$t/hab:hd(f)
0.5 _T/decl/$n(x, f, v) -> VP/top/decl/sein:vc(x, v) verb/v2/$n/$t/sein:hd(f)
2   _T/$q/$n(x, f, v)   -> VP/top/$q/inf:vc(x, v) verb/v2/$n/$t/modal:hd(f)
0.7 _T/$q/$n(x, f, v)   -> VP/outer/$q:vc(x, v) verb/v2/$n/$t/hab:hd(f)
0.6 _T/decl/$n(x, f, v) -> VP/far:vc(x, v) verb/v2/$n/$t/hab:hd(f)

3   VP/top/$q/$f(x, v)      -> _TOP/$q/$o:obj1(x) verb/$f/acc/$o:hd(v)
1   VP/top/$q/$f(x, m v)    -> _TOP/$q/$y:obj1(x) PP/place:mod(m) verb/$f/acc/$y:hd(v)
1   VP/top/$q/$f(x, i v)    -> _TOP/$q/$d:obj1(x) _OB/dat/hum:obj2(i) verb/$f/di/$d:hd(v)
1   VP/top/decl/$f(x, o v)  -> NP/top/dat/$g/hum:obj2(x) _OB/acc/$d:obj1(o) verb/$f/di/$d:hd(v)
0.7 VP/top/decl/$f(x, v)    -> NP/top/dat/$g/hum:obj1(x) verb/$f/dat:hd(v)
1   VP/top/$q/$f(x, v)      -> adv/r/$q/$p:pc(x) verb/$f/pc/$p:hd(v)
0.6 VP/top/decl/$f(x, v)    -> PP/$p:pc(x) verb/$f/pc/$p:hd(v)
0.6 VP/top/decl/$f(x, v)    -> PP/ld:ld(x) verb/$f/ld:hd(v)
0.6 VP/top/decl/$f(x, v)    -> PP/place:mod(x) verb/$f/intr/hum:hd(v)
0.8 VP/top/decl/$f(x, o v)  -> PP/place:mod(x) _OB/acc/$y:obj1(o) verb/$f/acc/$y:hd(v)
0.6 VP/top/wh/$f(x, y v)    -> NP/wasfür/$y:obj1(x, y) verb/$f/acc/$y:hd(v)
VP/outer/$q(x, v w)         -> VP/top/$q/inf:vc(x, v) verb/inf/modal:hd(w)
VP/far(x, v w r)            -> VP/three:vc(x, v, r) verb/inf/modal:hd(w)
VP/three(x, v, r)           -> NP/gap/acc/$g/$y:obj1(x, r) verb/inf/acc/$y:hd(v)
VP/three(x, i v, r)         -> NP/gap/acc/$g/$d:obj1(x, r) _OB/dat/hum:obj2(i) verb/inf/di/$d:hd(v)
VP/front(v, o)              -> verb/hab/acc/$o:hd(v) NP/top/acc/$g/$o:obj1(o)
VP/pron/$f(o, v)            -> pron/acc:obj1(o) verb/$f/acc/hum:hd(v)
VP/pron/$f(o, v)            -> pron/dat:obj1(o) verb/$f/dat:hd(v)
VP/pron/$f(i, o v)          -> pron/dat:obj2(i) _OB/acc/$d:obj1(o) verb/$f/di/$d:hd(v)
VP/pass/$d(x, v)            -> NP/top/dat/$g/hum:obj2(x) verb/hab/di/$d:hd(v)
VP/werden/$d(x, v w)        -> VP/pass/$d:vc(x, v) verb/inf/werd:hd(w)

# ---- infinitives and participles
5   VP/hum/$f(m v)    -> _M/$k(m) verb/$f/$k:hd(v)
0.6 VP/$s/$f(m v)     -> _M/intr/$s(m) verb/$f/intr/$s:hd(v)
0.4 VP/hum/$f(a v)    -> adv/mid:mod(a) verb/$f/$z:hd(v)
VP/ext/$f(n v, r)     -> _NX/acc/$m/$o:obj1(n, r) verb/$f/acc/$o:hd(v)
VP/split/$f(m, v)     -> _M/$k(m) verb/$f/$k:hd(v)
VP/ipp(m, v w)        -> VP/split/inf:vc(m, v) verb/inf/modal:hd(w)
VP/say(v c)           -> verb/hab/say:hd(v) CP/dass:vc(c)
VP/zu(m, z v)         -> _M/$j(m) comp/zu:cmp(z) verb/zu/$j:hd(v)
VP/by/$i(b v)         -> PP/by:mod(b) verb/hab/acc/$i:hd(v)

# ---- subordinate clauses: all verbs at the end
CP/dass(k c x)    -> punct/comma:punct(k) comp/dass:cmp(c) S/sub:body(x)
CP/because(k c x) -> punct/comma:punct(k) comp/because:cmp(c) S/sub:body(x)
4   S/sub(s x)      -> _SU/$n/hum:su(s) _E/hum/$n(x)
0.5 S/sub(s x)      -> _SU/$n/ani:su(s) _E/ani/$n(x)
0.4 S/sub(s a f)    -> _SU/$n/$s:su(s) _PRED/$s:predc(a) verb/end/$n/$t/cop:hd(f)
0.5 S/sub(s v f)    -> _NP/nom/$n/$i:su(s) verb/end/$n/$t/werd:hd(f) VP/by/$i:vc(v)
1   S/sub(o s v f)  -> VP/pron/hab:vc(o, v) _NP/nom/$m/hum:su(s) verb/end/$m/$t/hab:hd(f)
1   S/sub(o s v f)  -> VP/pron/inf:vc(o, v) _NP/nom/$m/hum:su(s) verb/end/$m/$t/modal:hd(f)

3   _E/$s/$n(x)     -> _SHORT/$s/$n(x)
1   _E/hum/$n(m f r) -> verb/end/$n/$t/hab:hd(f) VP/ext/hab:vc(m, r)
1   _E/hum/$n(m f r) -> verb/end/$n/$t/modal:hd(f) VP/ext/inf:vc(m, r)
0.7 _E/hum/$n(m f v) -> verb/end/$n/$t/hab:hd(f) VP/ipp:vc(m, v)
0.7 _E/hum/$n(m v f) -> verb/end/$n/$t/try:hd(f) VP/zu:vc(m, v)
0.4 _E/hum/$n(m f v) -> verb/end/$n/$t/try:hd(f) VP/zu:vc(m, v)

3   _SHORT/hum/$n(m f)  -> _M/$k(m) verb/end/$n/$t/$k:hd(f)
1   _SHORT/$s/$n(m f)   -> _M/intr/$s(m) verb/end/$n/$t/intr/$s:hd(f)
1.5 _SHORT/$s/$n(m f)   -> verb/end/$n/$t/hab:hd(f) VP/$s/hab:vc(m)
0.5 _SHORT/hum/$n(m f)  -> verb/end/$n/$t/sein:hd(f) VP/hum/sein:vc(m)
1.5 _SHORT/$s/$n(m f)   -> verb/end/$n/$t/modal:hd(f) VP/$s/inf:vc(m)
0.5 _SHORT/hum/$n(o v f) -> verb/end/$n/$t/hab:hd(f) VP/pron/hab:vc(o, v)
0.4 _SHORT/hum/$n(v f)  -> verb/inf/act:vc(v) verb/end/$n/$t/modal:hd(f)

# ---- relative clauses, in which the noun is the subject (people, animals) or the object (all else)
REL/p/$s(k r x l)  -> punct/comma:punct(k) pron/rel/nom/p:rhd(r) S/rel/pl/$s:body(x) punct/comma:punct(l)
REL/$h/$s(k r x l) -> punct/comma:punct(k) pron/rel/nom/$h:rhd(r) S/rel/sg/$s:body(x) punct/comma:punct(l)
REL/$g/$y(k r x l) -> punct/comma:punct(k) pron/rel/acc/$g:rhd(r) S/orel/$y:body(x) punct/comma:punct(l)
S/rel/$n/$s(x)     -> _SHORT/$s/$n(x)
1 S/orel/$y(s f)   -> _SU/$n/hum:su(s) verb/end/$n/$t/acc/$y:hd(f)
2 S/orel/$y(s v f) -> _SU/$n/hum:su(s) verb/end/$n/$t/hab:hd(f) verb/hab/acc/$y:vc(v)
1 S/orel/$y(s v f) -> _SU/$n/hum:su(s) verb/end/$n/$t/modal:hd(f) verb/inf/acc/$y:vc(v)

# ---- the middle field: objects and adverbs
4   _M/acc/$o(o)     -> _OB/acc/$o:obj1(o)
1.5 _M/acc/$o(a o)   -> adv/mid:mod(a) _OB/acc/$o:obj1(o)
1.5 _M/acc/$y(a o)   -> PP/place:mod(a) _OB/acc/$y:obj1(o)
1   _M/acc/ani(o a)  -> _OB/acc/ani:obj1(o) PP/yard:mod(a)
1   _M/acc/hum(o a)  -> _OB/acc/hum:obj1(o) PP/place:mod(a)
_M/dat(o)            -> _OB/dat/hum:obj1(o)
_M/di/$d(i o)        -> _OB/dat/hum:obj2(i) _OB/acc/$d:obj1(o)
3   _M/pc/$p(x)      -> PP/$p:pc(x)
1   _M/pc/$p(a x)    -> adv/mid:mod(a) PP/$p:pc(x)
0.7 _M/pc/$p(a x)    -> adv/neg:mod(a) PP/$p:pc(x)
2   _M/ld(x)         -> PP/ld:ld(x)
1   _M/ld(a x)       -> adv/mid:mod(a) PP/ld:ld(x)
_M/loc(x)            -> PP/town:ld(x)
3   _M/intr/hum(x)   -> PP/place:mod(x)
1   _M/intr/hum(a x) -> adv/mid:mod(a) PP/place:mod(x)
3   _M/intr/ani(x)   -> PP/yard:mod(x)
1   _M/intr/ani(a x) -> adv/mid:mod(a) PP/yard:mod(x)

# ---- prepositional phrases
PP/auf(p x)      -> prep/auf:hd(p) _OB/acc/hum:obj1(x)
PP/an(p x)       -> prep/an:hd(p) _OB/acc/abs:obj1(x)
PP/an(p x)       -> prep/an:hd(p) _OB/acc/hum:obj1(x)
2 PP/über(p x)   -> prep/über:hd(p) _OB/acc/abs:obj1(x)
1 PP/über(p x)   -> prep/über:hd(p) _OB/acc/hum:obj1(x)
PP/by(p x)       -> prep/von:hd(p) _OB/dat/hum:obj1(x)
PP/place(p x)    -> _IN/in(p, x)
PP/yard(p x)     -> _IN/yard(p, x)
2 PP/town(p x)   -> prep/in:hd(p) name/town:obj1(x)
1 PP/town(p x)   -> _IN/town(p, x)
1 PP/ld(p x)     -> prep/nach:hd(p) name/town:obj1(x)
1 PP/ld(p n)     -> prep/zum:hd(p) noun/dat/m/in:obj1(n)
1 PP/ld(p n)     -> prep/zum:hd(p) noun/dat/n/in:obj1(n)
1 PP/ld(p n)     -> prep/zur:hd(p) noun/dat/f/in:obj1(n)
PP/from(p x)     -> prep/aus:hd(p) name/town:obj1(x)
PP/of(p x)       -> prep/von:hd(p) _OB/dat/hum:obj1(x)
_IN/$r(p, n)     -> prep/im:hd(p) noun/dat/m/$r:obj1(n)
_IN/$r(p, n)     -> prep/im:hd(p) noun/dat/n/$r:obj1(n)
_IN/$r(p, n)     -> prep/in:hd(p) NP/place/$r:obj1(n)
_IN/yard(p, n)   -> prep/im:hd(p) noun/dat/m/yard:obj1(n)
_IN/yard(p, n)   -> prep/in:hd(p) NP/place/yard:obj1(n)

# ---- noun phrases
3 _SU/sg/$s(x)      -> _NP/nom/sg/$s(x)
1 _SU/sg/hum(x)     -> pron/nom/sg(x)
3 _SU/pl/$s(x)      -> _NP/nom/pl/$s(x)
1 _SU/pl/hum(x)     -> pron/nom/pl(x)
_SU/s1/hum(x)       -> pron/nom/s1(x)
8 _FIRST/$n/$s(x)   -> _SU/$n/$s(x)
1 _FIRST/sg/$s(x)   -> NP/rel/nom/$h/$s(x)
1 _FIRST/pl/$s(x)   -> NP/rel/nom/p/$s(x)
3 _OB/$c/$o(x)      -> _NP/$c/sg/$o(x)
1 _OB/$c/$o(x)      -> _NP/$c/pl/$o(x)
3 _NP/$c/sg/hum(x)  -> name/hum(x)
8 _NP/$c/sg/$o(x)   -> NP/$c/$h/$o(x)
4 _NP/$c/pl/$o(x)   -> NP/$c/p/$o(x)
1 _NP/$c/pl/hum(x)  -> NP/and(x)
_NX/$c/sg/$o(x, r)  -> NP/gap/$c/$h/$o(x, r)
_NX/$c/pl/$o(x, r)  -> NP/gap/$c/p/$o(x, r)

6   NP/$c/$g/$o(d n)      -> det/$c/$g/$e:det(d) noun/$c/$g/$o:hd(n)
4   NP/$c/$g/$o(d a n)    -> det/$c/$g/$e:det(d) _A/$e/$o:mod(a) noun/$c/$g/$o:hd(n)
1.5 NP/$c/$g/$i(d n)      -> det/poss/$c/$g/$e:det(d) noun/$c/$g/$i:hd(n)
1.5 NP/$c/$g/hum(d n)     -> det/poss/$c/$g/$e:det(d) noun/$c/$g/kin:hd(n)
0.5 NP/$c/$g/hum(d a n)   -> det/poss/$c/$g/$e:det(d) adj/$e/kin:mod(a) noun/$c/$g/kin:hd(n)
1   NP/$c/$g/hum(d n x)   -> det/$c/$g/$e:det(d) noun/$c/$g/hum:hd(n) PP/from:mod(x)
1.5 NP/$c/$g/$d(d n x)    -> det/the/$c/$g:det(d) noun/$c/$g/$d:hd(n) PP/of:mod(x)
NP/rel/$c/$g/$o(d n r)    -> det/the/$c/$g:det(d) noun/$c/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/gap/$c/$g/$o(d n, r)   -> det/indef/$c/$g:det(d) noun/$c/$g/$o:hd(n) REL/$g/$o:mod(r)
NP/and(x c y)             -> name/hum:cnj(x) conj/and:crd(c) name/hum:cnj(y)
2 NP/top/$c/$g/$o(d n)    -> det/the/$c/$g:det(d) noun/$c/$g/$o:hd(n)
1 NP/top/$c/$g/$o(d a n)  -> det/$c/$g/$e:det(d) adj/$e/$o:mod(a) noun/$c/$g/$o:hd(n)
NP/wh/$g/$o(d n)          -> det/wh/acc/$g:det(d) noun/acc/$g/$o:hd(n)
NP/wasfür/$y(x, p n)      -> pron/wh/thing:det(x) prep/für:mod(p) noun/acc/p/$y:hd(n)
NP/place/$r(d n)          -> det/der:det(d) noun/dat/f/$r:hd(n)
NP/place/$r(d a n)        -> det/dat/$h/en:det(d) adj/en/$r:mod(a) noun/dat/$h/$r:hd(n)
NP/place/yard(d n)        -> det/der:det(d) noun/dat/f/yard:hd(n)
NP/place/yard(d a n)      -> det/dat/$h/en:det(d) adj/en/yard:mod(a) noun/dat/$h/yard:hd(n)
_TOP/decl/$o(x)           -> NP/top/acc/$g/$o(x)
_TOP/wh/$o(x)             -> NP/wh/$g/$o(x)
_TOP/wh/hum(x)            -> pron/wh/acc(x)
_TOP/wh/$y(x)             -> pron/wh/thing(x)

# ---- adjectives
5 _A/$e/$o(a)    -> adj/$e/$o(a)
1 _A/$e/$o(a)    -> AP/$e/$o(a)
AP/$e/$o(x a)    -> adv/degree:mod(x) adj/$e/$o:hd(a)
1 _PRED/$s(a)    -> adj/pred/$s(a)
1 _PRED/$s(a)    -> AP/pred/$s(a)
AP/pred/$s(x a)  -> adv/degree:mod(x) adj/pred/$s:hd(a)
"""


def _finite(agreement: str, tense: str) -> str:
    form = f"{agreement}/{tense}/*"
    return f"verb/v2/{form} verb/v2/{form}/@ +verb/end/{form}"


@cache
def grammar() -> Grammar:
    """Return the grammar of simple German."""
    cases = ("nom", "acc", "dat")
    nouns = [
        "noun/nom/m/*",
        "noun/acc/m/* noun/dat/m/*",
        *(" ".join(f"noun/{case}/{gender}/*" for case in cases) for gender in "fn"),
        "noun/nom/p/* noun/acc/p/*",
        "noun/dat/p/*",
    ]
    verbs = [
        f"+verb/inf/* verb/zu/* {_finite('pl', 'pres')}",
        _finite("s1", "pres"),
        _finite("sg", "pres"),
        f"{_finite('s1', 'past')} {_finite('sg', 'past')}",
        _finite("pl", "past"),
    ]
    adjectives = {
        f"adj/{ending}/{kind}": [stem + ending for stem in stems]
        for kind, stems in read_paradigms(ADJECTIVES, ["*"]).items()
        for ending in ("e", "en", "er", "es")
    }
    words = {
        **read_paradigms(NOUNS, nouns),
        **adjectives,
        **read_paradigms(VERBS, [*verbs, "+verb/hab/*"]),
        **read_paradigms(MOTION_VERBS, [*verbs, "+verb/sein/*"]),
    }
    return read_grammar(SMALL_WORDS + RULES, words)
