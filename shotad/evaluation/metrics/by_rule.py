"""Human actions by rule, where no engine makes them: characters out, then one verb to a sentence.

Rules know no films and no gender of most names, and split by grammar alone.

Names, roles and jobs become pronouns; objects, places and animals stay, and so do nouns that tell nobody
apart (``the man``). Verbs that are coordinated get the subject of the first; clauses with ``as`` and
``while`` and participles (``holding a gun``) become sentences of their own. What hangs closer (``starts to
run``, ``a man who runs``) stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.core.cast import (
    HER_TITLES,
    HIS_TITLES,
    NAME_TITLES,
)
from shotad.evaluation.store import MetricContext, parser_of
from shotad.script.cast_members import (
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
)
from shotad.script.english_words import THIRD_PERSON_VERBS, third_person_form
from shotad.script.parsing import Parse, Token

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
_FULL = ("NOUN", "PROPN", "PRON", "VERB", "ADJ", "ADV")
_PLURAL = frozenset({"they", "we", "you", "i"})
_SUBJECT_OF = {word: word for word in ("he", "she", "it", "they", "we", "you", "i")} | {
    "him": "he",
    "her": "she",
    "them": "they",
    "himself": "he",
    "herself": "she",
}

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


def actions_by_rule(texts: Sequence[str], context: MetricContext) -> list[tuple[str, ...]]:
    """For each human AD its actions, without characters and with one verb each; none for an empty text.

    Raises ShotadError without spaCy or its model.
    """
    parses = parser_of(context)
    whole = parses.of(texts)
    plain = {text: without_characters(parse) for text, parse in whole.items()}
    again = parses.of(plain.values())
    return [_single_actions(again[plain[text]]) for text in texts]


def _single_actions(parse: Parse) -> tuple[str, ...]:
    """The actions of a text, each a sentence, in the order of their verbs, each once; the text as it is
    where it has no verb."""
    tokens, verbs = parse.tokens, set[int]()
    roots = [place for place, token in enumerate(tokens) if token.head == place]
    waiting = list(roots)
    while waiting:
        place = waiting.pop()
        if _is_verb(parse, place) and _is_told(parse, place, verbs):
            verbs.add(place)
        waiting += parse.children[place]
    told = set(verbs)
    for root in roots:
        # A root that the parser took for no verb (``The crowd cheers``), above verbs that it saw: it is told
        # where two words or more are left that carry meaning, one of them a noun or pronoun.
        if root not in verbs and verbs.intersection(parse.subtree(root)):
            full = [kind for place in _own(parse, root, verbs) if (kind := tokens[place].pos) in _FULL]
            if len(full) > 1 and {"NOUN", "PROPN", "PRON"}.intersection(full):
                told.add(root)
    found = [_sentence(parse, verb, told) for verb in sorted(told)]
    if not any(found):
        found = [_finished("".join(t.text + " " * t.space for t in tokens))]
    return tuple(dict.fromkeys(filter(None, found)))


def _below(parse: Parse, place: int, *deps: str) -> list[int]:
    """The places of those that depend on a token in one of these ways."""
    return [child for child in parse.children[place] if parse.tokens[child].dep in deps]


def _is_verb(parse: Parse, place: int) -> bool:
    token = parse.tokens[place]
    return token.pos in ("VERB", "AUX") and token.dep not in _HELPERS


def _is_told(parse: Parse, place: int, found: set[int]) -> bool:
    """Whether a verb tells of an action of its own; ``found`` are those above it that do."""
    token = parse.tokens[place]
    subjects = _below(parse, place, *_SUBJECTS)
    finite = token.tag in _FINITE or bool(subjects)
    words = (parse.tokens[child] for child in parse.children[place] if child < place)
    # The conjunctions that begin its clause.
    marks = {t.text.lower() for t in words if t.dep == "mark" or t.tag == "WRB" or t.text.lower() in _MARKS}
    if token.head == place:
        return True
    if token.dep in ("conj", "parataxis", "dep"):
        return token.head in found or (finite and token.dep != "parataxis")
    if token.dep == "ccomp":
        return place < token.head and bool(subjects) and not marks
    if token.dep == "relcl":
        return any(parse.tokens[c].text.lower() in _RELATIVE for c in subjects)
    if token.dep == "acl":
        return token.tag == "VBG"
    return token.dep == "advcl" and (finite or token.tag == "VBG") and marks <= _MARKS


def _sentence(parse: Parse, verb: int, verbs: set[int]) -> str:
    """The verb's own words, with the subject of the verb that it depends on where it has none."""
    own, token = _own(parse, verb, verbs), parse.tokens[verb]
    for place in own:
        one = parse.tokens[place]
        if one.head == verb and one.text.lower() not in _RELATIVE:
            unseen = one.dep in _UNSEEN and place < verb and one.pos in ("NOUN", "PROPN", "PRON")
            if one.dep in _SUBJECTS or unseen:
                return _finished(parse.text(own))
    if not _is_verb(parse, verb):
        return _finished(parse.text(own))
    subject, plural = _subject(parse, verb, verbs)
    above, helpers = token.head, ""
    shares = token.dep == "conj" and (parse.tokens[above].tag, token.tag) in _SHARING
    if shares and above in verbs and not _below(parse, verb, *_HELPERS):
        helpers = " ".join(parse.tokens[c].text for c in _below(parse, above, *_HELPERS))
    form = token.text
    if token.tag == "VBG" and not helpers and not _below(parse, verb, *_HELPERS[:2]):
        form = token.lemma if plural else third_person_form(token.lemma)  # a participle alone becomes finite
    before = [place for place in own if place < verb]
    after = [place for place in own if place > verb]
    gap = "" if after and parse.tokens[after[0]].tag in ("POS", ",", ".") else " "
    parts = [subject, helpers, parse.text(before), form]
    return _finished(" ".join(part for part in parts if part) + gap + parse.text(after))


def _own(parse: Parse, verb: int, verbs: set[int]) -> list[int]:
    """The places of a verb's subtree without those of other verbs with a sentence, and without links."""
    tokens, tree = parse.tokens, list(parse.subtree(verb))
    others = {place for other in verbs - {verb} if other in tree for place in parse.subtree(other)}
    own = [place for place in tree if place not in others and not _is_link(parse, place, verb, others)]
    while own and (tokens[own[-1]].dep in ("cc", "punct") or tokens[own[-1]].text.lower() in _LATER):
        own.pop()
    while own and tokens[own[0]].dep in ("cc", "punct"):
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
        joined = _below(parse, verb, "conj")
        return not joined or bool(others.intersection(joined))
    if token.dep in ("mark", "advmod") and token.text.lower() in _MARKS:
        return True
    return token.dep == "punct" and token.text in (",", ";") and bool({place - 1, place + 1} & others)


def _subject(parse: Parse, verb: int, verbs: set[int]) -> tuple[str, bool]:
    """The pronoun for whoever does what a verb without a subject says, and whether it is plural."""
    token = parse.tokens[verb]
    noun = token.head
    if token.dep not in ("relcl", "acl") or parse.tokens[noun].pos in ("VERB", "AUX"):
        # The subject of the nearest verb above that has one of its own, else of the nearest before.
        held = {v: subjects[0] for v in verbs if (subjects := _below(parse, v, *_SUBJECTS))}
        above, holder = verb, max((other for other in held if other < verb), default=None)
        while parse.tokens[above].head != above:
            above = parse.tokens[above].head
            if above in held:
                holder = above
                break
        if holder is None:
            return "", False
        noun = held[holder]
    token = parse.tokens[noun]
    text = token.text.lower()
    if text in _SUBJECT_OF:
        return _SUBJECT_OF[text], _SUBJECT_OF[text] in _PLURAL
    if text in ("everyone", "someone", "another", "one", "everybody", "somebody"):
        return text, False
    if text == "person":
        return UNKNOWN, False
    several = _below(parse, noun, "conj") or token.tag in ("NNS", "NNPS")
    who = "they" if several else _gender_of(parse, noun)
    somebody = token.lemma.lower() in PERSON_NOUNS
    return who or (UNKNOWN if somebody else "it"), who == "they"


def _finished(text: str) -> str:
    words = _LOOSE_SIGN.sub(r"\1", " ".join(text.split())).strip(" ,;:")
    if not any(map(str.isalnum, words)):
        return ""
    return words[:1].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


def without_characters(parse: Parse) -> str:
    """The text with a pronoun for each character."""
    tokens = parse.tokens
    instead: dict[int, str] = {}
    spaces: dict[int, bool] = {}
    for head in range(len(tokens)):
        if head in instead or not _is_character(parse, head):
            continue
        others = _with(parse, head)
        places = _phrase(parse, head, others)
        who = "they" if others else _gender_of(parse, head) or _told_elsewhere(parse, head)
        instead |= dict.fromkeys(places, "")  # all its words go but the first
        instead[places[0]] = _PRONOUNS[who][_case(parse, head, places)]
        spaces[places[0]] = tokens[places[-1]].space
    words: list[str] = []
    for place, token in enumerate(tokens):
        if word := instead.get(place, token.text):
            word = word[:1].upper() + word[1:] if token.begins_sentence else word
            words.append(word + " " * spaces.get(place, token.space))
    return "".join(words).strip()


def _gender_of(parse: Parse, head: int) -> str:
    """``he``, ``she`` or ``they`` for a noun with its names and determiners; empty where nothing shows it."""
    token = parse.tokens[head]
    children = [parse.tokens[child] for child in parse.children[head]]
    words = [one for one in children if one.dep in ("compound", "nmod", "flat") or _is_title(one)]
    for word in (*words, token):
        text = word.text.lower().strip(".")
        if text in HIS_TITLES or text in HIS_NOUNS or text in HIS_NAMES:
            return "he"
        if text in HER_TITLES or text in HER_NOUNS or text in HER_NAMES:
            return "she"
    return "they" if token.text.lower() in PLURAL_NOUNS or token.tag == "NNS" else ""


def _is_character(parse: Parse, head: int) -> bool:
    """A word with a capital letter that means somebody, in a place where people stand, or a role."""
    token = parse.tokens[head]
    word, given = token.text.lower(), token.text.lower() in HIS_NAMES | HER_NAMES
    # Whether it is none that only says what kind of thing another is.
    owner = token.dep == "poss" and bool(_below(parse, head, "case"))
    alone = owner or token.dep not in ("compound", "amod", "nmod", "poss")
    if token.text[:1].isupper() and word not in ("i", "ok"):
        if _before_unseen_verb(parse, head):
            if not token.begins_sentence or token.tag in _TAGS or given or token.pos != "NOUN":
                return True
        elif alone and _names_somebody(parse, head, given):
            return True
    role = word if word in PERSON_NOUNS else token.lemma.lower()
    return token.pos == "NOUN" and alone and role in ANY_NOUNS - GENERIC_NOUNS


def _names_somebody(parse: Parse, head: int, given: bool) -> bool:
    """A given name, or a title with a name; others where neither an article nor a place speaks against."""
    token = parse.tokens[head]
    article = bool(_below(parse, head, "det"))
    if given and not article:
        return token.tag in _TAGS or token.pos in ("NOUN", "ADJ", "ADV")
    titled = any(_is_title(parse.tokens[child]) for child in parse.children[head] if child < head)
    before = parse.tokens[token.head]
    after_no_verb = before.text.lower() == "at" and parse.tokens[before.head].pos != "VERB"
    placed = token.dep == "pobj" and (before.text.lower() in _PLACED or after_no_verb)
    return token.tag in _TAGS and (titled or not (article or placed))


def _before_unseen_verb(parse: Parse, place: int) -> bool:
    """Whether this is all of a sentence before a verb that the parser took for a noun: ``Jack frowns``."""
    token, after = parse.tokens[place], place + 1
    if token.head != after or token.dep not in ("compound", "amod", "nmod"):
        return False
    following = parse.tokens[after]
    is_verb = following.head == after and following.text.lower() in THIRD_PERSON_VERBS
    return is_verb and not _below(parse, after, "det", "poss")


def _with(parse: Parse, head: int) -> tuple[int, ...]:
    """Other people who are coordinated with this one; none where one of them is a thing."""
    found: list[int] = []
    waiting = [head]
    while waiting:
        others = _below(parse, waiting.pop(), "conj")
        for other in others:
            token = parse.tokens[other]
            known = token.text.lower() in HE | SHE | THEY | PLURAL_NOUNS
            noun = token.pos == "NOUN" and token.lemma.lower() in PERSON_NOUNS
            if not (known or noun or _is_character(parse, other)):
                return ()
        found += others
        waiting += others
    return tuple(found)


def _is_title(token: Token) -> bool:
    return token.text.lower().strip(".") in NAME_TITLES


def _phrase(parse: Parse, head: int, others: tuple[int, ...]) -> tuple[int, ...]:
    """The noun with what stands before it and belongs to it, and with others that are coordinated with it."""
    found = {head, *others}
    for noun in (head, *others):
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
    """The place of the pronoun among `_PRONOUNS`."""
    if parse.tokens[places[-1]].tag == "POS":
        return 2
    while parse.tokens[head].dep == "conj":
        head = parse.tokens[head].head
    token = parse.tokens[head]
    subject = token.dep in (*_PLAIN_SUBJECTS, "ROOT") or parse.tokens[places[0]].begins_sentence
    return 2 if token.dep == "poss" else 0 if subject or _before_unseen_verb(parse, head) else 1


def _told_elsewhere(parse: Parse, head: int) -> str:
    """The gender by pronouns of the text, where all that could be said of this person agree."""
    if parse.tokens[head].dep not in (*_PLAIN_SUBJECTS, "poss"):
        return ""
    words = [(token.text.lower(), token.dep) for token in parse.tokens]
    told = {name for name, forms in (("he", HE), ("she", SHE)) if any(word in forms for word, _ in words)}
    objects = {"him": "he", "her": "she"}
    left = told - {objects[word] for word, dep in words if word in objects and dep != "poss"}
    return left.pop() if len(left) == 1 else ""
