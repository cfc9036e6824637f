"""Films that have a description already, inside or beside them, and films with subtitles beside them: what `describe` and
`batch` do without an option, and with `--existing`."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import fsspec
import pytest

import shotad as package
from shotad.batch import FilmJob, Planner, StoredObject, foreseen_by_existing
from shotad.batch.staging import placed
from shotad.core import Interval, NoProgress, RunInputs, load_config
from shotad.core.errors import DescriptionExists, UsageError
from shotad.core.runsettings import GivenCast, read_settings
from shotad.description.existing import find_existing
from shotad.description.inputs import GivenFile, Inputs
from shotad.description.preparation import find_speech_of_film
from shotad.film import SoundSpeech, open_film, read_subtitles
from shotad.script import ALL_FORMATS, load_track
from shotad.script.formats import SIGNALS
from tests.cli.program import Shotad
from tests.media import FilmSpec, SoundSpec, make_film

SPEC = FilmSpec(frames=150, rate=Fraction(5), cuts=tuple(range(12, 150, 12)))
"""Half a minute in shots of 2.4 s, without sound."""
SETTINGS = (
    "slots.find_credits=false",
    "shots.detector=adaptive",
    "scale.method=none",
    "threads.features=none",
)
OPTIONS = (
    *("--engine", "fake", "--no-sheet"),
    *(word for setting in SETTINGS for word in ("--set", setting)),
)
DIALOGUE = "1\n00:00:08,000 --> 00:00:12,000\nWhere were you?\n\n"
AD = """WEBVTT
Kind: descriptions
Language: {language}

00:00:01.000 --> 00:00:03.000
A girl crosses the ice.
"""


def film_in(folder: Path, name: str, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(
        shutil.copy(make_film(replace(SPEC, suffix=Path(name).suffix, **changes)).path, folder / name)
    )


def described_sound(folder: Path, name: str) -> Path:
    """A film with a sound track of description beside its own."""
    sounds = (
        SoundSpec(duration=30, default=True, language="eng"),
        SoundSpec(duration=30, language="eng", title="English AD"),
    )
    return film_in(folder, name, sounds=sounds)


def with_text_track(film: Path, title: str) -> Path:
    """A copy of a film beside it, with a text track of two cues."""
    target = film.with_name(f"text-{film.stem}.mkv")
    with av.open(str(film)) as source, av.open(str(target), "w") as copy:
        video = copy.add_stream_from_template(source.streams.video[0])
        text: Any = copy.add_mux_stream("subrip")
        text.time_base = Fraction(1, 1000)
        text.metadata.update({"title": title, "language": "eng"})
        packets = []
        for start, words in ((1000, "A girl crosses the ice."), (20000, "She falls.")):
            packet = av.Packet(words.encode())
            packet.stream, packet.pts, packet.dts, packet.duration = text, start, start, 2000
            packet.time_base = text.time_base
            packets.append(packet)
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = video
                packets.append(packet)
        for packet in sorted(packets, key=lambda packet: float(packet.dts * packet.time_base)):
            copy.mux(packet)
    return target


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of films as people have them; subtitles and descriptions lie beside some, and inside others."""
    folder = tmp_path_factory.mktemp("library")
    film_in(folder, "plain.mp4")
    film_in(folder, "Ad Astra.mp4")
    (folder / "Ad Astra.en.srt").write_text(DIALOGUE, encoding="utf-8")
    film_in(folder, "beside.mp4")
    (folder / "beside.srt").write_text(DIALOGUE, encoding="utf-8")
    (folder / "beside.en.ad.vtt").write_text(AD.format(language="en"), encoding="utf-8")
    film_in(folder, "german.mp4")
    (folder / "german.de.ad.vtt").write_text(AD.format(language="de"), encoding="utf-8")
    described_sound(folder, "inside.mkv")
    return folder


DESCRIBED = {"plain.mp4", "Ad Astra.mp4", "german.mp4"}
FILMS = {*DESCRIBED, "beside.mp4", "inside.mkv"}


def test_a_folder_is_described_but_for_the_films_that_have_a_description(
    library: Path, tmp_path: Path, shotad: Shotad
) -> None:
    report = tmp_path / "report.json"
    words = ("batch", library, *OPTIONS, "--set", "speech.source=none", "--out", tmp_path, "--jobs", "1")
    planned = shotad(*words, "--dry-run", "--json")
    rows = {Path(row["film"]).name: row for row in json.loads(planned.out)["films"]}
    states = {name: row["state"] for name, row in rows.items()}
    assert "german.de.ad.vtt" in rows["german.mp4"]["warnings"][0]
    assert {name for name, state in states.items() if state == "has_description"} == FILMS - DESCRIBED
    said = shotad(*words, "--report", report)
    assert said.code == 0, said.err
    rows = {Path(row["film"]).name: row for row in json.loads(report.read_text())["films"]}
    assert {name: row["state"] for name, row in rows.items()} == {
        name: "done" if name in DESCRIBED else "has_description" for name in FILMS
    }
    assert "5 films: 3 done, 2 have a description already." in said.out
    assert "beside.en.ad.vtt, beside the film (text, English, 1 line, 3 s)" in rows["beside.mp4"]["error"][0]
    assert "sound track 1 in the film" in rows["inside.mkv"]["error"][0]
    assert "English AD" in rows["inside.mkv"]["error"][0]
    assert rows["Ad Astra.mp4"]["with"] == ["Ad Astra.en.srt"]
    (note,) = [text for text in rows["german.mp4"]["warnings"] if "another language" in text]
    assert "german.de.ad.vtt" in note
    assert "German" in note


@pytest.mark.parametrize("name", sorted(FILMS))
def test_each_film_alone_is_described_or_not_as_in_a_batch(
    library: Path, tmp_path: Path, shotad: Shotad, name: str
) -> None:
    out = tmp_path / "work"
    said = shotad("describe", library / name, *OPTIONS, "--set", "speech.source=none", "--out", out)
    assert said.code == (0 if name in DESCRIBED else 4), said.err
    # Nothing is left behind of a film that was not described.
    assert out.exists() == (name in DESCRIBED)
    if name not in DESCRIBED:
        assert f"{name} has an audio description already" in said.err
        assert "--existing ignore" in said.err
        assert ("--existing complete" in said.err) == (name == "beside.mp4")


def run(folder: Path, film: Path, *words: object, shotad: Shotad) -> Any:
    said = shotad("describe", film, *OPTIONS, *words, "--out", folder)
    assert said.code == 0, said.err
    return said


def test_a_description_is_completed_as_a_persons_lines_are(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "movie.mp4")
    whole = run(tmp_path / "whole", film, shotad=shotad)
    assert "Subtitles" not in whole.err
    lines = load_track(tmp_path / "whole" / "track.json").cues
    assert len(lines) > 2
    # A line in the first slot.
    text = AD.format(language="en")
    (tmp_path / "movie.ad.vtt").write_text(text, encoding="utf-8")
    for _ in range(2):
        said = run(tmp_path / "w", film, "--existing", "complete", shotad=shotad)
        track = load_track(tmp_path / "w" / "track.json")
        kept, *machine = track.cues
        assert (kept.text, kept.interval) == ("A girl crosses the ice.", Interval(1.0, 3.0))
        assert kept.edited is not None
        assert (kept.edited.source, kept.edited.machine) == ("movie.ad.vtt", None)
        assert [cue.id for cue in machine] == [cue.id for cue in lines if cue.interval.start >= 3]
        assert "1 line of movie.ad.vtt" in said.err
    # A person changes the line: it stays so, also where edits of the machine's lines are thrown away it comes back.
    edited = (tmp_path / "w" / "movie.ad.vtt").read_text(encoding="utf-8").replace("the ice", "a lake")
    (tmp_path / "w" / "movie.ad.vtt").write_text(edited, encoding="utf-8")
    assert shotad("import", tmp_path / "w", tmp_path / "w" / "movie.ad.vtt").code == 0
    run(tmp_path / "w", film, "--existing", "complete", shotad=shotad)
    assert load_track(tmp_path / "w" / "track.json").cues[0].text == "A girl crosses a lake."
    run(tmp_path / "w", film, "--existing", "complete", "--discard-edits", shotad=shotad)
    assert load_track(tmp_path / "w" / "track.json").cues[0].text == "A girl crosses the ice."
    # Without the option a run stops, and with ignore all slots are described.
    assert shotad("describe", film, *OPTIONS, "--out", tmp_path / "w").code == 4
    run(tmp_path / "i", film, "--existing", "ignore", shotad=shotad)
    assert len(load_track(tmp_path / "i" / "track.json").cues) == len(lines)


def test_lines_of_a_text_track_are_kept_too(tmp_path: Path, shotad: Shotad) -> None:
    film = with_text_track(film_in(tmp_path, "movie.mp4"), "Audio Description")
    said = shotad("describe", film, *OPTIONS)
    assert said.code == 4
    assert "text track 0 in the film (“Audio Description”, English, 2 lines, 22 s)" in said.err
    run(tmp_path / "w", film, "--existing", "complete", shotad=shotad)
    track = load_track(tmp_path / "w" / "track.json")
    texts = [cue.text for cue in track.cues if cue.edited is not None]
    assert texts == ["A girl crosses the ice.", "She falls."]


OTHER_SCRIPTS = {
    "movie.ad.ttml": '<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"><body><div>'
    '<p begin="1s" end="3s">A girl crosses the ice.</p></div></body></tt>',
    "movie.ad.csv": "In;Out;Line\n0:01;0:03;A girl crosses the ice.\n",
    "AD/movie.srt": "1\n00:00:01,000 --> 00:00:03,000\nA girl crosses the ice.\n",
    "Audio Description/script.txt": "0:01\t0:03\tA girl crosses the ice.\n",
}


@pytest.mark.parametrize("name", OTHER_SCRIPTS)
def test_lines_of_a_script_of_any_form_and_in_a_folder_of_descriptions_are_kept(
    tmp_path: Path, name: str
) -> None:
    film = film_in(tmp_path, "movie.mp4")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(OTHER_SCRIPTS[name], encoding="utf-8")
    with open_film(film) as opened:
        info = opened.info
    run_inputs, notes = find_existing(
        info, load_config(None, ["existing=complete"]), tmp_path / "w", RunInputs()
    )
    assert f"1 line of {name}, beside the film" in notes[0]
    kept = Inputs(info, load_config(None), run_inputs).description
    assert kept is not None
    assert [(cue.interval, cue.text) for cue in kept.content.cues] == [
        (Interval(1.0, 3.0), "A girl crosses the ice.")
    ]


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("movie.ad.txt", "A girl crosses the ice. She falls.", "is text without the times of its lines"),
        ("movie.ad.pdf", "%PDF-1.4", "is a PDF document"),
        ("movie.ad.rtf", "{\\rtf1 A girl}", "is an RTF document"),
        ("AD/movie.ad.csv", "Time;Words\n0:01;A girl\n", "Name the columns"),
    ],
)
def test_a_script_that_cannot_be_read_is_named_with_what_to_do(
    tmp_path: Path, shotad: Shotad, name: str, text: str, advice: str
) -> None:
    film = film_in(tmp_path, "movie.mp4")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    for existing in ("stop", "complete"):
        said = shotad("describe", film, *OPTIONS, "--existing", existing)
        assert said.code == 4
        assert f"{name}, beside the film (text)" in said.err
        assert advice in said.err
        assert "--existing ignore" in said.err


def test_a_description_that_names_no_language_is_in_that_of_the_film(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "movie.mp4", sounds=(SoundSpec(duration=30, default=True, language="fre"),))
    (tmp_path / "movie.ad.vtt").write_text(AD.replace("Language: {language}\n", ""), encoding="utf-8")
    words = ("describe", film, *OPTIONS, "--set", "speech.source=none", "--out", tmp_path / "w")
    assert shotad(*words, "--language", "fr").code == 4
    said = shotad(*words)
    assert said.code == 0
    assert "in another language: movie.ad.vtt" in said.err


def test_a_description_without_readable_lines_cannot_be_completed(tmp_path: Path) -> None:
    film = described_sound(tmp_path, "movie.mkv")
    with pytest.raises(DescriptionExists, match="cannot be read") as refused:
        package.describe(film, existing="complete", settings={"engine": "fake"}, out=tmp_path / "w")
    assert not refused.value.has_lines
    sound = film_in(tmp_path, "other.mp4")
    (tmp_path / "other.en.ad.mka").write_bytes(b"no sound")
    track = package.describe(
        sound, settings={"engine": "fake", **dict(text.split("=") for text in SETTINGS)}, worksheet=False
    )
    assert track.cues


def test_what_shotad_made_is_no_reason_to_stop_and_no_dialogue(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "movie.mp4")
    run(tmp_path / "movie.shotad", film, "--make", "sidecar", "--voice", "fake", shotad=shotad)
    names = {form: f"movie.{each.ending}" for form, each in ALL_FORMATS.items() if form not in SIGNALS}
    for form, name in {**names, "srt": "movie.srt", "vtt": "movie.en.ad.vtt"}.items():
        assert shotad("export", film, "--format", form, "--out", tmp_path / name).code == 0
    assert (tmp_path / "movie.en.ad.mka").is_file()
    said = run(tmp_path / "movie.shotad", film, shotad=shotad)
    assert "Subtitles" not in said.err
    # Nor a reason against a trial elsewhere, beside the usual folder.
    assert shotad("describe", film, *OPTIONS, "--out", tmp_path / "trial").code == 0
    # Without that folder they are a description of this film like any other.
    (tmp_path / "movie.shotad").rename(tmp_path / "kept")
    said = shotad("describe", film, *OPTIONS, "--out", tmp_path / "elsewhere")
    assert said.code == 4
    # The scripts and the mix, which is no script.
    assert said.err.count("made by shotad") == len(names) + 1


@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_a_film_that_shotad_described_is_not_described_again(
    tmp_path: Path, shotad: Shotad, ending: str
) -> None:
    sounds = (SoundSpec(duration=30, default=True, language="eng"),)
    film = film_in(tmp_path, f"movie.{ending}", sounds=sounds)
    words = (*OPTIONS, "--set", "speech.source=none")
    done = shotad("describe", film, *words, "--voice", "fake")
    assert done.code == 0, done.err
    shutil.move(tmp_path / "movie.shotad" / f"movie.described.{ending}", tmp_path)
    said = shotad("batch", tmp_path, *words, "--json", "--report", tmp_path / "report.json")
    rows = {Path(row["film"]).name: row["state"] for row in json.loads(said.out)["films"]}
    assert (said.code, rows[f"movie.described.{ending}"]) == (0, "has_description")


# Files beside a film that are not used
def test_files_that_are_not_used_are_told_in_one_sentence(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "Movie.mp4")
    (tmp_path / "movie.SRT").write_text(DIALOGUE, encoding="utf-8")
    (tmp_path / "Movie.forced.srt").write_text(DIALOGUE, encoding="utf-8")
    (tmp_path / "Other name.srt").write_text(DIALOGUE, encoding="utf-8")
    sentence = (
        "Beside the film, not used: Movie.forced.srt (its name says forced); "
        "Other name.srt (its name is not the film's). To use one, call it as the film: Movie.srt, Movie.ad.mp3."
    )
    said = shotad("describe", film, *OPTIONS, "--out", tmp_path / "work")
    assert said.code == 0, said.err
    assert sentence in said.err
    assert "Subtitles: movie.SRT, beside the film." in said.err
    again = shotad("describe", film, *OPTIONS, "--json", "--out", tmp_path / "work")
    assert sentence in json.loads(again.out)["warnings"]
    words = ("batch", tmp_path, *OPTIONS, "--report", tmp_path / "report.json")
    assert shotad(*words, "--out", tmp_path / "batch").code == 0
    (row,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["films"]
    assert row["with"] == ["movie.SRT"]
    assert sentence in row["warnings"]
    planned = (*words, "--force", "--out", tmp_path / "batch", "--dry-run")
    assert f"  Note: {sentence}" in shotad(*planned).out
    (row,) = json.loads(shotad(*planned, "--json").out)["films"]
    assert row["warnings"] == [sentence]
    # Who names a file, or wants none, knows.
    named = ("--subtitles", tmp_path / "movie.SRT", "--force", "--out", tmp_path / "work")
    assert "not used" not in shotad("describe", film, *OPTIONS, *named).err
    alone = shotad(*words, "--no-beside", "--force", "--json", "--out", tmp_path / "batch")
    assert sentence not in alone.out


# Subtitles beside a film
def slots_of(folder: Path) -> list[list[float]]:
    record = json.loads((folder / "slots.json").read_text(encoding="utf-8"))
    return [[slot["start"], slot["end"]] for slot in record["slots"]]


def test_subtitles_beside_a_film_are_taken_by_every_command(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "movie.mp4")
    out = tmp_path / "movie.shotad"
    run(out, film, shotad=shotad)
    without = slots_of(out)
    (tmp_path / "Subs").mkdir()
    (tmp_path / "Subs" / "2_English.srt").write_text(DIALOGUE, encoding="utf-8")
    assert "Subtitles: 2_English.srt, beside the film." in run(out, film, shotad=shotad).err
    assert slots_of(out) != without
    assert not any(start < 12 and end > 8 for start, end in slots_of(out))
    # One beside the film goes before; other bytes are other slots.
    (tmp_path / "movie.en.srt").write_text(DIALOGUE.replace("00:00:12", "00:00:20"), encoding="utf-8")
    found = shotad("slots", film, *OPTIONS[3:])
    assert "movie.en.srt, beside the film" in found.err
    assert not any(start < 20 and end > 8 for start, end in slots_of(out))
    # They are refused, and gone.
    run(out, film, "--subtitles", "off", shotad=shotad)
    assert slots_of(out) == without
    shutil.rmtree(tmp_path / "Subs")
    (tmp_path / "movie.en.srt").unlink()
    run(out, film, shotad=shotad)
    assert slots_of(out) == without


def note_of(folder: Path) -> str:
    """The note of the run in a work folder, which ``redo`` takes too."""
    return read_settings(folder).config.prompt.note


def test_a_note_and_a_cast_beside_a_film_are_used_as_if_they_were_named(
    tmp_path: Path, shotad: Shotad
) -> None:
    film = film_in(tmp_path / "films", "movie.mp4")
    out = tmp_path / "out"
    without = run(out, film, shotad=shotad)
    assert "beside the film" not in without.err
    (film.parent / "movie.note.txt").write_text("Ada owns the cat.\n", encoding="utf-8")
    (film.parent / "movie.cast.yaml").write_text("people:\n  - {id: ada, name: Ada}\n", encoding="utf-8")
    with_files = run(out, film, shotad=shotad)
    assert "Note: movie.note.txt, beside the film." in with_files.err
    assert "Cast: movie.cast.yaml, beside the film." in with_files.err
    assert note_of(out) == "Ada owns the cat."
    assert read_settings(out).given.cast == GivenCast(film.parent / "movie.cast.yaml")
    stage1 = (out / "stage1.jsonl").read_bytes()
    # The same text by name is the same run: nothing is asked again.
    named = tmp_path / "about.txt"
    named.write_text("Ada owns the cat.", encoding="utf-8")
    run(out, film, "--note", named, shotad=shotad)
    assert (out / "stage1.jsonl").read_bytes() == stage1
    # In the prompts it stands, fenced.
    shown = shotad("describe", film, *OPTIONS, "--out", out, "--show-prompts", "1")
    assert "Ada owns the cat." in shown.out
    # What is named goes before it, and both can be left out.
    named.write_text("A cold night.", encoding="utf-8")
    run(out, film, "--note", named, shotad=shotad)
    assert note_of(out) == "A cold night."
    run(out, film, "--set", "prompt.note=By hand.", shotad=shotad)
    assert note_of(out) == "By hand."
    off = run(out, film, "--note", "off", "--cast", "off", shotad=shotad)
    assert ("beside the film" in off.err, note_of(out), read_settings(out).given.cast) == (False, "", None)
    (film.parent / "movie.note.txt").write_text(" \n", encoding="utf-8")
    assert "movie.note.txt, beside the film, is empty" in run(out, film, shotad=shotad).err


def test_python_takes_a_note_as_the_command_does(tmp_path: Path) -> None:
    film = film_in(tmp_path / "films", "movie.mp4")
    (film.parent / "movie.note.txt").write_text("Ada owns the cat.", encoding="utf-8")
    named = tmp_path / "about.txt"
    named.write_text("A cold night.", encoding="utf-8")
    for note, text in ((None, "Ada owns the cat."), (named, "A cold night."), ("off", "")):
        out = tmp_path / f"out-{text[:3]}"
        package.describe(film, engine="fake", settings=SETTINGS, note=note, out=out, worksheet=False)
        assert note_of(out) == text
    named.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="is empty"):
        package.describe(film, engine="fake", note=named, out=tmp_path / "none")


def test_one_that_cannot_be_read_is_said_and_left_out(tmp_path: Path, shotad: Shotad) -> None:
    film = film_in(tmp_path, "movie.mp4")
    (tmp_path / "movie.srt").write_text("no subtitles at all", encoding="utf-8")
    assert "movie.srt, beside the film, is not used" in run(tmp_path / "w", film, shotad=shotad).err
    # One that is named is meant.
    said = shotad("describe", film, *OPTIONS, "--subtitles", tmp_path / "movie.srt")
    assert said.code == 1


def test_subtitles_that_do_not_fit_the_sound_give_way_to_it(tmp_path: Path) -> None:
    spec = FilmSpec(frames=1500, rate=Fraction(5), size=(64, 36), sounds=(SoundSpec(duration=2.0),))
    speech = [
        Interval(start, start + 2.5)
        for start in (10, 24, 31, 52, 71, 77, 98, 120, 133, 160, 171, 190, 222, 241, 262, 280)
    ]
    times = [f"00:0{int(at) // 60}:{int(at) % 60:02d},000" for at in range(300)]
    late = "".join(
        f"{number}\n{times[int(line.start) + 8]} --> {times[int(line.start) + 10]}\nA word.\n\n"
        for number, line in enumerate(speech, 1)
    )
    path = tmp_path / "movie.srt"
    path.write_text(late, encoding="utf-8")
    file = GivenFile("movie.srt", read_subtitles(path), "digest")
    settings = load_config(None).speech
    with open_film(make_film(spec).path) as film:

        def listen() -> SoundSpeech:
            return SoundSpeech(tuple(speech))

        found = find_speech_of_film(film, settings, file, listen, NoProgress(), is_found=True)
        given = find_speech_of_film(film, settings, file, listen, NoProgress())
    assert (found.source, given.source) == ("sound", "subtitles")
    assert "movie.srt, beside the film, is not used" in found.notes[0]
    assert "they are late" in found.notes[0]
    assert [utterance.interval for utterance in found.utterances] == speech


def test_a_description_that_is_named_as_subtitles_gives_way_to_the_sound(tmp_path: Path) -> None:
    spec = FilmSpec(frames=150, rate=Fraction(5), size=(64, 36), sounds=(SoundSpec(duration=2.0),))
    path = tmp_path / "movie.vtt"
    times = [("00", "06"), ("06", "12"), ("12", "18"), ("18", "24"), ("24", "30")]
    cues = "".join(f"00:{start}.000 --> 00:{end}.000\nA rabbit climbs.\n\n" for start, end in times)
    path.write_text(f"WEBVTT\n\n{cues}", encoding="utf-8")
    file = GivenFile("movie.vtt", read_subtitles(path), "digest")
    speech = (Interval(4, 7),)
    with open_film(make_film(spec).path) as film:

        def listen() -> SoundSpeech:
            return SoundSpeech(speech)

        settings = load_config(None).speech
        found = find_speech_of_film(film, settings, file, listen, NoProgress(), is_found=True)
        given = find_speech_of_film(film, settings, file, listen, NoProgress())
    assert (found.source, given.source) == ("sound", "subtitles")
    assert "most of its lines stand where nobody speaks" in found.notes[0]
    assert "call it movie.ad.vtt" in found.notes[0]


def test_films_on_object_storage_have_them_beside_them_too(tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    names = {
        "a.mp4": b"film", "a.en.ad.m4a": b"sound", "b.mp4": b"film", "b.ad.vtt": AD.format(language="en").encode(),
        "c.mp4": b"film", "c.en.srt": DIALOGUE.encode(), "c.ads.vtt": b"WEBVTT\n", "d.mp4": b"film", "Subs/d/en.srt": b"",
        "e.mp4": make_film(SPEC).path.read_bytes(), "AD/e.csv": b"In,Out,Line\n1,3,A girl crosses the ice.\n", "AD/English.csv": b"",
        "f.mp4": b"film", "AD/f/script.pdf": b"%PDF-1.4",
    }  # fmt: skip
    for name, data in names.items():
        store.pipe(f"/existing/{name}", data)
    films = [StoredObject(f"memory://existing/{name}.mp4", 4, None) for name in "abcdef"]
    planned = Planner(FilmJob("-", "-")).plan(films)
    results = [foreseen_by_existing(film.job)[0] for film in planned]
    assert [result and result.state for result in results] == [
        "has_description",
        "has_description",
        None,
        None,
        "has_description",
        "has_description",
    ]
    # What a run brings from there: its name counts from the film's folder.
    completing = Planner(FilmJob("-", "-", load_config(None, ["existing=complete"]))).plan(films)
    (_, notes), (refused, _) = (foreseen_by_existing(film.job) for film in completing[4:])
    assert "Kept: AD/e.csv, beside the film" in notes[0]
    assert refused is not None
    with placed(replace(completing[4].job, scratch=str(tmp_path)), NoProgress()) as brought:
        assert brought.run_inputs.description is not None
        assert brought.run_inputs.description.read_bytes().startswith(b"In,Out,Line")
    assert [film.job.subtitles for film in planned] == [
        None, None, "memory://existing/c.en.srt", "memory://existing/Subs/d/en.srt", None, None,
    ]  # fmt: skip
    ignoring = Planner(FilmJob("-", "-", load_config(None, ["existing=ignore"]))).plan(films)
    assert [foreseen_by_existing(film.job) for film in ignoring] == [(None, ())] * 6
