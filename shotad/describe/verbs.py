"""Verbs that AD is made of, in the forms that tell where a clause begins, and the small words around them."""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


_BASES = word_set(
    """
    accelerate accept activate adjust admire adopt advance aim alert allow ambush answer appear applaud
    approach arch arrange arrest arrive attach attack attempt avert avoid awaken back bake balance
    bandage bang barge bark bash bat bathe battle be beam bear beat beckon become begin behead bend bite
    blast bleat bleed blink block bloom blow board bob boil bolt boo bounce bound bow brace braid brake
    bray break breathe bring brush buckle build bump bundle burn burst bury bustle button buy buzz call
    calm canter capsize capture caress carry carve cast catch cause cavort change charge chase check
    cheer chew chisel choke chop chuck chuckle circle claim clamber clamp clap clasp claw clean clear
    clench click climb cling clink close clutch coax cock coil collapse collect comb come comfort
    conceal concede consider consult continue contort convulse corner cough count cover cower crack
    cradle crane crash crawl creep cringe cross crouch crowd crumble crumple crunch crush cry cuddle
    cuff cup curl curse curtsy cut dab dance dangle dart dash deal deflect deliver demonstrate descend
    destroy detach detonate dial die dig dip direct disappear disconnect discover disembark disengage
    dive do dodge doff don doodle douse doze drag drain drape draw dream dress dribble drift drill drink
    drip drive drop drown dry duck duel dump dunk dust ease eat edge elbow embrace emerge emit empty end
    engrave enjoy enlarge enter erupt escape escort etch evade examine exchange execute exit explode
    explore extend eye face fade faint fall falter fasten feed feel fend fetch fiddle fight file fill
    find finger finish fire fish fit fix flap flare flash flatten flee flex flick flicker flinch fling
    flip float flood flop flow flutter fly focus fold follow force forget freeze frisk frown fry fumble
    furrow gain gallop gape gasp gather gaze gesture get give glance glare gleam glide glimpse glow
    glower gnaw go gobble gorge grab grasp graze grimace grin grind grip grit groan grow growl guide
    gulp halt hammer hand handcuff hang hatch haul have head hear heave help hesitate hiccup hide hike
    hiss hit hobble hoist hold hook hop hose hover howl huddle hug hum hunch hunt hurdle hurl hurry
    hurtle ignite illuminate imagine impale imprison inch increase indicate inhale inject insert inspect
    jab jam jerk jiggle jog join jolt jostle juggle jump keep kick kill kiss knead kneel knit knock knot
    know ladle land lash laugh launch lay lead lean leap leave let lick lie lift light limp line linger
    listen load lob lock loiter look loom loosen lose lounge lower lug lull lumber lunge lurch lure make
    manage march mark massage meet melt mend mime miss moor mop motion mount mouth move mow munch nap
    narrow near nestle nibble nod notice nudge obey observe offer open operate overtake pace pack paddle
    paint parade park pass pat patrol pause pay peck pedal peek peel peep peer perch perform pet
    photograph pick pile pin pinch place plait plant plaster play plod plough plow pluck plug plummet
    plunge pocket point poison poke polish ponder pop pose pounce pound pour pout present press pretend
    prick prise prod produce proffer prop propel protect provide prowl pry puff pull pulverize pump
    punch purr push put race rage rain raise rake ram reach read reappear rear recall recline recoil
    recover reel refill regard rejoin release relight reload rely remain remember remove repair repeat
    replace replay reply reposition reset rest resume resuscitate retreat retrieve return reveal reverse
    revive ride ring rinse rip rise roar roast rock roll rouse row rub rumble rummage run rush saddle
    sail salute sashay saunter saw say scale scamper scan scatter scoop scoot score scour scout scowl
    scramble scrape scratch scream screw scribble scrub scrunch sculpt scuttle seal search secure sedate
    see seem seize select sell send serve set settle sew shake shampoo share shatter shave shed shelter
    shield shift shine shiver shoot shout shove show shower shriek shrink shrug shudder shuffle shut
    sidle sift sigh sign signal sing sink sip sit skate sketch ski skid skim skip slam slap slash sledge
    sleep slice slide sling slip slow slump slurp smack smash smear smell smile smirk smoke smooth
    smudge snag snap snarl snatch sneak sneer sneeze sniff snore snorkel snow snuggle soak soar sob
    somersault sort spark sparkle speak speed spill spin spiral spit splash split spot sprawl spray
    spread spring sprinkle sprint sprout sputter spy square squat squeeze squelch squint squirm squirt
    stab stack stagger stalk stall stamp stand stare start startle stay steady steal steer step stick
    stiffen stifle stir stitch stomp stoop stop storm straddle straighten strain strangle strap stretch
    stride strike strive stroke stroll struggle strum study stuff stumble submerge suck sup suppress
    surge surrender surround survey swaddle swallow swat sway sweep swerve swig swim swing swipe swirl
    switch swivel swoop tackle take talk tap taste taunt tear tease teleport tell tense test thaw think
    thrash thread throttle throw thrust thumb thump thunder tickle tidy tie tighten tilt tinker tip
    tiptoe toast toboggan topple toss touch tow tower trace track trail train trap travel tread tremble
    trickle trim trip trot trudge trundle try tuck tug tumble turn twirl twist twitch type unbuckle
    unbutton unclip uncork uncover uncuff undo undress undulate unearth unfasten unfold unhook unlace
    unlatch unload unlock unmask unpack unravel unroll unscrew untuck unveil unwind unwrap unzip use
    vanish vault veer vomit waddle wade wait wake walk wander warm wash watch wave wear weave weep weigh
    whack wheel whine whip whirl whirr whisper whistle whittle whizz widen wield wiggle wilt wince wind
    wink wipe withdraw wobble work wrap wrench wrestle wriggle wring wrinkle write yank yawn yell zip
    """
)

_IRREGULAR_S = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_IRREGULAR_BASE = {"be": "are"}
_DOUBLED = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtv]$")
"""One syllable with one vowel and one consonant at its end: ``run`` → ``running``."""
_DOUBLED_TOO = word_set("unzip unpin propel begin forget unclip")

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
    arches attempts backs bandages barges barks blocks boards bounds bows brakes calls casts cheers
    chops circles clamps claps claws clicks combs corners coughs covers cracks cries crowds cuffs cups
    curses cuts dances deals dreams dresses drills drinks drives drops dusts elbows ends faces files
    fingers fires fits flares flashes flicks floats focuses folds frowns furrows gains grips growls
    guides hammers hands hangs hides hikes hits hooks hops hoses howls hums hunts inches jams kicks
    kisses knocks knots ladles lands leads leaves lifts lights lines loads locks looks marks mounts
    mouths moves naps nods packs paints parades parks passes pats peels photographs piles pins places
    plants plays plugs pockets points polishes poses presents presses props pumps punches races rakes
    reels rests rides rings rinses rocks rolls rows runs rushes saddles sails saws scales scoops screams
    screws seals sells sets shelters shields shifts shrugs signals signs sips skates skis slaps sledges
    slices slides slips smiles smokes snaps sneezes snows sparks spins spirals splashes spots sprays
    springs sprouts stacks stalks stalls stamps stares starts steps sticks stitches stops storms straps
    strides strikes strokes swings switches taps tears tests threads throttles thumbs ties tips toasts
    touches towers tracks trails trains traps trips turns twists types uses vaults waits walks watches
    waves wheels whines whips winds works wraps wrinkles zips
    """
)
"""Verb forms that are as often nouns in a list: ``plates, cups and rings``."""
MASSES = word_set(
    """
    smoke fire dust snow rain drink paint work rest help light plaster fish water cover speed sleep
    dance play laughter cheer fight film trash cash post wear bone crew box glass traffic dress
    """
)
"""Base forms that are as often nouns without an article: ``bread, smoke and fire``."""

DETERMINERS = word_set(
    """
    a an the his her their its another this that these those two three four five several some many both
    all each every no one my our
    """
)
PLURAL_DETERMINERS = word_set("these those two three four five several some many both all")
PLURALS = word_set(
    """
    men women children people police feet teeth mice geese fish sheep others both
    """
)
PREPOSITIONS = word_set(
    """
    of in on at with from by to for into onto over under behind near through across around along past
    toward towards up down off out inside outside between among above below beside against like without
    """
)
STOPS = word_set("that who which whose whom where as while when if to")
RESULTS = word_set("causing revealing allowing making letting forcing sending leaving showing")
"""Participles that may be said of the whole clause before them; they stay with it."""
ADVERBS = word_set(
    """
    then now still just again also soon both each never almost half together back inside outside
    """
)
OBJECTS = word_set("a an the his her their him it them himself herself itself another two three")
PRONOUNS = word_set("him her it them himself herself itself themselves each other")
