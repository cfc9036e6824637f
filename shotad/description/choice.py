"""Which candidate of a slot is spoken: by rules, along the film by embeddings, or by asking the engine.

Along the film, each time the candidate is taken that adds most to what has been said. The idea is
CoherentAD's (Khandelwal et al. 2025, arXiv 2510.25440), whose language model is here sentence embeddings:
relevance less redundancy (maximal marginal relevance, Carbonell and Goldstein 1998), fading with age.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from shotad.core import (
    NOBODY,
    Config,
    Interval,
    Presence,
    Progress,
    Request,
    SamplingSettings,
    Slot,
)
from shotad.description.answer_text import without_entities
from shotad.description.answers import answer_in
from shotad.description.seeds import slot_seed
from shotad.description.templates import form_of, prompt_messages
from shotad.description.wording import content_of, head_of, is_unfinished, verbs_of, words_of
from shotad.engines import AskingPool
from shotad.script import (
    Embedder,
    Finding,
    Fitted,
    Level,
    Sight,
    check_installed,
    make_embedder,
    similarity,
)

LAST = 10
"""Lines that a candidate is compared with."""
FADING = 0.85
"""How much a line still counts for each line that followed it."""
VERB = 2.0
"""Weight of a verb of the description; other words have 1."""
NEWS = 0.3
"""Share of the distance to the last lines in the weighted sum; the rest is coverage."""


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A candidate that was made to fit, when it is spoken, and what is still wrong with it.

    ``number`` counts the slot's candidates from 0; ``unseen`` is what it states and the frames do not show;
    ``sight`` is when it may start, None where that is not known.
    """

    number: int
    fitted: Fitted
    interval: Interval
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...] = ()
    sight: Sight | None = None

    @property
    def text(self) -> str:
        """What would be spoken."""
        return self.fitted.text

    @property
    def errors(self) -> int:
        """How many rules it breaks that a line must not break."""
        return sum(finding.level is Level.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are for a person to judge."""
        return len(self.findings) - self.errors

    @property
    def residue(self) -> Finding | None:
        """What of a model's chatter is left in it (L5); such a line must not be spoken."""
        return next((finding for finding in self.findings if finding.rule == "L5"), None)


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a line is chosen for, and what it is judged by: its slot, all lines heard so far (oldest first),
    Stage I's description, the speech of the film, and who of the cast is on the frames.

    ``given``: the slot or its budget is a benchmark's, whose minima do not apply.
    """

    slot: Slot
    said: tuple[str, ...] = ()
    description: str = ""
    speech: Sequence[Interval] = ()
    presence: Presence = NOBODY
    given: bool = False


Chooser = Callable[[Sequence[FittedLine], Situation], int]
"""Lines of a slot, and where one is chosen for → the index of the one that is taken."""


def by_rules(lines: Sequence[FittedLine], situation: Situation) -> int:
    """Chooses for a slot alone. The first rule that tells lines apart decides:

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
    covered = coverage([line.text for line in lines], situation.description)
    said = situation.said[-LAST:]

    def rank(index: int) -> tuple[object, ...]:
        line = lines[index]
        near = (similarity(line.text, before) * FADING**age for age, before in enumerate(reversed(said)))
        worth = NEWS * (1.0 - max(near, default=0.0)) + (1 - NEWS) * covered[index]
        return *_sound(line), line.warnings, repeats(line, said), -round(worth, 9), index

    return min(range(len(lines)), key=rank)


def soundest(lines: Sequence[FittedLine], said: Sequence[str]) -> tuple[int, ...]:
    """Indices of the lines best by rules 1 and 2; near copies of the last ten only without others."""
    least = min(_sound(line) for line in lines)
    able = tuple(index for index, line in enumerate(lines) if _sound(line) == least)
    return tuple(index for index in able if not repeats(lines[index], said)) or able


def repeats(line: FittedLine, said: Sequence[str]) -> bool:
    """Whether a line is a near copy of one of the last ten."""
    return any(is_near_copy(line.text, before) for before in said[-LAST:])


def coverage(lines: Sequence[str], description: str) -> tuple[float, ...]:
    """How much of the description each line says, 0 to 1: 1 for the one that says most of it.

    Words count by lemma, once each; a verb of the description counts twice. All 0 where no line says any.
    """
    verbs = verbs_of(description)
    weights = {lemma: VERB if lemma in verbs else 1.0 for lemma in content_of(description)}
    said = [sum(weights.get(lemma, 0.0) for lemma in content_of(line)) for line in lines]
    most = max(said, default=0.0)
    return tuple(value / most if most else 0.0 for value in said)


def _sound(line: FittedLine) -> tuple[bool, bool, bool, int]:
    return line.residue is not None, bool(line.unseen), is_unfinished(line.text), line.errors


NEAR = 0.8
"""Share of common words from which two lines are near copies, as in rule L9."""


def distinct(lines: Sequence[str]) -> tuple[int, ...]:
    """Indices of the lines that are no near copies of an earlier one, in order.

    >>> distinct(["He opens the door.", "The door he opens.", "She opens the door."])
    (0, 2)
    """
    kept: list[int] = []
    for index, line in enumerate(lines):
        if not any(is_near_copy(line, lines[earlier]) for earlier in kept):
            kept.append(index)
    return tuple(kept)


def is_near_copy(one: str, other: str) -> bool:
    """Whether two lines say the same in nearly the same words, in whatever order.

    They share four fifths of their words (`similarity`), and neither the one who acts nor the main verb is
    another: ``Ann watches Bob leave`` and ``Bob watches Ann leave`` share all words and are no copies.
    """
    if similarity(one, other) < NEAR:
        return False
    (who, verb), (second, deed) = head_of(one), head_of(other)
    mine, theirs = ([word.lemma for word in words_of(line)] for line in (one, other))
    if verb and deed and verb != deed and (verb not in theirs or deed not in mine):
        return False
    if not who or not second or who == second:
        return True
    if who not in theirs or second not in mine:
        return False
    # Both lines have both words. They changed places only if nothing but their order differs.
    turned = (mine.index(who) < mine.index(second)) != (theirs.index(who) < theirs.index(second))
    return not turned or content_of(one) != content_of(other)


def merged(attempts: Sequence[Sequence[str]], faults: Callable[[str], int], number: int) -> tuple[str, ...]:
    """The lines of all attempts as at most ``number`` distinct ones, in the order in which they came.

    Of near copies the one with the fewest faults stands for all, the earliest among equals. Where still
    more than ``number`` are left, those with the most faults go, the latest first.
    """
    pool = [line for attempt in attempts for line in attempt]
    counted = {line: faults(line) for line in pool}
    by_faults = sorted(range(len(pool)), key=lambda i: (counted[pool[i]], i))
    chosen = [by_faults[k] for k in distinct([pool[i] for i in by_faults])][:number]
    return tuple(pool[i] for i in sorted(chosen))


Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts → float32[n, d], a unit vector to each."""

REDUNDANCY = 0.5
"""What a line's likeness to what was said weighs, against its relevance."""
COVERAGE = 0.2
"""Weight of the coverage beside the meaning: embeddings alone do not tell a line from its first half."""
WARNING = 0.05
"""What each warning takes off a line's worth."""
MEMORY = 40
"""Lines back that are remembered; older ones count less than 0.2 % of the last."""
ANSWER = SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=64)
"""How a choice is drawn: the likeliest answer, which is short."""


def by_sequence(embed: Embed) -> Chooser:
    """Chooses by embeddings: of the `soundest` lines the one of the greatest worth (`worths`), less 0.05 for
    each warning; of equals the first.
    """

    def choose(lines: Sequence[FittedLine], situation: Situation) -> int:
        able = soundest(lines, situation.said)
        if len(able) == 1:
            return able[0]
        worth = worths([lines[i].text for i in able], situation, embed)
        worth -= WARNING * np.array([lines[i].warnings for i in able])
        # Rounded, so that the last bits of a batch decide nothing.
        return able[int(np.argmax(worth.round(5)))]

    return choose


def worths(texts: Sequence[str], situation: Situation, embed: Embed) -> npt.NDArray[np.float64]:
    """float64[n]: each text's relevance (cosine to the description, plus 0.2 times its coverage of it) less
    0.5 times its redundancy (greatest cosine to a line that was said, each counting 0.85 times the next).
    """
    # Without numbers and headings: ``2. Actions: Ann sits.`` → ``Ann sits.``
    steps = (_HEADING.sub("", step).strip() for step in situation.description.splitlines())
    body = " ".join(filter(None, steps))
    said = situation.said[-MEMORY:]
    vectors = embed([*texts, body, *said]).astype(np.float64)
    own, described, heard = np.split(vectors, [len(texts), len(texts) + 1])
    worth = COVERAGE * np.array(coverage(texts, body))
    if body:
        worth += own @ described[0]
    if said:
        ages = np.arange(len(said) - 1, -1, -1)
        worth -= REDUNDANCY * (np.clip(own @ heard.T, 0, None) * FADING**ages).max(axis=1)
    return worth


_HEADING = re.compile(r"^\s*\d+\.\s+[A-Z][\w ]{0,40}:\s*")


def by_engine(pool: AskingPool, config: Config) -> Chooser:
    """Chooses by asking the engine of Stage II, which sees the last lines and the numbered candidates.

    Only the `soundest` lines are shown; where one is left nothing is asked. Where the call fails, or the
    answer names no candidate, `by_rules` chooses.
    """

    def choose(lines: Sequence[FittedLine], situation: Situation) -> int:
        able = soundest(lines, situation.said)
        if len(able) == 1:
            return able[0]
        texts = [lines[i].text for i in able]
        reply = pool.ask("stage2", choice_request(texts, situation, config))
        chosen = None
        if reply.error is None and reply.finish != "refused":
            chosen = choice_in(reply.text, texts)
        return by_rules(lines, situation) if chosen is None else able[chosen]

    return choose


def choice_request(texts: Sequence[str], situation: Situation, config: Config) -> Request:
    """What is asked about these lines, numbered from 1."""
    messages = prompt_messages(
        "choose",
        medium=config.prompt.medium,
        description=situation.description,
        lines_before=situation.said[-LAST:],
        candidates=texts,
    )
    slot = situation.slot.id
    return Request(
        slot_id=slot,
        messages=messages,
        sampling=ANSWER,
        seed=slot_seed(config.seed, f"{slot}/choice"),
        schema=form_of({"choice": {"type": "integer", "minimum": 1, "maximum": len(texts)}}),
    )


def make_chooser(config: Config, pool: AskingPool, progress: Progress | None = None) -> Chooser:
    """The chooser of ``stage2.select``. Raises ShotadError."""
    if config.stage2.select == "engine":
        return by_engine(pool, config)
    if config.stage2.select == "sequence":
        check_installed()
        made: dict[str, npt.NDArray[np.float32]] = {}

        @cache
        def embedder() -> Embedder:
            return make_embedder(compute=config.compute, progress=progress)

        def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
            """Each text is embedded once."""
            new = [text for text in dict.fromkeys(texts) if text not in made]
            if new:
                made.update(zip(new, embedder().of(new), strict=True))
            return np.stack([made[text] for text in texts])

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
    named = {int(match[1]) for match in _CHOSEN.finditer(text)}
    if not named and (begins := _BEGINS.match(text)):
        named = {int(begins[1])}
    if named:
        number = named.pop()
        return number - 1 if not named and 1 <= number <= len(lines) else None
    letters = _letters(text)
    found = [index for index, line in enumerate(lines) if _letters(line) and _letters(line) in letters]
    longest = [i for i in found if not any(_letters(lines[i]) in _letters(lines[j]) for j in found if j != i)]
    return longest[0] if len(longest) == 1 else None


_CHOSEN = re.compile(
    r"\b(?:choice|choose|answer|candidate|option|number)\b[\"':=#(\s]{1,9}(\d{1,2})\b(?!\s*[/|]\s*\d)", re.I
)
_BEGINS = re.compile(r"\W{0,9}(\d{1,2})\b(?!\W+\d)")


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
