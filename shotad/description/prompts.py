"""What the two models are asked: Stage I turns frames into a description, Stage II that into a line.

The content follows Algorithms 1 and 2 of Shot-by-Shot; the words are ours and stand in ``prompts/``. Nothing
here calls a model. Shot-by-Shot shows Stage II ten ADs of the training set, any ten by its text,
character-free ones of about the expected length by its code; ours are our own
(``prompts/stage2/examples.txt``).
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    NOBODY,
    ConfigError,
    Description,
    FramePlan,
    Grammar,
    Message,
    Presence,
    PromptError,
    PromptSettings,
    Role,
    ShotLabel,
    is_english,
    language_of,
    prompt_text,
    shipped_prompts,
)
from shotad.description.castlist import (
    MARKS,
    PLURALS,
    SHAPES,
    Marks,
    called_block,
    heard_block,
    people_told,
    without_untold,
)
from shotad.description.language_id import looks_english
from shotad.description.slotplan import Heard
from shotad.description.templates import (
    COUNTS,
    block,
    check_templates,
    form_of,
    name_shots,
    note_block,
    question,
    render,
    variables_in,
)
from shotad.script import budget_in, count_words

Factor = Literal["face", "object", "environment"]

STEPS = ("characters", "actions", "interactions")
FACTORS: tuple[Factor, ...] = ("face", "object", "environment")
MIDDLING_SCALE = 2.0
"""Effective scale where no current shot's scale is known: that of medium shots."""


@dataclass(frozen=True, slots=True)
class Stage1Prompt:
    """What Stage I is asked. ``steps`` are the headings that its answer has, in order."""

    messages: tuple[Message, ...]
    steps: tuple[str, ...]
    factors: tuple[Factor, ...]
    effective_scale: float


def effective_scale(grammar: Grammar, plans: Sequence[FramePlan]) -> float:
    """Mean of the known scales of the current shots shown, 0 to 4; 2 if none is known, whatever is around."""
    scales = (grammar.scales.get(p.number) for p in plans if p.role is Role.CURRENT)
    known = [scale.number for scale in scales if scale]
    return sum(known) / len(known) if known else MIDDLING_SCALE


def factors_for(scale: float, settings: PromptSettings) -> tuple[Factor, ...]:
    """What is asked for besides characters, actions and interactions at this effective scale.

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
    plans: Sequence[FramePlan],
    grammar: Grammar,
    settings: PromptSettings,
    *,
    presence: Presence = NOBODY,
    heard: Sequence[Heard] = (),
    label: ShotLabel = "number",
    marks: Marks = MARKS,
    hears: bool = False,
) -> Stage1Prompt:
    """What Stage I is asked about the shots shown.

    ``presence`` are the people recognised on the frames, ``heard`` the names in the dialogue near them;
    ``label`` is how shots are marked on the frames, ``marks`` how people are; ``hears``: sound is given too.
    Raises PromptError for a template that cannot be filled in.
    """
    current = [p.number for p in plans if p.role is Role.CURRENT]
    scale = effective_scale(grammar, plans)
    factors = factors_for(scale, settings)
    told = people_told(presence, settings, marks, current)
    circled = marks != "none" and (bool(told) or settings.by_rules.circle_note == "always")
    shape = SHAPES[marks] if circled else ""
    steps = [_first_step(told, shape), *(_step(name) for name in (*STEPS[1:], *factors))]
    headings = tuple(heading for heading, _ in steps)
    shown = {p.number for p in plans}
    within = (tuple(n for n in thread if n in shown) for thread in grammar.threads)
    threads = [thread for thread in within if len(thread) > 1]
    answers = [render("stage1/answer-step", number=str(i), heading=h) for i, h in enumerate(headings, 1)]
    text = render(
        "stage1/base",
        medium=settings.medium,
        labels=shot_labels(plans, label) + (f" {render('stage1/sound')}" if hears else ""),
        note=without_untold(note_block("stage1/note", settings), presence),
        heard=heard_block(heard, presence, settings),
        shots=name_shots(current),
        count=COUNTS[len(steps)],
        steps="\n".join(f"{i}. {instruction}" for i, (_, instruction) in enumerate(steps, 1)),
        closing=_closing(shape, threads, settings),
        template=render("stage1/answer", steps="\n".join(answers))
        + (f"\n{render('stage1/answer-threads')}" if threads else ""),
    )
    return Stage1Prompt((question(text, with_clip=True),), headings, factors, scale)


def shot_labels(plans: Sequence[FramePlan], label: ShotLabel) -> str:
    """How a model knows which frames are of which shot."""
    if label != "text":
        return render(f"stage1/labels-{label}")
    first, shots = 1, []
    for plan in plans:
        last = first + len(plan.seconds) - 1
        shots.append(f"Shot {plan.number} is frames {first} to {last}")
        first = last + 1
    return render("stage1/labels-text", shots="; ".join(shots))


def _first_step(told: Sequence[str], shape: str) -> tuple[str, str]:
    """Who the characters are; ``shape`` is that of the marks on the frames, empty where nobody is marked."""
    if shape:
        name, text = "characters", render("stage1/characters", mark=shape, characters=". ".join(told))
    elif told:
        name, text = "characters-listed", render("stage1/characters-listed", characters=". ".join(told))
    else:
        return _step("characters-unmarked")
    return _heading_and_text(text, name)


def _step(name: str) -> tuple[str, str]:
    return _heading_and_text(render(f"stage1/{name}"), name)


def _heading_and_text(text: str, name: str) -> tuple[str, str]:
    heading, _, instruction = text.partition("\n\n")
    if not instruction.strip() or "\n" in heading:
        raise PromptError(
            f"The prompt stage1/{name} does not begin with a heading: {text.splitlines()[:1]}.",
            "Write the heading, an empty line, then the instruction.",
        )
    return heading.strip(), instruction.strip()


def _closing(shape: str, threads: Sequence[tuple[int, ...]], settings: PromptSettings) -> str:
    """The note on circles and the thread sentence, in the order set; an empty line where neither is."""
    note = [render("stage1/circles", marks=PLURALS[shape])] if shape else []
    claims = " and ".join(render("stage1/thread", shots=name_shots(t)) for t in threads)
    sentence = [render("stage1/threads", threads=claims)] if threads else []
    return "\n".join(sentence + note if settings.by_rules.thread_sentence_first else note + sentence)


Form = Literal["single", "several"]


@dataclass(frozen=True, slots=True)
class Stage2Prompt:
    """What Stage II is asked, and the JSON schema of its answer."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]


def stage2_messages(
    description: Description,
    budget: int,
    settings: PromptSettings,
    *,
    seed: int,
    candidates: int = 1,
    examples: Sequence[str] = (),
    expected_words: int | None = None,
    story: str = "",
    presence: Presence = NOBODY,
    language: str = "en",
) -> Stage2Prompt:
    """What Stage II is asked: one line of at most ``budget`` words, or up to ten alternatives.

    The example lines are drawn by (seed, slot id) from ``examples``, else from those that the settings
    name. ``expected_words`` is the length that they have where they are chosen by length; one less than the
    budget if None. ``story`` is what is known of the film besides the clip (`shotad.description.story`),
    ``presence`` who of the cast is on the clip's frames. ``language`` is the tag of that in which lines are
    wanted; the prompt is English, and the budget, in English words, is told in what takes as long to say.

    Raises PromptError for a template that cannot be filled in, ConfigError for an example file that cannot
    be read, UsageError for a tag that is none.
    """
    form: Form = "single" if candidates == 1 else "several"
    wanted = max(1, budget - 1 if expected_words is None else expected_words)
    chance = random.Random(f"{seed}/{description.slot_id}")
    drawn = draw(tuple(examples) or load_examples(settings), settings, wanted, chance)
    user = render(
        "stage2/user",
        medium=settings.medium,
        goal=_in_number("stage2/goal", candidates),
        stress=render("stage2/stress") if settings.by_rules.stress_steps else "",
        note=without_untold(note_block("stage2/note", settings), presence),
        story=block(story),
        people=called_block(description.text, presence, settings),
        description=description.text,
        verbs=", ".join(settings.verbs),
        view=_in_number("stage2/view", candidates),
        budget=str(budget_in(language, budget)),
        each=render("stage2/each") if candidates > 1 else "",
        language=""
        if is_english(language)
        else f"\n{render('stage2/language', language=language_of(language).name)}",
        template=json.dumps(dict.fromkeys(answer_keys(candidates), "..."), ensure_ascii=False),
        examples=_show_examples(drawn, form, language),
    )
    system = render("stage2/system" if candidates == 1 else "stage2/system-several", medium=settings.medium)
    messages = (Message("system", system), question(user))
    return Stage2Prompt(messages, answer_schema(candidates))


def answer_keys(candidates: int) -> tuple[str, ...]:
    """Keys of Stage II's JSON answer: ``summarized_AD``, or numbered from 1 for several candidates."""
    if candidates == 1:
        return ("summarized_AD",)
    return tuple(f"summarized_AD_{k}" for k in range(1, candidates + 1))


def answer_schema(candidates: int) -> dict[str, Any]:
    """The JSON schema of an answer that holds so many lines."""
    return form_of({key: {"type": "string"} for key in answer_keys(candidates)})


def _in_number(name: str, candidates: int) -> str:
    """The template for one line, or that for several with their number in words."""
    if candidates == 1:
        return render(f"{name}-single")
    return render(f"{name}-several", count=COUNTS[candidates])


def _show_examples(examples: Sequence[str], form: Form, language: str) -> str:
    """One to a line, as the answer that is asked for where that holds a single line."""
    if not examples:
        return ""
    shown = [
        json.dumps({"summarized_AD": e}, ensure_ascii=False) if form == "single" else e for e in examples
    ]
    if not is_english(language) and looks_english(examples):
        name = f"stage2/examples-{form}-language"
        return render(name, examples="\n".join(shown), language=language_of(language).name)
    return render(f"stage2/examples-{form}", examples="\n".join(shown))


EXAMPLES = "stage2/examples"

COLUMNS = ("text_gt_wo_char", "text", "text_gt")
"""Columns of a CSV file that hold ADs; the first that is there is used, one without characters rather."""


def load_examples(settings: PromptSettings) -> tuple[str, ...]:
    """The AD lines that examples are drawn from: those of ``example_file``, else ours.

    A file is read once for as long as it stays the same. Raises ConfigError for a file that cannot be read
    or holds no line, PromptError for built-in examples that are missing.
    """
    if settings.example_file:
        path = Path(settings.example_file).expanduser()
        try:
            state = path.stat()
        except OSError as error:
            raise _unreadable(path, error) from None
        return _lines_of_file(path, state.st_mtime_ns, state.st_size)
    return tuple(_text_lines(prompt_text(EXAMPLES)))


def draw(pool: Sequence[str], settings: PromptSettings, words: int, chance: random.Random) -> list[str]:
    """``example_count`` lines of ``pool`` for a line of about ``words`` words, by ``example_choice``.

    ``random``: any, each once. ``length``: each once, within one word of the length; where they are too
    few, the nearest lengths come in, one word at a time. ``published``: within one word, drawn with
    replacement, or from all where fewer than the count are.
    """
    count = settings.example_count
    if settings.by_rules.example_choice == "random":
        return chance.sample(list(pool), min(count, len(pool)))
    if settings.by_rules.example_choice == "length":
        near = _nearest(pool, words, count)
        return chance.sample(near, min(count, len(near)))
    near = [line for line in pool if abs(count_words(line) - words) <= 1]
    drawn_from = near if len(near) >= count else list(pool)
    return chance.choices(drawn_from, k=count) if drawn_from else []


def _nearest(pool: Sequence[str], words: int, count: int) -> list[str]:
    """The lines within one word of the length, or within as many more as ``count`` lines take."""
    distances = [abs(count_words(line) - words) for line in pool]
    enough = sorted(distances)[:count]
    reach = max(1, enough[-1]) if enough else 1
    return [line for line, distance in zip(pool, distances, strict=True) if distance <= reach]


@lru_cache(maxsize=8)
def _lines_of_file(path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    lines = tuple(_csv_lines(path, text) if path.suffix.lower() == ".csv" else _text_lines(text))
    if not lines:
        raise ConfigError(f"The example file {path} holds no line.", _WANTED)
    return lines


def _text_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield " ".join(line.split())


def _csv_lines(path: Path, text: str) -> Iterator[str]:
    header = text.partition("\n")[0]
    separator = max(",;\t", key=header.count)
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
    for row in rows:
        line = " ".join((row[column or ""] or "").split())
        if line:
            yield line


_WANTED = "Give a text file with an AD in each line, or a CSV file with a column named text."


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"The example file {path} cannot be read: {error}.", _WANTED)


def check_prompts(*more: str) -> None:
    """Raise PromptError if any template of Stage I or II, edited perhaps, cannot be filled in.

    ``more`` are the folders of other prompts that will be wanted.
    """
    for folder in ("material", "stage1", "stage2", *more):
        check_templates(
            {name: variables_in(text) for name, text in shipped_prompts(folder).items() if name != EXAMPLES}
        )
    # Raise PromptError where the template of a step has no heading
    for step in ("characters", "characters-listed", "characters-unmarked", *STEPS[1:], *FACTORS):
        _heading_and_text(prompt_text(f"stage1/{step}"), step)
