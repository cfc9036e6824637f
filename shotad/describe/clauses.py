"""Where an English sentence may be cut: words, and what can be told from them without a parser.

High precision: what cannot be told is not cut. The lists were gathered by hand and tried on human AD.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def listed(words: str) -> frozenset[str]:
    """The words of a list as a set."""
    return frozenset(words.split())


def _third_person(verb: str) -> str:
    """``walk → walks``, ``reach → reaches``, ``carry → carries``."""
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


VERBS = listed(
    "bake bathe bleat brandish carve chant chisel comb coil collide crack crunch dab dine drape dribble "
    "drum dust fan fetch fill fish fry fumble grill hack haul hammer honk howl hum hunt iron juggle "
    "knit lather lick "
    "mend merge milk mow nibble oil organise parry peddle perform plead plough prance pray preen prune "
    "raid rake "
    "ransack rinse rob scrape sew shovel sketch skim slit sow spar stack steam stitch strum tackle "
    "tango taxi thread "
    "toast track tread trim unload unpack unscrew usher vault veer wade waltz weave weld whack whittle "
    "wriggle "
    "accept adjust admire aim allow answer appear applaud approach arrive ask attack avoid back balance "
    "bang bash "
    "batter beam beat beckon become begin bend bite blast bleed blink block blow board bolt bounce bow "
    "brace break "
    "breathe bring brush bump burn burst bury button buy call caress carry cast catch charge chase "
    "check cheer chew "
    "choke chop chuck circle clamber clap clasp clean clench climb cling close clutch collapse collect come "
    "continue cook "
    "cough cover cower cradle crane crash crawl creep cringe cross crouch crush cry curl cut dance "
    "dangle dart dash "
    "deflect descend dig dip disappear dive do dodge drag drain draw dress drift drink drive drop duck "
    "dump eat edge "
    "elbow embrace emerge empty enter escape escort examine exchange exhale exit explode extend eye "
    "face fade fall "
    "fasten feed feel fiddle fight fill find finish fire fix flail flash flee flick fling flip float "
    "fly fold follow "
    "force freeze frown gallop gape gasp gather gaze gesture get give glance glare glide gnaw go grab "
    "grasp greet "
    "grimace grin grip groan grow guide gulp hand hang have head heave help hesitate hide hit hobble "
    "hoist hold hop "
    "hover hug hunch hurl hurry hurtle inhale inspect jab jerk jog join jolt jump keep kick kill kiss "
    "knee kneel knock "
    "land lash laugh launch lay lead lean leap leave lie lift light limp line listen load lob lock look "
    "loom lose "
    "lower lunge lurch make march massage measure meet melt mount mouth move munch narrow nestle nod "
    "notice nudge "
    "nuzzle observe offer open pace pack paint pant park part pass pat pause paw pay peek peel peer "
    "perch pick pin "
    "pinch pile place plant play plop pluck plummet plunge pocket point poke polish pop pose pounce "
    "pound pour press "
    "prowl pry pull pummel pump punch push put race raise ram reach read rear recoil reel reload remain "
    "remove replace "
    "rest retreat return reveal ride ring rip rise roam roar roll rotate row rub rummage run rush sag "
    "sail salute "
    "saunter scamper scan scatter scoop scowl scramble scratch scream scribble scrub scurry scuttle see "
    "seize send set "
    "shake share shatter shave shiver shoot shout shove show shrink shrug shuffle shut sidle sigh sign "
    "sink sip sit "
    "skid skip slam slap slash sleep slice slide sling slink slip slither slouch slump smack smash "
    "smear smell smile "
    "smirk smoke smooth snap snatch sneak sneer sniff sob soar spin spit splash split spot spray spread "
    "spring sprint "
    "squat squeeze squint stab stagger stalk stand stare start startle steal steer step stick stiffen "
    "stir stomp stoop "
    "stop storm straddle straighten strap stretch stride strike stroke stroll struggle strut study "
    "stuff stumble "
    "suck surround survey swallow sway sweep swerve swig swim swing switch swoop take tap taste taunt "
    "tear tend "
    "throw thrash throttle thrust thump tickle tie tighten tilt tip toss touch tow trail travel tremble "
    "trip trot "
    "trudge try tuck tug tumble turn twirl twist type undo undress unfold unfurl unlock unroll untie "
    "unwrap urge use "
    "vanish vomit wait wake walk wander wash watch wave wear weep wheel whip whirl whisper whistle "
    "whizz wield wince "
    "wind wink wipe withdraw work wrap wrench wrestle write yank yawn yell zip zoom"
)
"""Verbs of AD, in their base form."""

_AUXILIARY = listed("is are has have does do isn't aren't doesn't don't hasn't haven't can cannot can't must")
_THIRD = frozenset(_third_person(verb) for verb in VERBS) | _AUXILIARY
_ALSO_NOUNS = listed(
    "hands eyes faces heads backs lights shoulders fingers arms rings lines parts points knees elbows "
    "papers signs "
    "steps stairs waves cuts clothes leaves drinks shows spots rows rocks boards guards shots pockets drops "
    "cries screams shouts laughs plants beams blasts trails packs loads covers bolts pins straps "
    "strikes blows "
    "paints calls checks edges tears ties works flashes watches brushes bows ducks wheels turns looks "
    "paws zips "
    "mouths stares tips snaps prints punches kicks flips charges fires smokes"
)
_AFTER_A_VERB = listed(
    "the a an his her him them it their its at to up down out off over away back into onto through in "
    "on around "
    "from toward towards behind across past along by under forward inside outside himself herself themselves "
    "aside open shut as and while"
)
_CLEAR_OBJECT = listed("the a an his her him them it their its himself herself themselves")

PREPOSITIONS = listed(
    "in on at to from with without into onto over under through across along behind beside near past "
    "toward towards "
    "against among amid between around beneath below above inside outside by for during after before of "
    "off down up "
    "within upon beyond atop alongside underneath via"
)
_SUBORDINATE = listed("as while when after before until once if because although though since where whenever")
_ADVERBS_FIRST = listed(
    "then now later outside inside elsewhere meanwhile nearby upstairs downstairs finally suddenly next "
    "again "
    "still instead overhead below above afterwards moments seconds minutes hours days soon just"
)
_DETERMINERS = listed(
    "the a an his her their its this that these those one two three four five six several both each "
    "every some "
    "another other others more many few all my no"
)
_MANY = listed("they both others people men women children police two three four several some")
_FLOATING = listed("both all each")
_SHORT_SUBJECT = 4
_NOMINATIVE = listed("he she they it")
_NOT_LAST = listed(
    "of to with at from for into onto and or but as the a an his their its that which who whose is are "
    "has have "
    "does do very so more than both either between among like against toward towards upon during "
    "without beneath "
    "beside near behind be being been not every each another this these those two three seem seems becomes "
    "remains while before until when where then if nor way attention hold sight make makes keep keeps "
    "begin begins start starts continue continues try tries gets put puts place places give gives hand "
    "hands let "
    "lets send sends set sets leave bring brings lay lays use uses wears wear has turning looking it's "
    "he's she's "
    "towards atop via even only too just about all"
)
_ADJECTIVES = listed(
    "big small large little old young new tall short long high low bright black white red "
    "green blue "
    "yellow brown grey gray pink purple golden hot warm heavy thick thin wide narrow "
    "deep empty "
    "full wooden dirty clean wet dry soft hard rough smooth sharp round "
    "fat slim "
    "nearby broken huge tiny giant massive enormous other first second third last next same different "
    "single double "
    "rear left right upper lower main bare bloody muddy dusty rusty fellow late early own "
    "blonde bald bearded male female armed wounded injured dead local whole entire several various many "
    "few own"
)
_ADJECTIVE_ENDINGS = re.compile(r"(?:ous|ful|less|ish|ive|[a-z]-[a-z]+ed|ic)$")
NOUNS_IN_ING = listed(
    "building ceiling king ring string wing thing something anything nothing everything evening morning "
    "wedding "
    "clothing railing living dining swimming being spring sling sibling earring briefing housing lining "
    "painting "
    "drawing clearing crossing opening landing meeting gathering king's bring sing swing fling during "
    "bedding "
    "parking sterling viking lightning pudding stocking offering"
)
_TAKES_ING = listed(
    "keep keeps start starts begin begins stop stops continue continues go goes come comes try tries "
    "avoid avoids "
    "finish finishes resume resumes send sends leave leaves catch catches find finds get gets set sets "
    "have has knock "
    "knocks is are risk risks spend spends hear hears"
)
_NEEDS_PLACE = listed(
    "put place set lay throw toss drop hang push pull stick shove press slam thrust lead guide bring "
    "take send give "
    "hand offer turn make catch get pass drag stuff tuck slide lower raise lift draw help pour lean "
    "plant fling hurl "
    "slip carry force keep leave have do pin tie strap wrap drive load cast direct attach show jab "
    "point aim raise "
    "fix rest run spread steer tip dump move knock flick use fasten splash rub tap bang dip hold ram "
    "bury roll lob "
    "plunge sink stab swing mount urge spray share reveal launch lash press poke pat prop allow fill "
    "replace cover "
    "surround line trap smash drape balance cradle perch lock wedge chuck"
)
"""Verbs whose object goes somewhere: what stands after it is part of what is done."""

_SAFE_PREPOSITIONS = listed(
    "in on at from into onto through across along behind beside near past toward towards against among amid "
    "around beneath under inside outside over with after to down up off above below"
)
_LOWER = re.compile(r"[^\w'’-]+")


_BEFORE_A_NOUN = PREPOSITIONS | _DETERMINERS | _ADJECTIVES | {"and", "or"}


def bare(word: str) -> str:
    """The word in small letters, without signs."""
    return _LOWER.sub("", word).replace("’", "'").lower()


def is_verb(words: Sequence[str], at: int) -> bool:
    """True where ``words[at]`` is a verb in the third person; what may be a noun must have an object."""
    word = bare(words[at])
    if word not in _THIRD:
        return False
    after = bare(words[at + 1]) if at + 1 < len(words) else ""
    before = bare(words[at - 1]) if at else ""
    named = at > 1 and words[at - 1][:1].isupper()
    if before in _DETERMINERS - _FLOATING or (before in PREPOSITIONS and word not in _AUXILIARY):
        return False
    if before in _ADJECTIVES and not named:
        return False
    if word in _ALSO_NOUNS:
        return after in _CLEAR_OBJECT or (before in _NOMINATIVE) or before == "who" or (
            after in _AFTER_A_VERB and (words[at - 1][:1].isupper() and at > 0)
        )  # fmt: skip
    return True


def main_verb(words: Sequence[str]) -> int | None:
    """Where the first finite verb stands after a subject, or None where none is sure."""
    if not words or len(words) < 2:
        return None
    first = bare(words[0])
    if (
        first in PREPOSITIONS
        or first in _SUBORDINATE
        or (first.endswith("ing") and first not in NOUNS_IN_ING)
    ):
        return None
    relative = False
    for at in range(1, len(words)):
        word = bare(words[at])
        relative = relative or word in {"who", "that", "which", "where", "whose"}
        if is_verb(words, at):
            if not relative:
                return at
            relative = False
        if not relative and word in VERBS and _has_plural_subject(words[:at]):
            return at
    return None


def _has_plural_subject(words: Sequence[str]) -> bool:
    """True for ``They``, ``Ann and Bo``, ``The agents slowly``: a verb after it has no ending."""
    while len(words) > 1 and (bare(words[-1]).endswith("ly") or bare(words[-1]) in _FLOATING):
        words = words[:-1]
    last = bare(words[-1])
    if last in _BEFORE_A_NOUN:
        return last in {"they", "others"}
    if bare(words[0]) in _MANY or last in _MANY or any(bare(word) == "and" for word in words):
        return True
    noun = re.search(r"[^su'i]s$", last) is not None and last not in _THIRD
    return noun and len(words) <= _SHORT_SUBJECT and not any(bare(word) in PREPOSITIONS for word in words)


def is_lead(words: Sequence[str]) -> bool:
    """True for words before a comma that only say where, when or during what."""
    first = bare(words[0]) if words else ""
    return (
        first in PREPOSITIONS
        or first in _SUBORDINATE
        or first in _ADVERBS_FIRST
        or (first.endswith("ing") and first not in NOUNS_IN_ING and len(first) > 4)
        or (first.endswith("ly") and len(words) == 1)
    )


def begins_a_clause(words: Sequence[str]) -> bool:
    """True where a subject that can be told stands first and a verb follows."""
    first = bare(words[0]) if words else ""
    subject = first in _NOMINATIVE or first in _DETERMINERS or words[0][:1].isupper() or first.endswith("'s")
    return subject and main_verb(words) is not None


def may_end(words: Sequence[str]) -> bool:
    """False where the last word cannot be the last one: ``he walks to``, ``she takes the old``."""
    last, before = bare(words[-1]), bare(words[-2]) if len(words) > 1 else ""
    if last in _NOT_LAST or last.endswith("'s") or not any(c.isalnum() for c in words[-1]):
        return False
    if last in {"other", "another"} and before in {"each", "one"}:
        return True
    adjective = last in _ADJECTIVES or _ADJECTIVE_ENDINGS.search(last) is not None
    in_phrase = any(bare(word) in _DETERMINERS for word in words[-4:-1]) or before in _ADJECTIVES
    return not (adjective and in_phrase)


def cut_before(words: Sequence[str], at: int, verb: int) -> bool:
    """True where all from ``words[at]`` on may go; no comma stands before it, ``verb`` is the main verb."""
    word, before = bare(words[at]), bare(words[at - 1])
    if at <= verb or not may_end(words[:at]):
        return False
    if word in _NOT_AFTER:
        clause = word != "as" or begins_a_clause(list(words[at + 1 :]))
        return clause and before not in _NOT_AFTER[word]
    if word in {"and", "but", "then"}:
        return _another_deed(words, at, plural=bare(words[verb]) in VERBS)
    if word == "to" and _purpose(words, at, verb):
        return True
    if word.endswith("ing"):
        return _participle(words, at, verb)
    return _phrase(words, at, verb)


_NOT_AFTER = {
    "while": listed("a the little short long"),
    "until": listed("not"),
    "before": listed("just seconds moments ever never long shortly right from"),
    "when": listed("except just even only"),
    "as": listed("just even same such as so well soon long"),
    "who": listed("those one anyone everyone someone man people"),
}
"""Words that begin a clause, and those after which they do not."""


def _another_deed(words: Sequence[str], at: int, *, plural: bool) -> bool:
    """``and opens the door``, ``then runs``, ``and he smiles``, ``and the car stops``."""
    rest = list(words[at + 1 :])
    if bare(words[at]) in {"and", "but"} and rest and bare(rest[0]) == "then":
        rest = rest[1:]
    while rest and bare(rest[0]).endswith("ly"):
        rest = rest[1:]
    if not rest:
        return False
    first = bare(rest[0])
    if first in _NOMINATIVE or first in _DETERMINERS:
        between = any(bare(word) in {"between", "both", "of"} for word in words[:at])
        return (first in _NOMINATIVE or not between) and main_verb(rest) is not None
    if plural and first in VERBS:
        return len(rest) > 1 and bare(rest[1]) in _AFTER_A_VERB
    return is_verb(["he", *rest], 1) if first not in _ALSO_NOUNS else _clear_deed(rest)


def _purpose(words: Sequence[str], at: int, verb: int) -> bool:
    """``lifts his leg | to pee on flames``: what a deed is done for, after its object."""
    if at - verb < 3 or at + 2 >= len(words) or _base(bare(words[verb])) in _NEEDS_DEED:
        return False
    doing, after = bare(words[at + 1]), bare(words[at + 2])
    between = {bare(word) for word in words[verb + 1 : at]}
    return (
        doing in VERBS
        and after in _AFTER_A_VERB
        and not between & {"and", "to", "that", "who", "as", "is", "are"}
    )


_NEEDS_DEED = listed(
    "bring set put get cause force allow help send urge use leave make take lead want ask tell order "
    "begin start "
    "continue try seem appear manage attempt need prepare pretend fail beckon is are have has signal "
    "gesture motion "
    "come go refuse struggle threaten offer happen hurry rush wait direct invite"
)


def _clear_deed(rest: Sequence[str]) -> bool:
    return len(rest) > 1 and bare(rest[1]) in _CLEAR_OBJECT | _WAYS


_WAYS = listed(
    "at away around back up down to outside inside off out over toward towards for across into onto upstairs"
)


def _participle(words: Sequence[str], at: int, verb: int) -> bool:
    word, before = bare(words[at]), bare(words[at - 1])
    if word in NOUNS_IN_ING or len(word) < 5 or at + 1 >= len(words):
        return False
    if (
        before in PREPOSITIONS
        or before in _DETERMINERS
        or before in _ADJECTIVES
        or before in {"and", "or", "not"}
    ):
        return False
    if any(bare(w) == "and" for w in words[verb:at]):
        return False
    if any(bare(w) in _TAKES_ING for w in words[verb:at]) or before in _THIRD or _is_deed(words, at - 1):
        return False
    return not before.endswith("ing") and bare(words[at + 1]) in (
        _CLEAR_OBJECT | PREPOSITIONS | {"up", "down", "out"}
    )


def _phrase(words: Sequence[str], at: int, verb: int) -> bool:
    """A phrase with a preposition after something that completes the verb: ``… a book | from the shelf``."""
    word, before = bare(words[at]), bare(words[at - 1])
    deed = _base(bare(words[verb]))
    if word not in _SAFE_PREPOSITIONS or at + 1 >= len(words):
        return False
    if deed in _NEEDS_PLACE and not (deed in {"take", "draw", "lift", "pull"} and word == "from"):
        return False
    if deed in {"be", "is", "are", "has", "have"} or at - verb < 2:
        return False
    if before in PREPOSITIONS or before in _THIRD or before.endswith(("ed", "ly", "ing")):
        return False
    if _is_deed(words, at - 1):
        return False
    # Another deed stands between: what follows may be part of that one.
    return not any(bare(w) in {"and", "but", "then", "who", "that", "as", "to"} for w in words[verb + 1 : at])


def _is_deed(words: Sequence[str], at: int) -> bool:
    """True for a verb in its base form; a noun of the same form stands in a phrase: ``his face``."""
    before = bare(words[at - 1]) if at else ""
    in_phrase = before in _DETERMINERS or before in _ADJECTIVES or before.endswith("'s")
    return bare(words[at]) in VERBS and not in_phrase


def _base(verb: str) -> str:
    if verb in VERBS or verb in _AUXILIARY:
        return verb
    return next((base for base in (verb[:-1], verb[:-2], f"{verb[:-3]}y") if base in VERBS), verb)
