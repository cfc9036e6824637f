"""Shorter lines: the engine of Stage II is asked where a spoken line does not fit and no whole phrase can go.

Every answer is kept with those of the run, so that a second render does not ask about the same line again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

from shotad.core import (
    Config,
    Engine,
    Message,
    Progress,
    Request,
    WorkFolder,
)
from shotad.core.config.languages import is_english
from shotad.core.errors import EngineError, ScriptError
from shotad.description import checks
from shotad.description.answers import parse_stage2
from shotad.description.engine_pair import Engines, prepare_engine
from shotad.description.english_words import content_of, subject_and_verb, words_of
from shotad.description.prompts import answer_form, answer_keys, answer_schema, check_prompts
from shotad.description.seeds import slot_seed
from shotad.description.templates import prompt_messages
from shotad.engines import (
    AnswerLog,
    AskingPool,
    Memory,
    NoMemory,
    StageUsage,
    make_engine,
    stage_engines,
)
from shotad.engines.answer_log import ANSWERS_RECORD, answer_key
from shotad.script.english_words import DETERMINERS
from shotad.script.fit import (
    ShortenedLine,
    ShortenRequest,
    bare_word,
    capitals_are_names,
    with_native_punctuation,
)
from shotad.script.names import names_in
from shotad.script.pace import budget_text
from shotad.script.rules import quotations

PURPOSE = "shorten"
"""Of the answers in the log; see `AnswerLog`."""


class Shortener:
    """Asks a ready engine for shorter lines (a `Shorten`); ``memory`` keeps its replies."""

    def __init__(self, engine: Engine, config: Config, memory: Memory | None = None) -> None:
        self._engine = engine
        self._config = config
        self._memory = memory or NoMemory()
        self.usage = StageUsage()
        """What the engine was asked so far, for the bill."""
        self.trouble = ""
        """Why the engine stopped answering, where it did; nothing more is asked of it then."""

    def __call__(self, wishes: Sequence[ShortenRequest]) -> list[ShortenedLine | None]:
        """An answer to each wish, in order; None where the engine has none. Raises WorkFolderError."""
        with AskingPool({"stage2": self._engine}, self._memory) as pool:
            shorten = partial(self._shorten, pool)
            answers = list(pool.map(shorten, wishes, workers=pool.workers("stage2")))
        self.usage += pool.usage["stage2"]
        return answers

    def _shorten(self, pool: AskingPool, wish: ShortenRequest) -> ShortenedLine | None:
        """The engine's line for ``wish``, and what is wrong with it by the rules as they are now."""
        before = wish.previous.text if wish.previous else ""
        request = Request(
            slot_id=wish.id,
            messages=shorter_messages(wish, self._config),
            budget=wish.words,
            sampling=self._config.stage2.sampling,
            seed=slot_seed(self._config.seed, f"{wish.id}/shorter/{wish.words}/{before}"),
            schema=answer_schema(1),
        )
        # Once the engine has failed, only what it answered in earlier runs is used.
        if self.trouble:
            reply = self._memory.get(answer_key(request, self._engine.identity))
        else:
            try:
                reply = pool.ask("stage2", request)
            except EngineError as error:
                self.trouble = str(error)
                return None
        if reply is None or reply.error is not None:
            return None
        try:
            texts = parse_stage2(reply.text, 1, cut=reply.finish == "length")
        except ScriptError:
            return None
        lines = [with_native_punctuation(text, wish.language) for text in texts]
        # A model that gives the question back has shortened nothing.
        lines = [*checks.original(lines, reply.text, request.messages, wish.text)]
        if not lines:
            return None
        return ShortenedLine(
            lines[0], tuple(complaint.text for complaint in complaints_about(lines[0], wish))
        )


def shorter_messages(wish: ShortenRequest, config: Config) -> tuple[Message, ...]:
    """The question; after an answer that was no use, the conversation goes on with what was wrong with it."""
    first = prompt_messages(
        "shorter",
        medium=config.prompt.medium,
        line=wish.text,
        budget=budget_text(wish.language, wish.words),
        answer_form=answer_form(1),
    )
    if wish.previous is None:
        return first
    complaints = [checks.Complaint("again", text) for text in wish.previous.complaints]
    if not complaints:
        max_words = budget_text(wish.language, wish.words)
        too_long = f"It takes too long to say. At most {max_words} may be used."
        complaints = [checks.Complaint("budget", too_long)]
    answer = dict(zip(answer_keys(1), [wish.previous.text], strict=True))
    reply = json.dumps(answer, ensure_ascii=False)
    about = [(wish.previous.text, tuple(complaints))]
    return checks.stage2_again(first, reply, about, candidates=1, number=1)


def complaints_about(line: str, wish: ShortenRequest) -> Iterator[checks.Complaint]:
    """What is wrong with ``line`` as a shorter form of the wish's; of the rules on words those count that the
    line itself kept."""
    broken = {
        complaint.rule for complaint in checks.complaints_about(wish.text, 10_000, language=wish.language)
    }
    for complaint in checks.complaints_about(line, wish.words, language=wish.language):
        if complaint.rule == "budget" or complaint.rule not in broken:
            yield complaint
    # What the answer says that the line does not, and the subject that it lost
    quotes = [line[start:end].strip("\"“”'‘’ .,") for start, end in quotations(line)]
    strange = [quote for quote in quotes if quote.lower() not in wish.text.lower()]
    if capitals_are_names(wish.language):
        words = {bare_word(word).removesuffix("'s") for word in wish.text.split()}
        strange += [
            name for name in names_in([line]) if not {bare_word(part) for part in name.split()} <= words
        ]
    if strange:
        listed = ", ".join(json.dumps(text, ensure_ascii=False) for text in strange)
        yield checks.Complaint(
            "name", f"You wrote {listed}. Say nothing that the sentence above does not say."
        )
    if not is_english(wish.language):
        return
    _, verb = subject_and_verb(wish.text)
    subject = {word.lemma for word in takewhile(lambda word: word.lemma != verb, words_of(wish.text))}
    if verb and subject and not subject & {word.lemma for word in words_of(line)} - DETERMINERS:
        yield checks.Complaint("who", "Keep who acts.")
    # Fewer than half of its words stand in the line that was to be shortened.
    content = content_of(line)
    if 2 * (content & content_of(wish.text)).total() < content.total():
        yield checks.Complaint("what", "It says something else. Say only what the sentence above says.")


def shortener(
    folder: WorkFolder, config: Config, progress: Progress, engines: Engines | None = None
) -> Shortener | None:
    """What asks for shorter lines, as ``fit.ask`` has it; None where nothing is asked.

    ``engines`` are those of a run that has just described the film. Raises EngineError if none reads prompts.
    """
    is_asked = config.fit.ask
    if is_asked is None:
        is_asked = engines is not None and engines.stage2.abilities.converses
    if not is_asked:
        return None
    engine = engines.stage2 if engines else make_engine(stage_engines(config).stage2, config, "stage2")
    check_prompts("shorter")
    if not engines:
        prepare_engine(engine, progress)
    if not engine.abilities.converses:
        raise EngineError(
            f"{engine.identity.engine} reads no prompts and cannot be asked for shorter lines.",
            "Name a language model: --set stage2.engine=openai, or leave --ask away.",
        )
    return Shortener(engine, config, AnswerLog(folder.log_of_records(ANSWERS_RECORD), PURPOSE))
