"""The words of a recorded narrator as lines of the film's track.

The lines are a person's: a human wrote and spoke them. So `shotad describe` keeps them and writes only what
is missing, and translation, checks, review and render work on them. A recogniser wrote down the words, with
its mistakes, which the edit's source says.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shotad import __version__
from shotad.core import FilmInfo, Interval, Progress, Utterance, WorkFolder
from shotad.core.errors import UsageError
from shotad.core.progress import plural
from shotad.core.records import utterances_of
from shotad.film.transcript import RATE, Recogniser, Word, dialogue_text, transcribe_blocks
from shotad.script import Cue, Track, present_track, save_track, track_lock
from shotad.script.cue import Edit, EditField, clean_text, hand_ids
from shotad.script.edits import merge_edits
from shotad.script.reasons import in_english, is_of, reason_in
from shotad.script.track import FilmId
from shotad.sound.alignment.narrator import Narrator

BESIDE = 0.4
"""Seconds beside a line at which a word still belongs to it: the times of words are that inexact."""
LONG = 12.0
"""Seconds after which a sentence's end ends a line."""
SAME_WORDS = 0.8
"""Likeness of two texts, 0 to 1, from which one is taken for the other, misheard."""
NEAR = 2.0
"""Seconds from dialogue within which the same words are its echo."""

Line = tuple[Interval, str]


@dataclass(frozen=True, slots=True)
class NarratorScript:
    """What became of a narrator's lines, by their number.

    ``added`` are in the track now. ``wordless``: no words were understood. ``dialogue``: the film's own
    words. ``kept``: a person's line has their time already. ``dropped``: a machine's lines that gave way.
    """

    recogniser: str
    added: int
    wordless: int
    dialogue: int
    kept: int
    dropped: int

    @property
    def summary(self) -> str:
        """What came of it, for people."""
        text = (
            f"{plural(self.added, 'line')} of the narrator in the track, written down by {self.recogniser}."
        )
        reasons = (
            (self.wordless, "without words that were understood"),
            (self.dialogue, "the film's own dialogue"),
            (self.kept, "where a person's line stands already"),
        )
        left_out = [f"{number} {reason}" for number, reason in reasons if number]
        if left_out:
            text += f" Left out: {', '.join(left_out)}."
        if self.dropped:
            text += f" {plural(self.dropped, 'machine line')} gave way."
        return text


def check_track(folder: WorkFolder, info: FilmInfo, language: str) -> None:
    """Raise, before long work, where the narrator's lines cannot go into the folder's track: UsageError where
    it is in another language, and as `present_track`."""
    track = present_track(folder, info)
    if track is not None and track.language != language:
        raise UsageError(
            f"The track in {folder.path} is in {track.language!r}, the recording in {language!r}.",
            "Name another work folder with --out, or the recording's language with --language.",
        )


def write_script(
    narrator: Narrator,
    recogniser: Recogniser,
    folder: WorkFolder,
    info: FilmInfo,
    source: str,
    held: Sequence[Interval],
    language: str,
    progress: Progress,
) -> NarratorScript:
    """Write down what the narrator says, and put it into the folder's track; the folder is open.

    ``source`` is the recording's name, ``held`` the parts of the film that it holds. Lines of an earlier run
    from the same recording are replaced, and in those parts lines from another one, unless a person changed
    them. Raises as `check_track`, and what the recogniser raises.
    """
    words = transcribe_blocks(
        narrator.sound.blocks(RATE, mono=True),
        narrator.lines,
        info.duration,
        recogniser,
        "Writing down the narrator",
        progress,
    )
    with_text = _lines_with_text(narrator.lines, words)
    record = folder.read_json("speech.json") or {"speech": ()}
    dialogue = utterances_of(record["speech"])
    lines = [line for line in with_text if not _is_dialogue(line, dialogue)]
    written_down = in_english("source.written_down", recording=source, recogniser=recogniser.name)
    line_source = reason_in(written_down, language)
    with track_lock(folder.path):
        check_track(folder, info, language)
        track = present_track(folder, info)
        if track is None:
            film = FilmId(info.name, info.fingerprint, info.duration)
            track = Track(film, language, (), __version__, ())
        track = track.with_cues(
            cue
            for cue in track.cues
            if not _is_untouched(cue)
            or (
                cue.edited is not None
                and cue.edited.source != line_source
                and not any(cue.interval.overlaps(interval) for interval in held)
            )
        )
        taken = [cue.interval for cue in track.heard if cue.edited is not None]
        free = [line for line in lines if not any(line[0].overlaps(interval) for interval in taken)]
        merged = merge_edits(track.with_cues([*track.cues, *_cues(free, track, line_source)]), track)
        save_track(merged.track, folder.path, info.name)
    folder.note(f"{len(free)} lines of the narrator of {source} added, written down by {recogniser.name}")
    heard = {line for line, _ in with_text}
    wordless = sum(not any(line.overlaps(interval) for interval in heard) for line in narrator.lines)
    return NarratorScript(
        recogniser.name,
        added=len(free),
        wordless=wordless,
        dialogue=len(with_text) - len(lines),
        kept=len(lines) - len(free),
        dropped=len(merged.dropped),
    )


def _lines_with_text(intervals: Sequence[Interval], words: Iterable[Word]) -> list[Line]:
    """The narrator's lines that words were understood in; long ones are divided where a sentence ends."""
    words_by_line: dict[Interval, list[Word]] = {}
    for word in words:
        middle = (word.start + word.end) / 2
        distances = [max(line.start - middle, middle - line.end, 0.0) for line in intervals]
        nearest = min(range(len(intervals)), key=distances.__getitem__)
        if distances[nearest] <= BESIDE:
            words_by_line.setdefault(intervals[nearest], []).append(word)
    lines: list[Line] = []
    for interval, line_words in words_by_line.items():
        if not dialogue_text(line_words):
            continue
        start = interval.start
        part: list[Word] = []
        for number, word in enumerate(line_words):
            part.append(word)
            is_last = number == len(line_words) - 1
            is_over = word.text[-1:] in ".?!…。？！" and word.end - start >= LONG
            if is_last or (is_over and word.end < interval.end):
                end = interval.end if is_last else max(word.end, start + 0.001)
                text = clean_text(dialogue_text(part))
                if text and end > start:
                    lines.append((Interval(start, end), text))
                start, part = end, []
    return sorted(lines)


def _is_dialogue(line: Line, dialogue: Sequence[Utterance]) -> bool:
    """Whether the line's words are the film's own, left over where it was not taken out."""
    interval, text = line
    around = Interval(interval.start - NEAR, interval.end + NEAR)
    words = _plain_words(text)
    for utterance in dialogue:
        if utterance.text and around.overlaps(utterance.interval):
            likeness = difflib.SequenceMatcher(None, words, _plain_words(utterance.text), autojunk=False)
            if likeness.ratio() >= SAME_WORDS:
                return True
    return False


def _plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _is_untouched(cue: Cue) -> bool:
    """Whether the line came from a recording, and nobody changed, accepted or noted anything of it since."""
    if cue.edited is None or cue.review is not None or cue.note is not None:
        return False
    if cue.stored_recording is not None or cue.voice or cue.pace != 1:
        return False
    return cue.edited.fields == (EditField.ADDED,) and is_of(cue.edited.source, "source.written_down")


def _cues(lines: Sequence[Line], track: Track, source: str) -> list[Cue]:
    ids = hand_ids([interval.start for interval, _ in lines], {cue.id for cue in track.cues})
    edit = Edit((EditField.ADDED,), source, None)
    return [
        Cue(cue_id, None, interval, text, language=track.language, edited=edit)
        for cue_id, (interval, text) in zip(ids, lines, strict=True)
    ]
