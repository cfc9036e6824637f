"""The closed classes: articles, pronouns, prepositions, conjunctions, adverbs that only say when or where.

What a rule needs is put together from the classes; lists of its own stand with the rule.
"""

from __future__ import annotations

from shotad.script.words import ARTICLES


def listed(words: str) -> frozenset[str]:
    """The words of a list as a set."""
    return frozenset(words.split())


NOMINATIVE = listed("he she it they")
ACCUSATIVE = listed("him her it them")
REFLEXIVE = listed("himself herself itself themselves")
INDEFINITE = listed(
    "someone somebody anyone anybody everyone everybody nobody something anything everything nothing none "
    "neither"
)
PRONOUNS = ACCUSATIVE | REFLEXIVE | {"each", "other"}
"""They end what a verb is done to."""

OWNED = listed("his her its their")
POSSESSIVES = OWNED | listed("my our your")
POINTING = listed("this that these those")
FLOATING = listed("both all each")
"""They stand before a noun, and also between a subject and its verb: ``They all stare``."""
SEVERAL = listed("two three four five six seven eight nine ten several some many few")
SINGLE = listed("one another each every")
DETERMINERS = ARTICLES | POSSESSIVES | POINTING | FLOATING | SEVERAL | SINGLE | listed("no any")
PLURAL_DETERMINERS = SEVERAL | listed("these those both all")
SINGULAR_DETERMINERS = listed("a an another each every this that")
OTHERS = listed("other others more")
"""They stand before a noun as determiners do, and after one."""
OBJECTS = ARTICLES | OWNED | ACCUSATIVE | REFLEXIVE
"""What can only follow a verb, not a noun of the same form: ``points the gun``."""

LINKING = listed(
    "of at with without from by for into onto toward towards against among amid between beneath beside "
    "during upon via like"
)
"""Prepositions that never stand alone; a noun follows."""
PLACING = listed(
    "in on over under through across along around behind near past above below inside outside within beyond "
    "underneath alongside atop"
)
"""Prepositions that may stand alone, as adverbs: ``She looks around``."""
TIMES = listed("after before")
"""Prepositions of time that also join clauses."""
PARTICLES = listed("up down off out")
"""Prepositions that mostly belong to the verb before them: ``picks up``, ``sits down looking``."""
PREPOSITIONS = LINKING | PLACING | TIMES | PARTICLES | {"to"}
BEFORE_NOUNS = (DETERMINERS - FLOATING - {"one"}) | LINKING | PLACING
"""Words after which a form that could be a verb is a noun; after "to", "all" and "one" it is one."""

COORDINATING = listed("and but or")
RELATIVE = listed("who which whose whom that where")
SUBORDINATING = listed(
    "as while when whenever until once if because although though since where before after"
)
STOPS = RELATIVE | listed("as while when if to")
"""No subject goes on after one of these."""
OPENERS = COORDINATING | listed("so then now")
"""Words before a sentence that do not belong to its subject."""

AUXILIARIES = listed(
    "is are has have does do can cannot must isn't aren't doesn't don't hasn't haven't can't"
)
SAYING_WHEN = listed(
    "then now later still again soon just next finally suddenly meanwhile instead afterwards"
)
SAYING_WHERE = listed("inside outside upstairs downstairs elsewhere nearby overhead above below")
ADVERBS = listed(
    "then now still just again also soon both each never almost half together back inside outside"
)
"""They stand between a subject and its verb, apart from those in -ly."""
ADVERBS_FIRST = SAYING_WHEN | SAYING_WHERE | listed("moments seconds minutes hours days")
"""Words that stand before a comma and only say when or where."""
WAYS = PARTICLES | listed(
    "at away around back to outside inside over toward towards for across into onto upstairs"
)
"""Ways and places that follow a verb."""
AFTER_A_VERB = (
    OBJECTS
    | PARTICLES
    | listed(
        "to away back at into onto through in on around from over toward towards behind across past along by "
        "under forward inside outside aside open shut as and while"
    )
)
"""What may follow a verb; after a noun of the same form it is rarer."""

UNFINISHED = (
    ARTICLES | (POSSESSIVES - ACCUSATIVE) | COORDINATING | listed("as at for from into of onto to while with")
)
"""A line whose last word is one of these breaks off."""
FUNCTION_WORDS: frozenset[str] = (
    ARTICLES
    | POSSESSIVES
    | POINTING
    | FLOATING
    | SINGLE
    | NOMINATIVE
    | PRONOUNS
    | PREPOSITIONS
    | COORDINATING
    | RELATIVE
    | SUBORDINATING
    | AUXILIARIES
    | WAYS
    | listed(
        "be was were had will hers theirs ones there here not no some very just now still again then than so "
        "near shot shots"
    )
)
"""Words that carry no meaning of their own."""
