"""Human actions by rule, where no engine makes them: characters out, then one verb to a sentence.

Rules know no films and no gender of most names, and split by grammar alone.

Names, roles and jobs become pronouns; objects, places and animals stay, and so do nouns that fit anyone
(``the man``). Coordinated verbs get the subject of the first; clauses with ``as`` and ``while`` and
participles (``holding a gun``) become sentences of their own. Closer links stay (``starts to run``, ``a man
who runs``).
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
from shotad.script.parser import Parse, Token

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_UNSEEN = ("npadvmod", "compound", "dep", "dobj", "nmod")
"""Dependencies that the parser may give to a verb's subject by mistake."""
_HELPERS = ("aux", "auxpass", "neg")
_MARKS = frozenset({"as", "while"})
"""Conjunctions whose clause is an action beside the main one; they are left out."""
_SHARING = (("VB", "VB"), ("VBN", "VBN"), ("VBG", "VBG"), ("VBG", "VBN"))
"""Forms of two coordinated verbs whose helpers are the first's: ``is running and thrown out``."""
_FINITE = ("VBZ", "VBP", "VBD")
_RELATIVE = frozenset({"who", "which", "that"})
_LATER = frozenset({"then", "still", "now"})
"""Words that mean nothing once the verb after them has a sentence of its own."""
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
"""A person of unknown gender."""
_PRONOUNS = {
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "they": ("they", "them", "their"),
    "": (UNKNOWN, UNKNOWN, f"{UNKNOWN}'s"),
}
"""Forms of pronouns: subject, object, possessive."""
_PLACED = frozenset("in into within throughout across along".split())  # noqa: SIM905
"""Prepositions after which a name is more often a place than a person."""
_PLAIN_SUBJECTS = ("nsubj", "nsubjpass")
_PHRASE = frozenset("det amod compound nummod poss flat predet quantmod nmod".split())  # noqa: SIM905
_TAGS = ("NNP", "NNPS")


def actions_by_rule(texts: Sequence[str], context: MetricContext) -> list[tuple[str, ...]]:
    """For each human AD its actions, without characters and with one verb each; none for an empty text.

    Raises ShotadError without spaCy or its model.
    """
    parses = parser_of(context)
    with_pronouns = {text: without_characters(parse) for text, parse in parses.of(texts).items()}
    # Parsed again: a name in the wrong place misleads the parser, a pronoun does not.
    pronoun_parses = parses.of(with_pronouns.values())
    return [_single_actions(pronoun_parses[with_pronouns[text]]) for text in texts]


def _single_actions(parse: Parse) -> tuple[str, ...]:
    """The actions of a text, each a sentence, in the order of their verbs, each once; the text itself where
    it has no verb."""
    tokens, verbs = parse.tokens, set[int]()
    roots = [place for place, token in enumerate(tokens) if token.head == place]
    to_visit = list(roots)
    while to_visit:
        place = to_visit.pop()
        if _is_verb(parse, place) and _is_action(parse, place, verbs):
            verbs.add(place)
        to_visit += parse.children[place]
    heads = set(verbs)
    for root in roots:
        # A root that the parser took for no verb (``The crowd cheers``), above verbs that it saw: it becomes
        # a sentence where two or more words that carry meaning remain, one of them a noun or pronoun.
        if root not in verbs and verbs.intersection(parse.subtree(root)):
            kinds = [tokens[place].pos for place in _clause(parse, root, verbs)]
            meaningful = [kind for kind in kinds if kind in _FULL]
            if len(meaningful) > 1 and {"NOUN", "PROPN", "PRON"}.intersection(meaningful):
                heads.add(root)
    sentences = [_sentence(parse, head, heads) for head in sorted(heads)]
    if not any(sentences):
        sentences = [_finished("".join(token.text + " " * token.space for token in tokens))]
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def _below(parse: Parse, place: int, *deps: str) -> list[int]:
    """The places of the children of a token with one of these dependencies."""
    return [child for child in parse.children[place] if parse.tokens[child].dep in deps]


def _is_verb(parse: Parse, place: int) -> bool:
    token = parse.tokens[place]
    return token.pos in ("VERB", "AUX") and token.dep not in _HELPERS


def _is_action(parse: Parse, place: int, verbs: set[int]) -> bool:
    """Whether a verb gets a sentence of its own; ``verbs`` are those above it that do."""
    token = parse.tokens[place]
    subjects = _below(parse, place, *_SUBJECTS)
    finite = token.tag in _FINITE or bool(subjects)
    marks = _clause_marks(parse, place)
    if token.head == place:
        return True
    if token.dep in ("conj", "parataxis", "dep"):
        return token.head in verbs or (finite and token.dep != "parataxis")
    if token.dep == "ccomp":
        return place < token.head and bool(subjects) and not marks
    if token.dep == "relcl":
        return any(parse.tokens[subject].text.lower() in _RELATIVE for subject in subjects)
    if token.dep == "acl":
        return token.tag == "VBG"
    return token.dep == "advcl" and (finite or token.tag == "VBG") and marks <= _MARKS


def _clause_marks(parse: Parse, verb: int) -> set[str]:
    """The conjunctions that begin a verb's clause."""
    marks = set()
    for child in parse.children[verb]:
        token = parse.tokens[child]
        word = token.text.lower()
        if child < verb and (token.dep == "mark" or token.tag == "WRB" or word in _MARKS):
            marks.add(word)
    return marks


def _sentence(parse: Parse, verb: int, verbs: set[int]) -> str:
    """A sentence of the verb's clause, with the subject of the verb that it depends on where it has none."""
    clause, token = _clause(parse, verb, verbs), parse.tokens[verb]
    if not _is_verb(parse, verb) or any(_is_subject(parse, place, verb) for place in clause):
        return _finished(parse.text(clause))
    subject, plural = _subject(parse, verb, verbs)
    above, helpers = token.head, ""
    shares = token.dep == "conj" and (parse.tokens[above].tag, token.tag) in _SHARING
    if shares and above in verbs and not _below(parse, verb, *_HELPERS):
        helpers = " ".join(parse.tokens[helper].text for helper in _below(parse, above, *_HELPERS))
    form = token.text
    if token.tag == "VBG" and not helpers and not _below(parse, verb, *_HELPERS[:2]):
        form = token.lemma if plural else third_person_form(token.lemma)  # a participle alone becomes finite
    before = [place for place in clause if place < verb]
    after = [place for place in clause if place > verb]
    gap = "" if after and parse.tokens[after[0]].tag in ("POS", ",", ".") else " "
    parts = [subject, helpers, parse.text(before), form]
    return _finished(" ".join(part for part in parts if part) + gap + parse.text(after))


def _is_subject(parse: Parse, place: int, verb: int) -> bool:
    """Whether a word is the verb's subject, also one that the parser took for something else."""
    token = parse.tokens[place]
    if token.head != verb or token.text.lower() in _RELATIVE:
        return False
    unseen = token.dep in _UNSEEN and place < verb and token.pos in ("NOUN", "PROPN", "PRON")
    return token.dep in _SUBJECTS or unseen


def _clause(parse: Parse, verb: int, verbs: set[int]) -> list[int]:
    """The places of a verb's subtree without those of ``verbs`` below it, which get sentences of their own,
    and without the words that joined them."""
    tokens, tree = parse.tokens, list(parse.subtree(verb))
    removed: set[int] = set()
    for other_verb in verbs - {verb}:
        if other_verb in tree:
            removed.update(parse.subtree(other_verb))
    clause = [place for place in tree if place not in removed and not _is_link(parse, place, verb, removed)]
    while clause and (tokens[clause[-1]].dep in ("cc", "punct") or tokens[clause[-1]].text.lower() in _LATER):
        clause.pop()
    while clause and tokens[clause[0]].dep in ("cc", "punct"):
        clause.pop(0)
    return clause


def _is_link(parse: Parse, place: int, verb: int, removed: set[int]) -> bool:
    """Whether a word is a conjunction or relative word that joined clauses, or a comma beside a clause that
    was ``removed``."""
    token = parse.tokens[place]
    if token.dep in _SUBJECTS and token.text.lower() in _RELATIVE and token.head == verb:
        return parse.tokens[verb].dep == "relcl"
    if token.head != verb or place == verb:
        return False
    if token.dep in ("cc", "preconj"):
        joined = _below(parse, verb, "conj")
        return not joined or bool(removed.intersection(joined))
    if token.dep in ("mark", "advmod") and token.text.lower() in _MARKS:
        return True
    return token.dep == "punct" and token.text in (",", ";") and bool({place - 1, place + 1} & removed)


def _subject(parse: Parse, verb: int, verbs: set[int]) -> tuple[str, bool]:
    """The pronoun for the subject of a verb that has none of its own, and whether it is plural."""
    token = parse.tokens[verb]
    noun = token.head
    if token.dep not in ("relcl", "acl") or parse.tokens[noun].pos in ("VERB", "AUX"):
        # The subject of the nearest verb above that has one, else of the nearest before.
        subject_of: dict[int, int] = {}
        for each_verb in verbs:
            subjects = _below(parse, each_verb, *_SUBJECTS)
            if subjects:
                subject_of[each_verb] = subjects[0]
        above = verb
        nearest = max((each_verb for each_verb in subject_of if each_verb < verb), default=None)
        while parse.tokens[above].head != above:
            above = parse.tokens[above].head
            if above in subject_of:
                nearest = above
                break
        if nearest is None:
            return "", False
        noun = subject_of[nearest]
    token = parse.tokens[noun]
    text = token.text.lower()
    if text in _SUBJECT_OF:
        return _SUBJECT_OF[text], _SUBJECT_OF[text] in _PLURAL
    if text in ("everyone", "someone", "another", "one", "everybody", "somebody"):
        return text, False
    if text == "person":
        return UNKNOWN, False
    several = _below(parse, noun, "conj") or token.tag in ("NNS", "NNPS")
    pronoun = "they" if several else _gender_of(parse, noun)
    is_person = token.lemma.lower() in PERSON_NOUNS
    return pronoun or (UNKNOWN if is_person else "it"), pronoun == "they"


def _finished(text: str) -> str:
    """A sentence with a capital letter and a full stop; empty where it has no word."""
    words = _LOOSE_SIGN.sub(r"\1", " ".join(text.split())).strip(" ,;:")
    if not any(map(str.isalnum, words)):
        return ""
    return words[:1].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


def without_characters(parse: Parse) -> str:
    """The text with a pronoun for each character."""
    tokens = parse.tokens
    replacements: dict[int, str] = {}
    spaces: dict[int, bool] = {}
    for head in range(len(tokens)):
        if head in replacements or not _is_character(parse, head):
            continue
        companions = _companions(parse, head)
        places = _phrase(parse, head, companions)
        pronoun = "they" if companions else _gender_of(parse, head) or _gender_by_pronouns(parse, head)
        replacements |= dict.fromkeys(places, "")  # the pronoun stands in place of the first word
        replacements[places[0]] = _PRONOUNS[pronoun][_case(parse, head, places)]
        spaces[places[0]] = tokens[places[-1]].space
    words: list[str] = []
    for place, token in enumerate(tokens):
        word = replacements.get(place, token.text)
        if word:
            word = word[:1].upper() + word[1:] if token.begins_sentence else word
            words.append(word + " " * spaces.get(place, token.space))
    return "".join(words).strip()


def _gender_of(parse: Parse, head: int) -> str:
    """``he``, ``she`` or ``they`` for a noun with its names and determiners; empty where nothing shows it."""
    token = parse.tokens[head]
    children = [parse.tokens[child] for child in parse.children[head]]
    names = [child for child in children if child.dep in ("compound", "nmod", "flat") or _is_title(child)]
    for name in (*names, token):
        text = name.text.lower().strip(".")
        if text in HIS_TITLES or text in HIS_NOUNS or text in HIS_NAMES:
            return "he"
        if text in HER_TITLES or text in HER_NOUNS or text in HER_NAMES:
            return "she"
    return "they" if token.text.lower() in PLURAL_NOUNS or token.tag == "NNS" else ""


def _is_character(parse: Parse, head: int) -> bool:
    """Whether a word means a character: a name where people stand in a sentence, or a role."""
    token = parse.tokens[head]
    word, is_given_name = token.text.lower(), token.text.lower() in HIS_NAMES | HER_NAMES
    # A word that only says what kind of thing another is means no one: ``the Ford truck``.
    owner = token.dep == "poss" and bool(_below(parse, head, "case"))
    alone = owner or token.dep not in ("compound", "amod", "nmod", "poss")
    if token.text[:1].isupper() and word not in ("i", "ok"):
        if _before_unseen_verb(parse, head):
            if not token.begins_sentence or token.tag in _TAGS or is_given_name or token.pos != "NOUN":
                return True
        elif alone and _names_somebody(parse, head, is_given_name):
            return True
    role = word if word in PERSON_NOUNS else token.lemma.lower()
    return token.pos == "NOUN" and alone and role in ANY_NOUNS - GENERIC_NOUNS


def _names_somebody(parse: Parse, head: int, is_given_name: bool) -> bool:
    """A given name, or a title with a name; others where neither an article nor a place speaks against."""
    token = parse.tokens[head]
    article = bool(_below(parse, head, "det"))
    if is_given_name and not article:
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


def _companions(parse: Parse, head: int) -> tuple[int, ...]:
    """The people who are coordinated with a character; empty where one of them is a thing."""
    companions: list[int] = []
    to_visit = [head]
    while to_visit:
        coordinated = _below(parse, to_visit.pop(), "conj")
        for place in coordinated:
            token = parse.tokens[place]
            is_pronoun = token.text.lower() in HE | SHE | THEY | PLURAL_NOUNS
            is_person = token.pos == "NOUN" and token.lemma.lower() in PERSON_NOUNS
            if not (is_pronoun or is_person or _is_character(parse, place)):
                return ()
        companions += coordinated
        to_visit += coordinated
    return tuple(companions)


def _is_title(token: Token) -> bool:
    return token.text.lower().strip(".") in NAME_TITLES


def _phrase(parse: Parse, head: int, companions: tuple[int, ...]) -> tuple[int, ...]:
    """The places, without a gap, of a noun, its companions, and the words before them that belong to them."""
    places = {head, *companions}
    for noun in (head, *companions):
        for child in parse.children[noun]:
            dep = parse.tokens[child].dep
            joins = bool(companions) and dep in ("cc", "punct")
            if dep == "case" or (child < noun and dep in _PHRASE) or joins:
                places.update(parse.subtree(child))
    last = max((head, *companions))
    places = {place for place in places if place <= last or parse.tokens[place].dep == "case"}
    first, end = head, head + 1
    while end in places:
        end += 1
    while first - 1 in places:
        first -= 1
    return tuple(range(first, end))


def _case(parse: Parse, head: int, places: tuple[int, ...]) -> int:
    """The index of the pronoun's form in a value of `_PRONOUNS`: subject, object or possessive."""
    if parse.tokens[places[-1]].tag == "POS":
        return 2
    while parse.tokens[head].dep == "conj":
        head = parse.tokens[head].head
    token = parse.tokens[head]
    subject = token.dep in (*_PLAIN_SUBJECTS, "ROOT") or parse.tokens[places[0]].begins_sentence
    return 2 if token.dep == "poss" else 0 if subject or _before_unseen_verb(parse, head) else 1


def _gender_by_pronouns(parse: Parse, head: int) -> str:
    """``he`` or ``she`` where all pronouns of the text that may mean this person agree; else empty."""
    if parse.tokens[head].dep not in (*_PLAIN_SUBJECTS, "poss"):
        return ""
    genders: set[str] = set()
    object_genders: set[str] = set()
    for token in parse.tokens:
        word = token.text.lower()
        if word in HE:
            genders.add("he")
        if word in SHE:
            genders.add("she")
        # A subject is rarely its own object: ``Jo hits him`` does not make Jo a man.
        if word in ("him", "her") and token.dep != "poss":
            object_genders.add("he" if word == "him" else "she")
    genders -= object_genders
    return genders.pop() if len(genders) == 1 else ""
