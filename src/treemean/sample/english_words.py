"""The words of the English grammar."""

from __future__ import annotations

NOUNS = """
# singular     plural
hum:
man            men
woman          women
teacher        teachers
doctor         doctors
farmer         farmers
student        students
neighbour      neighbours
journalist     journalists
girl           girls
boy            boys
kin:
sister         sisters
brother        brothers
daughter       daughters
friend         friends
neighbour      neighbours
text:
book           books
letter         letters
poem           poems
story          stories
novel          novels
report         reports
obj:
bicycle        bicycles
chair          chairs
clock          clocks
lamp           lamps
camera         cameras
painting       paintings
place:
garden         gardens
kitchen        kitchens
library        libraries
church         churches
park           parks
museum         museums
"""

ADJECTIVES = """
hum:
young
friendly
clever
rich
famous
kin:
young
clever
text:
long
short
new
strange
obj:
new
beautiful
heavy
broken
place:
large
quiet
small
"""

VERBS = """
# base         3rd          past         participle   -ing
intr:
sleep          sleeps       slept        slept        sleeping
laugh          laughs       laughed      laughed      laughing
work           works        worked       worked       working
sing           sings        sang         sung         singing
dance          dances       danced       danced       dancing
tr/hum:
see            sees         saw          seen         -
visit          visits       visited      visited      visiting
help           helps        helped       helped       helping
thank          thanks       thanked      thanked      thanking
follow         follows      followed     followed     following
tr/text:
read           reads        read         read         reading
write          writes       wrote        written      writing
translate      translates   translated   translated   translating
keep           keeps        kept         kept         keeping
tr/obj:
buy            buys         bought       bought       buying
sell           sells        sold         sold         selling
repair         repairs      repaired     repaired     repairing
find           finds        found        found        -
give/text give/obj:
give           gives        gave         given        giving
send           sends        sent         sent         sending
show           shows        showed       shown        showing
lend           lends        lent         lent         lending
sep/up/hum:
wake           wakes        woke         woken        waking
pick           picks        picked       picked       picking
call           calls        called       called       calling
sep/back/hum:
call           calls        called       called       calling
sep/away/text sep/away/obj:
throw          throws       threw        thrown       throwing
take           takes        took         taken        taking
put            puts         put          put          putting
sep/back/text sep/back/obj:
bring          brings       brought      brought      bringing
give           gives        gave         given        giving
send           sends        sent         sent         sending
pp/for:
wait           waits        waited       waited       waiting
look           looks        looked       looked       looking
pp/about:
talk           talks        talked       talked       talking
complain       complains    complained   complained   complaining
come/in:
come           comes        came         come         coming
walk           walks        walked       walked       walking
come/back:
come           comes        came         come         coming
say:
say            says         said         said         saying
believe        believes     believed     believed     -
know           knows        knew         known        -
live:
live           lives        lived        lived        living
study          studies      studied      studied      studying
"""

SMALL_WORDS = """
det/sg = the the a a this that
det/pl = the the these those two three many
det/poss = my his her
det/sg/the = the
det/pl/the = the
det/sg/a = a
det/pl/a = two three some
det/sg/dem = this that
det/pl/dem = these those
det/which = which
det/place = the the a

name/hum = John Mary Anna Peter Tom Lucy Alice Paul Emma Henry
name/town = London Paris Oxford Dublin Rome Vienna

pron/nom/s1 = I
pron/nom/sg = he she
pron/nom/pl = we they
pron/acc = him her them you
pron/who = who
pron/what = what
pron/rel/hum = who
pron/rel/thing = that

verb/have/s1 = have
verb/have/sg = has had
verb/have/pl = have had
verb/be/s1 = am
verb/be/sg = is was
verb/be/pl = are were
verb/do/sg = does did
verb/do/pl = do did
verb/modal = can will must should

part/up = up
part/away = away
part/back = back
part/in = in
prep/in = in
prep/from = from
prep/to = to
prep/for = for
prep/about = about
prep/by = by

adj/pred = tired happy angry ill quiet
adv/degree = very really
adv/time = yesterday then
adv/mid = often never always
comp/that = that
comp/because = because although while
conj/and = and
punct/stop = .
punct/ask = ?
punct/call = !
"""
