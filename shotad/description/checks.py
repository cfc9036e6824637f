"""What is wrong with a line or an answer, and the question asked again with it, short and plain.

Lines are held to the rules on words, to their budget, and to the names that the film has told; answers to the
form that was asked for. The conversation goes on with what was wrong, or begins again after a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from shotad.core import Message, Presence, RefusalError, ScriptError, is_english, language_of
from shotad.description.prompts import answer_form
from shotad.description.slotplan import NearbyName
from shotad.description.templates import prompt_block, without_material
from shotad.description.wording import other_language, without_quotations
from shotad.script import (
    SOMEONE,
    TALK,
    Finding,
    Limits,
    budget_text,
    cast_mentions,
    check_line,
    count_words,
    keys_of,
    people_named,
    similarity,
    spoken_words,
    words_of,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What was wrong, for a record (``rule``) and for a model (``text``, a sentence or two).

    ``rule`` is that of `shotad.script.rules` (``L3``), or ``budget``, ``pronoun``, ``talk``,
    ``example``, ``language``, ``refused``, ``cut off``, ``unreadable``, ``leak``, ``name``, ``missing``.
    """

    rule: str
    text: str


def complaints_about(line: str, budget: int, *, language: str = "en") -> tuple[Complaint, ...]:
    """What to ask a model to do better in one line.

    One complaint for each rule. ``budget`` is in English words. The rules on words are English, as in
    `check_line`; of other languages it is only told whether a line is in them at all.
    """
    found: dict[str, list[Finding]] = {}
    for finding in check_line(line, language=language, limits=_ASKED):
        found.setdefault(finding.rule, []).append(finding)
    wrong = []
    if (number := spoken_words(line, language)) > budget:
        has = f"It has {number} words; at most {budget} may be used."
        if not is_english(language):
            has = (
                f"It takes too long to say. At most {budget_text(language, budget)} may be used, short ones."
            )
        wrong.append(Complaint("budget", f"{has} Keep who does what, and leave out the rest."))
    for rule, those in found.items():
        cited = [line[slice(*finding.span)].strip(" ,.;:") for finding in those if finding.span]
        plainly = f"It breaks a rule: {'; '.join(finding.message for finding in those)}."
        text = _ADVICE[rule].format(_listed([*dict.fromkeys(cited)])) if rule in _ADVICE else plainly
        wrong.append(Complaint(rule, text))
    if is_english(language):
        # What Stage II asks for besides the rules that hold for human AD too
        plain = without_quotations(line)
        if someone := SOMEONE.search(plain):
            pronoun = _PRONOUNS.get(someone["who"].lower().split()[-1], "they")
            wrong.append(Complaint("pronoun", f'Write "{pronoun}" instead of "{someone["who"].strip()}".'))
        if talk := TALK.search(plain):
            said = talk[0].strip()
            text = f'Leave out that somebody talks ("{said}"); say what is done instead.'
            wrong.append(Complaint("talk", text))
    elif (other := other_language(line, language)) is not None:
        wrong.append(Complaint("language", f"It is in {other}. Write it in {language_of(language).name}."))
    return tuple(wrong)


def sentences_of(messages: Sequence[Message], quoted: str = "") -> tuple[str, ...]:
    """The sentences of a question that are ours, without material, ``quoted`` text, and the model's own."""
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

    An instruction is no line, an example tells of another film. Below five words it may be chance.

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

    Where the answer holds the question (three of its sentences), nothing that stands in it is a line.
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


def about_description(
    absent: Sequence[str], leaks: Sequence[str] = (), names: Sequence[str] = ()
) -> tuple[Complaint, ...]:
    """Complaints about steps that are ``absent``, what `leaks.clean` left, and ``names`` not given."""
    found = []
    if absent:
        found.append(Complaint("missing", f"Nothing stands under {_listed(absent)}."))
    if leaks:
        text = (
            f"You wrote {_listed(leaks)}. Circles, colours of circles, shot numbers, frames and the camera "
            "are no part of the story: leave them out, and say who is meant by looks or by name."
        )
        found.append(Complaint("leak", text))
    if names:
        text = (
            f"You named {_listed(names)}. Give nobody a name that the question does not give: say what can "
            "be seen of them."
        )
        found.append(Complaint("name", text))
    return tuple(found)


_PRONOUNS: Mapping[str, str] = {
    "man": "he", "boy": "he", "guy": "he", "woman": "she", "girl": "she", "lady": "she",
}  # fmt: skip


def _listed(phrases: Sequence[str]) -> str:
    """``['a', 'b'] → "a" and "b"``; at most four."""
    named = [f'"{" ".join(phrase.split())}"' for phrase in phrases[:4]]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


_ASKED = Limits(titles=True)


_ADVICE: Mapping[str, str] = {
    "L1": "Write {} in the present tense and the active voice.",
    "L2": "It says {}. Nobody watches or speaks; say who does what.",
    "L3": "It says {}. Leave out camera, shots and frames.",
    "L4": "It says {}. Say only what is seen: no mood, no guess.",
    "L5": "It says {}. Give the sentence alone, as plain text.",
    "L13": "It says {}. Use the first name without a title.",
}


LONGEST = 1200
"""Characters of a model's answer that it is shown again; a model that rambled is not to read it all."""

Messages = tuple[Message, ...]


def stage1_again(
    messages: Messages, raw: str, complaints: Sequence[Complaint], steps: Sequence[str]
) -> Messages:
    """Stage I asked again about the same clip; ``steps`` are the headings of its answer, in order."""
    refused = _refused(complaints)
    text = prompt_block(
        "stage1-again", "user", refused=refused, complaints=_sentences(complaints), headings=steps
    )
    return _asked_anew(messages, text) if refused else _continued(messages, raw, text)


def stage2_again(
    messages: Messages,
    raw: str,
    complaints: Sequence[tuple[str, tuple[Complaint, ...]]],
    *,
    candidates: int,
    wanted: int,
) -> Messages:
    """Stage II asked for ``wanted`` lines in place of those complained about.

    ``complaints`` are lines and what is wrong with each; an empty line means the whole answer. ``candidates``
    were asked for at first. The answer is to have the keys of ``answer_keys(wanted)``.
    """
    form = answer_form(wanted)
    if any(_refused(those) for _, those in complaints):
        return _asked_anew(messages, prompt_block("stage2-again", "refused", answer_form=form))
    faults = [{"line": line, "complaints": _sentences(those)} for line, those in complaints if those]
    text = prompt_block(
        "stage2-again",
        "correct",
        faults=faults,
        wanted=wanted,
        others_are_good=wanted < candidates,
        answer_form=form,
    )
    return _continued(messages, raw, text)


def stage2_more(messages: Messages, raw: str, have: Sequence[str], wanted: int) -> Messages:
    """Stage II asked for ``wanted`` more lines that differ from those in ``have``."""
    text = prompt_block("stage2-again", "more", lines=have, wanted=wanted, answer_form=answer_form(wanted))
    return _continued(messages, raw, text)


def without(messages: Messages, raw: str, line: str, unseen: Sequence[str], candidates: int) -> Messages:
    """Stage II asked for ``candidates`` lines in place of ``line``, of which ``unseen`` cannot be seen."""
    text = prompt_block(
        "stage2-again",
        "without",
        line=line,
        unseen=unseen,
        wanted=candidates,
        answer_form=answer_form(candidates),
    )
    return _continued(messages, raw, text)


def _sentences(complaints: Sequence[Complaint]) -> list[str]:
    """What is said of them, each sentence once."""
    return list(dict.fromkeys(complaint.text for complaint in complaints))


def _refused(complaints: Sequence[Complaint]) -> bool:
    return any(complaint.rule == "refused" for complaint in complaints)


def _continued(messages: Messages, raw: str, text: str) -> Messages:
    """The conversation with the model's answer and our next turn; without an answer there is none to show."""
    answer = raw.encode("utf-8", "ignore").decode("utf-8").strip()
    if not answer:
        return _asked_anew(messages, text)
    if len(answer) > LONGEST:
        answer = re.sub(r"\s+\S*\Z", "", answer[:LONGEST]) + " …"  # cut between words
    return (*messages, Message("assistant", answer), Message("user", text))


def _asked_anew(messages: Messages, text: str) -> Messages:
    """Our last turn with more in it: a model that sees its own refusal refuses again."""
    last = messages[-1]
    return (*messages[:-1], replace(last, text=f"{last.text}\n\n{text}"))


def name_complaints(
    line: str,
    description: str,
    presence: Presence,
    heard: Sequence[NearbyName] = (),
    *,
    told: str = "",
    language: str = "en",
) -> tuple[Complaint, ...]:
    """What to ask a model to do better about the names in a line; nothing where no cast is given.

    ``description`` is what the line was written from, ``told`` what else the model was told of the film.
    Complained about are names that the film has not told yet, people of the cast whom the description does
    not name, names that stand nowhere (in English lines), and other names than the one to use.
    """
    if not presence.cast:
        return ()
    found = cast_mentions(line, presence.cast)
    by_id = {character.id: character for character in presence.cast}
    may_say = {mention.text: by_id[mention.id] for mention in found if not mention.hidden}
    hidden = {mention.text: by_id[mention.id] for mention in found if mention.hidden}
    described = {mention.id for mention in cast_mentions(description, presence.cast)}
    small = {word for word in re.findall(r"[^\W\d_]+", description) if word.islower()}
    wrong = []
    for name, character in hidden.items():
        choice = [f'"{words}"' for words in (character.called, character.pronoun) if words]
        instead = " or ".join(choice) or _ANY_PRONOUN
        wrong.append(Complaint("L7", f'"{name}" may not be named yet. Write {instead} instead.'))
    for name, character in may_say.items():
        if character.id not in described and name.lower() not in small:
            pronoun = f'"{character.pronoun}"' if character.pronoun else _ANY_PRONOUN
            text = f'The description does not say that "{name}" is there. Write {pronoun} instead.'
            wrong.append(Complaint("L7", text))
    if is_english(language):
        texts = (f"{description}\n{told}", *(one.name for one in heard))
        known = words_of(presence.cast).union(*map(keys_of, texts))
        names = [character.called for character in presence.cast if character.named]
        for start, end in people_named(line, known.__contains__):
            near = get_close_matches(line[start:end], names, 1, _MISSPELT)
            remedy = (
                f'If "{near[0]}" is meant, write that; else' if near else "Name only people whom it names;"
            )
            text = f'"{line[start:end]}" is not in the description. {remedy} write {_ANY_PRONOUN}.'
            wrong.append(Complaint("L7", text))
    wrong += [
        Complaint("L8", f'Write "{character.called}" instead of "{name}".')
        for name, character in may_say.items()
        if keys_of(name) != keys_of(character.called)
    ]
    return tuple(wrong)


def names_untold(description: str, told: str, presence: Presence) -> tuple[str, ...]:
    """Names in a description that do not stand in ``told``, with which it was asked for: the model made them
    up. Names that may not be said are left out: they go in any case. Nothing without a cast. English."""
    if not presence.cast:
        return ()
    known = set(keys_of(told))
    of_cast = cast_mentions(description, presence.cast)
    spans = [(m.start, m.end) for m in of_cast if not m.hidden]
    spans += (
        (start, end)
        for start, end in people_named(description)
        if not any(start < mention.end and mention.start < end for mention in of_cast)
    )
    names = (description[start:end] for start, end in sorted(spans))
    return tuple(dict.fromkeys(name for name in names if not set(keys_of(name)) & known))


_MISSPELT = 0.75
_ANY_PRONOUN = '"he", "she" or "they"'
