"""The verbs that AD is made of and all their forms: one list of bases, one inflection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shotad.script.english.smallwords import listed

BASES: frozenset[str] = listed(
    """
    accelerate accept activate adjust admire adopt advance aim alert allow ambush answer appear applaud
    approach arch argue arrange arrest arrive ask attach attack attempt avert avoid awaken back backpedal
    bake balance bandage bang barge bark bash bat bathe batter battle be beam bear beat beckon become begin
    behead bend bind bite blast bleat bleed bless blink block bloom blow board bob boil bolt bond boo bounce
    bound bow brace braid brake brandish bray break breathe brighten brim bring brush buckle build bump
    bundle burn burst bury bustle button buy buzz call calm canter capsize capture caress carry carve cast
    catch cause cavort change chant charge chase check cheer chew chisel choke choose chop chuck chuckle
    circle claim clamber clamp clap clasp claw clean clear clench click climb cling clink close clutch coax
    cock coil collapse collect collide comb come comfort conceal concede connect consider consult continue
    contort convulse cook corner cough count cover cower crack cradle crane crash crawl creak creep cringe
    cross crouch crowd crumble crumple crunch crush cry cuddle cuff cup curl curse curtsy cut dab dance
    dangle dart dash deal deflect deliver demonstrate depart descend destroy detach detonate dial die dig
    dine dip direct disappear disconnect discover disembark disengage dissolve dive do dodge doff don doodle
    douse doze drag drain drape draw dream dress dribble drift drill drink drip drive drop drown drum dry
    duck duel dump dunk dust ease eat edge elbow emanate embrace emerge emit empty end engage engrave engulf
    enjoy enlarge enter erupt escape escort etch evade examine exchange execute exhale exit explode explore
    expose extend eye face fade faint fall falter fan fasten feed feel feint fend fetch fiddle fight file
    fill find finger finish fire fish fishtail fit fix flail flap flare flash flatten flee flex flick
    flicker flinch fling flip flit float flood flop flounder flow flutter fly focus fold follow force forget
    freeze frisk frown fry fumble furrow gag gain gallop gape gasp gather gawk gaze gesture get give glance
    glare gleam glide glimpse glisten glow glower gnaw go gobble gorge grab grapple grasp graze greet grill
    grimace grin grind grip grit groan grope grow growl guard guide gulp gush hack halt hammer hand handcuff
    hang hatch haul have head headbutt hear heave help hesitate hiccup hide hike hiss hit hobble hoist hold
    honk hook hop hose hover howl huddle hug hum hunch hunt hurdle hurl hurry hurtle hustle ignite ignore
    illuminate imagine impale imprison incapacitate inch increase indicate inhale inject insert inspect
    intercept interrupt invite iron jab jam jerk jiggle jog join jolt jostle juggle jump keep kick kill kiss
    knead knee kneel knit knock knot know ladle land lash lather laugh launch lay lead lean leap leave let
    lick lie lift light limp line linger listen load lob lock lodge loiter look loom loosen lope lose lounge
    lower lug lull lumber lunge lurch lure make manage march mark massage measure meet melt mend merge milk
    mime miss mix mock moor mop mope motion mount mouth move mow munch mutate nap narrow near need nestle
    nibble nod notice nudge nuzzle obey observe offer oil open operate organise outpace overhear overtake
    overwhelm pace pack paddle paint pant parade park parry part pass pat patrol pause paw pay peck pedal
    peddle peek peel peep peer perch perform peruse pet photograph pick pierce pile pin pinch pivot place
    plait plant plaster play plead plod plop plough plow pluck plug plummet plunge pocket point poison poke
    polish ponder pop pose pounce pound pour pout prance pray preen present press pretend prick prise
    proceed prod produce proffer prop propel protect provide prowl prune pry puff pull pulse pulverize
    pummel pump punch purr pursue push put race rage raid rain raise rake ram ransack rattle reach read
    realise realize reappear rear recall recline recoil recover reel refill reflect regain regard rejoin
    relax release relight reload rely remain remember remove repair repeat replace replay reply reposition
    resemble reset rest resume resuscitate retrace retreat retrieve return reveal reverse revive rewind
    ricochet ride ring rinse rip ripple rise roam roar roast rob rock roll rotate rouse row rub rumble
    rummage run rush rustle saddle sag sail salute sashay saunter saw say scale scamper scan scatter scoop
    scoot score scour scout scowl scramble scrape scratch scrawl scream screw scribble scrub scrunch sculpt
    scurry scuttle seal search secure sedate see seem seize select sell send serve set settle sew shake
    shampoo share sharpen shatter shave shed shelter shield shift shimmy shine shiver shoot shout shove
    shovel show shower shriek shrink shrug shudder shuffle shut sidestep sideswipe sidle sift sigh sign
    signal sing sink sip sit skate sketch skewer ski skid skim skip slam slap slash sledge sleep slice slide
    sling slink slip slit slither slouch slow slumber slump slurp smack smash smear smell smile smirk smoke
    smooth smudge snag snap snarl snatch sneak sneer sneeze sniff snore snorkel snort snow snuggle soak soar
    sob somersault sort sow spar spare spark sparkle spatter speak speed spew spill spin spiral spit splash
    splatter splinter split spool spot sprawl spray spread spring sprinkle sprint sprout spurt sputter spy
    square squat squeeze squelch squint squirm squirt stab stack stagger stalk stall stamp stand stare start
    startle stay steady steal steam steer step stick stiffen stifle stir stitch stomp stoop stop storm
    straddle straighten strain strangle strap streak stream stretch stride strike strip strive stroke stroll
    struggle strum strut study stuff stumble stutter submerge succeed suck sup suppress surface surge
    surrender surround survey swaddle swallow swap swat sway sweep swerve swig swill swim swing swipe swirl
    switch swivel swoop tackle take talk tango tap taste taunt taxi tear tease teleport tell tend tense test
    thaw think thrash thread throttle throw thrust thumb thump thunder tickle tidy tie tighten tilt tinker
    tip tiptoe toast toboggan topple toss totter touch tow tower toy trace track trail train trap travel
    tread tremble trickle trim trip trot trudge trundle try tuck tug tumble turn twirl twist twitch type
    unbuckle unbutton unclench unclip uncork uncover uncuff undo undress undulate unearth unfasten unfold
    unfurl unhook unlace unlatch unload unlock unmask unpack unplug unravel unroll unscrew unsettle
    unsheathe untie untuck unveil unwind unwrap unzip urge use usher vanish vault veer vomit waddle wade
    waft wag wait wake walk waltz wander warm wash watch wave wear weave weep weigh weld whack wheel whimper
    whine whip whirl whirr whisper whistle whittle whizz widen wield wiggle wilt wince wind wink wipe
    withdraw wobble work wrap wrench wrestle wriggle wring wrinkle write writhe yank yawn yell zip zoom
    """
)
"""Infinitives."""

_IRREGULAR = listed(
    """
    be=was=were=been bear=bore=borne beat=beaten become=became begin=began=begun bend=bent bind=bound
    bite=bit=bitten bleed=bled blow=blew=blown break=broke=broken bring=brought build=built burn=burnt
    burst=burst buy=bought cast=cast catch=caught choose=chose=chosen cling=clung come=came creep=crept
    cut=cut deal=dealt dig=dug do=did=done draw=drew=drawn dream=dreamt drink=drank=drunk drive=drove=driven
    eat=ate=eaten fall=fell=fallen feed=fed feel=felt fight=fought find=found flee=fled fling=flung
    fly=flew=flown forget=forgot=forgotten freeze=froze=frozen get=got=gotten give=gave=given go=went=gone
    grind=ground grow=grew=grown hang=hung have=had hear=heard hide=hid=hidden hit=hit hold=held keep=kept
    kneel=knelt knit=knit know=knew=known lay=laid lead=led lean=leant leap=leapt leave=left let=let
    lie=lay=lain light=lit lose=lost make=made meet=met overhear=overheard overtake=overtook=overtaken
    pay=paid put=put read=read rewind=rewound ride=rode=ridden ring=rang=rung rise=rose=risen run=ran
    say=said saw=sawn see=saw=seen sell=sold send=sent set=set sew=sewn shake=shook=shaken shave=shaven
    shed=shed shine=shone shoot=shot show=shown shrink=shrank=shrunk shut=shut sing=sang=sung sink=sank=sunk
    sit=sat sleep=slept slide=slid sling=slung slink=slunk slit=slit sow=sown speak=spoke=spoken speed=sped
    spill=spilt spin=spun spit=spat split=split spread=spread spring=sprang=sprung stand=stood
    steal=stole=stolen stick=stuck stride=strode=stridden strike=struck strive=strove=striven sweep=swept
    swim=swam=swum swing=swung take=took=taken tear=tore=torn tell=told think=thought throw=threw=thrown
    thrust=thrust tread=trod=trodden undo=undid=undone unwind=unwound wake=woke=woken wear=wore=worn
    weave=wove=woven weep=wept wind=wound withdraw=withdrew=withdrawn wring=wrung write=wrote=written
    """
)
_IRREGULAR_PASTS = {group.split("=")[0]: tuple(group.split("=")[1:]) for group in sorted(_IRREGULAR)}
"""Past tense and participle, the latter last."""
_REGULAR_TOO = listed(
    "burn dream hang kneel knit lean leap light saw sew shave shine sow speed spill spit strive thrust "
    "wake weave"
)
"""``burnt`` and ``burned``."""

_IRREGULAR_THIRD = {"be": "is", "have": "has"}
_DOUBLED = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtv]$")
"""One syllable with one vowel and one consonant at its end: ``run → running``."""
_DOUBLED_TOO = listed("begin forget patrol propel reset unclip unpin unplug unwrap unzip")
_BOTH_WAYS = re.compile(r"^[^aeiou]*[aeiou].*[^aeiou][aeiou]l$|^(?:dial|duel)$")
"""``travelling`` and, in American, ``traveling``."""
_NO_PARTICIPLES = listed("become burst come cost hit let put read run")
"""Participles like their infinitives that describe no state; ``cut`` and ``shut`` do."""
_STATES = listed("open outstretched strewn swollen untucked")
"""What is said of a state like a participle, and is none of a verb here."""


def third(base: str) -> str:
    """``watch → watches``, ``carry → carries``, ``go → goes``."""
    if base in _IRREGULAR_THIRD:
        return _IRREGULAR_THIRD[base]
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ies"
    return base + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", base) else "s")


def plain(base: str) -> str:
    """The form after a plural: ``open → open``, ``be → are``."""
    return "are" if base == "be" else base


def gerunds(base: str) -> tuple[str, ...]:
    """``take → taking``, ``run → running``, ``lie → lying``; the usual spelling first."""
    if base.endswith("ie"):
        return (f"{base[:-2]}ying",)
    if base.endswith("e") and base != "be" and not base.endswith(("ee", "ye", "oe")):
        return (f"{base[:-1]}ing",)
    return tuple(f"{stem}ing" for stem in _stems(base))


def pasts(base: str) -> tuple[str, ...]:
    """Past tense and participles: ``carry → carried``, ``take → took taken``."""
    irregular = _IRREGULAR_PASTS.get(base, ())
    return irregular if irregular and base not in _REGULAR_TOO else (*irregular, *_regular_pasts(base))


def participles(base: str) -> tuple[str, ...]:
    """``carry → carried``, ``take → taken``, ``burn → burnt burned``."""
    irregular = _IRREGULAR_PASTS.get(base, ())[-1:]
    return irregular if irregular and base not in _REGULAR_TOO else (*irregular, *_regular_pasts(base))


def _regular_pasts(base: str) -> tuple[str, ...]:
    if re.search(r"[^aeiou]y$", base):
        return (f"{base[:-1]}ied",)
    return (f"{base}d",) if base.endswith("e") else tuple(f"{stem}ed" for stem in _stems(base))


def _stems(base: str) -> tuple[str, ...]:
    """What -ing and -ed are put to."""
    if _DOUBLED.match(base) or base in _DOUBLED_TOO:
        return (base + base[-1],)
    return (base + base[-1], base) if _BOTH_WAYS.search(base) else (base,)


def forms(bases: Iterable[str]) -> frozenset[str]:
    """The present tense of verbs: ``keep keeps``."""
    return frozenset(form for base in bases for form in (plain(base), third(base)))


def _all_forms() -> Iterator[tuple[str, str]]:
    """Forms with their infinitives; where a form is of two verbs, the one that is meant more often first."""
    yield "saw", "see"
    yield from ((base, base) for base in sorted(BASES))
    yield from ((form, "be") for form in ("am", "are", "was", "were"))
    for base in sorted(BASES):
        yield from ((form, base) for form in (third(base), *gerunds(base), *pasts(base)))


THIRD = frozenset(map(third, BASES))
"""He ``opens``."""
PLAIN = frozenset(map(plain, BASES))
"""They ``open``."""
GERUNDS = frozenset(form for base in BASES for form in gerunds(base))
"""``Opening``."""
PARTICIPLES = frozenset(form for base in BASES - _NO_PARTICIPLES for form in participles(base)) | _STATES
"""``Opened``: what can describe a state."""
PERFECTS = frozenset(past[-1] for past in _IRREGULAR_PASTS.values() if len(past) > 1) - BASES
"""Participles that are no past tense: ``taken``, ``grown``."""
LEMMAS = dict(reversed(list(_all_forms())))
"""Infinitive of each form of a verb: ``{"took": "take", …}``."""


def lemma(form: str) -> str:
    """The infinitive; a word that is no form of a verb as it is."""
    return LEMMAS.get(form, form)
