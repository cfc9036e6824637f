"""A text into sentences of one verb each, by rules over its parse.

Verbs that are coordinated get the subject of the first; clauses with ``as`` and ``while`` and participles
(``holding a gun``) become sentences of their own. What hangs closer (``starts to run``, ``a man who runs``)
stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from shotad.describe.english.verbs import third
from shotad.evaluation.action.removing import gender_of
from shotad.language.parsing import Parse

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_HELPERS = ("aux", "auxpass", "neg")
_LINKS = ("cc", "mark", "punct", "preconj")
_MARKS = frozenset({"as", "while"})
"""Conjunctions whose clause is an action beside the main one; they are left out."""
_PLURAL = frozenset({"they", "we", "you", "i"})


def single_actions(parse: Parse) -> tuple[str, ...]:
    """The actions of a text, each a sentence, in the order of their verbs, each once; the text as it is
    where it has no verb."""
    verbs = sorted(_verbs(parse))
    found = [_sentence(parse, verb, frozenset(verbs)) for verb in verbs]
    told = tuple(dict.fromkeys(sentence for sentence in found if sentence))
    return told or tuple(filter(None, [_finished("".join(t.text + " " * t.space for t in parse.tokens))]))


def _verbs(parse: Parse) -> set[int]:
    """The places of verbs that get a sentence."""
    found: set[int] = set()
    waiting = [place for place, token in enumerate(parse.tokens) if token.head == place]
    while waiting:
        verb = waiting.pop()
        if parse.tokens[verb].pos in ("VERB", "AUX"):
            found.add(verb)
            waiting += [child for child in parse.children[verb] if _is_beside(parse, child)]
    return found


def _is_beside(parse: Parse, child: int) -> bool:
    """Whether a verb tells of an action of its own, beside the verb that it hangs on."""
    token = parse.tokens[child]
    if token.pos not in ("VERB", "AUX"):
        return False
    if token.dep in ("conj", "parataxis"):
        return True
    marks = {
        parse.tokens[c].text.lower()
        for c in parse.children[child]
        if parse.tokens[c].dep in ("mark", "advmod")
    }
    joined = {parse.tokens[c].dep for c in parse.children[child]}
    if token.dep == "ccomp":
        return child < token.head and bool(joined & set(_SUBJECTS)) and "mark" not in joined
    if token.dep != "advcl":
        return False
    if joined & set(_SUBJECTS):
        return bool(marks & _MARKS)
    return token.tag == "VBG" and not (marks & {"before", "after", "without", "when"})


def _sentence(parse: Parse, verb: int, verbs: frozenset[int]) -> str:
    """The verb's own words, with the subject of the verb that it hangs on where it has none."""
    own = _own(parse, verb, verbs)
    if any(parse.tokens[place].dep in _SUBJECTS and parse.tokens[place].head == verb for place in own):
        return _finished(parse.text(own))
    subject, plural = _subject(parse, verb, verbs)
    helpers = _helpers(parse, verb, verbs)
    words = [place for place in own if place != verb]
    before = [place for place in words if place < verb]
    after = [place for place in words if place > verb]
    form = _form(parse, verb, plural, bool(helpers))
    parts = [subject, helpers, parse.text(before), form]
    return _finished(" ".join(part for part in parts if part) + _gap(parse, after) + parse.text(after))


def _own(parse: Parse, verb: int, verbs: frozenset[int]) -> list[int]:
    """The places of a verb's subtree without those of other verbs with a sentence, and without links."""
    others: set[int] = set()
    for place in verbs - {verb}:
        others.update(parse.subtree(place))
    inside = verb in others
    tree = list(parse.subtree(verb))
    if inside:
        others = {p for place in verbs - {verb} if place in tree for p in parse.subtree(place)}
    own = [place for place in tree if place not in others]
    return _without_links(parse, own, verb, others)


def _without_links(parse: Parse, own: Sequence[int], verb: int, others: set[int]) -> list[int]:
    kept = [place for place in own if not _is_link(parse, place, verb, others)]
    while kept and parse.tokens[kept[-1]].dep in ("cc", "punct"):
        kept.pop()
    while kept and parse.tokens[kept[0]].dep in ("cc", "punct"):
        kept.pop(0)
    return kept


def _is_link(parse: Parse, place: int, verb: int, others: set[int]) -> bool:
    """A conjunction, or a comma before what has gone."""
    token = parse.tokens[place]
    if token.head != verb or place == verb:
        return False
    if token.dep in ("cc", "preconj"):
        return True
    if token.dep in ("mark", "advmod") and token.text.lower() in _MARKS:
        return True
    return token.dep == "punct" and token.text in (",", ";") and bool({place - 1, place + 1} & others)


def _holder(parse: Parse, verb: int, verbs: frozenset[int]) -> int | None:
    """The nearest verb above with a subject of its own."""
    above = verb
    while parse.tokens[above].head != above:
        above = parse.tokens[above].head
        if above in verbs and any(parse.tokens[c].dep in _SUBJECTS for c in parse.children[above]):
            return above
    return None


def _subject(parse: Parse, verb: int, verbs: frozenset[int]) -> tuple[str, bool]:
    """The pronoun for the subject of the verb above, and whether it is plural."""
    holder = _holder(parse, verb, verbs)
    if holder is None:
        return "", False
    head = next(c for c in parse.children[holder] if parse.tokens[c].dep in _SUBJECTS)
    token = parse.tokens[head]
    if token.pos == "PRON":
        text = token.text.lower()
        return text, text in _PLURAL
    who = gender_of(parse, head)
    if token.text == "person":
        return "the person", False
    return who or "it", who == "they"


def _helpers(parse: Parse, verb: int, verbs: frozenset[int]) -> str:
    """Auxiliaries that the verb shares with the one it is coordinated with."""
    token = parse.tokens[verb]
    above = token.head
    own = [c for c in parse.children[verb] if parse.tokens[c].dep in _HELPERS]
    if token.dep != "conj" or own or above not in verbs or token.tag not in ("VB", "VBN", "VBG"):
        return ""
    if parse.tokens[above].tag != token.tag:
        return ""
    return " ".join(parse.tokens[c].text for c in parse.children[above] if parse.tokens[c].dep in _HELPERS)


def _form(parse: Parse, verb: int, plural: bool, helped: bool) -> str:
    """The verb as it is said of its subject: a participle alone becomes finite."""
    token = parse.tokens[verb]
    own = any(parse.tokens[c].dep in _HELPERS[:2] for c in parse.children[verb])
    if token.tag != "VBG" or helped or own:
        return token.text
    return token.lemma if plural else third(token.lemma)


def _gap(parse: Parse, after: Sequence[int]) -> str:
    return "" if after and parse.tokens[after[0]].tag in ("POS", ",", ".") else " "


def _finished(text: str) -> str:
    words = " ".join(text.split()).strip(" ,;:")
    if not any(map(str.isalnum, words)):
        return ""
    return words[:1].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")
