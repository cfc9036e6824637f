"""What is made of a described recording that was fitted to a film. The film is noise, and so is the narrator; both are
known, so what is made can be compared with what it should be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Interval, NoProgress, Progress, Utterance, WorkFolder, load_config
from shotad.core.errors import FilmError, UsageError
from shotad.core.records import utterance_rows
from shotad.film import open_film, open_sound
from shotad.film.transcript import FakeRecogniser
from shotad.script import load_track
from shotad.sound.alignment import AlignedFiles, AlignedPiece, Alignment, Recording, make_from_alignment
from shotad.sound.alignment.fitted_sound import Fit, recording_blocks
from tests.language.human_texts import texts_of_json
from tests.made_weights import use_manifest
from tests.simple_detector import loud_is_speech
from tests.sound.tones import SoundFilm, decoded, noise

RATE = 48000
FILM_SECONDS = 24.0
LINES = ((3.0, 5.0), (9.0, 11.5), (17.0, 19.0))
"""Film seconds in which the narrator speaks."""
CUT = (12.0, 14.0)
"""Film seconds that the recording lacks."""
INTRO = 1.5
"""Seconds of the recording before the film begins."""
WRONG = 0.02
"""Seconds by which the given alignment is off."""

Sound = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """A film, a recording of it, how they belong together, and the narrator alone in the film's time."""

    film: Path
    recording: Path
    alignment: Alignment
    film_sound: Sound
    narrator: Sound


def write_sound_file(path: Path, samples: Sound) -> Path:
    """The samples, stereo, as 16 bits."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="stereo")
        whole = np.ascontiguousarray(np.round(np.clip(samples, -1, 1) * 32767).astype(np.int16)).reshape(
            1, -1
        )
        frame = av.AudioFrame.from_ndarray(whole, format="s16", layout="stereo")
        frame.sample_rate = RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])
    return path


def film_waves() -> Sound:
    """Noise that swells, different in each channel, as film sound is."""
    seconds = np.arange(round(FILM_SECONDS * RATE)) / RATE
    swell = 0.03 * (1.2 + np.sin(2 * np.pi * 0.4 * seconds))
    common = noise(FILM_SECONDS, 1)
    own = noise(FILM_SECONDS, 2, channels=2)
    return np.asarray((common + 0.5 * own) * swell[:, None], np.float32)


def narrator_waves() -> Sound:
    """Bursts of noise of another colour, soft and loud by turns as syllables are."""
    sound = np.zeros(round(FILM_SECONDS * RATE), np.float32)
    for number, (start, end) in enumerate(LINES):
        burst = noise(end - start, 10 + number, low=200)[:, 0]
        syllables = 0.6 + 0.4 * np.sin(2 * np.pi * 4 * np.arange(len(burst)) / RATE)
        first = round(start * RATE)
        sound[first : first + len(burst)] = 0.12 * burst * syllables
    return sound


def ducking() -> Sound:
    """The film's gain in the recording: 10 dB lower under the narrator."""
    seconds = np.arange(round(FILM_SECONDS * RATE)) / RATE
    depth = np.zeros(len(seconds))
    for start, end in LINES:
        depth = np.maximum(
            depth, np.clip(np.minimum((seconds - start + 0.3) / 0.3, (end + 0.3 - seconds) / 0.3), 0, 1)
        )
    return np.asarray(10 ** (-10 * depth / 20), np.float32)


def described_waves() -> Sound:
    """The film under the narrator, half as loud as it is."""
    return np.asarray(0.5 * film_waves() * ducking()[:, None] + narrator_waves()[:, None], np.float32)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("aligned")
    film_sound, narrator = film_waves(), narrator_waves()
    film = SoundFilm(film_sound, codec="flac", seconds=FILM_SECONDS).make(folder / "film.mkv")
    described = described_waves()
    first, end = (round(second * RATE) for second in CUT)
    intro = 0.05 * noise(INTRO, 5, channels=2)
    recording = write_sound_file(
        folder / "broadcast.wav", np.concatenate([intro, described[:first], described[end:]])
    )
    gone = CUT[1] - CUT[0]
    pieces = (
        AlignedPiece(Interval(0.0, CUT[0]), Interval(INTRO + WRONG, INTRO + WRONG + CUT[0]), 0.9),
        AlignedPiece(
            Interval(CUT[1], FILM_SECONDS),
            Interval(INTRO + WRONG + CUT[0], INTRO + WRONG + FILM_SECONDS - gone),
            0.9,
        ),
    )
    alignment = Alignment(pieces, FILM_SECONDS, INTRO + FILM_SECONDS - gone)
    return Case(film, recording, alignment, film_sound, narrator)


@pytest.fixture
def simple_detector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_manifest(
        tmp_path, monkeypatch, {"silero-vad": ("voice activity", loud_is_speech(tmp_path / "loud.onnx"))}
    )


def opened_recording(path: Path) -> Recording:
    file = open_sound(path)
    return Recording(file, file.audio[0])


class Notes(NoProgress):
    """Keeps the notes that are said before there is a sound file in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.early: list[str] = []

    def note(self, text: str) -> None:
        if not list(self.folder.glob("*.flac")):
            self.early.append(text)


def make(
    case: Case,
    place: Path,
    *makes: str,
    recording: Path | None = None,
    alone: bool = False,
    progress: Progress | None = None,
    language: str = "en",
) -> AlignedFiles:
    config = load_config()
    with open_film(case.film) as film, WorkFolder(place) as folder:
        return make_from_alignment(
            film,
            folder,
            opened_recording(recording or case.recording),
            None if alone else case.alignment,
            makes,
            config,
            progress or NoProgress(),
            language=language,
            recogniser=FakeRecogniser(config.transcript),
        )


def level(samples: npt.NDArray[np.floating]) -> float:
    return 10 * float(np.log10(max(1e-12, np.square(samples, dtype=np.float64).mean())))


def within(samples: Sound, start: float, end: float) -> Sound:
    return samples[round(start * RATE) : round(end * RATE)]


def test_the_fitted_recording_stands_in_the_films_time_with_the_film_where_it_lacks_a_part(case, tmp_path):
    made = make(case, tmp_path / "w", "mix:wav")
    sound, rate = decoded(made.paths[0])
    assert rate == RATE
    assert len(sound) == round(FILM_SECONDS * RATE)
    wanted = described_waves()
    # 20 ms off, the alignment would leave a difference as loud as the sound itself.
    for start, end in ((0.0, CUT[0] - 0.05), (CUT[1] + 0.05, FILM_SECONDS)):
        difference = within(sound, start, end) - within(wanted, start, end)
        assert level(difference) < level(within(wanted, start, end)) - 25
    # The missing part is the film's, as loud as it is in the recording.
    start, end = CUT[0] + 0.05, CUT[1] - 0.05
    assert level(within(sound, start, end)) == pytest.approx(level(within(wanted, start, end)), abs=1.0)
    assert (
        np.corrcoef(within(sound, start, end)[:, 0], within(case.film_sound, start, end)[:, 0])[0, 1] > 0.99
    )
    # No step at the cuts: neighbouring samples differ no more than elsewhere.
    steps = np.abs(np.diff(sound[:, 0]))
    for cut in CUT:
        assert within(steps, cut - 0.02, cut + 0.02).max() <= 1.5 * steps.max() * 0.9


@pytest.mark.parametrize(("cut", "speed"), [(11.995, 1.0), (12.0, 1.0), (12.0, 1.02)])
def test_an_advert_that_begins_where_a_block_of_sound_ends_is_left_out(case, tmp_path, cut, speed):
    # Blocks last a second. With another speed and the pitch kept, the pieces are stretched.
    described = described_waves()
    first, advert = round(cut * RATE), 3.0
    recording = write_sound_file(
        tmp_path / "advert.wav",
        np.concatenate([described[:first], 0.05 * noise(advert, 6, channels=2), described[first:]]),
    )
    pieces = (
        AlignedPiece(Interval(0.0, cut), Interval(0.0, cut / speed), 0.9),
        AlignedPiece(
            Interval(cut, FILM_SECONDS),
            Interval(cut / speed + advert, cut / speed + advert + (FILM_SECONDS - cut) / speed),
            0.9,
        ),
    )
    blocks = recording_blocks(opened_recording(recording), Fit(pieces, speed != 1), len(described))
    samples, weights = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[1:])
    assert weights == pytest.approx(1, abs=0.001)
    if speed == 1:
        assert level(samples - described) < level(described) - 25


def test_the_film_gets_the_fitted_recording_as_a_track_for_people_who_do_not_see(case, tmp_path):
    made = make(case, tmp_path / "w", "film")
    assert made.paths == (tmp_path / "w" / "film.aligned.described.mkv",)
    assert not made.failed
    with open_film(made.paths[0]) as described, open_film(case.film) as film:
        assert described.info.duration == pytest.approx(film.info.duration, abs=0.05)
        own, ad = described.info.audio
        assert ad.descriptive
        assert not ad.default
        assert ad.language == "eng"
        assert not own.descriptive


@pytest.mark.usefixtures("simple_detector")
def test_the_narrator_alone_is_what_was_spoken_and_silence(case, tmp_path):
    made = make(case, tmp_path / "w", "ad:wav")
    sound = decoded(made.paths[0])[0][:, 0]
    assert len(sound) == len(case.narrator)
    for start, end in LINES:
        spoken, wanted = within(sound, start + 0.1, end - 0.1), within(case.narrator, start + 0.1, end - 0.1)
        assert level(spoken - wanted) < level(wanted) - 15
    silent = np.concatenate(
        [within(sound, 0, 2.5), within(sound, 5.7, 8.5), within(sound, 12.2, 16.5), within(sound, 20, 24)]
    )
    assert not silent.any()
    assert made.suppression is not None
    assert made.suppression > 30


@pytest.mark.usefixtures("simple_detector")
def test_it_is_said_before_anything_is_written_that_the_film_stays_audible(case, tmp_path):
    # Another mix of the film, which has knocks that the film lacks.
    seconds = np.arange(len(case.film_sound)) / RATE
    knocks = noise(FILM_SECONDS, 77, channels=2) * (seconds % 0.7 < 0.05)[:, None] * case.film_sound.std() * 3
    mixed = case.film_sound + knocks.astype(np.float32) + case.narrator[:, None]
    recording = write_sound_file(tmp_path / "mix.wav", mixed)
    whole = AlignedPiece(Interval(0.0, FILM_SECONDS), Interval(0.0, FILM_SECONDS), 0.9)
    other_mix = Case(
        case.film,
        recording,
        Alignment((whole,), FILM_SECONDS, FILM_SECONDS),
        case.film_sound,
        case.narrator,
    )
    progress = Notes(tmp_path / "w")
    made = make(other_mix, tmp_path / "w", "ad:flac", progress=progress)
    (warning,) = [note for note in made.notes if "heard behind the narrator" in note]
    assert progress.early == [warning]
    assert made.suppression is not None
    assert made.suppression < 15


@pytest.mark.usefixtures("simple_detector")
def test_the_narrators_lines_are_a_persons_lines_of_the_track(case, tmp_path):
    place = tmp_path / "w"
    made = make(case, place, "script")
    assert made.script is not None
    track = load_track(place / "track.json")
    assert [cue.edited is not None and cue.machine is None for cue in track.heard] == [True] * len(LINES)
    for cue, (start, end) in zip(track.heard, LINES, strict=True):
        assert cue.start == pytest.approx(start, abs=0.4)
        assert cue.end == pytest.approx(end, abs=0.4)
        assert cue.text.startswith("word")
    assert "3 lines" in made.summary
    # The same once more: the same lines, not twice as many.
    again = make(case, place, "script")
    assert again.script is not None
    assert again.script.added == len(LINES)
    assert len(load_track(place / "track.json").heard) == len(LINES)


@pytest.mark.usefixtures("simple_detector")
def test_lines_of_another_recording_take_the_place_of_those_that_nobody_touched(case, tmp_path):
    place = tmp_path / "w"
    make(case, place, "script")
    record = json.loads((place / "track.json").read_text(encoding="utf-8"))
    record["cues"][1]["text"] = "A dog barks."
    (place / "track.json").write_text(json.dumps(record), encoding="utf-8")
    other = tmp_path / "other.wav"
    other.write_bytes(case.recording.read_bytes())
    made = make(case, place, "script", recording=other)
    assert made.script is not None
    assert (made.script.added, made.script.kept) == (2, 1)
    track = load_track(place / "track.json")
    sources = [cue.edited.source for cue in track.heard if cue.edited is not None]
    assert [source.startswith("other.wav") for source in sources] == [True, False, True]


@pytest.mark.usefixtures("simple_detector")
def test_a_line_that_a_person_changed_stays_and_dialogue_is_no_line(case, tmp_path):
    place = tmp_path / "w"
    make(case, place, "script")
    record = json.loads((place / "track.json").read_text(encoding="utf-8"))
    record["cues"][1]["text"] = "A dog barks."
    (place / "track.json").write_text(json.dumps(record), encoding="utf-8")
    dialogue = Utterance(Interval(*LINES[2]), record["cues"][2]["text"])
    rest = {"key": "", "source": "subtitles", "detail": None, "warnings": [], "singing": [], "shouts": []}
    speech = {**rest, "speech": utterance_rows([dialogue])}
    (place / "speech.json").write_text(json.dumps(speech), encoding="utf-8")
    made = make(case, place, "script")
    assert made.script is not None
    # The fake recogniser numbers its words, always the same.
    assert (made.script.added, made.script.kept, made.script.dialogue) == (1, 1, 1)
    texts = [cue.text for cue in load_track(place / "track.json").heard]
    assert "A dog barks." in texts
    assert len(texts) == 2


@pytest.fixture
def lone_narrator(case: Case, tmp_path: Path) -> Path:
    return write_sound_file(tmp_path / "alone.wav", np.repeat(case.narrator[:, None], 2, axis=1))


@pytest.mark.usefixtures("simple_detector")
def test_a_recording_of_the_description_alone_is_mixed_with_the_film(case, lone_narrator, tmp_path):
    made = make(case, tmp_path / "w", "mix:wav", "ad:wav", "script", recording=lone_narrator, alone=True)
    mixed, alone = (decoded(path)[0] for path in made.paths)
    for start, end in LINES:
        inner = (start + 0.2, end - 0.2)
        assert np.corrcoef(within(alone[:, 0], *inner), within(case.narrator, *inner))[0, 1] > 0.99
        assert np.corrcoef(within(mixed[:, 0], *inner), within(case.narrator, *inner))[0, 1] > 0.8
    assert level(within(mixed, 13, 16) - within(case.film_sound, 13, 16)) < -60
    assert made.script is not None
    assert made.script.added == len(LINES)
    assert made.suppression is None


@pytest.mark.usefixtures("simple_detector")
def test_who_wrote_down_a_german_narrator_is_said_in_german(case, lone_narrator, tmp_path):
    place = tmp_path / "w"
    for _ in range(2):
        made = make(case, place, "script", recording=lone_narrator, alone=True, language="de")
        assert made.script is not None
        assert made.script.added == len(LINES)
    track = load_track(place / "track.json")
    assert {cue.edited.source for cue in track.heard if cue.edited} == {"alone.wav, mitgeschrieben von fake"}
    assert len(track.heard) == len(LINES), "the second recording takes the place of the first"
    fields = json.loads((place / "track.json").read_text(encoding="utf-8"))
    assert not any("written" in text for text in texts_of_json(fields, "de"))


def test_what_cannot_be_made_is_refused_before_any_work(case, tmp_path):
    place = tmp_path / "w"
    with pytest.raises(UsageError, match="'text' is not made of a recording"):
        make(case, place, "text")
    with pytest.raises(UsageError, match="'braille' is not made of a recording") as refused:
        make(case, place, "braille")
    # Its own kinds, not those of a render.
    assert "script: the narrator's words" in refused.value.hint
    assert "sidecar" not in refused.value.hint
    with pytest.raises(UsageError, match="a script has no ending"):
        make(case, place, "script:srt")
    short = write_sound_file(tmp_path / "short.wav", np.zeros((RATE, 2), np.float32))
    with pytest.raises(UsageError, match=r"23\.0 s shorter"):
        make(case, place, "ad", recording=short, alone=True)
    assert not list(place.glob("film.*"))


def test_a_file_without_sound_is_no_recording(tmp_path):
    empty = tmp_path / "empty.wav"
    empty.write_bytes(b"RIFF")
    with pytest.raises(FilmError):
        open_sound(empty)


def sped_up(samples: Sound, speed: float) -> Sound:
    """The samples played faster, with the pitch that comes of it."""
    count = round(len(samples) / speed)
    places = np.arange(count) * speed
    return np.stack(
        [np.interp(places, np.arange(len(samples)), channel) for channel in samples.T], axis=1
    ).astype(np.float32)


def test_a_recording_that_was_sped_up_gets_the_films_speed_and_pitch_back(case, tmp_path):
    speed = 25 / 24
    described = 0.5 * case.film_sound + case.narrator[:, None]
    recording = write_sound_file(tmp_path / "fast.wav", sped_up(described, speed))
    piece = AlignedPiece(Interval(0.0, FILM_SECONDS), Interval(0.0, FILM_SECONDS / speed), 0.9)
    fast = Case(
        case.film,
        recording,
        Alignment((piece,), FILM_SECONDS, FILM_SECONDS / speed),
        case.film_sound,
        case.narrator,
    )
    made = make(fast, tmp_path / "w", "mix:flac")
    assert not made.pitch_kept
    sound = decoded(made.paths[0])[0]
    # Straight lines between samples, by which it was sped up, are not exact.
    assert level(within(sound - described, 1, 23)) < level(described) - 12


@pytest.mark.usefixtures("simple_detector")
def test_the_command_fits_and_makes_what_is_asked_for(case, tmp_path, shotad):
    place = tmp_path / "w"
    intro = 0.05 * noise(INTRO, 5, channels=2)
    recording = write_sound_file(tmp_path / "whole.wav", np.concatenate([intro, described_waves()]))
    fake = ("--set", "transcript.recogniser=fake")
    result = shotad(
        "align",
        case.film,
        recording,
        "--out",
        place,
        "--make",
        "ad:flac",
        "--make",
        "script",
        *fake,
        "--json",
    )
    assert result.code == 0, result.err
    made = json.loads(result.out)["made"]
    assert [Path(file["path"]).name for file in made["files"]] == ["film.aligned.ad.flac"]
    assert made["script"]["added"] == len(LINES)
    assert made["film_lowered_by"] > 20
    alone = decoded(place / "film.aligned.ad.flac")[0][:, 0]
    start, end = LINES[0]
    assert np.corrcoef(within(alone, start, end), within(case.narrator, start, end))[0, 1] > 0.95
    # The track is one that other commands work on.
    assert shotad("export", place, "--format", "srt", "--out", tmp_path / "lines.srt").code == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("--make text", "'text' is not made of a recording"),
        ("--make ad:mp4", "ad cannot be made as 'mp4'"),
        ("--alone", "nothing is made"),
        ("--make script --language de", "understands English only"),
    ],
)
def test_the_command_refuses_at_once(case, tmp_path, shotad, words, part):
    result = shotad("align", case.film, case.recording, "--out", tmp_path / "w", *words.split())
    assert result.code == 2
    assert part in result.err
    assert not (tmp_path / "w").exists()
