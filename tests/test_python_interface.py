"""``import shotad`` as a researcher or an integrator uses it: the functions, their errors, and docs/python.md."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import shotad
from shotad.core import (
    NoProgress,
    Request,
    Task,
)
from shotad.core.settings import assignments_of
from shotad.core.weight_store import cache_folder
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film, sound_blocks
from shotad.sound.files import write_sound
from shotad.sound.programme import RATE
from tests.cli.program import invoke
from tests.evaluation.predicting.minidataset import make_cmd
from tests.media import make_stills
from tests.rendering.described import film_with

ROOT = Path(__file__).resolve().parents[1]
FAST = {
    "engine": "fake", "shots.detector": "adaptive", "slots.find_credits": False, "speech": {"source": "none"}, "scale.method": "none",
    "threads.features": "grid", "frames": {"min_pixels": 12544, "max_pixels": 25088},
}  # fmt: skip
"""Settings by which a film is described at once and without weights."""

HUMAN = (
    "id,film,start,end,text\n0,f1,1,2,A man opens the door.\n1,f1,5,6,She sits down.\n2,f2,1,2,Rain falls.\n"
)
SAID = {"0": "A man opens a door.", "1": "A woman sits.", "2": "It rains."}


class Broken(FakeEngine):
    """An engine that fails in every slot."""

    def __init__(self, config: shotad.Config) -> None:
        super().__init__(config, self.answer)

    def answer(self, request: Request) -> str:
        raise RuntimeError("No power.")


class BrokenOnce(Broken):
    """One that fails in the first slot that it is asked about."""

    first = ""

    def answer(self, request: Request) -> str:
        self.first = self.first or request.slot_id
        return super().answer(request) if request.slot_id == self.first else plain_answer(request)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with movie.mp4 (20 s), its sound as described.mp3, human.csv and predictions.jsonl, in which the
    test runs."""
    shutil.copy(film_with(), tmp_path / "movie.mp4")
    with open_film(film_with()) as film:
        write_sound(tmp_path / "described.mp3", sound_blocks(film, rate=RATE), layout="mono")
    (tmp_path / "human.csv").write_text(HUMAN, encoding="utf-8")
    said = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in SAID.items())
    (tmp_path / "predictions.jsonl").write_text(said, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    weights, cache = cache_folder(), tmp_path / "cache"
    weights.mkdir(parents=True, exist_ok=True)
    (cache / "shotad").mkdir(parents=True)
    (cache / "shotad" / weights.name).symlink_to(weights)  # what is there is not fetched again
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return tmp_path


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> shotad.Track:
    return shotad.describe(film_with(), settings=FAST, out=tmp_path_factory.mktemp("w"), worksheet=False)


def described(**more: Any) -> shotad.Track:
    return shotad.describe("movie.mp4", settings={**FAST, **more.pop("settings", {})}, **more)


# --- the package
def test_its_public_names() -> None:
    assert set(dir(shotad)) == set(shotad.__all__)
    for name in shotad.__all__:
        assert getattr(shotad, name) is not None
    with pytest.raises(AttributeError, match="descibe"):
        shotad.descibe  # type: ignore[attr-defined]  # noqa: B018


def test_each_function_is_called_twice_after_all_packages_were_imported(here: Path) -> None:
    for room in pkgutil.iter_modules(shotad.__path__):
        importlib.import_module(f"shotad.{room.name}")
    for _ in range(2):
        track = shotad.describe("movie.mp4", settings=FAST, worksheet=False)
        assert shotad.render("movie.mp4", track, "movie.wav", make="ad", voice="fake").made
        with shotad.open_film("movie.mp4") as film:
            shots = shotad.detect_shots(film, settings=FAST)
            assert len(shots) > 4
            assert shotad.find_threads(film, shots, settings=FAST) is not None
            assert shotad.shot_scales(film, shots, settings=FAST) == {}
        assert shotad.align("movie.mp4", "described.mp3").coverage > 0.95
        report = shotad.evaluate("predictions.jsonl", "human.csv", metrics=["bleu-1"])
        assert report.values["bleu-1"] is not None


# --- describe
def test_it_writes_what_the_command_writes(here: Path) -> None:
    described(out="python", start=3.0, end=12.0)
    words = [word for setting in assignments_of(FAST) for word in ("--set", setting)]
    part = ["--quiet", "--from", "3", "--to", "12"]
    assert invoke("describe", "movie.mp4", "--out", "command", *words, *part).exit_code == 0
    names = sorted(path.name for path in (here / "command").iterdir())
    assert sorted(path.name for path in (here / "python").iterdir()) == names
    for name in names:
        ours, theirs = here / "python" / name, here / "command" / name
        if ours.is_file() and name not in ("log.txt", ".lock", "settings.json"):
            assert ours.read_bytes() == theirs.read_bytes(), name
    ours, theirs = (json.loads((here / w / "settings.json").read_text()) for w in ("python", "command"))
    assert ours["config"] == theirs["config"]
    assert (ours["film"], ours["given"]) == (theirs["film"], theirs["given"])


def test_settings_win_over_config_and_config_may_be_made_before(here: Path) -> None:
    config = shotad.load_config(None, {**FAST, "seed": 3})
    shotad.describe("movie.mp4", config=config, settings=["seed=4"], worksheet=False)
    kept = json.loads((here / "movie.shotad" / "settings.json").read_text())
    assert (kept["config"]["seed"], kept["config"]["engine"]) == (4, "fake")
    assert kept["assignments"] == ["seed=4"]
    assert not (here / "movie.shotad" / "worksheet.html").exists()
    (here / "house.yaml").write_text("language: de\n", encoding="utf-8")
    mixed = shotad.load_config([config, "house.yaml"])
    assert (mixed.seed, mixed.language) == (3, "de")
    with pytest.raises(shotad.ShotadError, match="2 Config objects"):
        shotad.load_config([config, config])


def test_an_open_film_is_described_and_stays_open_also_one_of_numbered_frames(here: Path) -> None:
    make_stills(here / "frames", 30)
    with shotad.open_film("frames", frame_rate="3") as film:
        assert film.info.duration == pytest.approx(10)
        track = shotad.describe(film, settings=FAST)
        assert track.heard
        assert next(film.frames_at([1.0])).rgb().shape == (film.info.height, film.info.width, 3)
        assert shotad.describe(film, settings=FAST, out="frames.shotad") == track
    kept = json.loads((here / "frames.shotad" / "settings.json").read_text())
    assert kept["film"] == {"name": "frames", "path": str(here / "frames"), "frame_rate": "3"}


def test_slots_that_failed_are_told(here: Path) -> None:
    engine = f"{__name__}:Broken"
    with pytest.raises(shotad.ShotadError, match=r"\d of \d slots failed: .*No power.*Call it again"):
        described(settings={"stage1.engine": engine})
    with pytest.warns(shotad.ShotadWarning, match=r"1 of \d slots failed; the first: .*No power") as told:
        track = described(settings={"stage1.engine": f"{engine}Once"})
    assert track.heard
    assert told[0].filename == __file__, "the line that called the function"


# --- save
@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("m.SRT", b"1000"),
        ("deep/m.csv", b"id,start"),
        ("m.reaper.csv", b"#,Name"),
        ("m.docx", b"PK"),
        ("m.m3u8", None),
        ("vtt", None),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_track_is_saved_by_its_names_ending(track: shotad.Track, name: str, begins: bytes | None) -> None:
    if begins is None:
        with pytest.raises(shotad.ShotadError, match=r"No format .* ends in .*\.vtt, \.srt"):
            track.save(name)
        assert not Path(name).exists()
    else:
        assert track.save(name) == Path(name)
        assert Path(name).read_bytes().lstrip(b"\xef\xbb\xbf").startswith(begins)


# --- render
def test_render_uses_the_work_folder_and_speaks_only_what_changed(here: Path) -> None:
    track = described()
    first = shotad.render("movie.mp4", track, "a.mp4", voice="fake")
    assert (Path("a.mp4").is_file(), first.takes_kept) == (True, 0)
    again = shotad.render("movie.mp4", make=["mix:flac", "ad"], voice="fake")
    assert (again.takes_spoken, again.takes_kept) == (0, first.takes_spoken)
    assert {made.output.path.name for made in again.made} == {"movie.mix.flac", "movie.ad.wav"}
    cues = [replace(track.cues[0], text="A cat."), *track.cues[1:]]
    other = shotad.render("movie.mp4", track.with_cues(cues), "b.mp4", voice="fake")
    assert other.spoken[0].text == "A cat."
    assert shotad.load_track("movie.shotad/track.json").heard[0].text == track.heard[0].text


def test_render_of_a_film_that_was_not_described_finds_speech_itself(here: Path) -> None:
    track = described(out="elsewhere")
    done = shotad.render("movie.mp4", "elsewhere/track.json", "c.mp4", voice="fake", settings=FAST)
    assert len(done.spoken) == len(track.heard)
    assert (here / "movie.shotad" / "speech.json").is_file()
    assert not (here / "movie.shotad" / "shots.json").exists()


# --- shots, threads, scales
def test_threads_take_every_shot_and_shots_of_ones_own(here: Path) -> None:
    low = {**FAST, "threads.threshold": -1.0}
    assert shotad.find_threads("movie.mp4", settings=low) == ((0, 1, 2, 3, 4, 5, 6, 7),)
    mine = [shotad.Shot(7, shotad.Interval(0.0, 4.0)), shotad.Shot(9, shotad.Interval(4.0, 12.0))]
    assert shotad.find_threads("movie.mp4", mine, settings=low) == ((7, 9),)
    assert shotad.find_threads("movie.mp4", mine, settings={**FAST, "threads.threshold": 1.0}) == ()
    with pytest.raises(shotad.ShotadError, match=r"9 \[4.000, 12.000\) and 7 .* do not ascend"):
        shotad.find_threads("movie.mp4", mine[::-1])


def test_scales_are_by_shot(here: Path) -> None:
    pytest.importorskip("torch")
    from shotad.core.config.sight import ComputeSettings
    from shotad.grammar.scale_net import BackboneShape, ScaleClassifier, ScaleDesign, ScaleNet, save_net

    checkpoint = here / "scale.safetensors"
    save_net(checkpoint, ScaleNet(ScaleDesign(BackboneShape(16, 1, 2, side=56), 1, 112, 84)), {})
    # The last is too short for a frame of the grid.
    bounds = [(0.0, 4.0), (4.0, 8.0), (8.0, 12.0), (12.01, 12.02)]
    shots = [shotad.Shot(index, shotad.Interval(*bound)) for index, bound in enumerate(bounds)]
    scales = shotad.shot_scales("movie.mp4", shots, settings={"scale.checkpoint": str(checkpoint)})
    with shotad.open_film("movie.mp4") as film:
        pictures = [frame.rgb() for frame in film.frames_at([2.0, 6.0, 10.0])]
    guesses = ScaleClassifier.load(checkpoint, ComputeSettings(device="cpu")).of(pictures)
    assert scales == {index: guess.scale for index, guess in enumerate(guesses) if guess}
    assert len(scales) == 3


# --- evaluate
def test_a_report_is_returned_and_written_where_it_is_asked_for(here: Path) -> None:
    files = set(here.iterdir())
    report = shotad.evaluate("predictions.jsonl", "human.csv", metrics=["BLEU-1", "cider"], system="ours")
    assert set(report.values) == {"bleu-1", "cider"}
    assert report.values["bleu-1"] == pytest.approx(report.result("bleu-1").value)  # type: ignore[union-attr]
    assert report.system == "ours"
    assert len(report.items) == 3
    assert set(here.iterdir()) - files <= {here / "cache"}
    text = shotad.evaluate("predictions.jsonl", "human.csv", metrics="bleu-1, cider", out="report")
    assert text.values == report.values
    assert (here / "report" / "report.html").is_file()
    assert not any("actions" in note for note in report.notes), "these metrics need none"


# --- errors, progress, the process
@pytest.mark.parametrize(
    ("call", "what", "do"),
    [
        (lambda: shotad.describe("none.mp4"), "none.mp4", "Check the path"),
        (lambda: shotad.detect_shots("none.mp4"), "none.mp4", "Check the path"),
        (lambda: described(subtitles="none.srt"), "none.srt", "Check|subtitles="),
        (lambda: described(engine="papr"), "'papr'", "Did you mean paper"),
        (lambda: described(settings={"slots": {"minimum": -3}}), "slots.minimum = -3", "from 0.1 to 3600"),
        (lambda: described(start=5.0, end=5.0), "end = 5.0 .* start = 5.0", "later end"),
        (lambda: described(cast="nobody.cast"), "nobody.cast", "cast.yaml"),
        (lambda: shotad.render("movie.mp4"), "track.json", "describe the film"),
        (lambda: shotad.render("movie.mp4", make="flim"), "'flim'", "film, |film: "),
        (lambda: shotad.open_film("movie.mp4", frame_rate="x"), "is no frame rate", "24000/1001"),
        (lambda: shotad.open_film("movie.mp4", settings={"film.reader": "vhs"}), "'vhs'.*pyav", ""),
        (lambda: shotad.evaluate("predictions.jsonl", "human.csv", metrics=["cidr"]), "'cidr'", "cider"),
        (lambda: shotad.evaluate("predictions.jsonl", "cmd"), "'cmd'", "cmd-ad"),
    ],
)
def test_errors_say_what_and_what_to_do(here: Path, call: Callable[[], object], what: str, do: str) -> None:
    with pytest.raises(shotad.ShotadError) as caught:
        call()
    assert re.search(what, caught.value.what)
    assert re.search(do, caught.value.hint)


def test_nothing_is_printed_unless_progress_is_wanted(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    class Own(NoProgress):
        """An object of one's own, which is told."""

        told: ClassVar[list[str]] = []

        def task(self, name: str, total: float | None, unit: str) -> Task:
            self.told.append(name)
            return super().task(name, total, unit)

    shotad.detect_shots("movie.mp4", settings=FAST)
    assert capfd.readouterr() == ("", "")
    described(progress=True)
    said = capfd.readouterr()
    assert said.out == ""
    assert "Work folder: movie.shotad" in said.err
    assert "Finding shots" in said.err
    described(progress=Own(), out="other")
    assert "Finding shots" in Own.told
    assert capfd.readouterr() == ("", "")


def test_it_runs_in_any_thread_and_takes_no_signals(here: Path) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    found: list[shotad.Track] = []
    worker = threading.Thread(target=lambda: found.append(described()))
    worker.start()
    worker.join()
    assert found[0].heard
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


# --- the page
def blocks(page: str) -> Iterator[str]:
    for found in re.finditer(
        r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        yield found[1]


@pytest.fixture
def in_no_time(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine is the fake one, every voice too, and the defaults ask for no weights."""
    from shotad.cli import interface
    from shotad.engines.table import PRESETS
    from shotad.sound.voice_engines import VOICE_KINDS

    def load(config: Any, settings: Any = None, **more: Any) -> shotad.Config:
        given = settings if isinstance(settings, tuple) else assignments_of(settings)
        return shotad.load_config(config, (*assignments_of(FAST), *given), **more)

    monkeypatch.setattr(interface, "load_config", load)
    for preset in ("embedded", "paper"):
        monkeypatch.setitem(PRESETS, preset, PRESETS["fake"])
    for name, kind in VOICE_KINDS.items():
        monkeypatch.setitem(VOICE_KINDS, name, replace(kind, in_auto=name == "fake"))


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
@pytest.mark.usefixtures("in_no_time")
def test_the_examples_run_as_they_stand(page: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "house.yaml").write_text("voice:\n  name: auto\n", encoding="utf-8")
    make_cmd(here / "cmd-ad")
    names: dict[str, Any] = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)
    assert names["track"].heard
    assert (here / "movie.vtt").read_text("utf-8").startswith("WEBVTT")
    assert capsys.readouterr().out.count("Somebody crosses a room") >= len(names["track"].heard)


TIMES = (math.nan, math.inf, -1, "90", True, 1e308, 10**400, 20.0, 100)
"""None of these is a second of a film of 20 s."""
PATHS = ("none.csv", "", "a\0b", 3, "folder")


def test_what_is_given_is_checked_before_the_film_is_read(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "late.csv").write_text("start,end\n90,95\n", encoding="utf-8")
    wrong: list[dict[str, Any]] = [{"start": second} for second in (*TIMES, None)]
    wrong += [{"end": second} for second in (math.nan, math.inf, -1, "90", False, 0)]
    wrong += [{name: path} for name in ("slots", "shots", "subtitles", "cast") for path in PATHS]
    wrong += [{"slots": "late.csv"}, {"shots": "late.csv"}, {"out": "a\0b"}, {"out": 3}, {"engine": 3}]
    wrong += [{"config": 3}, {"settings": 3}, {"settings": [3]}, {"settings": {"slots.minimum": math.inf}}]
    for arguments in wrong:
        with pytest.raises(shotad.ShotadError) as caught:
            shotad.describe("movie.mp4", **{"settings": FAST, **arguments})
        assert caught.value.what.endswith("."), arguments
        assert not (here / "movie.shotad").exists(), arguments
    for film in ("none.mp4", "", "a\0b", 3, None):
        with pytest.raises(shotad.ShotadError):
            shotad.describe(film, settings=FAST)  # type: ignore[arg-type]
    for rate in (math.nan, math.inf, 0, -1, True, 1e-320, 1e308, 10**5000, "1/0", "x", [3]):
        with pytest.raises(shotad.ShotadError, match="is no frame rate"):
            shotad.open_film("movie.mp4", frame_rate=rate)  # type: ignore[arg-type]
    for make in ("nothing", 3, [3]):
        with pytest.raises(shotad.ShotadError):
            shotad.render("movie.mp4", make=make)  # type: ignore[arg-type]
    for shots in ([1, 2], 3):
        with pytest.raises(shotad.ShotadError, match="are no shots"):
            shotad.find_threads("movie.mp4", shots)  # type: ignore[arg-type]
    assert not (here / "movie.shotad").exists()


def test_slots_outside_the_film_are_not_told_to_be_tried_again(here: Path) -> None:
    (here / "some.csv").write_text("start,end\n2,6\n90,95\n", encoding="utf-8")
    with pytest.warns(shotad.ShotadWarning, match="1 of 2 slots failed.*Correct their times") as told:
        track = shotad.describe("movie.mp4", settings=FAST, slots="some.csv")
    assert not any("Call it again" in str(one.message) for one in told)
    assert len(track.cues) == 1


def test_times_may_be_any_real_number(here: Path) -> None:
    del here
    for start, end in ((np.float32(0.5), Fraction(19)), (np.int64(0), 20), (0, 10**6)):
        track = shotad.describe("movie.mp4", settings=FAST, start=start, end=end, worksheet=False)  # type: ignore[arg-type]
        assert track.cues


EXTREMES = {
    "slots.minimum": (0.1, 3600), "slots.seconds_per_word": (0.05, 10), "speech.margin": (0, 60),
    "shots.adaptive_threshold": (0.01, 1000), "shots.min_scene_len": (1, 100_000),
    "shots.window_width": (1, 1000), "context.past": (0, 100), "context.future": (0, 100),
    "frames.outside": (0, 20), "prompt.example_count": (0, 1000), "prompt.note_words": (0, 100_000),
    "stage2.history": (0, 1000), "stage2.sampling.temperature": (0, 10), "stage2.sampling.top_p": (0.0001, 1),
    "stage2.sampling.top_k": (1, 1_000_000),
    "lint.rate_error": (0, 10_000), "seed": (0, 2**63 - 1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::shotad.ShotadWarning")  # there are few slots
@pytest.mark.parametrize("which", [0, 1], ids=["lowest", "highest"])
def test_a_run_ends_with_the_lowest_and_the_highest_numbers(here: Path, which: int) -> None:
    numbers = {key: bounds[which] for key, bounds in EXTREMES.items()}
    quick = {"slots.minimum": 4.0, "speech.margin": 1.0} if which else {}
    for settings in (numbers, {**numbers, **quick}):
        track = shotad.describe("movie.mp4", settings={**FAST, **settings}, out=here / "x", worksheet=False)
        assert (here / "x" / "track.json").is_file()
    assert track.cues
