"""Dialogue written down by a speech recogniser: `transcribe_dialogue`, and what a later run keeps of it.

The words are kept in ``transcript.json`` with their times. Utterances of ``speech.json`` that have no text
get theirs from there, now and whenever the speech is found again; subtitles that come later take their place.
``transcript.vtt`` has the same words as captions, to be corrected and given back with ``--subtitles``.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Config, Progress, RunInputs, Utterance, WorkFolder
from shotad.core.errors import UsageError
from shotad.core.progress import plural
from shotad.core.records import interval_rows, seconds, utterance_rows, utterances_of
from shotad.description.film_records import TRANSCRIPT, kept_words
from shotad.description.preparation import RunContext, film_speech
from shotad.film import Film
from shotad.film.transcript import (
    Recogniser,
    Word,
    captions,
    make_recogniser,
    transcribe,
    with_words,
    wordless,
)
from shotad.script.cue import timecode

CAPTIONS = "transcript.vtt"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What came of a transcription: all utterances of the film, and those that were given words by it."""

    recogniser: str
    speech: tuple[Utterance, ...]
    transcribed: tuple[Utterance, ...] = ()
    silent: int = 0
    """Utterances in which no words were heard."""
    is_new: bool = True
    """False where an earlier transcript holds all of it."""

    @property
    def summary(self) -> str:
        """What came of it, for people."""
        if not self.transcribed and not self.silent:
            return "Nothing to transcribe: all dialogue has words already, or nobody speaks."
        words = sum(len(utterance.text.split()) for utterance in self.transcribed)
        places = plural(len(self.transcribed), "place", "places")
        text = f"{plural(words, 'word')} of dialogue in {places}, by {self.recogniser}."
        if self.silent:
            silent_places = plural(self.silent, "other place", "other places")
            text += f" No words in {silent_places} where somebody speaks."
        return text if self.is_new else f"Transcribed before: {text}"


def transcribe_dialogue(
    film: Film,
    folder: WorkFolder,
    config: Config,
    progress: Progress,
    *,
    recogniser: Recogniser | None = None,
    force: bool = False,
) -> Transcript:
    """Give words to the speech that has none, and keep them; ``folder`` is open.

    Speech is that of ``speech.json``, with its times; a film without one is listened to first. ``force``:
    also where an earlier transcript has words. Raises UsageError where the recogniser is not installed.
    """
    recogniser = recogniser or make_recogniser(config.transcript)
    missing = recogniser.missing()
    if missing:
        raise UsageError(f"{missing}.")
    record = folder.read_json("speech.json")
    if record is None:
        record = _new_speech_record(film, folder, config, progress)
    speech = utterances_of(record["speech"])
    earlier = kept_words(folder, film.info.fingerprint)
    by_machine = _transcribed(speech, earlier)
    without_words = _without_text(speech, by_machine)
    gaining = wordless(without_words)
    if not gaining:
        return Transcript(recogniser.name, speech)
    made_with = {
        "film": film.info.fingerprint,
        "recogniser": recogniser.name,
        "language": config.transcript.language,
    }
    listened = interval_rows([utterance.interval for utterance in gaining])
    is_new = force or earlier is None or not _covers(folder.read_json(TRANSCRIPT) or {}, made_with, listened)
    if is_new:
        words = transcribe(film, gaining, recogniser, config.film.audio_track, progress)
        folder.write_json(TRANSCRIPT, {**made_with, "listened": listened, "words": _word_rows(words)})
    # As they read back, so that a later run gives each utterance the same words.
    words = kept_words(folder, film.info.fingerprint) or []
    utterances = with_words(without_words, words)
    folder.write_text(CAPTIONS, web_vtt(without_words, words, recogniser.name))
    folder.write_json("speech.json", {**record, "speech": utterance_rows(utterances)})
    pairs = zip(without_words, utterances, strict=True)
    listened_to = [after for before, after in pairs if before in gaining]
    transcribed = tuple(utterance for utterance in listened_to if utterance.text)
    folder.note(f"transcribed by {recogniser.name}: words in {len(transcribed)} of {len(listened_to)} places")
    return Transcript(recogniser.name, utterances, transcribed, len(listened_to) - len(transcribed), is_new)


def transcribed_utterances(
    folder: WorkFolder, fingerprint: str, utterances: Sequence[Utterance]
) -> frozenset[Utterance]:
    """Those of a film's utterances whose words a recogniser wrote down. Raises WorkFolderError."""
    return _transcribed(utterances, kept_words(folder, fingerprint))


def _new_speech_record(film: Film, folder: WorkFolder, config: Config, progress: Progress) -> dict[str, Any]:
    with RunContext.of(film, folder, config, RunInputs(), progress) as context:
        film_speech(context)
    return folder.read_json("speech.json") or {}


def _transcribed(utterances: Sequence[Utterance], words: Sequence[Word] | None) -> frozenset[Utterance]:
    """The utterances whose text is that of an earlier transcript, and of no subtitles."""
    if words is None:
        return frozenset()
    blank = [replace(utterance, text="") for utterance in utterances]
    pairs = zip(utterances, with_words(blank, words), strict=True)
    return frozenset(before for before, after in pairs if before.text and before == after)


def _without_text(
    utterances: Sequence[Utterance], transcribed: frozenset[Utterance]
) -> tuple[Utterance, ...]:
    return tuple(
        replace(utterance, text="") if utterance in transcribed else utterance for utterance in utterances
    )


def _covers(record: Mapping[str, Any], made_with: Mapping[str, str], listened: Sequence[Any]) -> bool:
    """Whether an earlier transcript was made so, and listened to all of these intervals."""
    is_same = all(record.get(name) == value for name, value in made_with.items())
    return is_same and all(row in record["listened"] for row in listened)


def _word_rows(words: Sequence[Word]) -> list[dict[str, Any]]:
    """Rows of the record: no word lasts less than a millisecond."""
    return [
        {
            "start": seconds(word.start),
            "end": max(seconds(word.end), seconds(word.start + 0.001)),
            "text": word.text,
        }
        for word in words
    ]


def web_vtt(utterances: Sequence[Utterance], words: Sequence[Word], recogniser: str) -> str:
    """The words as WebVTT, with a note of where they come from."""
    parts = ["WEBVTT", f"NOTE Written down by a machine ({recogniser}); not checked by a person."]
    for interval, text in captions(wordless(utterances), words):
        start, end = timecode(interval.start), timecode(interval.end)
        parts.append(f"{start} --> {end}\n{html.escape(text, quote=False)}")
    return "\n\n".join(parts) + "\n"
