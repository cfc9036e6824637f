"""Word lists by which people are found in a line of AD: whom a noun means, what is said of them."""

from __future__ import annotations

from shotad.core import HER_TITLES, HIS_TITLES
from shotad.script.english.smallwords import listed

HIS_NOUNS = listed(
    """
    man boy guy gentleman father dad daddy pa papa son brother husband uncle nephew grandfather grandpa
    grandson boyfriend groom fiance bridegroom king prince duke count lord waiter actor policeman fireman
    salesman businessman doorman postman mailman cameraman gunman henchman horseman bowman sportsman
    fisherman cowboy monk friar priest patrolman lad fellow bloke chap dude wizard sorcerer butler
    stepfather schoolboy bellboy barman hitman serviceman workman foreman swordsman archer
    """
)
HER_NOUNS = listed(
    """
    woman girl lady mother mom mum mommy mummy mama ma daughter sister wife aunt auntie niece grandmother
    grandma granddaughter girlfriend bride fiancee queen princess duchess countess baroness waitress actress
    policewoman saleswoman businesswoman barmaid maid nun witch hostess stewardess widow schoolgirl nanny
    stepmother brunette blonde redhead milady abbess salesgirl housewife midwife ballerina
    """
)
ANY_NOUNS = listed(
    """
    person kid child baby toddler infant teenager teen adult stranger figure passenger driver officer cop
    detective inspector sergeant captain lieutenant colonel major general commander commissioner sheriff
    deputy marshal agent soldier guard guide judge lawyer attorney doctor nurse surgeon psychologist
    physicist scientist professor teacher student pupil principal coach trainer player boxer fighter warrior
    knight thief robber burglar killer murderer assassin attacker gunner sniper pilot astronaut controller
    operator technician engineer mechanic worker labourer laborer builder farmer gardener cook chef baker
    butcher bartender barista customer client clerk cashier shopkeeper vendor merchant dealer manager boss
    chief director producer announcer reporter journalist photographer writer author poet artist painter
    singer dancer musician guitarist drummer pianist conductor secretary assistant receptionist servant
    valet colleague friend partner lover companion neighbour neighbor guest host owner landlord tenant
    resident inmate prisoner convict captive hostage victim patient visitor tourist traveller traveler rider
    jockey cyclist biker runner swimmer skater wrestler opponent enemy rival leader follower mayor minister
    president ambassador senator governor pastor reverend bishop pope rabbi cardinal parson cousin orphan
    twin sibling parent veteran sailor pirate bandit outlaw gangster mobster thug bully carjacker decoy
    handler keeper tracker hunter storyteller gunsmith repairman exterminator architect expert official
    adjutant attendant usher bouncer executioner ghost vampire zombie monster alien robot clown santa
    creature herder member intruder youngster youth elder beggar tramp
    """
)
PERSON_NOUNS = HIS_NOUNS | HER_NOUNS | ANY_NOUNS
GENERIC_NOUNS = listed(
    "man woman boy girl guy gentleman lady person kid child baby figure people men women boys girls friend "
    "member one father mother son daughter brother sister wife husband"
)
"""By these alone nobody is told apart: ``the man`` is not the cast's ``CIA Man``."""
PLURAL_NOUNS = listed(
    """
    men women people children police others crowd crowds couple pair twins guests teenagers teens policemen
    firemen businessmen gunmen henchmen horsemen cowboys ladies families family gang group team trio crew
    audience parents soldiers wives thieves
    """
) | frozenset(f"{noun}s" for noun in PERSON_NOUNS if not noun.endswith(("man", "y", "child", "s", "thief")))
"""People, more than one: whom ``they`` may mean."""

PEOPLE_NOUNS = PERSON_NOUNS | PLURAL_NOUNS

NAME_DETERMINERS = listed(
    "a an the another this that his her their its one every each some any no both two three"
)
DEFINITE = listed("the this that")

HE = listed("he him his himself")
SHE = listed("she her hers herself")
THEY = listed("they them their theirs themselves")
SUBJECT_PRONOUNS = listed("he she they")
REFLEXIVES = listed("himself herself themselves")
SHORTENED = {
    f"{pronoun}{tail}": pronoun
    for pronoun in ("he", "she", "they")
    for tail in ("'s", "'re", "'d", "'ll", "'ve")
}
"""``he's → he``."""

NAME_PREPOSITIONS = listed(
    """
    about above across after against along alongside amid among around at atop before behind below beneath
    beside besides between beyond by despite down during except for from in inside into like near next of
    off on onto opposite out outside over past round since through throughout to toward towards under
    underneath until up upon via with within without
    """
)
NAME_FUNCTION_WORDS = NAME_PREPOSITIONS | listed(
    """
    a an the his her their its him them it he she they this that these those and or but as while when where
    who whom which then not also back away again together forward forwards backward backwards upright aside
    ahead twice hard fast high low home upstairs downstairs off still just almost nearly now slowly quickly
    open shut apart to himself herself itself themselves alone
    """
)
"""What follows a verb and hardly ever a plural noun."""
CLAUSE_WORDS = listed(
    "as while when where who whom which because and but before after until if then so that though once"
)
AUXILIARIES = listed("is has was does can will must cannot isn't hasn't doesn't can't won't")

WHO = listed("who whose whom")
UPON_OTHERS = listed(
    "kisses strokes pats slaps punches caresses grabs tugs yanks squeezes nudges smacks grips seizes kicks "
    "massages cups clasps"
)
"""Whose hand one does this to is rarely one's own: ``grabs his fist``."""

AFTER_OBJECT = NAME_FUNCTION_WORDS - listed("back open still just almost nearly now alone her his their its")
"""After these ``her`` was the object: ``watches her as``, ``pulls her up``."""

HIS_FORMS = HIS_NOUNS | HIS_TITLES
HER_FORMS = HER_NOUNS | HER_TITLES
