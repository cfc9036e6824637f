"""Stage II: a description and a word budget to an engine, one AD sentence back, or several to choose from.

Lines are asked for, read, checked, asked for again with what was wrong, and, where that is set, looked for
in the frames (`shotad.description.drafting`). Whatever comes of it stands in one record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shotad.core import Config, Description, Engine, Identity, Presence, Request, key_of
from shotad.description.ask import identity_record, request_record, slot_seed
from shotad.description.castlist import as_called
from shotad.description.conversation import Inquiry
from shotad.description.drafting import Draft, Question
from shotad.description.judging import Judge
from shotad.description.prompts import stage2_messages
from shotad.description.repair import REPAIR_TEMPLATES
from shotad.description.shownpeople import character_row
from shotad.description.slotplan import SlotPlan
from shotad.description.templates import prompt_hash
from shotad.description.verify import VERIFY_TEMPLATES
from shotad.film import word_budget
from shotad.script import cast_mentions

REPAIRS = tuple(name for name in REPAIR_TEMPLATES if name.startswith("stage2/"))
VERIFICATION = tuple(VERIFY_TEMPLATES)

__all__ = ["Question", "failed", "inquiry", "question"]


def question(
    plan: SlotPlan,
    description: Description,
    history: Sequence[str],
    engine: Engine,
    config: Config,
    *,
    story: str = "",
    looks: Identity | None = None,
    shown: str = "",
) -> Question:
    """The question; ``history`` are the last lines, given only to an engine that uses them.

    ``story`` is what is told of the film besides; ``looks`` is who verifies, where that is set, and
    ``shown`` the key of Stage I's record, which stands for the frames.
    """
    settings = config.stage2
    description = as_called(description, plan.presence, config.prompt)
    prompt = stage2_messages(
        description,
        plan.slot.max_words,
        config.prompt,
        seed=config.seed,
        candidates=settings.lines_an_answer,
        expected_words=_expected_words(plan, config),
        story=story,
        presence=plan.presence,
        language=config.language,
    )
    request = Request(
        slot_id=plan.slot.id,
        messages=prompt.messages,
        scene=plan.scene,
        budget=plan.slot.max_words,
        history=tuple(history)[-settings.history :] if settings.history else (),
        sampling=settings.sampling,
        seed=slot_seed(config.seed, plan.slot.id),
        schema=prompt.schema,
        notes=description.notes,
    )
    repairs = engine.abilities.converses and settings.repair != "none"
    how: list[Any] = [settings.candidates, settings.draw]
    if repairs:
        how += [settings.repair, settings.attempts, config.language, prompt_hash(REPAIRS)]
    how += _people_known(plan.presence, f"{description.text}\n{story}\n{config.prompt.note}")
    if config.verify.on and looks is not None:
        how += [config.verify, identity_record(looks), shown, prompt_hash(VERIFICATION)]
    key = key_of(how, request_record(request, engine.identity))
    return Question(plan, prompt, request, repairs, key, Judge(plan, config, description.text, story))


def _people_known(presence: Presence, told: str) -> list[Any]:
    """What a line's names are judged by: who is on the frames, and whom the question names. Nothing where
    that is nobody, so that a cast makes no line stale that it does not touch."""
    named = {mention.id for mention in cast_mentions(told, presence.cast)} | {c.id for c in presence.seen}
    return [character_row(c) for c in presence.cast if c.id in named]


def _expected_words(plan: SlotPlan, config: Config) -> int | None:
    """The length of the examples: by the published rule with the paper's budgets, else by the budget.

    A budget that was given by another time than the slot's (a padded slot of TV-AD has that of its human
    AD) says the length too.
    """
    slot, settings = plan.slot, config.slots
    if settings.budget != "paper" or slot.max_words != word_budget(slot.interval.duration, settings):
        return None
    return max(1, round(slot.interval.duration / settings.seconds_per_word))


def inquiry(asked: Question, engine: Engine, config: Config) -> Inquiry:
    """Asks for the lines of one slot until they can be used; returns its record."""
    draft = Draft(asked, config)
    yield from draft.written()
    if config.verify.on and draft.lines:
        yield from draft.verified()
    return draft.record(engine.identity)


def failed(record: Mapping[str, Any]) -> str | None:
    """Why Stage II has no line, or None where it answered (also with silence)."""
    return record["error"]  # type: ignore[no-any-return]
