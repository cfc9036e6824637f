"""What the two models are asked: Stage I turns frames into a description, Stage II that into a line.

The content follows Algorithms 1 and 2 of Shot-by-Shot; the words are ours and stand in ``prompts/``, a file
for each question. Nothing here calls a model. Shot-by-Shot shows Stage II ten ADs of the training set, any
ten by its text, by its code character-free ones of about the expected length; ours are our own
(``prompts/examples.txt``).
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    Config,
    Description,
    FramePlan,
    Grammar,
    Message,
)
from shotad.core.config.languages import is_english, language_of
from shotad.core.config.words import Focus, PromptSettings
from shotad.core.errors import ConfigError, PromptError
from shotad.core.settings import prompt_file
from shotad.core.text_files import read_text_file
from shotad.core.types import Role
from shotad.description.english_words import looks_english
from shotad.description.slotplan import (
    PLURALS,
    SHAPES,
    SlotPlan,
    called_people,
    dialogue_names,
    hide_names,
    people_in_prompt,
)
from shotad.description.templates import (
    MATERIAL,
    check_templates,
    form_of,
    note_of,
    prompt_block,
    prompt_messages,
)
from shotad.film import word_budget
from shotad.script import count_words
from shotad.script.pace import budget_text

Factor = Literal["face", "object", "environment"]

FACTORS: tuple[Factor, ...] = ("face", "object", "environment")
MIDDLING_SCALE = 2.0
"""Effective scale where no current shot's scale is known: that of medium shots."""


def effective_scale(grammar: Grammar, plans: Sequence[FramePlan]) -> float:
    """Mean of the known scales of the current shots shown, 0 to 4; 2 if none is known, whatever is around."""
    scales = (grammar.scales.get(p.number) for p in plans if p.role is Role.CURRENT)
    numbers = [scale.number for scale in scales if scale]
    return sum(numbers) / len(numbers) if numbers else MIDDLING_SCALE


def factors_for(scale: float, settings: PromptSettings) -> tuple[Factor, ...]:
    """What Stage I is asked for at this effective scale, in addition to characters, actions, interactions.

    >>> factors_for(1.5, PromptSettings()), factors_for(1.5, PromptSettings(rules="code"))
    (('face',), ('object',))
    """
    if settings.factor == "all":
        return FACTORS
    if settings.factor != "auto":
        return () if settings.factor == "none" else (settings.factor,)
    paper = settings.by_rules.factor_rule == "paper"
    if scale <= 1.5 if paper else scale < 1:
        return ("face",)
    if 2 <= scale <= 3 if paper else 1.5 <= scale < 3:
        return ("object",)
    return ("environment",) if scale >= 3.5 else ()


def stage1_messages(
    plan: SlotPlan, config: Config, *, hears: bool = False
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """What Stage I is asked about the shots shown, and the headings that its answer has, in order; ``hears``:
    sound is given too. Raises PromptError."""
    settings, marks = config.prompt, config.overlay.characters
    factors = factors_for(effective_scale(plan.grammar, plan.frames), settings)
    # The prompt speaks of circles only where some are painted, unless the paper's wording is asked for.
    people = people_in_prompt(plan.presence, settings, marks)
    is_marked = marks != "none" and (bool(people) or settings.by_rules.circle_note == "always")
    mark = SHAPES[marks] if is_marked else ""
    spoken, speakers = dialogue_names(plan.nearby_names, plan.presence, settings)
    messages = prompt_messages(
        "stage1",
        with_clip=True,
        medium=settings.medium,
        **frames_shown(plan, config),
        hears=hears,
        note=hide_names(note_of(settings), plan.presence),
        names_spoken=spoken,
        names_of_speakers=speakers,
        factors=factors,
        mark=mark,
        marks=PLURALS[mark] if mark else "",
        mark_kinds=people.mark_kinds,
        people_in_clip=people.in_clip,
        people_in_current=people.in_current,
        people_in_others=people.in_others,
        threads=_threads_shown(plan),
        thread_sentence_first=settings.by_rules.thread_sentence_first,
    )
    return messages, answer_headings(factors)


def frames_shown(plan: SlotPlan, config: Config) -> dict[str, Any]:
    """What a prompt with frames says of them: how their shots are marked (``label``), the frames of each shot
    (counted from 1), and the numbers of the current shots."""
    frames: list[dict[str, int]] = []
    first = 1
    for shot in plan.frames:
        last = first + len(shot.seconds) - 1
        frames.append({"number": shot.number, "first": first, "last": last})
        first = last + 1
    return {"label": config.overlay.label, "frames": frames, "current_shots": plan.current}


def _threads_shown(plan: SlotPlan) -> list[tuple[int, ...]]:
    """The threads with two shots or more among those that are shown."""
    shown = {frames.number for frames in plan.frames}
    threads = []
    for thread in plan.grammar.threads:
        numbers = tuple(number for number in thread if number in shown)
        if len(numbers) > 1:
            threads.append(numbers)
    return threads


def answer_headings(factors: Sequence[Factor]) -> tuple[str, ...]:
    """The headings of Stage I's answer, read from the form that the prompt shows. Raises PromptError."""
    form = prompt_block("stage1", "answer", factors=factors)
    headings = tuple(_HEADING.findall(form))
    if not headings:
        raise PromptError(
            "The block answer of the prompt stage1.j2 has no heading.",
            'Write a row for each step of the answer, such as "2. Actions: ...".',
        )
    return headings


_HEADING = re.compile(r"^\d+\. (.+): \.\.\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StoryContext:
    """What Stage II gets of the film around its clip, each part a few rows; empty: nothing is known.

    ``memory`` is what has happened in the film so far, ``last_lines`` the AD before, ``dialogue`` what is
    said around the clip, ``names`` those in use.
    """

    memory: str = ""
    last_lines: str = ""
    dialogue: str = ""
    names: str = ""

    @property
    def text(self) -> str:
        """All parts, to look for names in."""
        return "\n".join(filter(None, (self.memory, self.last_lines, self.dialogue, self.names)))


NO_STORY: StoryContext = StoryContext()


def stage2_messages(
    description: Description,
    plan: SlotPlan,
    config: Config,
    *,
    story: StoryContext = NO_STORY,
    examples: Sequence[str] = (),
) -> tuple[Message, ...]:
    """What Stage II is asked: one line within the budget of the slot, or up to ten alternatives.

    The example lines are drawn by (seed, slot id) from ``examples``, else from those that the settings name.
    ``story`` is what is known of the film around the clip. The prompt is English whatever the
    language of the lines; the budget, in English words, is given in what takes as long to say.

    Raises PromptError, ConfigError for an example file that cannot be read, UsageError for a wrong tag.
    """
    settings, slots, candidates = config.prompt, config.slots, config.stage2.lines_an_answer
    language, max_words, seconds = config.language, plan.slot.max_words, plan.slot.interval.duration
    # Examples are as long as the published rule has it; where another time than the slot gave the budget, one
    # word less than that.
    example_words = max_words - 1
    if slots.budget != "fit" and max_words == word_budget(seconds, slots):
        example_words = round(seconds / slots.seconds_per_word)
    # Each slot has its own draw, so that it gets the same examples where a part of the film is described.
    chance = random.Random(f"{config.seed}/{description.slot_id}")
    drawn = draw(tuple(examples) or load_examples(settings), settings, max(1, example_words), chance)
    return prompt_messages(
        "stage2",
        medium=settings.medium,
        candidates=candidates,
        stress_steps=settings.by_rules.stress_steps,
        note=hide_names(note_of(settings), plan.presence),
        story=story,
        people=called_people(description.text, plan.presence, settings),
        description=description.text,
        verbs=settings.verbs,
        focus=[FOCUS_WORDS[focus] for focus in settings.focus],
        budget=budget_text(language, max_words),
        language="" if is_english(language) else language_of(language).name,
        answer_form=answer_form(candidates),
        examples=drawn,
        examples_are_english=not is_english(language) and looks_english(drawn),
    )


FOCUS_WORDS: Mapping[Focus, str] = {
    "people": "who is there, and how people stand to each other",
    "actions": "what people do",
    "places": "where it is, the time of day, the light",
    "looks": "how people look: their clothes, their faces, their bearing",
    "objects": "the things that matter",
    "text": "words that can be read on the screen",
}
"""What Stage II is told of ``prompt.focus``."""


def answer_keys(candidates: int) -> tuple[str, ...]:
    """Keys of Stage II's JSON answer: ``summarized_AD``, or numbered from 1 for several candidates."""
    if candidates == 1:
        return ("summarized_AD",)
    return tuple(f"summarized_AD_{k}" for k in range(1, candidates + 1))


def answer_form(candidates: int) -> str:
    """Such an answer in JSON, with dots for the lines."""
    return json.dumps(dict.fromkeys(answer_keys(candidates), "..."), ensure_ascii=False)


def answer_schema(candidates: int) -> dict[str, Any]:
    """The JSON schema of an answer that holds so many lines."""
    return form_of({key: {"type": "string"} for key in answer_keys(candidates)})


EXAMPLES = "examples.txt"
"""Our example lines, among the prompts."""

COLUMNS = ("text_gt_wo_char", "text", "text_gt")
"""Columns of a CSV file that hold ADs; the first that is there is used, one without characters rather."""


def load_examples(settings: PromptSettings) -> tuple[str, ...]:
    """The lines that examples are drawn from, ``example_file``'s or ours. Raises ConfigError, PromptError."""
    if settings.example_file:
        path = Path(settings.example_file).expanduser()
        try:
            state = path.stat()
        except OSError as error:
            raise _unreadable(path, error) from None
        return _lines_of_file(path, state.st_mtime_ns, state.st_size)
    return tuple(_text_lines(prompt_file(EXAMPLES)[1]))


def draw(pool: Sequence[str], settings: PromptSettings, words: int, chance: random.Random) -> list[str]:
    """``example_count`` lines of ``pool`` for a line of about ``words`` words, by ``example_choice``.

    ``random``: any, each once. ``length``: each once, within one word of the length; where they are too
    few, the nearest lengths come in, one word at a time. ``published``: within one word, drawn with
    replacement, or from all where fewer than the count are.
    """
    count = settings.example_count
    if settings.by_rules.example_choice == "random":
        return chance.sample(list(pool), min(count, len(pool)))
    distances = [abs(length - words) for length in _lengths(tuple(pool))]
    if settings.by_rules.example_choice == "length":
        # Within one word of the length, or within as many more as ``count`` lines take
        reach = max([1, *sorted(distances)[:count]])
        near = [line for line, away in zip(pool, distances, strict=True) if away <= reach]
        return chance.sample(near, min(count, len(near)))
    near = [line for line, away in zip(pool, distances, strict=True) if away <= 1]
    drawn_from = near if len(near) >= count else list(pool)
    return chance.choices(drawn_from, k=count) if drawn_from else []


@lru_cache(maxsize=8)
def _lengths(pool: tuple[str, ...]) -> tuple[int, ...]:
    """Words of each line. A training set has tens of thousands, and each slot draws from them anew."""
    return tuple(count_words(line) for line in pool)


@lru_cache(maxsize=8)
def _lines_of_file(path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    is_table = path.suffix.lower() == ".csv"
    if is_table:
        # A training set has megabytes, and published tables have single bytes that are not UTF-8.
        text = read_text_file(path, "table", ConfigError, hint=_WANTED).text
    else:
        text = read_text_file(path, "prompt", ConfigError, hint=_WANTED, encoding="utf-8").text
    lines = tuple(_text_lines(text))
    if is_table:
        # The sign that the heading has most of separates the columns.
        separator = max(",;\t", key=text.partition("\n")[0].count)
        try:
            rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
        except csv.Error as error:
            raise _unreadable(path, error) from None
        columns = [name for name in (rows[0] if rows else ()) if name]
        column = next((name for name in COLUMNS if name in columns), None)
        if rows and column is None:
            raise ConfigError(
                f"The example file {path} has no column of ADs, only: {', '.join(columns)}.",
                f"Name one {' or '.join(COLUMNS)}.",
            )
        texts = (" ".join((row[column or ""] or "").split()) for row in rows)
        # Published tables have "0" where the rewriting of an AD failed; U+FFFD is a byte that was no UTF-8.
        lines = tuple(line for line in texts if re.search(r"[^\W\d_]", line) and "\ufffd" not in line)
    if not lines:
        raise ConfigError(f"The example file {path} holds no line.", _WANTED)
    return lines


def _text_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield " ".join(line.split())


_WANTED = "Give a text file with an AD in each line, or a CSV file with a column named text."


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"The example file {path} cannot be read: {error}.", _WANTED)


STAGE_PROMPTS = (MATERIAL, "stage1", "stage1-again", "stage2", "stage2-again", "choose", "story", "verify")
"""The prompts that can change a line."""


def check_prompts(*more: str) -> None:
    """Raise PromptError if a prompt of the two stages, or one named in ``more``, cannot be filled in."""
    check_templates((*STAGE_PROMPTS, *more))
    answer_headings(FACTORS)
