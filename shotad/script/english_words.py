"""English as AD writes it: the closed classes, verbs and their forms, nouns, what a verb wants after it.

Word lists and no parser: lines are taken apart in every run, and the core brings no model for it; lists are
quick and say the same of the same line for ever. They were gathered by hand and tried on human AD. What a
rule needs is put together from the classes here; lists of its own stand with the rule.

How sure a verb must be differs with its reader, so the sets of nouns that look like verbs are of three
widths: `MOSTLY_NOUNS` within `NOUNS_TOO`, which have forms of verbs, and `MASS_NOUNS`, which are about the
missing article.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from shotad.script.rules import ARTICLES


def listed(words: str) -> frozenset[str]:
    """The words of a list as a set."""
    return frozenset(words.split())


def listed_in(name: str) -> frozenset[str]:
    """The words of ``words/NAME.txt`` beside this module."""
    return listed((Path(__file__).parent / "words" / f"{name}.txt").read_text(encoding="utf-8"))


NOMINATIVE_PRONOUNS = listed("he she it they")
ACCUSATIVE = listed("him her it them")
REFLEXIVE = listed("himself herself itself themselves")
INDEFINITE = listed(
    "someone somebody anyone anybody everyone everybody nobody something anything everything nothing none "
    "neither"
)
PRONOUNS = ACCUSATIVE | REFLEXIVE | {"each", "other"}
"""They end what a verb is done to."""

OWNED: frozenset[str] = listed("his her its their")
POSSESSIVES = OWNED | listed("my our your")
POINTING = listed("this that these those")
FLOATING_QUANTIFIERS = listed("both all each")
"""They stand before a noun, and also between a subject and its verb: ``They all stare``."""
SEVERAL = listed("two three four five six seven eight nine ten several some many few")
SINGLE = listed("one another each every")
DETERMINERS: frozenset[str] = (
    ARTICLES | POSSESSIVES | POINTING | FLOATING_QUANTIFIERS | SEVERAL | SINGLE | listed("no any")
)
PLURAL_DETERMINERS: frozenset[str] = SEVERAL | listed("these those both all")
OTHER_WORDS: frozenset[str] = listed("other others more")
"""They stand before a noun as determiners do, and after one."""
OBJECT_STARTERS = ARTICLES | OWNED | ACCUSATIVE | REFLEXIVE
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
PREPOSITIONS: frozenset[str] = LINKING | PLACING | TIMES | PARTICLES | {"to"}
BEFORE_NOUNS = (DETERMINERS - FLOATING_QUANTIFIERS - {"one"}) | LINKING | PLACING
"""Words after which a form that could be a verb is a noun; after "to", "all" and "one" it is one."""

COORDINATING_WORDS = listed("and but or")
RELATIVE_WORDS = listed("who which whose whom that where")
SUBORDINATING = listed(
    "as while when whenever until once if because although though since where before after"
)
OPENERS = COORDINATING_WORDS | listed("so then now")
"""Words before a sentence that do not belong to its subject."""

AUXILIARIES: frozenset[str] = listed(
    "is are has have does do can cannot must isn't aren't doesn't don't hasn't haven't can't"
)
SAYING_WHEN = listed(
    "then now later still again soon just next finally suddenly meanwhile instead afterwards"
)
SAYING_WHERE = listed("inside outside upstairs downstairs elsewhere nearby overhead above below")
ADVERBS: frozenset[str] = listed(
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
    OBJECT_STARTERS
    | PARTICLES
    | listed(
        "to away back at into onto through in on around from over toward towards behind across past along by "
        "under forward inside outside aside open shut as and while"
    )
)
"""What may follow a verb; after a noun of the same form it is rarer."""

UNFINISHED_ENDINGS = (
    ARTICLES
    | (POSSESSIVES - ACCUSATIVE)
    | COORDINATING_WORDS
    | listed("as at for from into of onto to while with")
)
"""A line whose last word is one of these breaks off."""
FUNCTION_WORDS: frozenset[str] = (
    ARTICLES
    | POSSESSIVES
    | POINTING
    | FLOATING_QUANTIFIERS
    | SINGLE
    | NOMINATIVE_PRONOUNS
    | PRONOUNS
    | PREPOSITIONS
    | COORDINATING_WORDS
    | RELATIVE_WORDS
    | SUBORDINATING
    | AUXILIARIES
    | WAYS
    | listed(
        "be was were had will hers theirs ones there here not no some very just now still again then than so "
        "near shot shots"
    )
)
"""Words that carry no meaning of their own."""

VERB_BASES: frozenset[str] = listed_in("verbs")
"""Infinitives."""

_IRREGULAR = listed_in("irregular_verbs")
_IRREGULAR_PASTS = {group.split("=")[0]: tuple(group.split("=")[1:]) for group in sorted(_IRREGULAR)}
"""Past tense and participle, the latter last."""
_ALSO_REGULAR = listed(
    "burn dream hang kneel knit lean leap light saw sew shave shine sow speed spill spit strive thrust "
    "wake weave"
)
"""``burnt`` and ``burned``."""

_IRREGULAR_THIRD = {"be": "is", "have": "has"}
_DOUBLES_CONSONANT = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtv]$")
"""One syllable with one vowel and one consonant at its end: ``run → running``."""
_ALSO_DOUBLED = listed("begin forget patrol propel reset unclip unpin unplug unwrap unzip")
_DOUBLED_OR_NOT = re.compile(r"^[^aeiou]*[aeiou].*[^aeiou][aeiou]l$|^(?:dial|duel)$")
"""``travelling`` and, in American, ``traveling``."""
_NO_PARTICIPLES = listed("become burst come cost hit let put read run")
"""Participles like their infinitives that describe no state; ``cut`` and ``shut`` do."""
_STATES = listed("open outstretched strewn swollen untucked")
"""What is said of a state like a participle, and is none of a verb here."""


def third_person_form(base: str) -> str:
    """``watch → watches``, ``carry → carries``, ``go → goes``."""
    if base in _IRREGULAR_THIRD:
        return _IRREGULAR_THIRD[base]
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ies"
    return base + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", base) else "s")


def plural_form(base: str) -> str:
    """The form after a plural: ``open → open``, ``be → are``."""
    return "are" if base == "be" else base


def gerund_forms(base: str) -> tuple[str, ...]:
    """``take → taking``, ``run → running``, ``lie → lying``; the usual spelling first."""
    if base.endswith("ie"):
        return (f"{base[:-2]}ying",)
    if base.endswith("e") and base != "be" and not base.endswith(("ee", "ye", "oe")):
        return (f"{base[:-1]}ing",)
    return tuple(f"{stem}ing" for stem in _stems(base))


def past_forms(base: str) -> tuple[str, ...]:
    """Past tense and participles: ``carry → carried``, ``take → took taken``."""
    irregular = _IRREGULAR_PASTS.get(base, ())
    return irregular if irregular and base not in _ALSO_REGULAR else (*irregular, *_regular_pasts(base))


def participles(base: str) -> tuple[str, ...]:
    """``carry → carried``, ``take → taken``, ``burn → burnt burned``."""
    irregular = _IRREGULAR_PASTS.get(base, ())[-1:]
    return irregular if irregular and base not in _ALSO_REGULAR else (*irregular, *_regular_pasts(base))


def _regular_pasts(base: str) -> tuple[str, ...]:
    """``carry → carried``, ``stop → stopped``, ``travel → travelled traveled``."""
    if re.search(r"[^aeiou]y$", base):
        return (f"{base[:-1]}ied",)
    return (f"{base}d",) if base.endswith("e") else tuple(f"{stem}ed" for stem in _stems(base))


def _stems(base: str) -> tuple[str, ...]:
    """What -ing and -ed are put to: ``run → runn``, ``travel → travell travel``."""
    if _DOUBLES_CONSONANT.match(base) or base in _ALSO_DOUBLED:
        return (base + base[-1],)
    return (base + base[-1], base) if _DOUBLED_OR_NOT.search(base) else (base,)


def present_forms(bases: Iterable[str]) -> frozenset[str]:
    """The present tense of verbs: ``keep keeps``."""
    return frozenset(form for base in bases for form in (plural_form(base), third_person_form(base)))


def _all_forms() -> Iterator[tuple[str, str]]:
    """Forms with their infinitives; where a form is of two verbs, the one that is meant more often first."""
    yield "saw", "see"
    yield from ((base, base) for base in sorted(VERB_BASES))
    yield from ((form, "be") for form in ("am", "are", "was", "were"))
    for base in sorted(VERB_BASES):
        yield from (
            (form, base) for form in (third_person_form(base), *gerund_forms(base), *past_forms(base))
        )


THIRD_PERSON_VERBS: frozenset[str] = frozenset(map(third_person_form, VERB_BASES))
"""He ``opens``."""
PLAIN_VERBS: frozenset[str] = frozenset(map(plural_form, VERB_BASES))
"""They ``open``."""
GERUNDS = frozenset(form for base in VERB_BASES for form in gerund_forms(base))
"""``Opening``."""
PARTICIPLES: frozenset[str] = (
    frozenset(form for base in VERB_BASES - _NO_PARTICIPLES for form in participles(base)) | _STATES
)
"""``Opened``: what can describe a state."""
PERFECTS = frozenset(past[-1] for past in _IRREGULAR_PASTS.values() if len(past) > 1) - VERB_BASES
"""Participles that are no past tense: ``taken``, ``grown``."""
LEMMAS = dict(reversed(list(_all_forms())))
"""Infinitive of each form of a verb: ``{"took": "take", …}``."""


def lemma(form: str) -> str:
    """The infinitive; a word that is no form of a verb as it is."""
    return LEMMAS.get(form, form)


_VERBS_MOSTLY_NOUNS = listed_in("mostly_nouns")
_VERBS_LIKE_NOUNS = listed_in("nouns_like_verbs")
MOSTLY_NOUNS = frozenset(map(third_person_form, _VERBS_MOSTLY_NOUNS))
"""Forms in -s that are nouns wherever no object follows: ``his hands``, ``the old man's looks``.

Narrow, for cutting: a cut at a wrong verb leaves no sentence, and one not made costs a few words.
"""
NOUNS_TOO = (MOSTLY_NOUNS | frozenset(map(third_person_form, _VERBS_LIKE_NOUNS))) - {"eyes"}
"""Forms in -s that are as often nouns in a list: ``plates, cups and rings``.

Wide, since after a comma or an "and" nothing else tells them apart. Eyes are a noun, but rarely one thing
among others: ``rolls her eyes and turns``.
"""
MASS_NOUNS = listed_in("masses")
"""Nouns that need no article: ``bread, smoke and fire``, ``Rain falls``."""
NO_ARTICLE: frozenset[str] = MASS_NOUNS | INDEFINITE | {"much", "more"}
"""What begins a sentence without an article and is no name."""
IRREGULAR_PLURALS: frozenset[str] = listed(
    "men women children people police feet teeth mice geese fish sheep others both crowds soldiers"
)
NOUNS_IN_ING: frozenset[str] = listed_in("nouns_in_ing")
"""Words that look like participles and are nouns, or verbs without an ending, nearly always."""
PERHAPS_NOUNS_IN_ING: frozenset[str] = listed(
    "beginning clearing crossing drawing ending gathering landing meeting opening painting setting"
)
"""Nouns where nothing or a preposition follows: ``a large painting of a ship``."""

COLOURS = listed("black white red green blue yellow brown grey gray pink purple golden")
ADJECTIVES = COLOURS | listed_in("adjectives")
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


TAKES_ING = present_forms(
    listed(
        "avoid be begin catch come continue find finish get go have hear help keep knock leave resume risk "
        "send set spend start stop try"
    )
)
"""Verbs that are not whole without the form in -ing after them."""
RESULT_PARTICIPLES = listed("causing revealing allowing making letting forcing sending leaving showing")
"""Participles that may be said of the whole clause before them; they stay with it."""
PERCEPTION_VERBS = present_forms(listed("see watch hear let make help feel"))
"""An infinitive without "to" may follow: ``They watch him run``."""
NEEDS_PLACE = listed_in("needs_place")
"""Verbs whose object goes somewhere: what stands after it is part of what is done."""
PUTS_SOMEWHERE = NEEDS_PLACE | listed_in("puts_somewhere")
"""The same, with verbs whose base form is a noun as well: ``a hook``, ``the back``."""
WHOLE_WITH_ITSELF = listed_in("whole_with_itself")
"""Verbs that are whole with ``himself``; ``plugs itself | into the wall`` is not."""
NEEDS_INFINITIVE = listed_in("needs_infinitive")
"""Verbs that are not whole without "to" and an infinitive."""
_NEEDS_MORE = listed(
    "be become begin bring continue do get give hand have keep lay let make place put remain seem send set "
    "start try use wear"
)
NOT_LAST = UNFINISHED_ENDINGS | present_forms(_NEEDS_MORE) | listed_in("never_last")
"""No sentence ends in one of these: something is missing after it."""
