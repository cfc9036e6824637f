"""What an English line is made of, without a parser: its verbs, its subject, its words by lemma.

AD is plain prose in the present tense: a list of the verbs that describers use, with their forms, finds
nearly all of them (a verb in 93 % of the 7,316 lines of CMD-AD's test set). It is meant for comparing lines
with each other and with a description. Other languages have no verbs here; their words are compared as
they are.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

_LEMMAS = """
accelerate adjust aim answer appear approach argue arrive ask attack avoid back balance bang barge bat be
bear beat beckon begin bend bind bite bless blink block blow board bolt bounce bound bow brake break breathe
bring brush build bump burn burst bury button buy call caress carry cast catch chase check cheer chew choke
circle clamber clap clasp clean clear clench climb cling close clutch collapse collide comb come consider
continue cook cough count cover cower crack cradle crane crash crawl creep cringe cross crouch crumble
crumple cry curl cut dance dart dash descend dig dip disappear dive dodge drag draw dress drift drink drip
drive drop drown duck dump eat edge elbow embrace emerge empty enter erupt escape examine exchange exit
explode extend eye face fade fall falter fasten feed feel fetch fiddle fight fill find finger finish fire
fix flap flash flee flick flicker fling flip float flop flow flutter fly fold follow freeze frown fumble
gallop gape gasp gather gaze gesture get give glance glare gleam glide glow go grab grasp greet grimace grin
grip groan grope grow guard guide gulp halt hammer hand hang haul have head headbutt heave help hesitate
hide hit hoist hold hook hop hover huddle hug hunch hurl hurry hurtle illuminate inch inhale inspect jog
join jolt jump keep kick kill kiss kneel knock land laugh launch lay lead lean leap leave let lick lie lift
light limp line listen load lock look loom loosen lower lunge lurch make march meet melt merge miss mop
motion mount mouth move nestle nod notice nudge offer open pace pack paddle paint pant park pass pat pause
pedal peek peel peer perch pick pin place play plod plop plough pluck plunge point poke pop pose pounce
pound pour press prod produce prop prowl pry puff pull pummel pump punch push put race raise ram reach read
realise realize rear recline recoil reel regard relax release remain remove reply reset rest retreat return
reveal ride ring rip ripple rise roar rock roll rotate row rub run rush sag sail salute say scan scatter
scoop scowl scramble scrape scratch scream scribble scrub scurry scuttle seal search see seize sell send set
shake shatter shave shift shine shiver shoot shout shove show shower shrug shuffle shut sidle sigh sign sing
sink sip sit skid skip slam slap slash sleep slice slide slink slip slouch slow slump smack smash smear
smell smile smirk smoke snap snarl snatch sneak sneer sneeze sniff snore snort soar sob spare spark speak
speed spill spin spit splash splatter split spot spray spread spring sprint spurt spy squat squeeze squint
squirm stab stack stagger stalk stand stare start startle stay steady steal steer step stick stir stoop stop
storm straddle straighten strangle strap stream stretch stride strike strip stroke stroll struggle study
stuff stumble stutter suck surface surround survey swallow sway sweep swerve swig swim swing swipe swirl
switch swivel take talk tap taste tear tease tell think thrash throw thrust thump tie tighten tilt tip toast
toss totter touch tow toy trace trail travel tread tremble trip trot trudge try tuck tug tumble turn twirl
twist twitch type unbutton uncover unfold unlock unpack unwrap unzip use usher vanish veer wade wag wait
wake walk wander wash watch wave wear weave weep whack wheel whip whirl whisper whistle widen wince wind
wink wipe withdraw wobble work wrap wrench wrestle write yank yawn yell zip zoom
"""
_PASTS = """
be=am=are=is=was=were=been beat=beaten bend=bent bite=bit=bitten blow=blew=blown break=broke=broken
bring=brought build=built burn=burnt buy=bought catch=caught cling=clung come=came creep=crept dig=dug
draw=drew=drawn drink=drank=drunk drive=drove=driven eat=ate=eaten fall=fell=fallen feed=fed feel=felt
fight=fought find=found flee=fled fling=flung fly=flew=flown get=got=gotten give=gave=given
go=goes=went=gone hang=hung have=has=had hide=hid=hidden hold=held keep=kept kneel=knelt lay=laid lead=led
lean=leant leap=leapt leave=left lie=lay=lain=lying light=lit make=made meet=met ride=rode=ridden
ring=rang=rung rise=rose=risen run=ran see=saw=seen sell=sold send=sent shake=shook=shaken shine=shone
shoot=shot show=shown sing=sang=sung sink=sank=sunk sit=sat sleep=slept slide=slid slink=slunk
speak=spoke=spoken speed=sped spin=spun spit=spat spring=sprang=sprung stand=stood steal=stole=stolen
stick=stuck stride=strode strike=struck sweep=swept swim=swam=swum swing=swung take=took=taken
tear=tore=torn tell=told throw=threw=thrown tie=tying tread=trod=trodden wake=woke=woken weave=wove=woven
weep=wept wind=wound withdraw=withdrew=withdrawn write=wrote=written
"""
_BEFORE_NOUNS = """
a an the his her its their my your our this that these those some any no each every another two three four
five several both many of in on at with without by from for into onto under over behind beside between near
through against across around along towards toward above below inside outside 's
"""
_FUNCTION_WORDS = """
a an the and or but as while when where who which that then than so to of in on at with without by from for
into onto up down out off over under through across around along against between behind beside towards
toward above below inside outside near away back it its he she they him her his hers them their theirs
himself herself itself themselves one ones this these those there here be have do does not no is are was
were has had can will each other some both all very just now still again shot shots
"""
BEFORE_NOUNS = frozenset(_BEFORE_NOUNS.split())
"""Words after which a form that could be a verb is a noun."""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that carry no meaning of their own."""
_OPEN = frozenset(
    (
        "a",
        "an",
        "and",
        "as",
        "at",
        "but",
        "for",
        "from",
        "his",
        "into",
        "its",
        "my",
        "of",
        "onto",
        "or",
        "our",
        "the",
        "their",
        "to",
        "while",
        "with",
        "your",
    )
)
_SUBJECTS = frozenset(("he", "she", "they", "it", "someone", "somebody", "everyone", "everybody"))
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DOUBLED = re.compile(r"[^aeiou][aeiou]([bdgklmnprt])$")


def _forms(verb: str) -> tuple[str, ...]:
    """The regular forms: ``grab → grab grabs grabbing grabbed``."""
    stem = verb[:-1] if verb.endswith("e") else verb
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, f"{verb[:-1]}ies", f"{verb}ing", f"{verb[:-1]}ied"
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
    short = len(re.findall(r"[aeiouy]+", verb)) == 1 or verb in ("unzip", "unpin")
    if _DOUBLED.search(verb) and short:
        stem += verb[-1]
    ing = f"{verb}ing" if verb.endswith("ee") else f"{stem}ing"
    return verb, third, ing, f"{stem}ed"


VERBS: dict[str, str] = {
    form: lemma
    for lemma, forms in (
        *((verb, _forms(verb)) for verb in _LEMMAS.split()),
        *((group.split("=")[0], tuple(group.split("=")[1:])) for group in _PASTS.split()),
    )
    for form in forms
}
"""Lemma of each form of a verb: ``{"took": "take", …}``."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word in small letters, its lemma, and whether it is a verb where it stands."""

    text: str
    lemma: str
    verb: bool


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text; a verb's form after an article, a possessive or a preposition is none."""
    found: list[Word] = []
    before = ""
    for match in _WORD.finditer(text):
        raw = match.group().replace("’", "'")
        plain = raw.lower()
        stem = plain.removesuffix("'s")
        verb = _is_verb(plain, before, found)
        lemma = VERBS[plain] if verb and plain in VERBS else _singular(stem)
        found.append(Word(stem, lemma, verb))
        before = "'s" if plain.endswith("'s") else plain
    return tuple(found)


def verbs_of(text: str) -> frozenset[str]:
    """Lemmas of the verbs, but for ``be`` and ``have``."""
    return frozenset(word.lemma for word in words_of(text) if word.verb) - {"be", "have"}


def content_of(text: str) -> Counter[str]:
    """Lemmas of the words that carry meaning, counted."""
    return Counter(word.lemma for word in words_of(text) if word.text not in FUNCTION_WORDS)


def head_of(text: str) -> tuple[str, str]:
    """Subject and first verb by lemma, empty where there is none: ``Slowly, Ann opens it → (ann, open)``.

    The subject is the last word before the verb that is no adverb; a verb in ``-ing`` that opens the line
    (``Turning, she …``) waits for the one in the present tense.
    """
    words = words_of(text)
    finite = [i for i, w in enumerate(words) if w.verb and not w.text.endswith("ing")]
    at = next(iter(finite or [i for i, w in enumerate(words) if w.verb]), None)
    if at is None:
        return "", ""
    subject = next(
        (
            w.lemma
            for w in reversed(words[:at])
            if not w.verb and not w.text.endswith("ly") and w.text != "then"
        ),
        "",
    )
    return subject, words[at].lemma


def is_unfinished(text: str) -> bool:
    """True for a line that breaks off: its last word wants another, such as ``the`` or ``of``."""
    words = words_of(text)
    return bool(words) and words[-1].text in _OPEN


def _is_verb(word: str, before: str, earlier: list[Word]) -> bool:
    if before in BEFORE_NOUNS:
        return False
    if word in VERBS:
        # "pulls open", "stops short": a bare form right after a verb is none.
        return VERBS[word] != word or not earlier or not earlier[-1].verb
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and before in _SUBJECTS


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
