"""The words of the German grammar."""

from __future__ import annotations

NOUNS = """
# masculine    its acc. and dat.  feminine       neuter        plural          its dative
hum:
Mann           Mann            -              -             Männer          Männern
Lehrer         Lehrer          -              -             Lehrer          Lehrern
Arzt           Arzt            -              -             Ärzte           Ärzten
Bäcker         Bäcker          -              -             Bäcker          Bäckern
Bauer          Bauern          -              -             Bauern          Bauern
Student        Studenten       -              -             Studenten       Studenten
Journalist     Journalisten    -              -             Journalisten    Journalisten
Maler          Maler           -              -             Maler           Malern
-              -               Frau           -             Frauen          Frauen
-              -               Lehrerin       -             Lehrerinnen     Lehrerinnen
-              -               Ärztin         -             Ärztinnen       Ärztinnen
-              -               Studentin      -             Studentinnen    Studentinnen
-              -               Malerin        -             Malerinnen      Malerinnen
-              -               -              Kind          Kinder          Kindern
-              -               -              Mädchen       Mädchen         Mädchen
kin:
Bruder         Bruder          -              -             Brüder          Brüdern
Sohn           Sohn            -              -             Söhne           Söhnen
Freund         Freund          -              -             Freunde         Freunden
Nachbar        Nachbarn        -              -             Nachbarn        Nachbarn
-              -               Schwester      -             Schwestern      Schwestern
-              -               Tochter        -             Töchter         Töchtern
-              -               Freundin       -             Freundinnen     Freundinnen
-              -               Kollegin       -             Kolleginnen     Kolleginnen
-              -               -              Kind          Kinder          Kindern
ani:
Hund           Hund            -              -             Hunde           Hunden
Esel           Esel            -              -             Esel            Eseln
Hase           Hasen           -              -             Hasen           Hasen
-              -               Katze          -             Katzen          Katzen
-              -               Kuh            -             Kühe            Kühen
-              -               Ziege          -             Ziegen          Ziegen
-              -               -              Pferd         Pferde          Pferden
-              -               -              Schaf         Schafe          Schafen
-              -               -              Schwein       Schweine        Schweinen
text:
Brief          Brief           -              -             Briefe          Briefen
Roman          Roman           -              -             Romane          Romanen
Bericht        Bericht         -              -             Berichte        Berichten
-              -               Postkarte      -             Postkarten      Postkarten
-              -               Geschichte     -             Geschichten     Geschichten
-              -               -              Buch          Bücher          Büchern
-              -               -              Gedicht       Gedichte        Gedichten
-              -               -              Tagebuch      Tagebücher      Tagebüchern
food:
Kuchen         Kuchen          -              -             Kuchen          Kuchen
Fisch          Fisch           -              -             Fische          Fischen
Salat          Salat           -              -             Salate          Salaten
-              -               Suppe          -             Suppen          Suppen
-              -               Pizza          -             Pizzen          Pizzen
-              -               -              Brot          Brote           Broten
-              -               -              Brötchen      Brötchen        Brötchen
obj:
Stuhl          Stuhl           -              -             Stühle          Stühlen
Schrank        Schrank         -              -             Schränke        Schränken
Koffer         Koffer          -              -             Koffer          Koffern
-              -               Uhr            -             Uhren           Uhren
-              -               Lampe          -             Lampen          Lampen
-              -               Kamera         -             Kameras         Kameras
-              -               -              Fahrrad       Fahrräder       Fahrrädern
-              -               -              Bild          Bilder          Bildern
-              -               -              Radio         Radios          Radios
abs:
Plan           Plan            -              -             Pläne           Plänen
Vorschlag      Vorschlag       -              -             Vorschläge      Vorschlägen
Beschluss      Beschluss       -              -             Beschlüsse      Beschlüssen
-              -               Regel          -             Regeln          Regeln
-              -               Idee           -             Ideen           Ideen
-              -               Entscheidung   -             Entscheidungen  Entscheidungen
-              -               -              Gesetz        Gesetze         Gesetzen
-              -               -              Konzept       Konzepte        Konzepten
in:
Laden          Laden           -              -             Läden           Läden
Bahnhof        Bahnhof         -              -             Bahnhöfe        Bahnhöfen
Supermarkt     Supermarkt      -              -             Supermärkte     Supermärkten
-              -               Fabrik         -             Fabriken        Fabriken
-              -               Bibliothek     -             Bibliotheken    Bibliotheken
-              -               Kirche         -             Kirchen         Kirchen
-              -               -              Museum        Museen          Museen
-              -               -              Restaurant    Restaurants     Restaurants
-              -               -              Krankenhaus   Krankenhäuser   Krankenhäusern
yard:
Garten         Garten          -              -             Gärten          Gärten
Stall          Stall           -              -             Ställe          Ställen
Wald           Wald            -              -             Wälder          Wäldern
Park           Park            -              -             Parks           Parks
-              -               Scheune        -             Scheunen        Scheunen
town:
-              -               Stadt          -             Städte          Städten
-              -               -              Dorf          Dörfer          Dörfern
"""

# Stems, to which the endings are added.
ADJECTIVES = """
hum kin:
jung
nett
klug
freundlich
reich
berühmt
fröhlich
ani:
klein
schwarz
weiß
jung
alt
text:
lang
kurz
spannend
neu
schön
food:
frisch
lecker
warm
groß
obj:
alt
neu
schön
schwer
kaputt
abs:
neu
schwierig
wichtig
einfach
seltsam
in yard town:
groß
klein
alt
still
schön
"""

VERBS = """
# infinitive, which is also the plural (of sein only the plural is needed)
#              ich         er           past          past plural    participle
intr/hum:
schlafen       schlafe     schläft      schlief       schliefen      geschlafen
lachen         lache       lacht        lachte        lachten        gelacht
arbeiten       arbeite     arbeitet     arbeitete     arbeiteten     gearbeitet
singen         singe       singt        sang          sangen         gesungen
tanzen         tanze       tanzt        tanzte        tanzten        getanzt
weinen         weine       weint        weinte        weinten        geweint
act:
singen         singe       singt        sang          sangen         gesungen
tanzen         tanze       tanzt        tanzte        tanzten        getanzt
lachen         lache       lacht        lachte        lachten        gelacht
arbeiten       arbeite     arbeitet     arbeitete     arbeiteten     gearbeitet
intr/ani:
schlafen       schlafe     schläft      schlief       schliefen      geschlafen
trinken        trinke      trinkt       trank         tranken        getrunken
spielen        spiele      spielt       spielte       spielten       gespielt
loc:
wohnen         wohne       wohnt        wohnte        wohnten        gewohnt
studieren      studiere    studiert     studierte     studierten     studiert
arbeiten       arbeite     arbeitet     arbeitete     arbeiteten     gearbeitet
acc/hum:
sehen          sehe        sieht        sah           sahen          gesehen
besuchen       besuche     besucht      besuchte      besuchten      besucht
suchen         suche       sucht        suchte        suchten        gesucht
treffen        treffe      trifft       traf          trafen         getroffen
grüßen         grüße       grüßt        grüßte        grüßten        gegrüßt
an|rufen       rufe        ruft         rief          riefen         gerufen
ein|laden      lade        lädt         lud           luden          geladen
ab|holen       hole        holt         holte         holten         geholt
acc/ani:
suchen         suche       sucht        suchte        suchten        gesucht
füttern        füttere     füttert      fütterte      fütterten      gefüttert
streicheln     streichle   streichelt   streichelte   streichelten   gestreichelt
an|binden      binde       bindet       band          banden         gebunden
frei|lassen    lasse       lässt        ließ          ließen         gelassen
weg|jagen      jage        jagt         jagte         jagten         gejagt
acc/text:
lesen          lese        liest        las           lasen          gelesen
schreiben      schreibe    schreibt     schrieb       schrieben      geschrieben
übersetzen     übersetze   übersetzt    übersetzte    übersetzten    übersetzt
vor|lesen      lese        liest        las           lasen          gelesen
weg|werfen     werfe       wirft        warf          warfen         geworfen
acc/food:
essen          esse        isst         aß            aßen           gegessen
probieren      probiere    probiert     probierte     probierten     probiert
kaufen         kaufe       kauft        kaufte        kauften        gekauft
bestellen      bestelle    bestellt     bestellte     bestellten     bestellt
auf|essen      esse        isst         aß            aßen           gegessen
mit|bringen    bringe      bringt       brachte       brachten       gebracht
acc/obj:
kaufen         kaufe       kauft        kaufte        kauften        gekauft
verkaufen      verkaufe    verkauft     verkaufte     verkauften     verkauft
reparieren     repariere   repariert    reparierte    reparierten    repariert
finden         finde       findet       fand          fanden         gefunden
weg|werfen     werfe       wirft        warf          warfen         geworfen
mit|nehmen     nehme       nimmt        nahm          nahmen         genommen
acc/abs:
verstehen      verstehe    versteht     verstand      verstanden     verstanden
besprechen     bespreche   bespricht    besprach      besprachen     besprochen
vergessen      vergesse    vergisst     vergaß        vergaßen       vergessen
verteidigen    verteidige  verteidigt   verteidigte   verteidigten   verteidigt
ab|lehnen      lehne       lehnt        lehnte        lehnten        gelehnt
dat:
helfen         helfe       hilft        half          halfen         geholfen
danken         danke       dankt        dankte        dankten        gedankt
zu|hören       höre        hört         hörte         hörten         gehört
di/text di/obj:
geben          gebe        gibt         gab           gaben          gegeben
schicken       schicke     schickt      schickte      schickten      geschickt
schenken       schenke     schenkt      schenkte      schenkten      geschenkt
zeigen         zeige       zeigt        zeigte        zeigten        gezeigt
zurück|geben   gebe        gibt         gab           gaben          gegeben
pc/auf:
warten         warte       wartet       wartete       warteten       gewartet
achten         achte       achtet       achtete       achteten       geachtet
pc/an:
denken         denke       denkt        dachte        dachten        gedacht
glauben        glaube      glaubt       glaubte       glaubten       geglaubt
pc/über:
sprechen       spreche     spricht      sprach        sprachen       gesprochen
klagen         klage       klagt        klagte        klagten        geklagt
schreiben      schreibe    schreibt     schrieb       schrieben      geschrieben
modal:
können         kann        kann         konnte        konnten        -
wollen         will        will         wollte        wollten        -
müssen         muss        muss         musste        mussten        -
dürfen         darf        darf         durfte        durften        -
sollen         soll        soll         sollte        sollten        -
may:
können         kann        kann         konnte        konnten        -
müssen         muss        muss         musste        mussten        -
dürfen         darf        darf         durfte        durften        -
sollen         soll        soll         sollte        sollten        -
try:
versuchen      versuche    versucht     versuchte     versuchten     versucht
hoffen         hoffe       hofft        hoffte        hofften        gehofft
say:
sagen          sage        sagt         sagte         sagten         gesagt
glauben        glaube      glaubt       glaubte       glaubten       geglaubt
behaupten      behaupte    behauptet    behauptete    behaupteten    behauptet
erzählen       erzähle     erzählt      erzählte      erzählten      erzählt
cop:
sind           bin         ist          war           waren          -
bleiben        bleibe      bleibt       blieb         blieben        -
hab:
haben          habe        hat          hatte         hatten         -
sein:
sind           bin         ist          war           waren          -
werd:
werden         werde       wird         wurde         wurden         -
"""

# Verbs with the auxiliary sein.
MOTION_VERBS = """
# infinitive   ich         er           past          past plural    participle
come:
verschwinden   verschwinde verschwindet verschwand    verschwanden   verschwunden
an|kommen      komme       kommt        kam           kamen          gekommen
zurück|kommen  komme       kommt        kam           kamen          gekommen
auf|stehen     stehe       steht        stand         standen        gestanden
ein|schlafen   schlafe     schläft      schlief       schliefen      geschlafen
ld:
gehen          gehe        geht         ging          gingen         gegangen
fahren         fahre       fährt        fuhr          fuhren         gefahren
laufen         laufe       läuft        lief          liefen         gelaufen
"""

# The last feature of a determiner is the ending of an adjective after it.
SMALL_WORDS = """
det/nom/m/e  = der der dieser
det/nom/m/er = ein ein
det/nom/f/e  = die die diese eine eine
det/nom/n/e  = das das dieses
det/nom/n/es = ein ein
det/nom/p/en = die die diese
det/nom/p/e  = zwei drei viele einige
det/acc/m/en = den den diesen einen einen
det/acc/f/e  = die die diese eine eine
det/acc/n/e  = das das dieses
det/acc/n/es = ein ein
det/acc/p/en = die die diese
det/acc/p/e  = zwei drei viele einige
det/dat/m/en = dem dem diesem einem einem
det/dat/f/en = der der dieser einer einer
det/dat/n/en = dem dem diesem einem einem
det/dat/p/en = den den diesen zwei drei vielen einigen
det/poss/nom/m/er = mein sein ihr
det/poss/nom/f/e  = meine seine ihre
det/poss/nom/n/es = mein sein ihr
det/poss/nom/p/en = meine seine ihre
det/poss/acc/m/en = meinen seinen ihren
det/poss/acc/f/e  = meine seine ihre
det/poss/acc/n/es = mein sein ihr
det/poss/acc/p/en = meine seine ihre
det/poss/dat/m/en = meinem seinem ihrem
det/poss/dat/f/en = meiner seiner ihrer
det/poss/dat/n/en = meinem seinem ihrem
det/poss/dat/p/en = meinen seinen ihren
det/the/nom/m = der dieser
det/the/nom/f = die diese
det/the/nom/n = das dieses
det/the/nom/p = die diese
det/the/acc/m = den diesen
det/the/acc/f = die diese
det/the/acc/n = das dieses
det/the/acc/p = die diese
det/the/dat/m = dem diesem
det/the/dat/f = der dieser
det/the/dat/n = dem diesem
det/the/dat/p = den diesen
det/indef/nom/m = ein
det/indef/nom/f = eine
det/indef/nom/n = ein
det/indef/nom/p = zwei drei einige
det/indef/acc/m = einen
det/indef/acc/f = eine
det/indef/acc/n = ein
det/indef/acc/p = zwei drei einige
det/wh/acc/m = welchen
det/wh/acc/f = welche
det/wh/acc/n = welches
det/wh/acc/p = welche
det/der = der

name/hum  = Hans Peter Anna Maria Karl Lena Sophie Paul Lukas Julia Klara Felix
name/town = Berlin Hamburg Köln Wien München Leipzig Bremen Zürich Paris London

pron/nom/s1 = ich
pron/nom/sg = er sie
pron/nom/pl = wir sie
pron/acc = ihn sie dich euch
pron/dat = ihm ihr dir euch
pron/wh/nom = wer
pron/wh/acc = wen
pron/wh/thing = was
pron/rel/nom/m = der
pron/rel/nom/f = die
pron/rel/nom/n = das
pron/rel/nom/p = die
pron/rel/acc/m = den
pron/rel/acc/f = die
pron/rel/acc/n = das
pron/rel/acc/p = die
adv/r/decl/auf  = darauf
adv/r/decl/an   = daran
adv/r/decl/über = darüber
adv/r/wh/auf    = worauf
adv/r/wh/an     = woran
adv/r/wh/über   = worüber

adv/time/pres = heute morgen jetzt bald
adv/time/past = gestern vorgestern damals
adv/mid = wieder endlich auch vielleicht sofort doch
adv/often = oft immer manchmal
adv/neg = nicht
adv/degree = sehr ziemlich

prep/in = in
prep/im = im
prep/zum = zum
prep/zur = zur
prep/nach = nach
prep/aus = aus
prep/von = von
prep/für = für
prep/auf = auf
prep/an = an
prep/über = über

adj/pred/hum = müde krank froh zufrieden ruhig
adj/pred/ani = müde krank ruhig

comp/dass = dass
comp/zu = zu
comp/because = weil obwohl während
conj/and = und
punct/comma = ,
punct/stop = .
punct/ask = ?
"""
