"""A listener's question about a film that stands still: answered from what is known of it up to that moment.

What is known are the records of the run: lines that have been spoken, dialogue, texts on the screen, people
of the cast, Stage I's descriptions, the memory of the story. A model that sees pictures also gets the last
frames. Nothing that ends after the moment is used, and no name that the film reveals later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from shotad.core import Clip, Config, Engine, NoProgress, Progress, Reply, Request, Utterance, WorkFolder
from shotad.core.cast import Presence
from shotad.core.config.languages import language_of
from shotad.core.config.words import SamplingSettings
from shotad.core.engine import TextKind
from shotad.core.errors import EngineError, UsageError, WorkFolderError, quoted
from shotad.core.records import utterances_of
from shotad.core.runsettings import RunSettings, run_config_with_changes
from shotad.core.types import SpeechKind
from shotad.core.workfolder import hash_key, read_record
from shotad.description.answer_text import is_error_report, is_nothing, without_thoughts
from shotad.description.answers import contains_refusal, plain, unescaped_json
from shotad.description.engine_pair import Engines, prepare_engine
from shotad.description.english_words import content_of, letters_of
from shotad.description.seeds import slot_seed
from shotad.description.slot_redo import read_rows
from shotad.description.slotplan import hide_names
from shotad.description.stage_answers import Stage1Answer
from shotad.description.story import StoryMemory
from shotad.description.templates import cut_to_words, form_of, prompt_messages, tokens_in
from shotad.description.worksheet.people import SeenPeople, seen_people
from shotad.engines import AnswerLog, AskingPool, ClipOnDemand
from shotad.engines.answer_log import ANSWERS_RECORD
from shotad.film import Film, vlm_size
from shotad.script import load_track
from shotad.script.cue import timecode
from shotad.script.track_files import TRACK

MomentKind = Literal["line", "dialogue", "text", "people", "description"]

KIND_WORDS: dict[MomentKind, str] = {
    "line": "described",
    "dialogue": "said",
    "text": "text on the screen",
    "people": "on the screen",
    "description": "seen by the model",
}
"""How a prompt and a result name the kinds of moments."""

FRAME_SECONDS, FRAME_STEP = 8.0, 1.0
"""Seconds of film before the moment that a model sees, and between two of its frames: who comes in does so
within a few seconds, and a model of this machine takes about ten pictures."""
LATEST_TOKENS, RELEVANT_TOKENS = 1200, 1200
"""Tokens of the moments just before, and of earlier ones that share words with the question: a few pages, of
which small models still find what matters."""
MOST_NAMED = 8
"""Moments that an answer may rest on; more are no evidence that a listener can check."""
ANSWER_TOKENS, ANSWER_WORDS = 300, 60
"""Longest answer: two sentences, in 20 seconds of speech."""
ATTEMPTS = 2
"""How often an engine is asked, where its answer cannot be read."""
MIN_TEXT_CONFIDENCE = 0.975
"""Texts on the screen that were read less surely are left out, as the embedded narrator leaves them out."""
SAME_APPEARANCE = 3.0
"""Seconds for which somebody may be out of sight, a shot of another person long, and is not named again."""


@dataclass(frozen=True, slots=True)
class FilmMoment:
    """Something that is known of ``[start, end)``, film seconds, and ``text``, which says it."""

    kind: MomentKind
    start: float
    end: float
    text: str

    @property
    def when(self) -> str:
        """When it began, ``0:12:25``."""
        return timecode(self.start)

    @property
    def what(self) -> str:
        """Its kind in words."""
        return KIND_WORDS[self.kind]


@dataclass(frozen=True, slots=True)
class FilmAnswer:
    """An answer to a question about a film at second ``at``.

    Attributes:
        text: The answer, ready to be spoken.
        moments: What it rests on, in the film's order.
        at: Film second at which the film stands still; nothing of later was used.
        engine: The model that answered; empty where the records alone did.
        saw_frames: Whether the model was shown the frames before the moment.
    """

    text: str
    moments: tuple[FilmMoment, ...]
    at: float
    engine: str = ""
    saw_frames: bool = False


def asking_config(
    run: RunSettings, track_language: str, *, engine: str | None = None, assignments: Sequence[str] = ()
) -> Config:
    """The settings with which questions about a described film are answered.

    The answer is in the language of the track, unless ``assignments`` (``KEY=VALUE``) name another. Raises
    ConfigError as `run_config_with_changes`.
    """
    in_track_language = (f"language={track_language}", *assignments)
    return run_config_with_changes(run, engine=engine, assignments=in_track_language)


class FilmQuestions:
    """Answers questions about one film.

    ``film`` is None where only its work folder is at hand; then no frames are shown. ``at`` is a film second,
    None the end of what the records hold. Raises UsageError for a moment outside the film, WorkFolderError,
    ScriptError for records that are missing or damaged.
    """

    def __init__(
        self, film: Film | None, folder: WorkFolder, config: Config, *, at: float | None = None
    ) -> None:
        self._film, self._folder, self._config = film, folder, config
        shots = read_record(folder.path / "shots.json")
        if shots is None or not (folder.path / TRACK).is_file():
            raise WorkFolderError(f"{folder.path} holds no description.", "Run shotad describe first.")
        end = float(shots["end"])
        is_number = isinstance(at, Real) and not isinstance(at, bool)
        self.at = end if at is None else float(at) if is_number else math.nan
        if not 0 < self.at <= end:
            raise UsageError(
                f"{quoted(at)} s is no moment at which something has been seen: the film lasts "
                f"{timecode(end)}.",
                "Give a time after its start and not after its end.",
            )
        self._film_name = load_track(folder.path / TRACK).film.name
        info = film.info if film is not None else None
        self._people = seen_people(folder.path, config, info.fingerprint if info else "", info)
        cast = [member.character(self._film_name, self.at) for member in self._people.members.values()]
        self._presence = Presence(cast=tuple(character for character in cast if character is not None))
        self.moments = self._known_moments()
        """All that is known up to ``at``, in the film's order."""

    def answer(self, question: str, engine: Engine | None) -> FilmAnswer:
        """The answer of ``engine``, whose identity is final; of the records alone where it is None.

        Raises UsageError for an empty question, EngineError where the engine fails or will not answer.
        """
        question = " ".join(question.split())
        if not any(character.isalnum() for character in question):
            raise UsageError("There is no question.", 'Ask one, such as "Who is in the room?"')
        if engine is None:
            return self._answer_from_records(question)
        return self._answer_of_engine(question, engine)

    # What is known

    def _known_moments(self) -> tuple[FilmMoment, ...]:
        folder = self._folder.path
        moments = [
            # What has been spoken to its end is no secret, whatever it tells.
            FilmMoment("line", cue.interval.start, cue.interval.end, cue.text)
            for cue in load_track(folder / TRACK).heard
            if cue.interval.end <= self.at
        ]
        speech = read_record(folder / "speech.json")
        utterances = utterances_of(speech["speech"]) if speech else ()
        moments += self._dialogue(utterances)
        for row in read_rows(self._folder, "stage1"):
            # A record that was damaged tells nothing; the others still do.
            with suppress(KeyError, ValueError, TypeError, AttributeError, IndexError):
                moments += self._stage1_moments(Stage1Answer.from_json(row))
        moments += self._appearances(self._people)
        in_order = sorted(moments, key=lambda moment: (moment.start, moment.end, moment.text))
        # The same text of two slots is one moment, read in the clips of both.
        return tuple(dict.fromkeys(in_order))

    def _dialogue(self, utterances: Sequence[Utterance]) -> list[FilmMoment]:
        """What has been said to its end. Labels of speakers are left out: they may name people early."""
        return [
            FilmMoment(
                "dialogue", utterance.interval.start, utterance.interval.end, " ".join(utterance.text.split())
            )
            for utterance in utterances
            if utterance.text.strip()
            and utterance.kind is not SpeechKind.LYRICS
            and utterance.interval.end <= self.at
        ]

    def _stage1_moments(self, answer: Stage1Answer) -> list[FilmMoment]:
        """The texts that Stage I read in a clip, or its description."""
        if answer.facts is not None:
            moments = []
            for text in answer.facts.texts:
                readable = text.first if text.since is None else text.since
                if text.kind not in _TOLD_TEXTS or text.sure < MIN_TEXT_CONFIDENCE:
                    continue
                if readable < self.at:
                    end = min(text.last, self.at)
                    moments.append(FilmMoment("text", text.first, max(end, readable), text.text))
            return moments
        # A clip has shots after its slot too: only one that was over is told.
        clip_end = max((shot.interval.end for shot in answer.shots), default=math.inf)
        if answer.error is not None or clip_end > self.at:
            return []
        description = hide_names(" ".join(answer.description.text.split()), self._presence)
        return [FilmMoment("description", answer.interval.start, answer.interval.end, description)]

    def _appearances(self, people: SeenPeople) -> list[FilmMoment]:
        """When somebody of the cast was on the screen, under what they may be called at ``at``."""
        times: dict[str, list[tuple[float, float]]] = {}
        for faces in people.faces.values():
            for face in faces:
                if face.member and face.first < self.at:
                    times.setdefault(face.member, []).append((face.first, min(face.last, self.at)))
        called = {character.id: character.called for character in self._presence.cast}
        moments = []
        for member, intervals in times.items():
            if not called.get(member):
                continue
            appearances: list[tuple[float, float]] = []
            for first, last in sorted(intervals):
                if appearances and first - appearances[-1][1] <= SAME_APPEARANCE:
                    appearances[-1] = (appearances[-1][0], max(appearances[-1][1], last))
                else:
                    appearances.append((first, last))
            moments += [FilmMoment("people", first, last, called[member]) for first, last in appearances]
        return moments

    # Who answers

    def _answer_from_records(self, question: str) -> FilmAnswer:
        """The latest of each kind, for no model reads the question."""
        latest = {moment.kind: moment for moment in self.moments}
        on_screen = [
            moment
            for moment in self.moments
            if moment.kind == "people" and moment.end >= self.at - FRAME_SECONDS
        ]
        moments = [*on_screen]
        sentences = []
        if on_screen:
            names = ", ".join(dict.fromkeys(moment.text for moment in on_screen))
            sentences.append(f"On the screen in the last {FRAME_SECONDS:.0f} seconds: {names}.")
        for kind, words in _LATEST_WORDS.items():
            moment = latest.get(kind)
            if moment is not None:
                moments.append(moment)
                sentences.append(f"{words}, at {moment.when}: {moment.text}")
        if not sentences:
            sentences.append("Nothing was described, said or read up to this moment.")
        in_order = sorted(moments, key=lambda moment: moment.start)
        return FilmAnswer("\n".join(sentences), tuple(in_order), self.at)

    def _answer_of_engine(self, question: str, engine: Engine) -> FilmAnswer:
        shows_frames = self._film is not None and engine.abilities.accepts_images
        chosen = self._moments_for(question)
        messages = prompt_messages(
            "ask",
            with_clip=shows_frames,
            now=timecode(self.at),
            frames=shows_frames,
            seconds=f"{min(FRAME_SECONDS, self.at):.0f}",
            memory=self._memory_of(question),
            moments=chosen,
            question=question,
            language=language_of(self._config.language).name,
            most=MOST_NAMED,
            answer_form=json.dumps({"answer": "...", "moments": ["..."]}),
        )
        request = Request(
            slot_id=f"ask{round(1000 * self.at):08d}",
            messages=messages,
            sampling=SamplingSettings(max_tokens=ANSWER_TOKENS),
            seed=slot_seed(self._config.seed, f"ask/{question}"),
            schema=_SCHEMA,
            timed=shows_frames,
        )
        clip = self._clip() if shows_frames else None
        answers = AnswerLog(self._folder.log_of_records(ANSWERS_RECORD))
        with AskingPool({"stage1": engine}, answers) as pool:
            for attempt in range(ATTEMPTS):
                request = replace(request, seed=slot_seed(request.seed, f"{attempt}"))
                reply = pool.ask("stage1", request, clip)
                parsed = _parse_answer(reply)
                if parsed is not None:
                    break
                pool.forget("stage1", [request], clip)
        name = engine.identity.model or engine.identity.engine
        if parsed is None:
            raise EngineError(
                f"{name} did not answer: {reply.error or quoted(reply.text) or 'its answer is empty'}",
                "Ask again in other words, or another model: shotad ask --engine NAME.",
            )
        text, numbers = parsed
        # A model may know the film, and a name that comes later with it.
        text = hide_names(cut_to_words(text, ANSWER_WORDS), self._presence)
        moments = [chosen[number - 1] for number in numbers if 0 < number <= len(chosen)]
        return FilmAnswer(text, tuple(moments[:MOST_NAMED]), self.at, name, shows_frames)

    def _moments_for(self, question: str) -> list[FilmMoment]:
        """The latest moments, and earlier ones that share words with the question, in the film's order."""
        tokens_left = LATEST_TOKENS
        chosen: set[int] = set()
        for number in reversed(range(len(self.moments))):
            tokens_left -= tokens_in(self.moments[number].text)
            if tokens_left < 0:
                break
            chosen.add(number)
        words = frozenset(content_of(question))
        shared = {
            number: len(words & frozenset(content_of(moment.text)))
            for number, moment in enumerate(self.moments)
            if number not in chosen
        }
        tokens_left = RELEVANT_TOKENS
        for number in sorted(shared, key=lambda number: (shared[number], number), reverse=True):
            tokens_left -= tokens_in(self.moments[number].text)
            if not shared[number] or tokens_left < 0:
                break
            chosen.add(number)
        return [self.moments[number] for number in sorted(chosen)]

    def _memory_of(self, question: str) -> str:
        """What the memory of the story had at this moment on the question."""
        memory = StoryMemory.at(read_rows(self._folder, "story"), self.at)
        return hide_names(memory.relevant_to(question), self._presence)

    def _clip(self) -> ClipOnDemand:
        """The frames of the last seconds; the last one is what stands on the screen."""
        film = self._film
        assert film is not None, "without a film no frames are shown"
        first = max(0.0, self.at - FRAME_SECONDS)
        # Backwards from the moment: a frame that begins with it is not on the screen yet.
        seconds = np.arange(self.at - _JUST_BEFORE, first, -FRAME_STEP)[::-1]
        size = vlm_size(film.info.width, film.info.height, self._config.frames)

        def read() -> Clip | None:
            frames = list(film.frames_at([float(second) for second in seconds]))
            if not frames:
                return None
            images = np.stack([frame.rgb(size) for frame in frames])
            moments = np.array([frame.seconds for frame in frames], dtype=np.float64)
            return Clip(images, moments, np.zeros(len(frames), dtype=np.int64))

        key = hash_key("ask/1", film.info.fingerprint, [float(second) for second in seconds], size)
        return ClipOnDemand(key, read)


_LATEST_WORDS: dict[MomentKind, str] = {
    "line": "Last described",
    "dialogue": "Last said",
    "text": "Last text on the screen",
}
"""How an answer from the records names the kinds of which it gives the latest."""

_TOLD_TEXTS: tuple[TextKind, ...] = ("title", "caption", "scene")
"""Subtitles are dialogue; credits tell nothing of the story."""

_JUST_BEFORE = 0.001
"""Seconds before the moment at which its last frame is taken."""

_SCHEMA = form_of(
    {"answer": {"type": "string"}, "moments": {"type": "array", "items": {"type": "integer"}}},
)


def _parse_answer(reply: Reply) -> tuple[str, list[int]] | None:
    """The answer and the numbers of its moments; None for a reply that cannot be used.

    Words without JSON are an answer that rests on no moment: small models write no JSON.
    """
    if reply.error is not None or reply.finish == "refused":
        return None
    body = unescaped_json(without_thoughts(reply.text))
    text, numbers = body, []
    start = body.find("{")
    if start >= 0:
        try:
            record, _ = json.JSONDecoder(strict=False).raw_decode(body, start)
        except (ValueError, RecursionError):
            return None
        if not isinstance(record.get("answer"), str):
            return None
        text = record["answer"]
        named = record.get("moments")
        # Not isinstance: True and False are ints too.
        numbers = [number for number in named if type(number) is int] if isinstance(named, list) else []
    text = " ".join(plain(text).split())
    if is_nothing(text) or is_error_report(text) or contains_refusal(text) or not letters_of(text):
        return None
    return text, sorted(dict.fromkeys(numbers))


def answering_engine(engines: Engines, progress: Progress | None = None) -> Engine | None:
    """The engine that answers questions: the one that sees pictures, else the one that writes, ready to be
    asked; None where neither reads questions. Raises EngineError, WeightsError."""
    for engine in (engines.stage1, engines.stage2):
        if engine.abilities.converses:
            prepare_engine(engine, progress or NoProgress())
            return engine
    return None


def answer_json(answer: FilmAnswer) -> dict[str, Any]:
    """An answer for programs."""
    return {
        "answer": answer.text,
        "at": answer.at,
        "engine": answer.engine,
        "saw_frames": answer.saw_frames,
        "moments": [
            {"kind": moment.kind, "start": moment.start, "end": moment.end, "text": moment.text}
            for moment in answer.moments
        ],
    }
