"""A film with foreign dialogue and forced subtitles, rendered by real voices and heard back by a recogniser.

What counts is what somebody hears who cannot see: the words of the subtitles at their time, those of the description
at theirs, and never two voices of ours at once.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from heard import Heard, Said, listen, totals
from recogniser import Whisper

from shotad.core import Interval
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import WeightsError
from shotad.core.weight_store import weights_file
from shotad.film import open_film
from shotad.script import load_track
from shotad.sound import make_voice
from shotad.sound.mix import resampled
from tests.cli.program import Shotad
from tests.rendering.described import film_with, write_folder

RATE = 48_000
DIALOGUE = {6.0: "Wo ist der Schlüssel zum alten Garten?", 12.0: "Er liegt unter dem großen Stein am Fluss."}
"""What is said in the film, and when."""
LENGTH = 2.6
"""Seconds that each sentence takes at most."""
SUBTITLES = {6.0: "Where is the key to the old garden?", 12.0: "It is under the big stone by the river."}
LINES = {
    1.0: "A cat sleeps by the window.",
    9.0: "She opens the old door and looks outside.",
    15.6: "Heavy rain falls on the empty street.",
}


def absent() -> str:
    """Why this cannot be run here; empty where it can."""
    for module, extra in (("transformers", "transcript"), ("hibari", "voice")):
        if importlib.util.find_spec(module) is None:
            return f'needs pip install "shotad[{extra}]"'
    if shutil.which("espeak-ng") is None:
        return "espeak-ng, the voice of the foreign dialogue, is not installed"
    try:
        weights_file("whisper-tiny-en")
        weights_file("whisper-words")
    except WeightsError as error:
        return f"the recogniser's weights cannot be had: {error.what}"
    return ""


def foreign_sound(seconds: float) -> npt.NDArray[np.float32]:
    """The sound of the film, ``float32[n]`` at `RATE`: two sentences in German over a quiet noise."""
    voice = make_voice(VoiceSettings(name="espeak-ng:de"), "de")
    sound = np.random.default_rng(5).normal(0, 0.002, round(seconds * RATE)).astype(np.float32)
    for start, text in DIALOGUE.items():
        samples = resampled(voice.speak(text))[: round(LENGTH * RATE)]
        first = round(start * RATE)
        sound[first : first + len(samples)] += samples
    return sound


def foreign_film(target: Path) -> Path:
    """The test film with `foreign_sound`, and its forced subtitles beside it; the film."""
    with av.open(str(film_with())) as source, av.open(str(target), "w") as output:
        picture: Any = output.add_stream_from_template(source.streams.video[0])
        track: Any = output.add_stream("aac", rate=RATE, layout="mono")
        track.metadata["language"] = "ger"
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = picture
                output.mux(packet)
        frame = av.AudioFrame.from_ndarray(foreign_sound(20.0)[None], "fltp", "mono")
        frame.sample_rate, frame.pts = RATE, 0
        for packet in [*track.encode(frame), *track.encode(None)]:
            output.mux(packet)
    cues = [
        f"{number}\n00:00:{start:06.3f} --> 00:00:{start + LENGTH:06.3f}\n{text}\n".replace(".", ",", 2)
        for number, (start, text) in enumerate(SUBTITLES.items(), 1)
    ]
    target.with_suffix(".forced.srt").write_text("\n".join(cues), encoding="utf-8")
    return target


@pytest.mark.long
def test_subtitles_and_description_are_understood_at_their_time(shotad: Shotad, tmp_path: Path) -> None:
    reason = absent()
    if reason:
        pytest.skip(reason)
    film = foreign_film(tmp_path / "movie.mp4")
    speech = tuple(Interval(start, start + LENGTH) for start in DIALOGUE)
    place = write_folder(tmp_path / "movie.shotad", film, LINES, speech)
    words = ["--make", "film", "--speak-subtitles", "auto"]
    voices = ["--voice", "espeak-ng:en-us", "--subtitle-voice", "hibari:heart"]
    done = shotad("render", place, *words, *voices, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    subtitles = [
        Said(row["id"], row["text"], Interval(row["start"], row["end"])) for row in told["subtitles"]["lines"]
    ]
    assert [line.text for line in subtitles] == list(SUBTITLES.values())
    takes = [(cue.id, cue.stored_take) for cue in load_track(place / "track.json").cues]
    lines = [Said(name, take.text, take.interval) for name, take in takes if take and take.interval]
    assert len(lines) == len(LINES)
    for before, after in itertools.pairwise(sorted([*subtitles, *lines], key=lambda line: line.interval)):
        assert before.interval.end < after.interval.start
    recogniser = Whisper()
    (made,) = place.glob("*.described.mp4")

    with open_film(made) as described, open_film(film) as original:
        (number,) = (track.number for track in described.info.audio if track.descriptive)
        control = original, None
        of_subtitles = list(listen(recogniser, described, number, subtitles, (), control=control))
        of_lines = list(listen(recogniser, described, number, lines, ()))
    for results in (of_subtitles, of_lines):
        counted = totals(results)
        print(counted, [result.heard for result in results])
        assert counted["found %"] >= 75, results
        assert counted["placed %"] >= 70, results
    # The film alone does not hold them: of its German the recogniser makes English with a few of the small words.
    assert totals(of_subtitles)["control %"] <= 40, of_subtitles
    # No voice of ours is heard while another speaks.
    for result in (*of_subtitles, *of_lines):
        assert all(word not in result.heard.lower() for word in foreign_words(result, [*subtitles, *lines]))


def foreign_words(result: Heard, lines: list[Said]) -> set[str]:
    """The longer words of all other subtitles and lines."""
    own = set(result.line.text.lower().strip(".?").split())
    others = {
        word for line in lines if line.id != result.line.id for word in line.text.lower().strip(".?").split()
    }
    return {word for word in others - own if len(word) > 4}
