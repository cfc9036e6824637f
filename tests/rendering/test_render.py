"""What a render makes: each kind of file, where lines are heard, what is spoken again and what not; descriptions in other
languages; peaks and loudness as players decode them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from shotad.core import (
    Config,
    Interval,
    WorkFolder,
    load_config,
)
from shotad.core.errors import VoiceError
from shotad.description import lint_track
from shotad.film import open_film
from shotad.script import Cue, Maker, check_script, load_track, read_cues
from shotad.script.cue import spoken_interval
from shotad.script.pace import spoken_words
from shotad.script.track_files import (
    TRACK,
    save_translation,
    translation_file_name,
)
from shotad.sound import Loudness, Rendered
from shotad.sound.film_lexicon import set_saying
from shotad.sound.levels import PROFILES
from shotad.sound.mix import resampled
from shotad.sound.outputs import summary
from shotad.sound.own_voices import FakeVoice
from tests.media import SoundSpec
from tests.rendering.described import (
    BEEPS,
    LINES,
    change,
    film_with,
    rendered,
    retrack,
    sound_of,
    track_of,
    write_folder,
)
from tests.review.voices import LatinOnly
from tests.runs import Heard
from tests.sound.muxmedia import describe_tracks
from tests.sound.tones import Samples, SoundFilm, blocks, measure, noise, onset

RATE = 48000


def test_every_kind_is_made_and_reads_back_and_text_alone_needs_no_voice(place: Path) -> None:
    alone, voice = rendered(place, "text", settings=("voice.name=no such voice",))
    assert (voice.calls, alone.voice, alone.sound) == ([], None, None)
    assert [t.kind for t in describe_tracks(alone.made[0].output.path)] == ["video", "audio", "subtitle"]
    done, _ = rendered(place, "film+text", "text:mkv", "ad", "mix:flac")
    endings = ("described.mp4", "descriptions.mkv", "ad.wav", "mix.flac")
    assert [file.output.path.name for file in done.made] == [f"{film_with().stem}.{rest}" for rest in endings]
    film, text, _, _ = (file.output.path for file in done.made)
    tracks = describe_tracks(film)
    assert [t.kind for t in tracks] == ["video", "audio", "audio", "subtitle"]
    assert ["visual_impaired" in t.marks for t in tracks] == [False, False, True, True]
    assert [t.language for t in tracks[1:]] == ["eng", "eng", "eng"]
    assert [t.handler for t in tracks[2:]] == ["Audio Description", "Audio Description (text)"]
    assert [t.kind for t in describe_tracks(text)] == ["video", "audio", "subtitle"]
    assert not done.findings
    assert len(done.spoken) == len(LINES)


def check_lines(path: Path, number: int, done: Rendered, voice: FakeVoice, within: float) -> None:
    """Each line is heard where the track says."""
    sound = sound_of(path, number)
    for cue in done.spoken:
        assert cue.spoken is not None
        assert cue.spoken.interval is not None
        start = cue.spoken.interval.start
        take = resampled(voice.speak(cue.spoken.text, cue.spoken.speed))
        at = onset(sound, take, round(start * RATE), RATE // 2)
        assert at / RATE == pytest.approx(start, abs=within), path


def test_lines_are_heard_where_the_track_says_and_a_second_render_speaks_and_writes_nothing(place):
    before = track_of(place)
    done, voice = rendered(place, "film", "mix", "ad")
    for file, number in zip(done.made, (1, 0, 0), strict=True):
        check_lines(file.output.path, number, done, voice, 0.005)
    after = track_of(place)
    assert done.track == after
    lines, same_lines = (
        [(c.text, c.interval, c.status, c.edited) for c in of.cues] for of in (before, after)
    )
    assert lines == same_lines
    stamps = [file.output.path.stat().st_mtime_ns for file in done.made]
    second, again = rendered(place, "film", "mix", "ad")
    assert again.calls == []
    assert [file.fresh for file in second.made] == [False] * 3
    assert [file.output.path.stat().st_mtime_ns for file in second.made] == stamps
    assert second.sound == done.sound


LATE = SoundSpec(duration=20.0, beeps=BEEPS, layout="5.1", language="eng")
JITTER = tuple(float(t) for t in np.cumsum(np.tile([1 / 24, 1 / 30, 1 / 60, 1 / 15], 110)))


@pytest.mark.parametrize(("changes", "ending"), [
    ({"shift": 5.0, "sounds": (LATE,), "suffix": ".mkv"}, "mkv"),
    ({"shift": 1.4, "sounds": (replace(LATE, codec="ac3"),), "suffix": ".ts"}, "ts"),
    ({"sounds": (LATE,), "times": JITTER, "frames": len(JITTER), "time_base": Fraction(1, 90000)}, "mp4"),
    ({"sounds": (replace(LATE, layout="stereo", start=0.7, rate=44100),)}, "mov"),
], ids=["late start, 5.1, mkv", "ts", "vfr, 5.1", "sound begins late, 44.1 kHz"])  # fmt: skip
def test_onsets_hold_for_films_that_are_odd(tmp_path: Path, changes: dict[str, object], ending: str) -> None:
    film = film_with(**changes)
    place = write_folder(tmp_path / "w", film)
    done, voice = rendered(place, f"film:{ending}", film=film)
    assert not done.findings
    path = done.made[0].output.path
    check_lines(path, 1, done, voice, 0.02)
    with open_film(path) as copy, open_film(film) as own:
        assert copy.info.duration == pytest.approx(own.info.duration, abs=0.04)


@pytest.mark.parametrize("name", [TRACK, "vtt"])
def test_only_a_changed_line_is_spoken_again(place: Path, name: str) -> None:
    rendered(place, "ad")
    file = place / name if name == TRACK else next(place.glob(f"*.ad.{name}"))
    change(file, "A cat sleeps by the window.", "A dog sleeps by the window.")
    done, voice = rendered(place, "ad")
    assert [text for text, _ in voice.calls] == ["A dog sleeps by the window."]
    assert done.made[0].fresh
    line = track_of(place).cues[0]
    assert line.edited is not None
    assert line.spoken is not None
    assert line.spoken.text == "A dog sleeps by the window."
    assert "A dog sleeps" in next(place.glob("*.ad.vtt")).read_text()


def test_what_makes_files_anew_and_what_speaks_anew(place: Path) -> None:
    done, _ = rendered(place, "ad", "mix:flac")
    done.made[0].output.path.unlink()
    done.made[1].output.path.write_bytes(b"somebody's")
    again, voice = rendered(place, "ad", "mix:flac")
    assert [file.fresh for file in again.made] == [True, True]
    louder, voice_too = rendered(place, "mix:flac", settings=("mix.profile=ebu-r128",))
    assert voice.calls == voice_too.calls == []
    assert louder.made[0].fresh
    assert louder.sound is not None
    assert louder.sound.measures["target"] == -23.0
    assert not louder.findings
    forced, voice = rendered(place, "ad", force=True)
    assert len(voice.calls) == len(LINES)
    assert forced.made[0].fresh


def test_a_film_that_pauses_has_the_line_that_did_not_fit_and_is_copied_once(tmp_path: Path) -> None:
    sign = 'A sign reads "Nobody may walk along the endless corridor".'
    lines = {8.4: sign, 15.0: "Rain falls."}
    place = write_folder(tmp_path / "w", lines=lines, speech=(Interval(5, 8), Interval(11, 14)))
    progress = Heard()
    done, voice = rendered(
        place, "film:mkv", "ad", "mix:flac", settings=("extended.on=true",), progress=progress
    )
    assert progress.steps.count("Writing the film with pauses") == 1
    (pause,), path = done.pauses, done.made[0].output.path
    with open_film(path) as copy, open_film(film_with()) as own:
        assert copy.info.duration == pytest.approx(own.info.duration + pause.length, abs=0.1)
    (row,) = json.loads(next(place.glob("*.pauses.json")).read_text())["pauses"]
    take = resampled(voice.speak(sign))
    at = onset(sound_of(path, 1), take, round(row["copy_starts"] * RATE), RATE // 2)
    assert at / RATE == pytest.approx(row["copy_starts"], abs=0.02)
    # The metadata track for players stands on the film's own time.
    (cue,) = read_cues(next(place.glob("*.pauses.vtt")))
    assert (cue.id, cue.interval.start) == (pause.cue_id, pytest.approx(pause.at, abs=0.001))
    data = {"pause": row["length"], "line": pause.cue_id, "starts": row["starts"]}
    assert json.loads(cue.text) == data
    assert not list(place.glob(".tmp-*"))


def test_a_voice_that_breaks_off_loses_nothing(place: Path) -> None:
    class Hoarse(FakeVoice):
        def speak(self, text: str, speed: float = 1.0):  # type: ignore[no-untyped-def]
            if len(self.calls) >= 2:
                raise VoiceError("The voice is gone.")
            return super().speak(text, speed)

    with pytest.raises(VoiceError, match="gone"):
        rendered(place, "ad", voice=Hoarse())
    _, voice = rendered(place, "ad")
    assert len(voice.calls) == len(LINES) - 2


TRANSLATED: Mapping[str, tuple[str, str, str]] = {
    "de": (
        "Eine Katze schläft am Fenster.",
        "Sie öffnet die alte Haustür. Eine Lampe geht aus.",
        "Regen fällt auf die leere Straße.",
    ),
    "ar": ("قطة تنام قرب النافذة.", "تفتح الباب القديم. ينطفئ مصباح.", "المطر يهطل على الشارع الخالي."),
    "zh-Hans": ("一只猫睡在窗边。", "她打开旧门。一盏灯灭了。", "雨落在空荡荡的街道上。"),
}


def translation(place: Path, language: str) -> Path:
    """A translation beside the track, as shotad translate would leave it."""
    track = track_of(place)
    texts = TRANSLATED[language]
    cues = []
    for cue, text in zip(track.cues, texts, strict=True):
        slot = Interval(cue.interval.start, cue.interval.start + 5)
        time = spoken_interval(slot, spoken_words(text, language), 0.375)
        cues.append(replace(cue, text=text, language=language, interval=time))
    makers = (Maker("Translation", "fake"),)
    new = replace(track, cues=tuple(cues), language=language, translated_from="en", makers=makers)
    with WorkFolder(place) as folder:
        save_translation(new, folder)
    return place / translation_file_name(language)


@pytest.mark.parametrize(("language", "ending", "code", "title"), [
    ("de", "mp4", "deu", "Audiodeskription (AD)"),
    ("fr", "mkv", "fre", "Audiodescription (AD)"),
])  # fmt: skip
def test_the_track_of_sound_carries_language_and_title(tmp_path, language, ending, code, title):
    lines = {1.0: "Eine Katze schläft." if language == "de" else "Une chatte dort."}
    place = write_folder(tmp_path / "w", lines=lines, language=language)
    done, voice = rendered(place, f"film:{ending}")
    assert not done.failed
    with av.open(str(done.made[0].output.path)) as container:
        tags = {key.lower(): value for key, value in container.streams[2].metadata.items()}
    assert tags["language"] == code
    assert title in (tags.get("title"), tags.get("handler_name"))
    assert [text for text, _ in voice.calls] == list(lines.values())


@pytest.mark.parametrize("language", list(TRANSLATED))
def test_a_translation_is_rendered_beside_the_original(place: Path, language: str) -> None:
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    file = translation(place, language)
    # Lines of this length break no rule of time, whatever script they are written in.
    findings = lint_track(load_track(file), place, Config()).findings
    assert [finding for finding in findings if finding.rule.startswith("T") and finding.rule != "T5"] == []
    done, voice = rendered(place, "ad", file=file)
    stem = film_with().stem
    assert [made.output.path.name for made in done.made] == [f"{stem}.{language}.ad.wav"]
    assert not done.failed
    assert [text for text, _ in voice.calls][:3] == list(TRANSLATED[language])
    spoken = [cue.spoken for cue in load_track(place / translation_file_name(language)).heard]
    assert all(take is not None and take.text for take in spoken)
    changed = {name for name, data in before.items() if (place / name).read_bytes() != data}
    assert changed <= {"log.txt"}
    recorded = place / f"{stem}.{language}.ad.recorded.dapt.xml"
    assert check_script(recorded) == ()
    assert 'daptm:langSrc="en"' in recorded.read_text(encoding="utf-8")
    assert f'xml:lang="{language}"' in recorded.read_text(encoding="utf-8")


METER = 0.15
"""dB by which a file may pass its limit: what meters differ by."""

SECONDS = 9.0


def loud_folder(place: Path, film: Path) -> Path:
    return write_folder(place, film, {2.0: "Rain falls on the empty street."}, (Interval(0.0, 1.5),))


@pytest.fixture(scope="module")
def loud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Noise that is far too loud, up to full scale: every sample near the limit."""
    wave = (noise(SECONDS, 5, channels=2) * np.float32(0.6)).clip(-0.98, 0.98)
    return SoundFilm(wave, codec="ac3", seconds=SECONDS).make(tmp_path_factory.mktemp("loud") / "film.mkv")


def in_file(path: Path) -> Loudness:
    """The AD's sound in a file, decoded as players do: the last track of it."""
    with av.open(str(path)) as container:
        stream, parts = container.streams.audio[-1], list[Samples]()
        layout, rate = stream.codec_context.layout, stream.rate
        resampler = av.AudioResampler(format="flt", layout=layout)
        for frame in container.decode(stream):
            frame.pts = None
            for out in resampler.resample(frame):
                parts.append(np.asarray(out.to_ndarray(), np.float32).reshape(out.samples, -1))
    assert rate == RATE
    return measure(blocks(np.concatenate(parts)), layout.name)


@pytest.mark.parametrize(("profile", "makes"), [
    ("source", ("film:mp4", "mix:opus", "ad:opus")),
    ("netflix", ("film:mkv", "mix:mp3", "mix:wav")),
    ("ebu-r128", ("mix:m4a", "film:mov")),
    pytest.param("atsc-a85", ("mix:flac", "ad:opus", "film:ts"), marks=pytest.mark.slow),
    pytest.param("web", ("mix:mp3", "mix:opus", "film:mp4"), marks=pytest.mark.slow),
])  # fmt: skip
def test_every_file_keeps_the_peaks_of_its_profile_and_tells_them(profile, makes, loud, tmp_path):
    place = loud_folder(tmp_path / "w", loud)
    done, _ = rendered(place, *makes, film=loud, settings=(f"mix.profile={profile}",))
    assert not [finding for finding in done.findings if finding.rule == "A1"]
    limit = 0.0 if profile == "source" else PROFILES[profile].true_peak
    for file in done.made:
        loudness = in_file(file.output.path)
        assert loudness.true_peak is not None
        assert loudness.true_peak <= limit + METER, file.output.path.name
        assert file.sound is not None
        assert file.sound["loudness"]["true_peak"] == pytest.approx(loudness.true_peak, abs=0.1)
        assert file.sound["loudness"]["integrated"] == pytest.approx(loudness.integrated, abs=0.1)
        assert f"peaks {file.sound['loudness']['true_peak']:.1f} dBTP" in file.lines[0]


@pytest.mark.parametrize("make", ["mix:opus", "film:mkv"])
def test_where_the_room_for_a_coder_is_too_small_it_is_written_again(make: str, tmp_path: Path) -> None:
    """Of sound that was cut at full scale, which coders make louder than is usual."""
    wave = (3 * noise(SECONDS, 5, channels=2)).clip(-0.98, 0.98)
    film = SoundFilm(wave, codec="flac", seconds=SECONDS).make(tmp_path / "film.mkv")
    place, progress = loud_folder(tmp_path / "w", film), Heard()
    settings = ("mix.true_peak=-2", "container.codec=opus")
    done, _ = rendered(place, make, film=film, settings=settings, progress=progress)
    assert any("not within its limits: written again" in note for note in progress.notes)
    peak = in_file(done.made[0].output.path).true_peak
    assert peak is not None
    assert -4 < peak <= -2 + METER
    assert done.findings == ()


def test_what_cannot_be_kept_is_an_error_with_the_figure_of_the_file(loud: Path, tmp_path: Path) -> None:
    """With peaks so low no sound reaches the loudness of a stream."""
    place = loud_folder(tmp_path / "w", loud)
    done, _ = rendered(place, "mix:opus", film=loud, settings=("mix.profile=web", "mix.true_peak=-20"))
    loudness = in_file(done.made[0].output.path).integrated
    assert [finding.rule for finding in done.findings] == ["A1"]
    assert f"is at {loudness:.1f} LUFS, not at -16" in done.findings[0].message
    assert done.failed
    report = lint_track(track_of(place), place, load_config(None, ["lint.parse=words"]))
    assert "A1" in {finding.rule for finding in report.findings}, "lint shows what the render found"


def test_words_that_the_voice_has_no_sound_for_are_named_until_they_have_a_saying(place: Path) -> None:
    def half_chinese(cue: Cue) -> Cue:
        return replace(cue, text="Rain 下着 falls on the empty 街道.") if cue.id == "s00014000" else cue

    retrack(place, half_chinese)
    done, _ = rendered(place, "ad", voice=LatinOnly())
    assert [row["left_out"] for row in done.as_json()["lines"]] == [[], [], ["下着", "街道"]]
    assert done.as_json()["counts"]["words_left_out"] == 2
    report = summary(done)
    assert "Heard without words that the voice has no sound for: 1." in report
    assert "下着, 街道 (Rain 下着 falls on the empty 街道.)" in report
    assert "--say-as WORD=SAYING" in report
    set_saying(place, "下着", "down")
    set_saying(place, "街道", "street")
    done, voice = rendered(place, "ad", voice=LatinOnly())
    assert done.as_json()["counts"]["words_left_out"] == 0
    assert "no sound" not in summary(done)
    assert [text for text, _ in voice.calls] == ["Rain down falls on the empty street."]
