"""Human actions by rule, where no engine makes them: characters out, then one verb to a sentence.

The published actions come from LLaMA3.1-70B in the same two steps (Shot-by-Shot, section 4.2). Rules know
no films and no gender of most names, and split by grammar alone.

Names, roles and jobs become pronouns; objects, places and animals stay, and so do nouns that tell nobody
apart (``the man``). Verbs that are coordinated get the subject of the first; clauses with ``as`` and
``while`` and participles (``holding a gun``) become sentences of their own. What hangs closer (``starts to
run``, ``a man who runs``) stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.core import HER_TITLES, HIS_TITLES, NAME_TITLES
from shotad.evaluation.store import MetricContext, parser_of
from shotad.script import (
    ANY_NOUNS,
    GENERIC_NOUNS,
    HE,
    HER_NAMES,
    HER_NOUNS,
    HIS_NAMES,
    HIS_NOUNS,
    PERSON_NOUNS,
    PLURAL_NOUNS,
    SHE,
    THEY,
    THIRD,
    Parse,
    Token,
    third,
)

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_UNSEEN = ("npadvmod", "compound", "dep", "dobj", "nmod")
"""What the parser may take a noun before a verb for that is its subject."""
_HELPERS = ("aux", "auxpass", "neg")
_MARKS = frozenset({"as", "while"})
"""Conjunctions whose clause is an action beside the main one; they are left out."""
_SHARING = (("VB", "VB"), ("VBN", "VBN"), ("VBG", "VBG"), ("VBG", "VBN"))
"""Forms of two coordinated verbs whose helpers are the first's: ``is running and thrown out``."""
_FINITE = ("VBZ", "VBP", "VBD")
_RELATIVE = frozenset({"who", "which", "that"})
_LATER = frozenset({"then", "still", "now"})
"""Words left over where a verb that followed them has gone."""
_LOOSE_SIGN = re.compile(r"(?: ?[,;])* ([,;.!?])")
"""A blank, or another sign, before a sign, where words between have gone."""
_PLURAL = frozenset({"they", "we", "you", "i"})
_SUBJECT_OF = {word: word for word in ("he", "she", "it", "they", "we", "you", "i")} | {
    "him": "he",
    "her": "she",
    "them": "they",
    "himself": "he",
    "herself": "she",
}


def _single_actions(parse: Parse) -> tuple[str, ...]:
    """The actions of a text, each a sentence, in the order of their verbs, each once; the text as it is
    where it has no verb."""
    verbs = frozenset(_verbs(parse))
    # Roots that the parser took for no verbs (``The crowd cheers``) beside verbs that it saw.
    roots = [place for place, token in enumerate(parse.tokens) if token.head == place and place not in verbs]
    roots = [root for root in roots if any(verb in parse.subtree(root) for verb in verbs)]
    told = sorted(verbs.union(root for root in roots if _says_something(parse, _own(parse, root, verbs))))
    found = [_sentence(parse, verb, frozenset(told)) for verb in told]
    if not any(found):
        found = [_finished("".join(t.text + " " * t.space for t in parse.tokens))]
    return tuple(dict.fromkeys(filter(None, found)))


def _verbs(parse: Parse) -> set[int]:
    """The places of verbs that get a sentence."""
    found: set[int] = set()
    waiting = [place for place, token in enumerate(parse.tokens) if token.head == place]
    while waiting:
        place = waiting.pop()
        if _is_verb(parse, place) and _is_told(parse, place, found):
            found.add(place)
        waiting += parse.children[place]
    return found


def _says_something(parse: Parse, places: Sequence[int]) -> bool:
    """Whether two words or more are left that carry meaning, one of them a noun or pronoun."""
    kinds = [parse.tokens[place].pos for place in places]
    full = [kind for kind in kinds if kind in ("NOUN", "PROPN", "PRON", "VERB", "ADJ", "ADV")]
    return len(full) > 1 and bool({"NOUN", "PROPN", "PRON"} & set(full))


def _is_verb(parse: Parse, place: int) -> bool:
    token = parse.tokens[place]
    return token.pos in ("VERB", "AUX") and token.dep not in _HELPERS


def _is_told(parse: Parse, place: int, found: set[int]) -> bool:
    """Whether a verb tells of an action of its own; ``found`` are those above it that do."""
    token = parse.tokens[place]
    subjects = [c for c in parse.children[place] if parse.tokens[c].dep in _SUBJECTS]
    finite = token.tag in _FINITE or bool(subjects)
    if token.head == place:
        return True
    if token.dep in ("conj", "parataxis", "dep"):
        return token.head in found or (finite and token.dep != "parataxis")
    if token.dep == "ccomp":
        return place < token.head and bool(subjects) and not _marks(parse, place)
    if token.dep == "relcl":
        return any(parse.tokens[c].text.lower() in _RELATIVE for c in subjects)
    if token.dep == "acl":
        return token.tag == "VBG"
    return token.dep == "advcl" and (finite or token.tag == "VBG") and _marks(parse, place) <= _MARKS


def _marks(parse: Parse, verb: int) -> set[str]:
    """The conjunctions that begin a verb's clause."""
    words = (parse.tokens[c] for c in parse.children[verb] if c < verb)
    return {t.text.lower() for t in words if t.dep == "mark" or t.tag == "WRB" or t.text.lower() in _MARKS}


def _sentence(parse: Parse, verb: int, verbs: frozenset[int]) -> str:
    """The verb's own words, with the subject of the verb that it depends on where it has none."""
    own = _own(parse, verb, verbs)
    if any(_is_subject(parse, place, verb) for place in own) or not _is_verb(parse, verb):
        return _finished(parse.text(own))
    subject, plural = _subject(parse, verb, verbs)
    helpers = _helpers(parse, verb, verbs)
    before = [place for place in own if place < verb]
    after = [place for place in own if place > verb]
    form = _form(parse, verb, plural, bool(helpers))
    gap = "" if after and parse.tokens[after[0]].tag in ("POS", ",", ".") else " "
    parts = [subject, helpers, parse.text(before), form]
    return _finished(" ".join(part for part in parts if part) + gap + parse.text(after))


def _is_subject(parse: Parse, place: int, verb: int) -> bool:
    token = parse.tokens[place]
    if token.head != verb or token.text.lower() in _RELATIVE:
        return False
    unseen = token.dep in _UNSEEN and place < verb and token.pos in ("NOUN", "PROPN", "PRON")
    return token.dep in _SUBJECTS or unseen


def _own(parse: Parse, verb: int, verbs: frozenset[int]) -> list[int]:
    """The places of a verb's subtree without those of other verbs with a sentence, and without links."""
    tree = list(parse.subtree(verb))
    others = {place for other in verbs - {verb} if other in tree for place in parse.subtree(other)}
    own = [place for place in tree if place not in others and not _is_link(parse, place, verb, others)]
    while own and (
        parse.tokens[own[-1]].dep in ("cc", "punct") or parse.tokens[own[-1]].text.lower() in _LATER
    ):
        own.pop()
    while own and parse.tokens[own[0]].dep in ("cc", "punct"):
        own.pop(0)
    return own


def _is_link(parse: Parse, place: int, verb: int, others: set[int]) -> bool:
    """A conjunction or relative word that joined what stands alone now, or a comma beside what has gone."""
    token = parse.tokens[place]
    if token.dep in _SUBJECTS and token.text.lower() in _RELATIVE and token.head == verb:
        return parse.tokens[verb].dep == "relcl"
    if token.head != verb or place == verb:
        return False
    if token.dep in ("cc", "preconj"):
        joined = [c for c in parse.children[verb] if parse.tokens[c].dep == "conj"]
        return not joined or bool(others.intersection(joined))
    if token.dep in ("mark", "advmod") and token.text.lower() in _MARKS:
        return True
    return token.dep == "punct" and token.text in (",", ";") and bool({place - 1, place + 1} & others)


def _subject(parse: Parse, verb: int, verbs: frozenset[int]) -> tuple[str, bool]:
    """The pronoun for whoever does what a verb without a subject says, and whether it is plural."""
    token = parse.tokens[verb]
    if token.dep in ("relcl", "acl") and parse.tokens[token.head].pos not in ("VERB", "AUX"):
        return _pronoun(parse, token.head)
    # The nearest verb above with a subject of its own, else the nearest before.
    held = {v for v in verbs if any(parse.tokens[c].dep in _SUBJECTS for c in parse.children[v])}
    above, holder = verb, max((other for other in held if other < verb), default=None)
    while parse.tokens[above].head != above:
        above = parse.tokens[above].head
        if above in held:
            holder = above
            break
    if holder is None:
        return "", False
    return _pronoun(parse, next(c for c in parse.children[holder] if parse.tokens[c].dep in _SUBJECTS))


def _pronoun(parse: Parse, noun: int) -> tuple[str, bool]:
    token = parse.tokens[noun]
    text = token.text.lower()
    if text in _SUBJECT_OF:
        return _SUBJECT_OF[text], _SUBJECT_OF[text] in _PLURAL
    if text in ("everyone", "someone", "another", "one", "everybody", "somebody"):
        return text, False
    if text == "person":
        return UNKNOWN, False
    several = any(parse.tokens[child].dep == "conj" for child in parse.children[noun])
    who = "they" if several or token.tag in ("NNS", "NNPS") else _gender_of(parse, noun)
    somebody = token.lemma.lower() in PERSON_NOUNS
    return who or (UNKNOWN if somebody else "it"), who == "they"


def _helpers(parse: Parse, verb: int, verbs: frozenset[int]) -> str:
    """Auxiliaries that the verb shares with the one it is coordinated with."""
    token = parse.tokens[verb]
    above = token.head
    own = [c for c in parse.children[verb] if parse.tokens[c].dep in _HELPERS]
    if token.dep != "conj" or own or above not in verbs:
        return ""
    if (parse.tokens[above].tag, token.tag) not in _SHARING:
        return ""
    return " ".join(parse.tokens[c].text for c in parse.children[above] if parse.tokens[c].dep in _HELPERS)


def _form(parse: Parse, verb: int, plural: bool, helped: bool) -> str:
    """The verb as it is said of its subject: a participle alone becomes finite."""
    token = parse.tokens[verb]
    own = any(parse.tokens[c].dep in _HELPERS[:2] for c in parse.children[verb])
    if token.tag != "VBG" or helped or own:
        return token.text
    return token.lemma if plural else third(token.lemma)


def _finished(text: str) -> str:
    words = _LOOSE_SIGN.sub(r"\1", " ".join(text.split())).strip(" ,;:")
    if not any(map(str.isalnum, words)):
        return ""
    return words[:1].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


NAME = "rules"
"""What these actions are called in records."""


def actions_by_rule(texts: Sequence[str], context: MetricContext) -> list[tuple[str, ...]]:
    """For each human AD its actions, without characters and with one verb each; none for an empty text.

    Raises ShotadError without spaCy or its model.
    """
    parses = parser_of(context)
    whole = parses.of(texts)
    plain = {text: without_characters(parse) for text, parse in whole.items()}
    again = parses.of(plain.values())
    return [_single_actions(again[plain[text]]) for text in texts]


UNKNOWN = "the person"
"""Somebody for whom the text gives neither he nor she."""
_PRONOUNS = {
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "they": ("they", "them", "their"),
    "": (UNKNOWN, UNKNOWN, f"{UNKNOWN}'s"),
}
"""As a subject, as an object, of whom something is."""
_PLACED = frozenset("in into within throughout across along".split())  # noqa: SIM905
"""What names after these prepositions are is more often a place."""
_PLAIN_SUBJECTS = ("nsubj", "nsubjpass")
_PHRASE = frozenset("det amod compound nummod poss flat predet quantmod nmod".split())  # noqa: SIM905
_TAGS = ("NNP", "NNPS")


def without_characters(parse: Parse) -> str:
    """The text with a pronoun for each character."""
    instead: dict[int, str] = {}
    spaces: dict[int, bool] = {}
    for head in range(len(parse.tokens)):
        if head in instead or not _is_character(parse, head):
            continue
        others = _with(parse, head)
        places = _phrase(parse, head, others)
        who = "they" if others else _gender_of(parse, head) or _told_elsewhere(parse, head)
        instead |= dict.fromkeys(places, "")  # all its words go but the first
        instead[places[0]] = _PRONOUNS[who][_case(parse, head, places)]
        spaces[places[0]] = parse.tokens[places[-1]].space
    words: list[str] = []
    for place, token in enumerate(parse.tokens):
        word = instead.get(place, token.text)
        if word and token.begins:
            word = word[:1].upper() + word[1:]
        if word:
            words.append(word + " " * spaces.get(place, token.space))
    return "".join(words).strip()


def _gender_of(parse: Parse, head: int) -> str:
    """``he``, ``she`` or ``they`` for a noun with its names and determiners; empty where nothing shows it."""
    token = parse.tokens[head]
    children = [parse.tokens[child] for child in parse.children[head]]
    words = [token, *(one for one in children if one.dep in ("compound", "nmod", "flat") or _is_title(one))]
    for word in (*words[1:], words[0]):
        text = word.text.lower().strip(".")
        if text in HIS_TITLES or text in HIS_NOUNS or text in HIS_NAMES:
            return "he"
        if text in HER_TITLES or text in HER_NOUNS or text in HER_NAMES:
            return "she"
    return "they" if token.text.lower() in PLURAL_NOUNS or token.tag == "NNS" else ""


def _is_character(parse: Parse, head: int) -> bool:
    """A name in a place where people stand, or a role."""
    token = parse.tokens[head]
    if _is_name(parse, head, token):
        return True
    word = token.text.lower()
    role = word if word in PERSON_NOUNS else token.lemma.lower()
    return token.pos == "NOUN" and _stands_alone(parse, head) and role in ANY_NOUNS - GENERIC_NOUNS


def _is_name(parse: Parse, head: int, token: Token) -> bool:
    """A word with a capital letter that means somebody; also where the parser took the verb for a noun."""
    word = token.text.lower()
    if not token.text[:1].isupper() or word in ("i", "ok"):
        return False
    if _before_unseen_verb(parse, head):
        return not token.begins or token.tag in _TAGS or word in HIS_NAMES | HER_NAMES or token.pos != "NOUN"
    return _stands_alone(parse, head) and _names_somebody(parse, head, token)


def _names_somebody(parse: Parse, head: int, token: Token) -> bool:
    """A given name, or a title with a name; others where neither an article nor a place speaks against."""
    children = [parse.tokens[child] for child in parse.children[head]]
    article = any(child.dep == "det" for child in children)
    if token.text.lower() in HIS_NAMES | HER_NAMES and not article:
        return token.tag in _TAGS or token.pos in ("NOUN", "ADJ", "ADV")
    titled = any(_is_title(parse.tokens[child]) for child in parse.children[head] if child < head)
    before = parse.tokens[token.head]
    after_no_verb = before.text.lower() == "at" and parse.tokens[before.head].pos != "VERB"
    placed = token.dep == "pobj" and (before.text.lower() in _PLACED or after_no_verb)
    return token.tag in _TAGS and (titled or not (article or placed))


def _before_unseen_verb(parse: Parse, place: int) -> bool:
    """Whether this is all of a sentence before a verb that the parser took for a noun: ``Jack frowns``."""
    token = parse.tokens[place]
    following = parse.tokens[place + 1] if place + 1 < len(parse.tokens) else None
    return (
        following is not None
        and token.head == place + 1
        and token.dep in ("compound", "amod", "nmod")
        and following.head == place + 1
        and following.text.lower() in THIRD
        and not any(parse.tokens[c].dep in ("det", "poss") for c in parse.children[place + 1])
    )


def _stands_alone(parse: Parse, head: int) -> bool:
    """Whether a noun is none that only says what kind of thing another is."""
    token = parse.tokens[head]
    owner = token.dep == "poss" and any(parse.tokens[child].dep == "case" for child in parse.children[head])
    return owner or token.dep not in ("compound", "amod", "nmod", "poss")


def _with(parse: Parse, head: int) -> tuple[int, ...]:
    """Other people who are coordinated with this one; none where one of them is a thing."""
    found: list[int] = []
    waiting = [head]
    while waiting:
        here = waiting.pop()
        others = [child for child in parse.children[here] if parse.tokens[child].dep == "conj"]
        if not all(_is_somebody(parse, other) for other in others):
            return ()
        found += others
        waiting += others
    return tuple(found)


def _is_somebody(parse: Parse, place: int) -> bool:
    token = parse.tokens[place]
    return (
        _is_character(parse, place)
        or token.text.lower() in HE | SHE | THEY | PLURAL_NOUNS
        or (token.pos == "NOUN" and token.lemma.lower() in PERSON_NOUNS)
    )


def _is_title(token: Token) -> bool:
    return token.text.lower().strip(".") in NAME_TITLES


def _phrase(parse: Parse, head: int, others: tuple[int, ...]) -> tuple[int, ...]:
    """The noun with what stands before it and belongs to it, and with others that are coordinated with it."""
    found = {head}
    for noun in (head, *others):
        found.add(noun)
        for child in parse.children[noun]:
            dep = parse.tokens[child].dep
            if dep == "case" or (child < noun and dep in _PHRASE) or (others and dep in ("cc", "punct")):
                found.update(parse.subtree(child))
    last = max((head, *others))
    found = {place for place in found if place <= last or parse.tokens[place].dep == "case"}
    run = [head]
    while run[-1] + 1 in found:
        run.append(run[-1] + 1)
    while run[0] - 1 in found:
        run.insert(0, run[0] - 1)
    return tuple(run)


def _case(parse: Parse, head: int, places: tuple[int, ...]) -> int:
    if parse.tokens[places[-1]].tag == "POS":
        return 2
    while parse.tokens[head].dep == "conj":
        head = parse.tokens[head].head
    token = parse.tokens[head]
    subject = (
        token.dep in (*_PLAIN_SUBJECTS, "ROOT")
        or parse.tokens[places[0]].begins
        or _before_unseen_verb(parse, head)
    )
    return 2 if token.dep == "poss" else 0 if subject else 1


def _told_elsewhere(parse: Parse, head: int) -> str:
    """The gender by pronouns of the text, where all that could be said of this person agree."""
    words = [token.text.lower() for token in parse.tokens]
    told = {name for name, forms in (("he", HE), ("she", SHE)) if forms & set(words)}
    own = parse.tokens[head]
    if own.dep not in (*_PLAIN_SUBJECTS, "poss"):
        return ""
    objects = {
        "he" if token.text.lower() == "him" else "she"
        for token in parse.tokens
        if token.text.lower() in ("him", "her") and token.dep not in ("poss",)
    }
    left = told - objects
    return left.pop() if len(left) == 1 else ""
