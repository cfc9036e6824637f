"""Choose the candidate of a slot that is spoken: by rules, by embeddings, or by asking the engine.

By embeddings, each slot takes the candidate that adds most to the lines before it. The idea is CoherentAD's
(Khandelwal et al. 2025, arXiv 2510.25440), whose language model is here sentence embeddings: relevance less
redundancy (maximal marginal relevance, Carbonell and Goldstein 1998), fading with age.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Config,
    Interval,
    Progress,
    Request,
    Slot,
)
from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.config.words import SamplingSettings
from shotad.description.answer_text import without_entities
from shotad.description.answers import answer_in
from shotad.description.english_words import content_of, is_unfinished, subject_and_verb, verbs_of, words_of
from shotad.description.seeds import slot_seed
from shotad.description.templates import form_of, prompt_messages
from shotad.engines import AskingPool
from shotad.script import (
    Embedder,
    Finding,
    Level,
    make_embedder,
)
from shotad.script.cue import VisibleTime
from shotad.script.embeddings import check_installed
from shotad.script.fit import FittedText
from shotad.script.rules import similarity

LINES_COMPARED = 10
"""Last lines that a candidate is compared with."""
FADING = 0.85
"""How much a line still counts for each line that followed it."""
VERB_WEIGHT = 2.0
"""Weight of a verb of the description; other words have 1."""
NOVELTY_WEIGHT = 0.3
"""Share of the distance to the last lines in the weighted sum; the rest is coverage."""


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A candidate that fits its slot, when it is spoken, and what is still wrong with it.

    ``number`` counts the slot's candidates from 0; ``unseen`` is what it states and the frames do not show;
    ``sight`` is when it may start, None where that is not known.
    """

    number: int
    fitted: FittedText
    interval: Interval
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...] = ()
    sight: VisibleTime | None = None

    @property
    def text(self) -> str:
        """What would be spoken."""
        return self.fitted.text

    @property
    def errors(self) -> int:
        """Number of findings that a line must not have."""
        return sum(finding.level is Level.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """Number of findings for a person to judge."""
        return len(self.findings) - self.errors

    @property
    def residue(self) -> Finding | None:
        """The finding that a model's chatter is left in it (L5); such a line must not be spoken."""
        return next((finding for finding in self.findings if finding.rule == "L5"), None)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a line is judged by: its slot, the lines before (oldest first), the speech of the film, who of the
    cast is on the frames, and Stage I's description.

    ``is_benchmark``: the slot or its budget is a benchmark's, to which our minima do not apply.
    """

    slot: Slot
    lines_before: tuple[str, ...] = ()
    speech: Sequence[Interval] = ()
    presence: Presence = EMPTY_PRESENCE
    is_benchmark: bool = False
    description: str = ""


Chooser = Callable[[Sequence[FittedLine], Situation], int]
"""Takes the lines of a slot and their situation; returns the index of the line to speak."""


def by_rules(lines: Sequence[FittedLine], situation: Situation) -> int:
    """The index of the line to speak, from the slot alone. The first rule that tells lines apart decides:

    1. a line free of a model's chatter (L5) before one with it, one whose statements were all found in
       the frames before one of which some were not, and a whole line before one that breaks off;
    2. fewer errors of the guidelines;
    3. fewer warnings;
    4. no near copy of one of the last ten lines before one that is;
    5. the larger sum of 0.3 times the distance to the last lines and 0.7 times the coverage of the
       description;
    6. the earlier candidate.

    Distance is 1 less the greatest similarity with one of the last ten lines, where each line counts 0.85
    times the one after it. Coverage is the share of the description's words that the line says, by lemma,
    verbs counting twice, against the most that any of the slot's lines says.
    """
    coverages = coverage([line.text for line in lines], situation.description)
    last_lines = situation.lines_before[-LINES_COMPARED:]

    def rank(index: int) -> tuple[object, ...]:
        line = lines[index]
        redundancy = 0.0
        for age, earlier in enumerate(reversed(last_lines)):
            redundancy = max(redundancy, similarity(line.text, earlier) * FADING**age)
        score = NOVELTY_WEIGHT * (1.0 - redundancy) + (1 - NOVELTY_WEIGHT) * coverages[index]
        is_repeated = is_near_copy_of_last(line, last_lines)
        # Rounded, so that the last bits of a sum decide nothing.
        return *_faults(line), line.warnings, is_repeated, -round(score, 9), index

    return min(range(len(lines)), key=rank)


def soundest(lines: Sequence[FittedLine], lines_before: Sequence[str]) -> tuple[int, ...]:
    """Indices of the lines that are best by rules 1 and 2.

    Near copies of one of the last ten ``lines_before`` are left out, unless all are.
    """
    fewest_faults = min(_faults(line) for line in lines)
    best = tuple(index for index, line in enumerate(lines) if _faults(line) == fewest_faults)
    new = tuple(index for index in best if not is_near_copy_of_last(lines[index], lines_before))
    return new or best


def is_near_copy_of_last(line: FittedLine, lines_before: Sequence[str]) -> bool:
    """Whether a line is a near copy of one of the last ten."""
    return any(is_near_copy(line.text, earlier) for earlier in lines_before[-LINES_COMPARED:])


def coverage(lines: Sequence[str], description: str) -> tuple[float, ...]:
    """How much of the description each line says, 0 to 1: 1 for the one that says most of it.

    Words count by lemma, once each; a verb of the description counts twice. All 0 where no line says any.
    """
    verbs = verbs_of(description)
    weights = {lemma: VERB_WEIGHT if lemma in verbs else 1.0 for lemma in content_of(description)}
    sums = [sum(weights.get(lemma, 0.0) for lemma in content_of(line)) for line in lines]
    greatest = max(sums, default=0.0)
    return tuple(value / greatest if greatest else 0.0 for value in sums)


def _faults(line: FittedLine) -> tuple[bool, bool, bool, int]:
    """What rules 1 and 2 look at; the less, the better."""
    return line.residue is not None, bool(line.unseen), is_unfinished(line.text), line.errors


NEAR_COPY = 0.8
"""Share of common words from which two lines are near copies, as in rule L9."""


def distinct(lines: Sequence[str]) -> tuple[int, ...]:
    """Indices of the lines that are no near copies of an earlier one, in order.

    >>> distinct(["He opens the door.", "The door he opens.", "She opens the door."])
    (0, 2)
    """
    indices: list[int] = []
    for index, line in enumerate(lines):
        if not any(is_near_copy(line, lines[earlier]) for earlier in indices):
            indices.append(index)
    return tuple(indices)


def is_near_copy(first: str, second: str) -> bool:
    """Whether two lines say the same in nearly the same words, in whatever order.

    They share four fifths of their words (`similarity`), and have the same subject and main verb:
    ``Ann watches Bob leave`` and ``Bob watches Ann leave`` share all words and are no copies.
    """
    if similarity(first, second) < NEAR_COPY:
        return False
    first_subject, first_verb = subject_and_verb(first)
    second_subject, second_verb = subject_and_verb(second)
    first_lemmas = [word.lemma for word in words_of(first)]
    second_lemmas = [word.lemma for word in words_of(second)]
    # A line may have the other's main verb in another clause: "turns, smiling" and "smiles, turning".
    share_verbs = first_verb in second_lemmas and second_verb in first_lemmas
    if first_verb and second_verb and first_verb != second_verb and not share_verbs:
        return False
    if not first_subject or not second_subject or first_subject == second_subject:
        return True
    if first_subject not in second_lemmas or second_subject not in first_lemmas:
        return False
    # Both lines have both subjects. They changed places only if nothing but their order differs.
    leads_in_first = first_lemmas.index(first_subject) < first_lemmas.index(second_subject)
    leads_in_second = second_lemmas.index(first_subject) < second_lemmas.index(second_subject)
    return leads_in_first == leads_in_second or content_of(first) != content_of(second)


def merged(attempts: Sequence[Sequence[str]], faults: Callable[[str], int], number: int) -> tuple[str, ...]:
    """The lines of all attempts as at most ``number`` distinct ones, in the order in which they came.

    Of near copies the one with the fewest faults stands for all, the earliest among equals. Where still
    more than ``number`` are left, those with the most faults go, the latest first.
    """
    lines: list[str] = []
    for attempt in attempts:
        lines += attempt
    fault_counts = {line: faults(line) for line in lines}
    by_faults = sorted(range(len(lines)), key=lambda index: (fault_counts[lines[index]], index))
    # `distinct` keeps the earlier of two near copies: here the one with fewer faults.
    places = distinct([lines[index] for index in by_faults])
    best = [by_faults[place] for place in places][:number]
    return tuple(lines[index] for index in sorted(best))


Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts → float32[n, d], a unit vector to each."""

REDUNDANCY_WEIGHT = 0.5
"""Weight of a line's likeness to earlier lines, against its relevance."""
COVERAGE_WEIGHT = 0.2
"""Weight of the coverage beside the meaning: embeddings alone do not tell a line from its first half."""
WARNING_PENALTY = 0.05
"""What each warning takes off a line's score."""
LINES_EMBEDDED = 40
"""Earlier lines that are compared; older ones count less than 0.2 % of the last."""
CHOICE_SAMPLING = SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=64)
"""How a choice is drawn: the likeliest answer, which is short."""


def by_sequence(embed: Embed) -> Chooser:
    """A chooser by embeddings: of the `soundest` lines it takes the one with the highest score.

    The score is that of `scores`, less 0.05 for each warning; of equals the first is taken.
    """

    def choose(lines: Sequence[FittedLine], situation: Situation) -> int:
        indices = soundest(lines, situation.lines_before)
        if len(indices) == 1:
            return indices[0]
        line_scores = scores([lines[index].text for index in indices], situation, embed)
        line_scores -= WARNING_PENALTY * np.array([lines[index].warnings for index in indices])
        # Rounded, so that the last bits of a batch decide nothing.
        best = int(np.argmax(line_scores.round(5)))
        return indices[best]

    return choose


def scores(texts: Sequence[str], situation: Situation, embed: Embed) -> npt.NDArray[np.float64]:
    """float64[n]: each text's relevance (cosine to the description, plus 0.2 times its coverage of it) less
    0.5 times its redundancy (greatest cosine to an earlier line, each counting 0.85 times the next).
    """
    # Without numbers and headings: ``2. Actions: Ann sits.`` → ``Ann sits.``
    steps = (_HEADING.sub("", step).strip() for step in situation.description.splitlines())
    body = " ".join(filter(None, steps))
    earlier_lines = situation.lines_before[-LINES_EMBEDDED:]
    vectors = embed([*texts, body, *earlier_lines]).astype(np.float64)
    text_vectors, body_vectors, earlier_vectors = np.split(vectors, [len(texts), len(texts) + 1])
    total = COVERAGE_WEIGHT * np.array(coverage(texts, body))
    if body:
        total += text_vectors @ body_vectors[0]
    if earlier_lines:
        ages = np.arange(len(earlier_lines) - 1, -1, -1)
        likeness = np.clip(text_vectors @ earlier_vectors.T, 0, None) * FADING**ages
        total -= REDUNDANCY_WEIGHT * likeness.max(axis=1)
    return total


_HEADING = re.compile(r"^\s*\d+\.\s+[A-Z][\w ]{0,40}:\s*")


def by_engine(pool: AskingPool, config: Config) -> Chooser:
    """A chooser that asks the engine of Stage II, which gets the last lines and the numbered candidates.

    Only the `soundest` lines are shown; where one is left nothing is asked. Where the call fails, or the
    answer names no candidate, `by_rules` chooses.
    """

    def choose(lines: Sequence[FittedLine], situation: Situation) -> int:
        indices = soundest(lines, situation.lines_before)
        if len(indices) == 1:
            return indices[0]
        texts = [lines[index].text for index in indices]
        reply = pool.ask("stage2", choice_request(texts, situation, config))
        choice = None
        if reply.error is None and reply.finish != "refused":
            choice = choice_in(reply.text, texts)
        return by_rules(lines, situation) if choice is None else indices[choice]

    return choose


def choice_request(texts: Sequence[str], situation: Situation, config: Config) -> Request:
    """The question which of these lines is best, numbered from 1."""
    messages = prompt_messages(
        "choose",
        medium=config.prompt.medium,
        description=situation.description,
        lines_before=situation.lines_before[-LINES_COMPARED:],
        candidates=texts,
    )
    slot_id = situation.slot.id
    return Request(
        slot_id=slot_id,
        messages=messages,
        sampling=CHOICE_SAMPLING,
        seed=slot_seed(config.seed, f"{slot_id}/choice"),
        schema=form_of({"choice": {"type": "integer", "minimum": 1, "maximum": len(texts)}}),
    )


def make_chooser(config: Config, pool: AskingPool, progress: Progress | None = None) -> Chooser:
    """The chooser of ``stage2.select``. Raises ShotadError."""
    if config.stage2.select == "engine":
        return by_engine(pool, config)
    if config.stage2.select == "sequence":
        check_installed()
        vectors: dict[str, npt.NDArray[np.float32]] = {}

        @cache  # loaded when the first slot needs it, and once
        def embedder() -> Embedder:
            return make_embedder(compute=config.compute, progress=progress)

        def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
            """Each text is embedded once in a run: a line is compared with in each of the next slots."""
            new_texts = [text for text in dict.fromkeys(texts) if text not in vectors]
            if new_texts:
                vectors.update(zip(new_texts, embedder().of(new_texts), strict=True))
            return np.stack([vectors[text] for text in texts])

        return by_sequence(embed)
    return by_rules


def choice_in(answer: str, lines: Sequence[str]) -> int | None:
    """Index of the line that an answer names by its number, counted from 1, or by its words; None if none.

    Understands the JSON asked for, also broken or in other text, ``Candidate 2``, a number that begins the
    answer, and a line that is written out. An answer that could mean two lines names none.

    >>> choice_in('Sure! {"choice": "2"}', ["He sits.", "He stands."])
    1
    """
    text = without_entities(answer_in(answer)).strip()
    numbers = {int(match[1]) for match in _CHOSEN_NUMBER.finditer(text)}
    first_number = _NUMBER_FIRST.match(text)
    if not numbers and first_number:
        numbers = {int(first_number[1])}
    if numbers:
        number = min(numbers)
        return number - 1 if len(numbers) == 1 and 1 <= number <= len(lines) else None
    answer_words = _words_alone(text)
    quoted: dict[int, str] = {}
    for index, line in enumerate(lines):
        words = _words_alone(line)
        if words and words in answer_words:
            quoted[index] = words
    # "He sits" stands in an answer that says "He sits down" too: only the longer one is meant.
    longest = []
    for index, words in quoted.items():
        rivals = [rival_words for rival, rival_words in quoted.items() if rival != index]
        if not any(words in rival_words for rival_words in rivals):
            longest.append(index)
    return longest[0] if len(longest) == 1 else None


_CHOSEN_NUMBER = re.compile(
    r"\b(?:choice|choose|answer|candidate|option|number)\b[\"':=#(\s]{1,9}(\d{1,2})\b(?!\s*[/|]\s*\d)", re.I
)
_NUMBER_FIRST = re.compile(r"\W{0,9}(\d{1,2})\b(?!\W+\d)")


def _words_alone(text: str) -> str:
    """The words of a text in small letters, without punctuation, a space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))
