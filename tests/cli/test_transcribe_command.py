"""``shotad transcribe``: dialogue without subtitles is written down where somebody speaks, kept, and offered as captions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shotad.core.config.film import TranscriptSettings
from shotad.core.workfolder import WorkFolder
from shotad.film import read_subtitles
from shotad.film.transcript import RATE, Samples, Word
from tests.cli.program import FAKE, Shotad
from tests.rendering.described import film_with, write_folder

FILMS = Path(__file__).resolve().parents[3] / "shared" / "data" / "films"
HERE = "tests.cli.test_transcribe_command"


class Rehearsed:
    """Hears a word every quarter of a second, of a sentence that is known beforehand."""

    name = "rehearsed"
    sentence = "Where is the key? I hid it under the stone."

    def __init__(self, settings: TranscriptSettings) -> None:
        self.settings = settings

    def missing(self) -> str:
        return ""

    def hear(self, samples: Samples) -> list[Word]:
        seconds = len(samples) / RATE
        words = self.sentence.split()
        return [Word(word, i / 4, i / 4 + 0.25) for i, word in enumerate(words) if i / 4 < seconds]


class Inventing(Rehearsed):
    """Hears what Whisper invents where nobody speaks."""

    name = "inventing"
    sentence = "Thanks for watching!"


class Circling(Rehearsed):
    name = "circling"
    sentence = "I know. " * 60


class NotInstalled(Rehearsed):
    def missing(self) -> str:
        return 'Transcribing dialogue needs torch: pip install "shotad[transcript]"'


def recogniser(kind: type[Rehearsed]) -> tuple[str, str]:
    return "--set", f"transcript.recogniser={HERE}:{kind.__name__}"


def wordless_folder(place: Path, *texts: str) -> Path:
    """A described folder whose film has speech from 6 to 8 s and from 12 to 13 s, with these texts."""
    write_folder(place)
    record = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    times = [(6.0, 8.0, "speech"), (12.0, 13.0, "speech"), (16.0, 18.0, "lyrics")]
    texts = (*texts, "", "", "")
    record["speech"] = [
        {"start": start, "end": end, "kind": kind, "text": text}
        for (start, end, kind), text in zip(times, texts, strict=False)
    ]
    (place / "speech.json").write_text(json.dumps(record), encoding="utf-8")
    return place


def speech_of(place: Path) -> list[Any]:
    record = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    return [(row["start"], row["end"], row["text"]) for row in record["speech"]]


def test_words_are_written_where_somebody_speaks_and_nowhere_else(shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad")
    done = shotad("transcribe", place, *recogniser(Rehearsed))
    assert (done.code, done.out.splitlines()[0]) == (0, "16 words of dialogue in 2 places, by rehearsed.")
    # Each is listened to from 0.2 s before to 0.2 s after; what is heard later than 0.4 s after it is not its own.
    assert speech_of(place) == [
        (6.0, 8.0, "Where is the key? I hid it under the stone."),
        (12.0, 13.0, "Where is the key? I hid"),
        (16.0, 18.0, ""),
    ]
    captions = read_subtitles(place / "transcript.vtt").utterances
    assert [utterance.text for utterance in captions] == [
        "Where is the key?",
        "I hid it under the stone.",
        "Where is the key?",
        "I hid",
    ]
    assert all(6 <= one.interval.start < one.interval.end <= 13 for one in captions)
    told = json.loads(shotad("transcribe", place, *recogniser(Rehearsed), "--json").out)
    assert (told["new"], told["without_words"], len(told["speech"])) == (False, 0, 2)


def test_texts_of_subtitles_stay(shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad", "Wo ist der Schlüssel?")
    assert shotad("transcribe", place, *recogniser(Rehearsed)).code == 0
    assert [text for _, _, text in speech_of(place)][:2] == [
        "Wo ist der Schlüssel?",
        "Where is the key? I hid",
    ]
    place = wordless_folder(tmp_path / "whole.shotad", "Wo?", "Da.")
    assert "Nothing to transcribe" in shotad("transcribe", place, *recogniser(Rehearsed)).out
    assert not (place / "transcript.vtt").exists()


@pytest.mark.parametrize("kind", [Inventing, Circling])
def test_inventions_are_left_out(kind: type[Rehearsed], shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad")
    record = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    record["speech"] = [{"start": 1.0, "end": 19.0, "kind": "speech", "text": ""}]
    (place / "speech.json").write_text(json.dumps(record), encoding="utf-8")
    done = shotad("transcribe", place, *recogniser(kind))
    assert "No words in 1 other place where somebody speaks." in done.out
    assert speech_of(place) == [(1.0, 19.0, "")]
    assert read_subtitles(place / "transcript.vtt").utterances == ()


def test_another_recogniser_or_force_transcribes_again(shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad")
    shotad("transcribe", place, *recogniser(Inventing))
    assert "16 words" in shotad("transcribe", place, *recogniser(Rehearsed)).out
    assert shotad("transcribe", place, *recogniser(Rehearsed)).out.startswith("Transcribed before:")
    assert shotad("transcribe", place, *recogniser(Rehearsed), "--force").out.startswith("16 words")
    # What nobody can hear any more is taken back, too.
    shotad("transcribe", place, *recogniser(Inventing))
    assert [text for _, _, text in speech_of(place)] == ["", "", ""]


def test_a_later_run_keeps_the_words_and_subtitles_replace_them(shotad: Shotad, tmp_path: Path) -> None:
    film, place = tmp_path / "movie.mp4", tmp_path / "movie.shotad"
    shutil.copy(film_with(), film)
    options = [word for word in FAKE if word not in ("speech.source=none",)]
    options.pop(options.index("--set", options.index("slots.find_credits=false")))
    assert shotad("describe", film, *options, "--no-sheet").code == 0
    # The film has no voice: speech as a run that had heard some would have left it.
    heard = json.loads((place / "heard.json").read_text(encoding="utf-8"))
    speech = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    heard["heard"] = [[6.0, 8.0]]
    speech["speech"] = [{"start": 6.0, "end": 8.0, "kind": "speech", "text": ""}]
    for name, record in (("heard", heard), ("speech", speech)):
        (place / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    assert shotad("transcribe", film, *recogniser(Rehearsed)).code == 0
    words = "Where is the key? I hid it under the stone."
    assert shotad("describe", film, *options, "--no-sheet").code == 0
    assert speech_of(place) == [(6.0, 8.0, words)]
    # A setting that has the speech found again, from what was heard
    assert shotad("describe", film, *options, "--no-sheet", "--set", "speech.margin=0.3").code == 0
    assert speech_of(place) == [(6.0, 8.0, words)]
    subtitles = tmp_path / "movie.srt"
    subtitles.write_text("1\n00:00:06,000 --> 00:00:07,000\nWhere?\n", encoding="utf-8")
    assert shotad("describe", film, *options, "--no-sheet", "--subtitles", subtitles).code == 0
    assert speech_of(place) == [(6.0, 7.0, "Where?")]


def test_what_is_missing_or_unknown_is_said(shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad")
    done = shotad("transcribe", place, *recogniser(NotInstalled))
    assert done.code == 2
    assert 'pip install "shotad[transcript]"' in done.err
    done = shotad("transcribe", place, "--set", "transcript.recogniser=tinny.en")
    assert done.code == 2
    assert "Did you mean tiny.en?" in done.err
    done = shotad("transcribe", place, "--language", "de")
    assert done.code == 2
    assert "openai/whisper-small" in done.err
    assert shotad("transcribe", tmp_path / "none.mp4").code == 1
    assert speech_of(place)[0] == (6.0, 8.0, "")


def test_a_link_in_place_of_the_captions_is_refused(shotad: Shotad, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "movie.shotad")
    (place / "transcript.vtt").symlink_to(tmp_path / "elsewhere")
    assert shotad("transcribe", place, *recogniser(Rehearsed)).code == 1
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.long
@pytest.mark.skipif(not FILMS.is_dir(), reason="the clips are not here")
def test_the_real_recogniser_writes_down_a_trailer(shotad: Shotad, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason='needs pip install "shotad[transcript]"')
    film = tmp_path / "trailer.mp4"
    shutil.copy(FILMS / "sintel-trailer.mp4", film)
    assert shotad("transcribe", film).code == 0
    with WorkFolder(tmp_path / "trailer.shotad") as folder:
        rows = (folder.read_json("speech.json") or {})["speech"]
    texts = [row["text"] for row in rows if row["text"]]
    assert "What brings you to the land of the gatekeepers?" in texts
    assert "I've been alone for as long as I can remember." in texts
    # Over music, titles and fights nothing is invented: four lines are spoken.
    assert len(texts) == 4
    captions = read_subtitles(tmp_path / "trailer.shotad" / "transcript.vtt").utterances
    assert captions[0].interval.start == pytest.approx(12.0, abs=0.5)
