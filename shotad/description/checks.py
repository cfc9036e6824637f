"""Check the lines and answers of a model, and ask again with what is wrong, short and plain.

Lines are checked against the rules on words, their budget, and the names that the film has revealed; answers
against the form that was asked for. The conversation goes on with what was wrong, or starts again after a
refusal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from shotad.core import Character, Message
from shotad.core.cast import Presence
from shotad.core.config.languages import is_english, language_of
from shotad.core.errors import OnlyThoughts, RefusalError, ScriptError
from shotad.description.english_words import language_fault, without_quotations
from shotad.description.prompts import answer_form
from shotad.description.slotplan import NearbyName
from shotad.description.templates import material_in, prompt_block, without_material
from shotad.engines import after_thoughts
from shotad.script import Finding, count_words
from shotad.script.cast_members import name_keys
from shotad.script.names import (
    cast_mentions,
    people_named,
    words_of,
)
from shotad.script.pace import budget_text, spoken_words
from shotad.script.rules import (
    SOMEONE,
    Limits,
    check_line,
    quotations,
    similarity,
    talk_pattern,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A fault of a line or an answer, for a record (``rule``) and for a model (``text``, a sentence or two).

    ``rule`` is that of `shotad.script.rules` (``L3``), or ``budget``, ``pronoun``, ``talk``,
    ``example``, ``language``, ``refused``, ``cut off``, ``unreadable``, ``thoughts``, ``leak``, ``name``,
    ``missing``.
    """

    rule: str
    text: str


def complaints_about(
    line: str, max_words: int, *, language: str = "en", names: Collection[str] = (), material: str = ""
) -> tuple[Complaint, ...]:
    """What a model has to do better in a line, one complaint for each rule; empty for a good line.

    ``max_words`` is in English words. The rules on words are those of the line's ``language``, as in
    `check_line`; in a language without word lists a line is checked for its length and its language only.
    ``names`` say nothing of a line's language, and words of ``material`` may be in any script (see
    `language_fault`).
    """
    fault = language_fault(line, language, names, material)
    if fault is not None:
        # English rules have nothing to say of it, and it will be another line.
        text = f"It is {fault}. Write it in {language_of(language).name}."
        return (Complaint("language", text),)
    complaints: list[Complaint] = []
    word_count = spoken_words(line, language)
    if word_count > max_words:
        length = f"It has {word_count} words; at most {max_words} may be used."
        if not is_english(language):
            budget = budget_text(language, max_words)
            length = f"It takes too long to say. At most {budget} may be used, short ones."
        complaints.append(Complaint("budget", f"{length} Keep who does what, and leave out the rest."))
    findings_by_rule: dict[str, list[Finding]] = {}
    for finding in check_line(line, language=language, limits=_LIMITS):
        findings_by_rule.setdefault(finding.rule, []).append(finding)
    for rule, findings in findings_by_rule.items():
        cited = [line[slice(*finding.span)].strip(" ,.;:") for finding in findings if finding.span]
        phrases = list(dict.fromkeys(cited))
        # The advice quotes words of the line; a finding on the whole line has none.
        if rule in _ADVICE and phrases:
            text = _ADVICE[rule].format(_listed(phrases))
        else:
            text = f"It breaks a rule: {'; '.join(finding.message for finding in findings)}."
        complaints.append(Complaint(rule, text))
    if is_english(language):
        # What only Stage II asks for: human AD does not keep these
        unquoted = without_quotations(line)
        if someone := SOMEONE.search(unquoted):
            phrase = someone["who"]
            pronoun = _PRONOUNS.get(phrase.lower().split()[-1], "they")
            complaints.append(Complaint("pronoun", f'Write "{pronoun}" instead of "{phrase.strip()}".'))
    talk = talk_pattern(language)
    if talk is not None and (match := talk.search(without_quotations(line))):
        text = f'Leave out that somebody talks ("{match[0].strip()}"); say what is done instead.'
        complaints.append(Complaint("talk", text))
    return tuple(complaints)


def words_given(description: str, question: Sequence[Message]) -> str:
    """What a line may have words in another script from: all material of the ``question`` (names, notes, the
    dialogue, the story), and what the ``description`` quotes from the screen."""
    quoted = [description[start:end] for start, end in quotations(description)]
    return "\n".join([*(material_in(message.text) for message in question), *quoted])


def sentences_of(messages: Sequence[Message], quoted: str = "") -> tuple[str, ...]:
    """The sentences of a question that are ours.

    Left out: material, ``quoted`` text, and the model's own messages.
    """
    texts: list[str] = []
    is_asked_again = False
    for message in messages:
        if message.role == "assistant":
            is_asked_again = True
            continue
        text = message.text.replace(quoted, "\n") if quoted else message.text
        # A question asked again quotes the model's lines, between quotation marks or as rows of a list.
        texts.append(_QUOTED_LINES.sub("\n", text) if is_asked_again else without_material(text))
    sentences: list[str] = []
    for text in texts:
        sentences += [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    return tuple(sentences)


def repeats_question(line: str, question: Sequence[str]) -> bool:
    """Whether a sentence of a line is one of a question's (`sentences_of`), or nearly.

    An instruction is no line, an example tells of another film. Below five words it may be chance.

    >>> repeats_question("He pulls an old map off the wall.", ["He pulls the old map off a wall."])
    True
    """
    for sentence in _SENTENCE_END.split(line):
        if count_words(sentence) < _LEAST_WORDS:
            continue
        words = _words(sentence)
        for asked_sentence in question:
            if similarity(sentence, asked_sentence) >= _REPEATED or words in _words(asked_sentence):
                return True
    return False


def original(lines: Sequence[str], answer: str, messages: Sequence[Message], quoted: str) -> tuple[str, ...]:
    """The lines of an answer that do not repeat the question in ``messages``.

    Where the answer repeats the question (three of its sentences), nothing that the question has is a line.
    """
    question = sentences_of(messages, quoted)
    original_lines = [line for line in lines if not repeats_question(line, question)]
    answer_words = _words(answer)
    long_sentences = {_words(sentence) for sentence in question if count_words(sentence) >= _LEAST_WORDS}
    repeated = sum(sentence in answer_words for sentence in long_sentences)
    if repeated < _SENTENCES_OF_ECHO:
        return tuple(original_lines)
    # With all material, which `sentences_of` leaves out
    question_words = _words("\n".join(message.text for message in messages if message.role != "assistant"))
    unquoted_lines = []
    for line in original_lines:
        words = _words(line)
        if _LETTER.search(words) and words not in question_words:
            unquoted_lines.append(line)
    return tuple(unquoted_lines)


def _words(text: str) -> str:
    """``The red door!`` → `` the red door ``, so that whole words are found in it; also in quoted JSON."""
    return f" {' '.join(_WORD.findall(text.replace(_ESCAPED, ' ').casefold()))} "


_WORD, _LETTER = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]")
_ESCAPED = "\\n"
"""A line end as quoted JSON has it: two characters, of which the second would pass for a word."""
_SENTENCE_END = re.compile(r"(?<=[.!?:;])[\"'}]*\s+|\n+")
_QUOTED_LINES = re.compile(r"\"[^\"\n]*\"|^- .*$", re.MULTILINE)
_SENTENCES_OF_ECHO = 3
"""Repeated sentences from which an answer repeats the question."""
_LEAST_WORDS = 5
"""Words of a sentence from which it is not the question's by chance."""
_REPEATED = 0.9
"""Share of common words (`similarity`) from which a sentence is nearly the question's."""

REFUSED = Complaint("refused", "You did not answer the question.")

REPEATED = Complaint(
    "example",
    "You repeated a sentence of the question, or one that was written for other clips. "
    "Write about this clip alone.",
)


def unreadable(error: ScriptError, finish: str) -> Complaint:
    """Why an answer could not be used; ``finish`` is the reply's (``length``: it was cut off)."""
    if isinstance(error, RefusalError) or finish == "refused":
        return REFUSED
    if isinstance(error, OnlyThoughts):
        return Complaint(
            "thoughts",
            "You only thought aloud and gave no answer. Do not think aloud; give the answer at once.",
        )
    if finish == "length":
        return Complaint("cut off", "Your answer was too long and was cut off. Be much shorter.")
    return Complaint("unreadable", "Your answer did not have the form asked for, or held nothing.")


def about_description(
    absent: Sequence[str],
    leaks: Sequence[str] = (),
    names: Sequence[str] = (),
    *,
    language_fault: str | None = None,
) -> tuple[Complaint, ...]:
    """Complaints about a description of Stage I.

    Steps that are ``absent``, ``leaks`` that `leaks.clean` could not take out, and ``names`` that the
    question does not give. ``language_fault``: what it is that is not English (see `english_words`).
    """
    complaints = []
    if language_fault is not None:
        text = (
            f"You wrote {language_fault}. Write English alone; what is read from the screen stands in "
            "quotation marks."
        )
        complaints.append(Complaint("language", text))
    if absent:
        complaints.append(Complaint("missing", f"Nothing stands under {_listed(absent)}."))
    if leaks:
        text = (
            f"You wrote {_listed(leaks)}. Circles, colours of circles, shot numbers, frames and the camera "
            "are no part of the story: leave them out, and say who is meant by looks or by name."
        )
        complaints.append(Complaint("leak", text))
    if names:
        text = (
            f"You named {_listed(names)}. Give nobody a name that the question does not give: say what can "
            "be seen of them."
        )
        complaints.append(Complaint("name", text))
    return tuple(complaints)


_PRONOUNS: Mapping[str, str] = {
    "man": "he", "boy": "he", "guy": "he", "woman": "she", "girl": "she", "lady": "she",
}  # fmt: skip


def _listed(phrases: Sequence[str]) -> str:
    """``['a', 'b'] → "a" and "b"``; at most four."""
    in_quotes = [f'"{" ".join(phrase.split())}"' for phrase in phrases[:4]]
    if len(in_quotes) == 1:
        return in_quotes[0]
    return f"{', '.join(in_quotes[:-1])} and {in_quotes[-1]}"


_LIMITS = Limits(titles=True)
"""Titles before names are complained about too: Stage II is asked for first names."""


_ADVICE: Mapping[str, str] = {
    "L1": "Write {} in the present tense and the active voice.",
    "L2": "It says {}. Nobody watches or speaks; say who does what.",
    "L3": "It says {}. Leave out camera, shots and frames.",
    "L4": "It says {}. Say only what is seen: no mood, no guess.",
    "L5": "It says {}. Give the sentence alone, as plain text.",
    "L13": "It says {}. Use the first name without a title.",
}


MAX_ANSWER_SHOWN = 1200
"""Characters of a model's own answer that a question asked again shows it; a model that rambled need not read
it all."""

Messages = tuple[Message, ...]


def stage1_again(
    messages: Messages, raw: str, complaints: Sequence[Complaint], steps: Sequence[str]
) -> Messages:
    """The question to Stage I again, with what is wrong in its answer ``raw``.

    ``steps`` are the headings that the answer has to have, in order.
    """
    is_refused = _has_refusal(complaints)
    text = prompt_block(
        "stage1-again", "user", refused=is_refused, complaints=_sentences(complaints), headings=steps
    )
    return _started_again(messages, text) if is_refused else _continued(messages, raw, text)


def stage2_again(
    messages: Messages,
    raw: str,
    complaints: Sequence[tuple[str, tuple[Complaint, ...]]],
    *,
    candidates: int,
    number: int,
) -> Messages:
    """The question to Stage II for ``number`` lines in place of those complained about.

    ``complaints`` are lines and what is wrong with each; an empty line means the whole answer ``raw``.
    ``candidates`` lines were asked for at first. The answer has to have the keys of ``answer_keys(number)``.
    """
    form = answer_form(number)
    if any(_has_refusal(line_complaints) for _, line_complaints in complaints):
        return _started_again(messages, prompt_block("stage2-again", "refused", answer_form=form))
    faults = []
    for line, line_complaints in complaints:
        if line_complaints:
            faults.append({"line": line, "complaints": _sentences(line_complaints)})
    text = prompt_block(
        "stage2-again",
        "correct",
        faults=faults,
        wanted=number,
        others_are_good=number < candidates,
        answer_form=form,
    )
    return _continued(messages, raw, text)


def stage2_more(messages: Messages, raw: str, lines: Sequence[str], number: int) -> Messages:
    """The question to Stage II for ``number`` more lines that differ from ``lines``."""
    form = answer_form(number)
    text = prompt_block("stage2-again", "more", lines=lines, wanted=number, answer_form=form)
    return _continued(messages, raw, text)


def without(messages: Messages, raw: str, line: str, unseen: Sequence[str], candidates: int) -> Messages:
    """The question to Stage II for ``candidates`` lines in place of ``line``, of which ``unseen`` statements
    cannot be seen in the clip."""
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
    """The texts of the complaints, each once."""
    return list(dict.fromkeys(complaint.text for complaint in complaints))


def _has_refusal(complaints: Sequence[Complaint]) -> bool:
    return any(complaint.rule == "refused" for complaint in complaints)


def _continued(messages: Messages, raw: str, text: str) -> Messages:
    """The conversation with the model's answer and our next message; without an answer, `_started_again`."""
    # Models write half characters, which no file and no server takes. Their thoughts are not shown to them
    # again: chat templates leave those of earlier turns out.
    answer = after_thoughts(raw.encode("utf-8", "ignore").decode("utf-8"))
    if not answer:
        return _started_again(messages, text)
    if len(answer) > MAX_ANSWER_SHOWN:
        answer = re.sub(r"\s+\S*\Z", "", answer[:MAX_ANSWER_SHOWN]) + " …"  # cut between words
    return (*messages, Message("assistant", answer), Message("user", text))


def _started_again(messages: Messages, text: str) -> Messages:
    """The first question with ``text`` added to its last message."""
    # Without the answer: a model that sees its own refusal refuses again.
    last = messages[-1]
    return (*messages[:-1], replace(last, text=f"{last.text}\n\n{text}"))


def name_complaints(
    line: str,
    description: str,
    presence: Presence,
    nearby: Sequence[NearbyName] = (),
    *,
    context: str = "",
    language: str = "en",
) -> tuple[Complaint, ...]:
    """What a model has to do better about the names in a line; empty where no cast is given.

    ``description`` is what the line was written from, ``context`` the other text that the model had of the
    film, ``nearby`` the names in the dialogue. Complained about are names that the film has not revealed yet,
    people of the cast whom the description does not name, and names that none of these texts has (in English
    lines).
    """
    if not presence.cast:
        return ()
    by_id = {character.id: character for character in presence.cast}
    revealed: dict[str, Character] = {}
    hidden: dict[str, Character] = {}
    for mention in cast_mentions(line, presence.cast):
        characters = hidden if mention.hidden else revealed
        characters[mention.text] = by_id[mention.id]
    described_ids = {mention.id for mention in cast_mentions(description, presence.cast)}
    lower_case_words = {word for word in re.findall(r"[^\W\d_]+", description) if word.islower()}
    # Descriptors and pronouns are English here; the line is not.
    in_language = "" if is_english(language) else f" in {language_of(language).name}"
    complaints = []
    for name, character in hidden.items():
        substitutes = [f'"{words}"' for words in (character.called, character.pronoun) if words]
        substitute = " or ".join(substitutes) or _ANY_PRONOUN
        text = f'"{name}" may not be named yet. Write {substitute}{in_language} instead.'
        complaints.append(Complaint("L7", text))
    for name, character in revealed.items():
        # A name that the description has as a word (rose) may be that word.
        if character.id not in described_ids and name.lower() not in lower_case_words:
            pronoun = f'"{character.pronoun}"' if character.pronoun else _ANY_PRONOUN
            missing = f'The description does not say that "{name}" is there.'
            text = f"{missing} Write {pronoun}{in_language} instead."
            complaints.append(Complaint("L7", text))
    if is_english(language):
        known_words = set(words_of(presence.cast))
        for source in (f"{description}\n{context}", *(hint.name for hint in nearby)):
            known_words.update(name_keys(source))
        cast_names = [character.called for character in presence.cast if character.named]
        for start, end in people_named(line, known_words.__contains__):
            name = line[start:end]
            similar = get_close_matches(name, cast_names, 1, _MISSPELT)
            remedy = "Name only people whom it names;"
            if similar:
                remedy = f'If "{similar[0]}" is meant, write that; else'
            text = f'"{name}" is not in the description. {remedy} write {_ANY_PRONOUN}.'
            complaints.append(Complaint("L7", text))
    return tuple(complaints)


def invented_names(description: str, question: str, presence: Presence) -> tuple[str, ...]:
    """Names in a description that the ``question`` for it does not give: the model made them up.

    Names that may not be said are left out: they are replaced in any case. Empty without a cast. English.
    """
    if not presence.cast:
        return ()
    mentions = cast_mentions(description, presence.cast)
    spans = [(mention.start, mention.end) for mention in mentions if not mention.hidden]
    for start, end in people_named(description):
        if not any(start < mention.end and mention.start < end for mention in mentions):
            spans.append((start, end))
    given_words = set(name_keys(question))
    names = [description[start:end] for start, end in sorted(spans)]
    return tuple(dict.fromkeys(name for name in names if not set(name_keys(name)) & given_words))


_MISSPELT = 0.75
"""Likeness (difflib) from which a name may be a misspelt name of the cast."""
_ANY_PRONOUN = '"he", "she" or "they"'
