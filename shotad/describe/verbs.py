"""Verbs that AD is made of, in the forms that tell where a clause begins."""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


_BASES = word_set(
    """
    accept adjust admire aim answer appear approach arrange arrive attach back balance bang bark bash
    bat battle be beam beat beckon bend bite blast bleed blink blow board bob bolt bounce bound bow
    brace brake break breathe brush buckle build bump burn burst bury bustle button buy call carry carve
    cast catch change charge chase check chew chop circle clamber clap clasp clean clear clench climb
    cling clink close clutch collapse collect comb come comfort consult continue count cover cower crack
    cradle crane crash crawl creep cringe cross crouch crowd crumple crush cry curl cut dab dance dart
    dash deal descend dig dip disappear discover disembark dive do dodge doff don douse drag drain drape
    draw dream dress drift drink drip drive drop drown dry duck duel dump dust ease eat edge embrace
    emerge empty enjoy enter escape escort examine exchange exit explode extend eye face fade fall
    fasten feed feel fetch fiddle fight file fill find finger finish fire fish fit fix flap flash
    flatten flee flick flicker flinch fling flip float flood flop flow fly fold follow force frown
    fumble gallop gasp gather gaze gesture get give glance glare gleam glide glimpse glow gnaw go grab
    grasp grin grind grip grit groan grow guide gulp hand handcuff hang haul have head heave help
    hesitate hide hit hobble hoist hold hop hover hug hunch hurl hurry hurtle inch inhale insert inspect
    jog join jolt jump keep kick kill kiss knead kneel knit knock land lash laugh launch lay lead lean
    leap leave let lick lie lift light limp line linger listen load lock look loom loosen lower lug
    lunge lurch make march mark massage meet melt mend mop motion mount mouth move nod nudge observe
    offer open overtake pace pack paddle paint park pass pat patrol pause pay pedal peek peel peep peer
    perch perform pet pick pile pin pinch place plant play plough plow pluck plug plunge pocket point
    poke polish pop pose pounce pour press prise prod produce prop pry puff pull pump punch push put
    race rain raise rake reach read rear recline recoil regard release relight remain remove repair
    reply rest return reveal reverse ride ring rinse rip rise roar rock roll rub rummage run rush saddle
    salute saunter scale scamper scan scatter scoop scowl scramble scrape scratch scream screw scribble
    scrub search see seize sell send serve set settle sew shake share shave shed shelter shield shift
    shine shiver shoot shout shove show shrink shrug shudder shuffle shut sidle sift sigh sign signal
    sing sink sip sit skate skid skim skip slam slap sleep slice slide sling slip slow slump smack smash
    smear smell smile smoke smooth snap snarl snatch sneak sniff snore snow soak soar sob spark speak
    speed spill spin spit splash split spot sprawl spray spread spring sprint squat squeeze squint stab
    stack stagger stamp stand stare start startle steady steal steer step stick stir stitch stoop stop
    storm straddle straighten strain stretch stride strike stroke stroll struggle strum study stuff
    stumble suck surge surround survey swallow sway sweep swerve swim swing swipe swirl switch take tap
    taste tear tease tell test thread throw thrust thumb thump tidy tie tighten tilt tip toast topple
    toss touch tow tower trace track trail train trap travel tread tremble trickle trim trip trot trudge
    trundle try tuck tug tumble turn twirl twist twitch type unbuckle unbutton uncork uncover undo
    undress unfasten unfold unhook unload unlock unpack unroll unscrew unwrap unzip use vanish vault
    vomit wade wait wake walk wander warm wash watch wave wear weave weep weigh wheel whip whirl whisper
    whistle wield wince wind wink wipe withdraw work wrap wrench wrestle wring write yank yawn yell zip
    """
)

_IRREGULAR_S = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_IRREGULAR_BASE = {"be": "are"}
_DOUBLED = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtv]$")
"""One syllable with one vowel and one consonant at its end: ``run`` → ``running``."""
_DOUBLED_TOO = word_set("unzip unpin")

_IRREGULAR_PARTICIPLES = word_set(
    """
    bent bound broken burnt buried caught cut drawn dressed driven fallen felt fixed flung frozen hidden
    held hung knit laid lit locked lost made open outstretched painted raised set shaven shut slung
    spread stretched strewn stuck swept swollen tied thrown torn turned twisted undone untucked wet worn
    woven wound wrapped written
    """
)


def _third(base: str) -> str:
    """``watch`` → ``watches``, ``carry`` → ``carries``."""
    if base in _IRREGULAR_S:
        return _IRREGULAR_S[base]
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ies"
    return base + ("es" if re.search(r"(?:s|x|z|ch|sh)$", base) else "s")


def _gerund(base: str) -> str:
    """``take`` → ``taking``, ``run`` → ``running``, ``lie`` → ``lying``."""
    if base == "be":
        return "being"
    if base.endswith("ie"):
        return f"{base[:-2]}ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return f"{base[:-1]}ing"
    return _double(base) + "ing"


def _past(base: str) -> str:
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ied"
    return f"{base}d" if base.endswith("e") else f"{_double(base)}ed"


def _double(base: str) -> str:
    return base + base[-1] if _DOUBLED.match(base) or base in _DOUBLED_TOO else base


S_FORMS = frozenset(map(_third, _BASES))
"""He ``opens``."""
BASE_FORMS = frozenset(_IRREGULAR_BASE.get(base, base) for base in _BASES)
"""They ``open``."""
GERUNDS = frozenset(map(_gerund, _BASES))
"""``Opening``."""
PARTICIPLES = frozenset(map(_past, _BASES)) | _IRREGULAR_PARTICIPLES
"""``Opened``; regular forms, and the irregular ones that describe a state."""
NOUNS_TOO = word_set(
    """
    hands looks turns steps watches walks cuts waves drops lights lines marks places plants plays points
    pockets rings rocks rolls sets shots signs sights smiles springs stacks sticks stamps tears trails
    trains traps trips flames faces eyes fingers fish heads backs boards bounds bows boxes brakes
    branches bunches calls casts chops circles claps combs covers cracks crowds cries dances deals
    dresses drinks drives dusts files fires fits flashes flicks floats folds frowns grips guides hangs
    hides hits hops inches kicks kisses knocks lands leads leaves lifts locks loads mounts mouths moves
    nods packs paints parks pats passes peels piles pins plugs polishes poses presses props pumps
    punches races rakes rests rides rinses runs rushes saddles scales scoops screams screws sells shades
    shelters shields shifts shrugs signals sips slaps slices slides slips smokes snaps snows sparks
    spins splashes spots sprays stalks stares starts stitches stops storms strides strikes strokes
    swings switches taps tests threads thumbs ties tips toasts touches towers tracks twists types uses
    vaults waits whips winds wheels works wraps zips
    """
)
"""Verb forms that are as often nouns in a list: ``plates, cups and rings``."""
