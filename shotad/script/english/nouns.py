"""Noun phrases: nouns that look like verbs, plurals without an ending, adjectives.

How sure a verb must be differs with its reader, so the sets are of three widths: `MOSTLY_NOUNS` within
`NOUNS_TOO`, which have forms of verbs, and `MASSES`, which are about the missing article.
"""

from __future__ import annotations

import re

from shotad.script.english.smallwords import DETERMINERS, INDEFINITE, PREPOSITIONS, listed
from shotad.script.english.verbs import third

_MOSTLY = listed(
    """
    back beam blast blow board bolt bow brush call charge check cover cry cut drink drop duck edge elbow
    eye face finger fire flash flip guard hand head kick knee laugh leave light line load look mouth pack
    paint part paw pin plant pocket point punch ring rock row scream shout show sign smoke snap spot stare
    step strap strike tear tie tip trail turn watch wave wheel work zip
    """
)
_TOO = listed(
    """
    arch attempt bandage barge bark bat bear block bond bound brake button cast cheer chop circle clamp clap
    claw click comb cook corner cough crack crane crowd cuff cup curse dance deal drape dream dress drill
    drive drum dust end escort fan file fish fit flare flick float fly focus fold frown furrow gag gain
    glimpse grill grip growl guide hammer hang hatch hide hike hit hook hop hose howl hum hunt inch iron jam
    kiss knock knot ladle land lead lift lock mark milk mount move nap need nod oil parade park pass pat
    peel photograph pile place play plug polish pose present press prop pulse pump race rake rattle reel
    rest ride rinse ripple roll run rush saddle sail saw scale scoop screw seal search sell set shelter
    shield shift shovel shrug signal sip skate ski slap sledge slice slide slip smile sneeze snow spare
    spark spin spiral splash splinter spray spring sprout spy stack stalk stall stamp start steam stick
    stitch stop storm streak stream stride strip stroke surface swing switch tap taxi test thread throttle
    thumb toast touch tower toy track train trap trip twist type use vault wait walk whine whip wind wrap
    wrinkle
    """
)
MOSTLY_NOUNS = frozenset(map(third, _MOSTLY))
"""Forms in -s that are nouns wherever no object follows: ``his hands``, ``the old man's looks``.

Narrow, for cutting: a cut at a wrong verb leaves no sentence, and one not made costs a few words.
"""
NOUNS_TOO = (MOSTLY_NOUNS | frozenset(map(third, _TOO))) - {"eyes"}
"""Forms in -s that are as often nouns in a list: ``plates, cups and rings``.

Wide, since after a comma or an "and" nothing else tells them apart. Eyes are a noun, but rarely one thing
among others: ``rolls her eyes and turns``.
"""
MASSES = listed(
    """
    applause ash beer blood bone box cash cheer coffee confetti cover crew dance darkness dawn day death
    debris dress drink dusk dust evening fabric fight film fire fish flesh foam fog food frost glass grass
    hail hair help ice ivy laughter life light love metal milk mist morning moss mud music nature night oil
    paint paper plaster play post rain rest rope rubble sand silk skin sleep sleet smoke snow speed steam
    sweat tape tea thunder time traffic trash water wear wind wine wood work
    """
)
"""Nouns that need no article: ``bread, smoke and fire``, ``Rain falls``."""
NO_ARTICLE: frozenset[str] = MASSES | INDEFINITE | {"much", "more"}
"""What begins a sentence without an article and is no name."""
PLURALS = listed(
    "men women children people police feet teeth mice geese fish sheep others both crowds soldiers"
)
NOUNS_IN_ING = listed(
    """
    anything bedding being bring building ceiling clothing dining during earring evening everything fling
    housing king lightning lining living morning nothing pudding railing ring sewing sibling sing sling
    something spring sterling stocking string swimming swing thing viking wedding wing briefing offering
    parking
    """
)
"""Words that look like participles and are nouns, or verbs without an ending, nearly always."""
PERHAPS_NOUNS_IN_ING = listed(
    "beginning clearing crossing drawing ending gathering landing meeting opening painting setting"
)
"""Nouns where nothing or a preposition follows: ``a large painting of a ship``."""

COLOURS = listed("black white red green blue yellow brown grey gray pink purple golden")
ADJECTIVES = COLOURS | listed(
    """
    armed bald bare bearded big blonde bloody bright broken clean dead deep different dirty double dry dusty
    early empty enormous entire fat fellow female few first full giant hard heavy high hot huge injured
    large last late left little local long low lower main male many massive muddy narrow nearby new next old
    other own rear right rough round rusty same second several sharp short single slim small smooth soft
    tall thick thin third tiny upper various warm wet whole wide wooden wounded young
    """
)
ADJECTIVE_ENDINGS = re.compile(r"(?:ous|ful|less|ish|ive|[a-z]-[a-z]+ed|ic)$")
BEFORE_A_NOUN = PREPOSITIONS | DETERMINERS | ADJECTIVES | listed("and or others more")
"""After one of these stands no verb."""


def singular(noun: str) -> str:
    """``boxes → box``, ``ladies → lady``; short words and those in -ss, -us, -is as they are."""
    if len(noun) > 4 and noun.endswith("ies"):
        return f"{noun[:-3]}y"
    if len(noun) > 4 and noun.endswith(("shes", "ches", "xes", "sses")):
        return noun[:-2]
    if len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
        return noun[:-1]
    return noun
