"""What the two models are asked: Stage I turns frames into a description, Stage II that into a line.

The content follows Algorithms 1 and 2 of Shot-by-Shot; the words are ours and stand in ``prompts/``. Nothing
here calls a model. Shot-by-Shot shows Stage II ten ADs of the training set, any ten by its text, by its code
character-free ones of about the expected length; ours are our own (``prompts/stage2/examples.txt``).
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    Config,
    ConfigError,
    Description,
    FramePlan,
    Grammar,
    Message,
    PromptError,
    PromptSettings,
    Role,
    ShotLabel,
    is_english,
    language_of,
    prompt_text,
    read_text_file,
    shipped_prompts,
)
from shotad.description.slotplan import (
    PLURALS,
    SHAPES,
    SlotPlan,
    called_block,
    heard_block,
    people_told,
    without_untold,
)
from shotad.description.templates import (
    COUNTS,
    block,
    check_templates,
    form_of,
    name_shots,
    note_block,
    question,
    render,
)
from shotad.description.wording import looks_english
from shotad.film import word_budget
from shotad.script import budget_text, count_words

Factor = Literal["face", "object", "environment"]

STEPS = ("characters", "actions", "interactions")
FACTORS: tuple[Factor, ...] = ("face", "object", "environment")
MIDDLING_SCALE = 2.0
"""Effective scale where no current shot's scale is known: that of medium shots."""


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
    plan: SlotPlan, config: Config, *, hears: bool = False
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """What Stage I is asked about the shots shown, and the headings that its answer has, in order; ``hears``:
    sound is given too. Raises PromptError."""
    settings, marks = config.prompt, config.overlay.characters
    factors = factors_for(effective_scale(plan.grammar, plan.frames), settings)
    told = people_told(plan.presence, settings, marks, plan.current)
    circled = marks != "none" and (bool(told) or settings.by_rules.circle_note == "always")
    shape = SHAPES[marks] if circled else ""
    # Who the characters are; nobody is marked where there is no shape
    if shape:
        first = _step("characters", mark=shape, characters=". ".join(told))
    else:
        first = (
            _step("characters-listed", characters=". ".join(told)) if told else _step("characters-unmarked")
        )
    steps = [first, *(_step(name) for name in (*STEPS[1:], *factors))]
    headings = tuple(heading for heading, _ in steps)
    shown = {frames.number for frames in plan.frames}
    within = (tuple(n for n in thread if n in shown) for thread in plan.grammar.threads)
    threads = [thread for thread in within if len(thread) > 1]
    # The note on circles and the thread sentence, in the order set; an empty line where neither is
    closing = [render("stage1/circles", marks=PLURALS[shape])] if shape else []
    if threads:
        claims = " and ".join(render("stage1/thread", shots=name_shots(thread)) for thread in threads)
        place = 0 if settings.by_rules.thread_sentence_first else len(closing)
        closing.insert(place, render("stage1/threads", threads=claims))
    text = render(
        "stage1/base",
        medium=settings.medium,
        labels=shot_labels(plan.frames, config.overlay.label)
        + (f" {render('stage1/sound')}" if hears else ""),
        note=without_untold(note_block("stage1/note", settings), plan.presence),
        heard=heard_block(plan.heard, plan.presence, settings),
        shots=name_shots(plan.current),
        count=COUNTS[len(steps)],
        steps="\n".join(f"{i}. {instruction}" for i, (_, instruction) in enumerate(steps, 1)),
        closing="\n".join(closing),
        template=stage1_form(headings) + (f"\n{render('stage1/answer-threads')}" if threads else ""),
    )
    return (question(text, with_clip=True),), headings


def stage1_form(headings: Sequence[str]) -> str:
    """How an answer with these headings looks."""
    steps = [render("stage1/answer-step", number=str(i), heading=h) for i, h in enumerate(headings, 1)]
    return render("stage1/answer", steps="\n".join(steps))


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


def _step(name: str, **values: str) -> tuple[str, str]:
    return _heading_and_text(render(f"stage1/{name}", **values), name)


def _heading_and_text(text: str, name: str) -> tuple[str, str]:
    heading, _, instruction = text.partition("\n\n")
    if not instruction.strip() or "\n" in heading:
        raise PromptError(
            f"The prompt stage1/{name} does not begin with a heading: {text.splitlines()[:1]}.",
            "Write the heading, an empty line, then the instruction.",
        )
    return heading.strip(), instruction.strip()


def stage2_messages(
    description: Description, plan: SlotPlan, config: Config, *, story: str = "", examples: Sequence[str] = ()
) -> tuple[Message, ...]:
    """What Stage II is asked: one line within the budget of the slot, or up to ten alternatives.

    The example lines are drawn by (seed, slot id) from ``examples``, else from those that the settings name.
    ``story`` is what is known of the film besides the clip. The prompt is English whatever lines are wanted
    in; the budget, in English words, is told in what takes as long to say.

    Raises PromptError, ConfigError for an example file that cannot be read, UsageError for a wrong tag.
    """
    settings, slots, candidates = config.prompt, config.slots, config.stage2.lines_an_answer
    language, budget, seconds = config.language, plan.slot.max_words, plan.slot.interval.duration
    # Examples are as long as the published rule has it; where another time than the slot gave the budget, one
    # word less than that.
    wanted = budget - 1
    if slots.budget != "fit" and budget == word_budget(seconds, slots):
        wanted = round(seconds / slots.seconds_per_word)
    chance = random.Random(f"{config.seed}/{description.slot_id}")
    drawn = draw(tuple(examples) or load_examples(settings), settings, max(1, wanted), chance)
    tongue = "" if is_english(language) else render("stage2/language", language=language_of(language).name)
    user = render(
        "stage2/user",
        medium=settings.medium,
        goal=_in_number("stage2/goal", candidates),
        stress=render("stage2/stress") if settings.by_rules.stress_steps else "",
        note=without_untold(note_block("stage2/note", settings), plan.presence),
        story=block(story),
        people=called_block(description.text, plan.presence, settings),
        description=description.text,
        verbs=", ".join(settings.verbs),
        view=_in_number("stage2/view", candidates),
        budget=budget_text(language, budget),
        each=render("stage2/each") if candidates > 1 else "",
        language=f"\n{tongue}" if tongue else "",
        template=answer_form(candidates),
        examples=_show_examples(drawn, candidates, language),
    )
    system = render("stage2/system" if candidates == 1 else "stage2/system-several", medium=settings.medium)
    return Message("system", system), question(user)


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


def _in_number(name: str, candidates: int) -> str:
    """The template for one line, or that for several with their number in words."""
    if candidates == 1:
        return render(f"{name}-single")
    return render(f"{name}-several", count=COUNTS[candidates])


def _show_examples(examples: Sequence[str], candidates: int, language: str) -> str:
    """One to a line, as the answer that is asked for where that holds a single line."""
    if not examples:
        return ""
    form, shown = "several", list(examples)
    if candidates == 1:
        form, shown = "single", [json.dumps({"summarized_AD": e}, ensure_ascii=False) for e in examples]
    if not is_english(language) and looks_english(examples):
        name = f"stage2/examples-{form}-language"
        return render(name, examples="\n".join(shown), language=language_of(language).name)
    return render(f"stage2/examples-{form}", examples="\n".join(shown))


EXAMPLES = "stage2/examples"

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
        # Within one word of the length, or within as many more as ``count`` lines take
        distances = [abs(count_words(line) - words) for line in pool]
        reach = max([1, *sorted(distances)[:count]])
        near = [line for line, away in zip(pool, distances, strict=True) if away <= reach]
        return chance.sample(near, min(count, len(near)))
    near = [line for line in pool if abs(count_words(line) - words) <= 1]
    drawn_from = near if len(near) >= count else list(pool)
    return chance.choices(drawn_from, k=count) if drawn_from else []


@lru_cache(maxsize=8)
def _lines_of_file(path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    text = read_text_file(path, "prompt", ConfigError, hint=_WANTED, encoding="utf-8").text
    lines = tuple(_text_lines(text))
    if path.suffix.lower() == ".csv":
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
        lines = tuple(filter(None, texts))
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


def check_prompts(*more: str) -> None:
    """Raise PromptError if a template of Stage I or II, or of the folders ``more``, cannot be filled in."""
    for folder in ("material", "stage1", "stage2", *more):
        shipped = shipped_prompts(folder)
        check_templates({name: text for name, text in shipped.items() if name != EXAMPLES})
    # The template of each step has a heading
    for step in ("characters", "characters-listed", "characters-unmarked", *STEPS[1:], *FACTORS):
        _heading_and_text(prompt_text(f"stage1/{step}"), step)
