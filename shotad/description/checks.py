"""What is wrong with a line or with an answer, in sentences that tell a model what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shotad.core import Message, RefusalError, ScriptError, is_english, language_of
from shotad.description.blocks import without_material
from shotad.description.language_id import other_language
from shotad.script import (
    SOMEONE,
    TALK,
    Finding,
    Limits,
    budget_in,
    check_line,
    count_words,
    quotations,
    similarity,
    spoken_words,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What was wrong, for a record (``rule``) and for a model (``text``, a sentence or two).

    ``rule`` is that of `shotad.script.rules` (``L3``), or ``budget``, ``pronoun``, ``talk``,
    ``example``, ``language``, ``refused``, ``cut off``, ``unreadable``, ``leak``, ``name``, ``missing``.
    """

    rule: str
    text: str


def complaints_about(
    line: str, budget: int, *, language: str = "en", previous: Sequence[str] = ()
) -> tuple[Complaint, ...]:
    """What to ask a model to do better in one line; ``previous`` are the lines before it, oldest first.

    One complaint for each rule. ``budget`` is in English words. The rules on words are English, as in
    `check_line`; of other languages it is only told whether a line is in them at all.
    """
    if budget < 1:
        raise ValueError(f"a line must be allowed at least one word, got budget = {budget}")
    found: dict[str, list[Finding]] = {}
    for finding in check_line(line, previous=previous, language=language, limits=_ASKED):
        found.setdefault(finding.rule, []).append(finding)
    about_rules = [Complaint(rule, _ADVICE.get(rule, _plainly)(line, those)) for rule, those in found.items()]
    about_task = _of_the_task(line) if is_english(language) else _of_the_language(line, language)
    return (*_over_budget(line, budget, language), *about_rules, *about_task)


def sentences_of(messages: Sequence[Message], quoted: str = "") -> tuple[str, ...]:
    """The sentences of a question that are ours, instructions and examples.

    Left out are the material in it, the text ``quoted``, and what the model itself said, also where it is
    quoted to ask again.
    """
    plain: list[str] = []
    again = False
    for message in messages:
        again = again or message.role == "assistant"
        if message.role != "assistant":
            text = message.text.replace(quoted, "\n") if quoted else message.text
            plain.append(_QUOTED_AGAIN.sub("\n", text) if again else without_material(text))
    return tuple(one for text in plain for one in _SENTENCE_END.split(text) if one.strip())


def repeats_question(line: str, asked: Sequence[str]) -> bool:
    """Whether a sentence of a line is one of those ``asked`` (`sentences_of`), or nearly.

    An instruction is no line, and an example tells of another film. Lines of fewer than five words may be the
    same by chance.

    >>> repeats_question("He pulls an old map off the wall.", ["He pulls the old map off a wall."])
    True
    """
    said = [one for one in _SENTENCE_END.split(line) if count_words(one) >= _BY_CHANCE]
    told = [(one, _words(one)) for one in asked] if said else []
    return any(
        similarity(one, other) >= _REPEATED or _words(one) in words for one in said for other, words in told
    )


def original(lines: Sequence[str], answer: str, messages: Sequence[Message], quoted: str) -> tuple[str, ...]:
    """The lines of an answer that do not repeat the question in ``messages``.

    Where the answer holds the question (three of its sentences), nothing that stands in it is a line, be it
    material or ever so short. ``quoted`` as in `sentences_of`.
    """
    asked = sentences_of(messages, quoted)
    said = _words(answer)
    whole = {_words(one) for one in asked if count_words(one) >= _BY_CHANCE}
    is_echo = sum(words in said for words in whole) >= _ECHO
    told = _words("\n".join(message.text for message in messages if message.role != "assistant"))
    kept = [line for line in lines if not repeats_question(line, asked)]
    if is_echo:
        kept = [line for line in kept if _LETTER.search(_words(line)) and _words(line) not in told]
    return tuple(kept)


def _words(text: str) -> str:
    """``The red door!`` → `` the red door ``, so that whole words are found in it; also in quoted JSON."""
    return f" {' '.join(_WORD.findall(text.replace(_ESCAPED, ' ').casefold()))} "


_WORD, _LETTER, _ESCAPED = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]"), "\\n"
_SENTENCE_END = re.compile(r"(?<=[.!?:;])[\"'}]*\s+|\n+")
_QUOTED_AGAIN = re.compile(r"\"[^\"\n]*\"|^- .*$", re.MULTILINE)
_ECHO = 3

REFUSED = Complaint("refused", "You did not answer the question.")

REPEATED = Complaint(
    "example",
    "You repeated a sentence of the question, or one that was written for other clips. "
    "Write about this clip alone.",
)

_BY_CHANCE, _REPEATED = 5, 0.9


def unreadable(error: ScriptError, finish: str) -> Complaint:
    """Why an answer could not be used; ``finish`` is the reply's (``length``: it was cut off)."""
    if isinstance(error, RefusalError) or finish == "refused":
        return REFUSED
    if finish == "length":
        return Complaint("cut off", "Your answer was too long and was cut off. Be much shorter.")
    return Complaint("unreadable", "Your answer did not have the form asked for, or held nothing.")


def leaked(phrases: Sequence[str]) -> tuple[Complaint, ...]:
    """Complaint about what `leaks.clean` could not remove from a description; none where it could."""
    if not phrases:
        return ()
    text = (
        f"You wrote {_listed(phrases)}. Circles, colours of circles, shot numbers, frames and the camera are "
        "no part of the story: leave them out, and say who is meant by looks or by name."
    )
    return (Complaint("leak", text),)


def invented(names: Sequence[str]) -> tuple[Complaint, ...]:
    """Complaint about names in a description that the question does not give; none where there are none."""
    if not names:
        return ()
    text = (
        f"You named {_listed(names)}. Give nobody a name that the question does not give: say what can be "
        "seen of them."
    )
    return (Complaint("name", text),)


def missing(steps: Sequence[str], wanted: Sequence[str]) -> tuple[Complaint, ...]:
    """Complaint about steps of a description that were asked for and are not there."""
    absent = [step for step in wanted if step not in steps]
    return (Complaint("missing", f"Nothing stands under {_listed(absent)}."),) if absent else ()


def _over_budget(line: str, budget: int, language: str) -> Iterator[Complaint]:
    number = spoken_words(line, language)
    if number > budget:
        has = f"It has {number} words; at most {budget} may be used."
        if not is_english(language):
            has = f"It takes too long to say. At most {budget_in(language, budget)} may be used, short ones."
        yield Complaint("budget", f"{has} Keep who does what, and leave out the rest.")


def _of_the_language(line: str, language: str) -> Iterator[Complaint]:
    if (found := other_language(line, language)) is not None:
        wanted = language_of(language).name
        yield Complaint("language", f"It is in {found}. Write it in {wanted}.")


def _of_the_task(line: str) -> Iterator[Complaint]:
    """What Stage II asks for besides the rules that hold for human AD too."""
    plain = line
    for start, end in quotations(line):
        plain = f"{plain[:start]}{' ' * (end - start)}{plain[end:]}"
    if someone := SOMEONE.search(plain):
        pronoun = _PRONOUNS.get(someone["who"].lower().split()[-1], "they")
        yield Complaint("pronoun", f'Write "{pronoun}" instead of "{someone["who"].strip()}".')
    if talk := TALK.search(plain):
        yield Complaint(
            "talk", f'Leave out that somebody talks ("{talk[0].strip()}"); say what is done instead.'
        )


_PRONOUNS: Mapping[str, str] = {
    "man": "he", "boy": "he", "guy": "he", "woman": "she", "girl": "she", "lady": "she",
}  # fmt: skip


def _cited(line: str, findings: Sequence[Finding]) -> str:
    spans = [line[slice(*finding.span)].strip(" ,.;:") for finding in findings if finding.span]
    return _listed(list(dict.fromkeys(spans)))


def _listed(phrases: Sequence[str]) -> str:
    """``['a', 'b'] → "a" and "b"``; at most four."""
    named = [f'"{" ".join(phrase.split())}"' for phrase in phrases[:4]]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


_ASKED = Limits(titles=True)


def _plainly(line: str, found: Sequence[Finding]) -> str:
    return f"It breaks a rule: {'; '.join(finding.message for finding in found)}."


_Advice = Callable[[str, Sequence[Finding]], str]

_ADVICE: Mapping[str, _Advice] = {
    "L1": lambda line, found: f"Write {_cited(line, found)} in the present tense and the active voice.",
    "L2": lambda line, found: f"It says {_cited(line, found)}. Nobody watches or speaks; say who does what.",
    "L3": lambda line, found: f"It says {_cited(line, found)}. Leave out camera, shots and frames.",
    "L4": lambda line, found: f"It says {_cited(line, found)}. Say only what is seen: no mood, no guess.",
    "L5": lambda line, found: f"It says {_cited(line, found)}. Give the sentence alone, as plain text.",
    "L9": lambda line, found: "It says the same as a line before. Say something else that takes place.",
    "L13": lambda line, found: f"It says {_cited(line, found)}. Use the first name without a title.",
}
