"""The words of the Dutch grammar."""

from __future__ import annotations

NOUNS = """
# de            het         plural
hum:
man           -           mannen
vrouw         -           vrouwen
leraar        -           leraren
lerares       -           leraressen
dokter        -           dokters
bakker        -           bakkers
boer          -           boeren
boerin        -           boerinnen
student       -           studenten
schrijver     -           schrijvers
burgemeester  -           burgemeesters
verpleegster  -           verpleegsters
journalist    -           journalisten
buurman       -           buurmannen
buurvrouw     -           buurvrouwen
-             kind        kinderen
-             meisje      meisjes
-             buurmeisje  buurmeisjes
kin:
zus           -           zussen
broer         -           broers
dochter       -           dochters
collega       -           collega's
buurman       -           buurmannen
buurvrouw     -           buurvrouwen
-             kind        kinderen
-             nichtje     nichtjes
-             neefje      neefjes
ani:
hond          -           honden
kat           -           katten
koe           -           koeien
geit          -           geiten
ezel          -           ezels
pony          -           pony's
-             paard       paarden
-             konijn      konijnen
-             schaap      schapen
-             varken      varkens
text:
brief         -           brieven
kaart         -           kaarten
roman         -           romans
tekst         -           teksten
-             boek        boeken
-             gedicht     gedichten
-             verhaal     verhalen
-             artikel     artikelen
-             rapport     rapporten
-             dagboek     dagboeken
food:
taart         -           taarten
pannenkoek    -           pannenkoeken
wafel         -           wafels
pizza         -           pizza's
salade        -           salades
-             ei          eieren
-             broodje     broodjes
-             koekje      koekjes
-             toetje      toetjes
obj:
fiets         -           fietsen
stoel         -           stoelen
klok          -           klokken
kast          -           kasten
lamp          -           lampen
radio         -           radio's
camera        -           camera's
-             schilderij  schilderijen
-             horloge     horloges
-             bureau      bureaus
abs:
regel         -           regels
oplossing     -           oplossingen
beslissing    -           beslissingen
wet           -           wetten
-             besluit     besluiten
-             plan        plannen
-             idee        ideeën
-             voorstel    voorstellen
in:
fabriek       -           fabrieken
bibliotheek   -           bibliotheken
kerk          -           kerken
winkel        -           winkels
-             museum      musea
-             restaurant  restaurants
-             ziekenhuis  ziekenhuizen
yard:
tuin          -           tuinen
schuur        -           schuren
stal          -           stallen
-             park        parken
-             bos         bossen
-             weiland     weilanden
op:
markt         -           markten
boerderij     -           boerderijen
-             plein       pleinen
-             strand      stranden
-             station     stations
-             eiland      eilanden
town:
stad          -           steden
-             dorp        dorpen
"""

ADJECTIVES = """
# inflected  bare
hum kin:
vrolijke     vrolijk
jonge        jong
aardige      aardig
slimme       slim
vriendelijke vriendelijk
rijke        rijk
vermoeide    vermoeid
beroemde     beroemd
ani:
kleine       klein
zwarte       zwart
witte        wit
magere       mager
jonge        jong
oude         oud
text:
lange        lang
korte        kort
spannende    spannend
nieuwe       nieuw
mooie        mooi
oude         oud
food:
verse        vers
lekkere      lekker
warme        warm
grote        groot
obj:
oude         oud
nieuwe       nieuw
dure         duur
mooie        mooi
kapotte      kapot
zware        zwaar
abs:
nieuwe       nieuw
moeilijke    moeilijk
belangrijke  belangrijk
eenvoudige   eenvoudig
vreemde      vreemd
in yard op town:
grote        groot
kleine       klein
oude         oud
stille       stil
mooie        mooi
"""

VERBS = """
# infinitive ik         hij        past        past plural   participle
intr/hum:
slapen       slaap      slaapt     sliep       sliepen       geslapen
lachen       lach       lacht      lachte      lachten       gelachen
werken       werk       werkt      werkte      werkten       gewerkt
zingen       zing       zingt      zong        zongen        gezongen
dansen       dans       danst      danste      dansten       gedanst
huilen       huil       huilt      huilde      huilden       gehuild
act:
zingen       zing       zingt      zong        zongen        gezongen
dansen       dans       danst      danste      dansten       gedanst
zwemmen      zwem       zwemt      zwom        zwommen       gezwommen
lachen       lach       lacht      lachte      lachten       gelachen
werken       werk       werkt      werkte      werkten       gewerkt
intr/ani:
slapen       slaap      slaapt     sliep       sliepen       geslapen
rusten       rust       rust       rustte      rustten       gerust
drinken      drink      drinkt     dronk       dronken       gedronken
spelen       speel      speelt     speelde     speelden      gespeeld
loc:
wonen        woon       woont      woonde      woonden       gewoond
studeren     studeer    studeert   studeerde   studeerden    gestudeerd
werken       werk       werkt      werkte      werkten       gewerkt
logeren      logeer     logeert    logeerde    logeerden     gelogeerd
tr/hum:
zien         zie        ziet       zag         zagen         gezien
helpen       help       helpt      hielp       hielpen       geholpen
bezoeken     bezoek     bezoekt    bezocht     bezochten     bezocht
groeten      groet      groet      groette     groetten      gegroet
zoeken       zoek       zoekt      zocht       zochten       gezocht
volgen       volg       volgt      volgde      volgden       gevolgd
ontmoeten    ontmoet    ontmoet    ontmoette   ontmoetten    ontmoet
bedanken     bedank     bedankt    bedankte    bedankten     bedankt
op|bellen    bel        belt       belde       belden        gebeld
uit|nodigen  nodig      nodigt     nodigde     nodigden      genodigd
op|halen     haal       haalt      haalde      haalden       gehaald
tr/ani:
zoeken       zoek       zoekt      zocht       zochten       gezocht
aaien        aai        aait       aaide       aaiden        geaaid
voeren       voer       voert      voerde      voerden       gevoerd
verzorgen    verzorg    verzorgt   verzorgde   verzorgden    verzorgd
borstelen    borstel    borstelt   borstelde   borstelden    geborsteld
vast|binden  bind       bindt      bond        bonden        gebonden
vrij|laten   laat       laat       liet        lieten        gelaten
weg|jagen    jaag       jaagt      joeg        joegen        gejaagd
tr/text:
lezen        lees       leest      las         lazen         gelezen
schrijven    schrijf    schrijft   schreef     schreven      geschreven
vertalen     vertaal    vertaalt   vertaalde   vertaalden    vertaald
bewaren      bewaar     bewaart    bewaarde    bewaarden     bewaard
voor|lezen   lees       leest      las         lazen         gelezen
weg|gooien   gooi       gooit      gooide      gooiden       gegooid
tr/food:
eten         eet        eet        at          aten          gegeten
proeven      proef      proeft     proefde     proefden      geproefd
kopen        koop       koopt      kocht       kochten       gekocht
bestellen    bestel     bestelt    bestelde    bestelden     besteld
op|eten      eet        eet        at          aten          gegeten
klaar|maken  maak       maakt      maakte      maakten       gemaakt
tr/obj:
kopen        koop       koopt      kocht       kochten       gekocht
verkopen     verkoop    verkoopt   verkocht    verkochten    verkocht
repareren    repareer   repareert  repareerde  repareerden   gerepareerd
vinden       vind       vindt      vond        vonden        gevonden
stelen       steel      steelt     stal        stalen        gestolen
schoon|maken maak       maakt      maakte      maakten       gemaakt
weg|gooien   gooi       gooit      gooide      gooiden       gegooid
mee|nemen    neem       neemt      nam         namen         genomen
tr/abs:
begrijpen    begrijp    begrijpt   begreep     begrepen      begrepen
bespreken    bespreek   bespreekt  besprak     bespraken     besproken
vergeten     vergeet    vergeet    vergat      vergaten      vergeten
verdedigen   verdedig   verdedigt  verdedigde  verdedigden   verdedigd
uit|leggen   leg        legt       legde       legden        gelegd
goed|keuren  keur       keurt      keurde      keurden       gekeurd
di/text di/obj:
geven        geef       geeft      gaf         gaven         gegeven
sturen       stuur      stuurt     stuurde     stuurden      gestuurd
verkopen     verkoop    verkoopt   verkocht    verkochten    verkocht
beloven      beloof     belooft    beloofde    beloofden     beloofd
tonen        toon       toont      toonde      toonden       getoond
pc/op:
wachten      wacht      wacht      wachtte     wachtten      gewacht
rekenen      reken      rekent     rekende     rekenden      gerekend
letten       let        let        lette       letten        gelet
pc/aan:
denken       denk       denkt      dacht       dachten       gedacht
twijfelen    twijfel    twijfelt   twijfelde   twijfelden    getwijfeld
werken       werk       werkt      werkte      werkten       gewerkt
pc/naar:
luisteren    luister    luistert   luisterde   luisterden    geluisterd
kijken       kijk       kijkt      keek        keken         gekeken
verlangen    verlang    verlangt   verlangde   verlangden    verlangd
pc/over:
praten       praat      praat      praatte     praatten      gepraat
klagen       klaag      klaagt     klaagde     klaagden      geklaagd
schrijven    schrijf    schrijft   schreef     schreven      geschreven
modal:
kunnen       kan        kan        kon         konden        -
willen       wil        wil        wilde       wilden        -
moeten       moet       moet       moest       moesten       -
mogen        mag        mag        mocht       mochten       -
aci:
zien         zie        ziet       zag         zagen         -
laten        laat       laat       liet        lieten        -
help:
helpen       help       helpt      hielp       hielpen       -
teach:
helpen       help       helpt      hielp       hielpen       -
leren        leer       leert      leerde      leerden       -
hear:
leren        leer       leert      leerde      leerden       -
zien         zie        ziet       zag         zagen         -
horen        hoor       hoort      hoorde      hoorden       -
laten        laat       laat       liet        lieten        -
try:
proberen     probeer    probeert   probeerde   probeerden    geprobeerd
weigeren     weiger     weigert    weigerde    weigerden     geweigerd
hopen        hoop       hoopt      hoopte      hoopten       gehoopt
durven       durf       durft      durfde      durfden       gedurfd
say:
zeggen       zeg        zegt       zei         zeiden        gezegd
denken       denk       denkt      dacht       dachten       gedacht
beweren      beweer     beweert    beweerde    beweerden     beweerd
geloven      geloof     gelooft    geloofde    geloofden     geloofd
vertellen    vertel     vertelt    vertelde    vertelden     verteld
cop:
zijn         ben        is         was         waren         -
blijven      blijf      blijft     bleef       bleven        -
lijken       lijk       lijkt      leek        leken         -
heb:
hebben       heb        heeft      had         hadden        -
zijn:
zijn         ben        is         was         waren         -
word:
worden       word       wordt      werd        werden        -
"""

# Verbs with the auxiliary zijn.
MOTION_VERBS = """
# infinitive ik         hij        past        past plural   participle
come:
vertrekken   vertrek    vertrekt   vertrok     vertrokken    vertrokken
verdwijnen   verdwijn   verdwijnt  verdween    verdwenen     verdwenen
vallen       val        valt       viel        vielen        gevallen
weg|gaan     ga         gaat       ging        gingen        gegaan
terug|komen  kom        komt       kwam        kwamen        gekomen
binnen|komen kom        komt       kwam        kwamen        gekomen
op|staan     sta        staat      stond       stonden       gestaan
ld:
gaan         ga         gaat       ging        gingen        gegaan
fietsen      fiets      fietst     fietste     fietsten      gefietst
lopen        loop       loopt      liep        liepen        gelopen
rijden       rijd       rijdt      reed        reden         gereden
vluchten     vlucht     vlucht     vluchtte    vluchtten     gevlucht
"""

SMALL_WORDS = """
det/de/e   = de de de die deze een een een
det/het/e  = het het het dat dit
det/het/0  = een een een
det/pl/e   = de de de die deze twee drie veel enkele
det/poss   = mijn zijn haar
det/de/dem    = deze die
det/het/dem   = dit dat
det/pl/dem    = deze die
det/de/the    = de
det/het/the   = het
det/pl/the    = de
det/de/indef  = een
det/het/indef = een
det/pl/indef  = twee drie enkele
det/de/wh     = welke
det/het/wh    = welk
det/pl/wh     = welke
det/de/place/e  = de de een
det/het/place/e = het het
det/het/place/0 = een

name/hum  = Jan Piet Marie Anna Karel Els Sofie Willem Henk Lotte Daan Eva Ruben Femke
name/town = Utrecht Gent Leiden Groningen Antwerpen Rotterdam Parijs Londen Berlijn Maastricht

pron/nom/s1   = ik
pron/nom/sg   = hij zij
pron/nom/pl   = wij zij
pron/acc      = hem haar hen jou jullie
pron/wh/hum   = wie
pron/wh/thing = wat
pron/rel/de   = die
pron/rel/het  = dat
pron/rel/pl   = die
adv/er        = er
adv/r/decl    = daar hier
adv/r/wh      = waar

adv/time/pres = vandaag morgen vanavond nu
adv/time/past = gisteren vanmorgen toen gisteravond
adv/mid       = weer eindelijk ook misschien toch meteen
adv/often     = vaak altijd soms
adv/how       = rustig alleen
adv/neg        = niet
adv/degree     = heel erg zeer

prep/in   = in
prep/op   = op
prep/aan  = aan
prep/naar = naar
prep/over = over
prep/van  = van
prep/uit  = uit
prep/door = door
prep/voor = voor

adj/pred/hum = moe ziek blij boos tevreden rustig
adj/pred/ani = moe ziek rustig

comp/dat     = dat
comp/te      = te
comp/because = omdat hoewel terwijl
conj/and     = en
punct/stop   = .
punct/ask    = ?
"""
