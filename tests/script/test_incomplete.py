"""A script that was cut off, or that is only a part, never takes lines of a person away unasked."""

from __future__ import annotations

import importlib
import io
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval, WorkFolder
from shotad.core.errors import (
    EditConflict,
    MissingLines,
    ScriptError,
)
from shotad.script import (
    ALL_FORMATS,
    Cue,
    EditField,
    Maker,
    Track,
    check_script,
    import_into,
    load_track,
    present_track,
    read_cues,
    save_track,
    script_format,
    write_format,
)
from shotad.script.cue import accept, mark_edit
from shotad.script.edits import import_script
from shotad.script.formats import read_script
from shotad.script.track import FilmId
from shotad.script.track_files import TRACK

FAULTS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "faults" / "scripts"
FILM = FilmId("movie.mp4", "f" * 32, 60.0)
PACKAGES = {"docx": "docx", "xlsx": "openpyxl"}
READ = [name for name in ALL_FORMATS if name not in ("hls", "dash", "edl", "fcpxml", "txt")]


def made() -> Track:
    """Three lines: one edited, one accepted, all of two lines or with signs that CSV must guard."""
    texts = {2: 'A "cat" sleeps.\nIt snores.', 10: "She opens; the door.", 20: "The lamp goes out,\nat last."}
    cues = [Cue(f"s{at:05d}000", None, Interval(at, at + 2.5), text) for at, text in texts.items()]
    edited = mark_edit(replace(cues[0], text=f"{cues[0].text} Loudly."), cues[0], (EditField.TEXT,), TRACK)
    accepted = accept(cues[1], "Ada", TRACK)
    return Track(FILM, "en", (Maker("stage2", "fake"),), "0.1.0", (edited, accepted, cues[2]))


def encoded(track: Track, name: str) -> bytes:
    return script_format(name).encode(track)


def without_second(data: bytes, name: str) -> bytes:
    """The file without its second line, as a person or a program leaves it out."""
    if name == "docx":
        document = pytest.importorskip("docx").Document(io.BytesIO(data))
        row = document.tables[0].rows[2]._tr
        row.getparent().remove(row)
    elif name == "xlsx":
        document = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(data))
        document["Script"].delete_rows(3)
    else:
        text = data.decode()
        pattern = {
            "vtt": r"s00010000\n00.*?\n\n", "srt": r"100010000\n.*?\n\n", "dapt": r"<div xml:id=.s00010000.*?</div>",
            "csv": r"s00010000,[^\n]*\n", "frazier": r"100010000;[^\n]*\n", "reaper": r"R2,[^\n]*\n",
        }[name]  # fmt: skip
        text, count = re.subn(pattern, "", text, count=1, flags=re.DOTALL)
        assert count == 1
        return text.encode()
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


NAMES_EACH_LINE = [name for name in READ if name != "json"]
"""In JSON a line that is not there is one that is newer than the file."""


@pytest.mark.parametrize("number", [3, 1])
@pytest.mark.parametrize("name", READ)
def test_a_script_cut_anywhere_is_refused_or_holds_every_line(name: str, number: int) -> None:
    track = made()
    track = track.with_cues(track.cues[-number:])
    data = encoded(track, name)
    if name not in PACKAGES:
        data = data.replace(b"The lamp goes out", b"A lamp burns down")
    whole = import_script(track, script_format(name).read(data, "x"), "x")
    assert (whole.removed, whole.added) == ((), ())
    cuts = range(0, len(data), 97 if name in PACKAGES else 1)
    refused = 0
    for cut in cuts:
        try:
            part = import_script(track, script_format(name).read(data[:cut], "x"), "x")
        except ScriptError:
            refused += 1
        else:
            assert part == whole, data[:cut]
    assert refused >= len(cuts) - 10


@pytest.mark.parametrize("name", READ)
def test_a_cut_script_changes_nothing_in_the_work_folder(name: str, tmp_path: Path) -> None:
    place = tmp_path / "movie.shotad"
    place.mkdir()
    save_track(made(), place, FILM.name)
    before = (place / TRACK).read_bytes()
    file = tmp_path / f"cut.{script_format(name).ending}"
    file.write_bytes(encoded(made(), name)[:-40])
    with pytest.raises(ScriptError, match=r"cut\.ad\."):
        import_into(place, file, None, remove_missing=True)
    assert (place / TRACK).read_bytes() == before


@pytest.mark.parametrize("name", ["movie.ad.vtt", "movie.ad.srt", "movie.ad.csv", "movie.ad.dapt.xml"])
def test_a_cut_or_partial_script_beside_the_track_stops_a_run(name: str, tmp_path: Path) -> None:
    save_track(made(), tmp_path, FILM.name)
    data = (tmp_path / name).read_bytes()
    (form,) = [form for form in ALL_FORMATS.values() if name == f"movie.{form.ending}"]
    for content, error in (
        (data[: len(data) // 2], ScriptError),
        (without_second(data, form.name), MissingLines),
    ):
        (tmp_path / name).write_bytes(content)
        with WorkFolder(tmp_path) as folder, pytest.raises(error, match=name):
            present_track(folder, FILM)
        assert len(load_track(tmp_path / TRACK).heard) == 3


def test_a_script_of_which_blocks_were_lost_on_the_disk_is_refused() -> None:
    """After a loss of power the end of a file may be zeros."""
    for name in ("vtt", "srt", "csv", "frazier", "reaper", "dapt", "json"):
        data = encoded(made(), name)
        with pytest.raises(ScriptError):
            script_format(name).read(data[:-60] + bytes(60), "x")


def test_a_file_of_another_program_is_read_where_it_is_whole_and_refused_within_a_timing() -> None:
    srt = "1\n00:00:02,000 --> 00:00:04,000\nA.\n\n2\n00:00:10,000 --> 00:00:12,500"
    assert len(script_format("srt").read(srt.encode(), "x").cues) == 2
    with pytest.raises(ScriptError, match="x, line 6 is not complete: it ends within a timing"):
        script_format("srt").read(srt[:-2].encode(), "x")
    vtt = "WEBVTT\n\n00:02.000 --> 00:04.000\nA.\n\n00:10.000 --> 00:12.500"
    assert len(script_format("vtt").read(vtt.encode(), "x").cues) == 2
    with pytest.raises(ScriptError, match="within a timing"):
        script_format("vtt").read(vtt[:-1].encode(), "x")


@pytest.mark.parametrize("name", ["vtt", "srt"])
def test_a_whole_file_without_its_mark_is_read_as_the_message_says(name: str) -> None:
    track = made()
    text = encoded(track, name).decode().replace("300020000", "100020000")
    text = text.partition("\nNOTE Lines")[0]
    with pytest.raises(ScriptError, match="If (a program|the file is whole)"):
        script_format(name).read(text.encode(), "x")
    mended = (
        text.replace(f"\nStamp: {track.stamp}", "")
        if name == "vtt"
        else text.replace("100020000", "300020000")
    )
    done = import_script(track, script_format(name).read(mended.encode(), "x"), "x")
    assert (done.changed, done.removed) == ((), ())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "movie.shotad"
    folder.mkdir()
    save_track(made(), folder, FILM.name)
    return folder


@pytest.mark.parametrize("name", NAMES_EACH_LINE)
def test_lines_that_a_script_lacks_go_only_when_somebody_says_so(name: str, place: Path) -> None:
    file = place.parent / f"part.{script_format(name).ending}"
    file.write_bytes(without_second(encoded(made(), name), name))
    for overwrite in (False, True):
        with pytest.raises(
            MissingLines, match=r"part\.ad.* lacks 1 line of 3 .*1 of them edited.*s00010000"
        ) as error:
            import_into(place, file, None, overwrite=overwrite)
        assert "--remove-missing" in error.value.hint
        assert len(load_track(place / TRACK).heard) == 3
    done = import_into(place, file, None, remove_missing=True)
    assert done.removed == ("s00010000",)
    assert len(load_track(place / TRACK).heard) == 2


@pytest.mark.parametrize("name", ["vtt", "srt"])
def test_a_line_whose_text_slipped_above_its_times_is_not_removed(name: str, place: Path) -> None:
    script = write_format(load_track(place / TRACK), script_format(name), place / f"slipped.{name}")
    lines = script.read_text(encoding="utf-8").splitlines(keepends=True)
    times = max(number for number, line in enumerate(lines) if "-->" in line)
    lines[times], lines[times + 1] = lines[times + 1], lines[times]
    script.write_text("".join(lines), encoding="utf-8")
    before = (place / TRACK).read_bytes()
    with pytest.raises(ScriptError, match="there are no times|stands in the text of|no number begins with 3"):
        import_into(place, script, None)
    assert (place / TRACK).read_bytes() == before


def test_times_that_stand_twice_are_refused() -> None:
    lines = encoded(made(), "vtt").decode().splitlines(keepends=True)
    doubled = [copy for line in lines for copy in ([line, line] if "00:00:10.000 -->" in line else [line])]
    with pytest.raises(ScriptError, match="stands below other times"):
        script_format("vtt").read("".join(doubled).encode(), "movie.ad.vtt")


def test_a_script_without_any_line_removes_none_even_then(place: Path) -> None:
    file = place.parent / "none.vtt"
    file.write_text("WEBVTT\n")
    with pytest.raises(ScriptError, match=r"none\.vtt holds no line, and the track has 3"):
        import_into(place, file, None, remove_missing=True)


@pytest.mark.parametrize("name", READ)
def test_an_export_does_not_write_over_what_a_person_changed(name: str, place: Path) -> None:
    form = script_format(name)
    path = place / f"mine.{form.ending}"
    edited = made().with_cues(replace(cue, text=f"{cue.text} Mine.") for cue in made().cues)
    if name in PACKAGES:
        # As a person who changes the words and not the marks.
        docs = importlib.import_module(PACKAGES[name])
        path.write_bytes(form.encode(made()))
        if name == "docx":
            document = docs.Document(str(path))
            document.tables[0].rows[1].cells[2].text = "Mine."
            document.save(str(path))
        else:
            book = docs.load_workbook(path)
            book["Script"]["C2"] = "Mine."
            book.save(path)
    else:
        path.write_bytes(form.encode(made()).replace(b"She opens", b"Mine opens"))
    before = path.read_bytes()
    with pytest.raises(EditConflict, match="changed there by somebody"):
        write_format(made(), form, path)
    assert path.read_bytes() == before
    write_format(made(), form, path, overwrite=True)
    # What nobody changed is written again, also where the track has gone on.
    if name not in ("frazier", "srt"):
        write_format(edited, form, path)


def test_a_cue_ends_where_the_times_of_the_next_stand() -> None:
    if not FAULTS.is_dir():
        pytest.skip("../shared/data/faults is not here")
    for name in ("blank-with-space.vtt", "no-blank.vtt"):
        cues = read_cues(FAULTS / name)
        assert [(cue.interval, cue.text) for cue in cues] == [
            (Interval(0.2, 2.825), "A title appears."),
            (Interval(13.0, 15.625), "A rocket stands ready."),
        ]
        assert any(
            "an empty line must stand before a cue" in fault.message for fault in check_script(FAULTS / name)
        )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("between", "cue_id"), [
    ("", None), (" ", None), ("\t", None), ("\u00a0", None), ("s00013000", "s00013000"), (" \nintro", "intro"),
    ("7", "7"), ("\nNOTE b", "NOTE b"), ("\nNOTE\nlong\nnote", None), ("\nSTYLE\n::cue {\n}", None),
])  # fmt: skip
def test_webvtt_is_parted_as_browsers_do(between: str, cue_id: str | None, end: str) -> None:
    parts = ["\ufeffWEBVTT", "", "00:00:00,200 --> 0:02.825", "A title appears."]
    parts += [*([between] if between else []), "00:13 --> 00:00:15.625 line:0", "A rocket.", ""]
    text = "\n".join(parts).replace("\n", end)
    cues = script_format("vtt").read(text.encode(), "x").cues
    assert [(cue.interval.start, cue.interval.end, cue.text) for cue in cues] == [
        (0.2, 2.825, "A title appears."), (13.0, 15.625, "A rocket."),
    ]  # fmt: skip
    assert cues[1].id == cue_id


@pytest.mark.parametrize("times", [
    "00:00:13,000 --> 00:00:15,625", "00:13.000 --> 00:15.6", "0:13-->0:15", "00:00:13,000 -> 00:00:15,625",
    "00:00:13,000 → 00:00:15,625", "00:00:13,000 –> 00:00:15,625",
])  # fmt: skip
def test_text_that_looks_like_times_is_an_error_in_every_format(times: str, tmp_path: Path) -> None:
    text = f"A title appears.\n{times}\nA rocket."
    row = f'"2","4","A title appears.\u2028{times}"'
    files = {
        "x.srt": f"1\n00:00:02,000 --> 00:00:04,000\n{text}\n",
        "x.csv": f'start,end,text\n2,4,"{text}"\n',
        "x.json": f'[{{"start": 2, "end": 4, "text": "A title appears. {times}"}}]',
        "reaper.csv": f'#,Name,Start,End,Length\nR1,"A.\u2028{times}",0:02.000,0:04.000,0:02.000\n',
        "frazier.csv": f"Position;Start;End;Text\n1;00:00:02.00;00:00:04.00;A. \u2028{times}\n",
        "plain.csv": f"start,end,text\n{row}\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ScriptError, match="times"):
            read_script(path)
        assert check_script(path) != ()


TOKENS = (
    "{\\i1", "{\\shotad ", "<i", "&#", " --> ", "1\n", "\n \n", "00:00:01,000 --> ", "NOTE\n", "0:13 ->", "'=", '"', "\t", "[{",
    "\u2028", "[s00000001] ", "[track ", "日\n", "<p>", "1:00", "\x85", "a",
)  # fmt: skip
BEGINNINGS = {
    "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n", "srt": "1\n00:00:01,000 --> 00:00:02,000\n", "csv": "start,end,text\n1,2,",
    "json": '[{"start": 1, "end": 2, "text": "', "frazier": "Position;Start;End;Text\n1;00:00:01.00;00:00:02.00;",
    "reaper": "#,Name,Start,End,Length\nR1,", "dapt": '<tt xmlns="http://www.w3.org/ns/ttml">',
}  # fmt: skip


@pytest.mark.parametrize("name", BEGINNINGS)
def test_one_sign_a_thousand_times_is_read_or_refused_quickly_and_not_repeated(name: str) -> None:
    for token in TOKENS:
        data = (BEGINNINGS[name] + token * (300_000 // len(token))).encode()
        start, message = time.process_time(), ""
        try:
            script_format(name).read(data, "x")
        except ScriptError as error:
            message = str(error)
        assert len(message) < 500, token
        assert time.process_time() - start < 4, token


def test_files_that_do_not_end_and_that_are_none_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.srt"
    with large.open("wb") as file:
        file.truncate(700_000_000)
    with pytest.raises(ScriptError, match="at most"):
        read_script(large)
    long = tmp_path / "long.vtt"
    long.write_text("WEBVTT\n\n" + "a\n" * 9_000_000)
    with pytest.raises(ScriptError, match=r"long\.vtt has 18\.0 MB; at most 16\.0 MB are read"):
        read_script(long)
    os.mkfifo(tmp_path / "pipe.json")
    for path in (Path("/dev/zero"), tmp_path / "pipe.json", tmp_path):
        for read in (read_script, check_script):
            with pytest.raises(ScriptError, match="cannot be read"):
                read(path)


def test_a_script_of_too_many_lines_is_refused() -> None:
    text = "\n".join(f"00:00:{i % 60:02d},000 --> 00:01:00,000\nA\n" for i in range(50_001))
    for name, content in (("srt", text), ("vtt", f"WEBVTT\n\n{text}"), ("csv", "1,2,A\n" * 50_001)):
        with pytest.raises(ScriptError, match="x has over 50,000 lines"):
            script_format(name).read(content.encode(), "x")


def test_an_arrow_between_words_or_numbers_is_text(tmp_path: Path) -> None:
    path = tmp_path / "x.srt"
    path.write_text("1\n00:00:02,000 --> 00:00:04,000\nA sign: Exit --> 5. He turns 3 -> 4 times.\n")
    assert read_cues(path)[0].text == "A sign: Exit --> 5. He turns 3 -> 4 times."


def changes(data: str | bytes, name: str) -> tuple[str, ...]:
    """Ids of lines that a script changes, adds or takes away in `made`."""
    content = data.encode() if isinstance(data, str) else data
    done = import_script(made(), script_format(name).read(content, "x"), "x")
    return (*done.changed, *done.added, *done.removed)


def test_what_editors_do_to_a_whole_script_is_no_edit() -> None:
    vtt = encoded(made(), "vtt").decode()
    # Blanks at all line ends, the empty ones too: the list at the end was taken for the last line's text.
    assert changes(vtt.replace("\n", "  \n"), "vtt") == ()
    assert changes(vtt.replace("\n\nNOTE Lines", "\n \nNOTE Lines"), "vtt") == ()
    assert changes(vtt.replace("\n\nNOTE Lines", "\nNOTE Lines"), "vtt") == ()
    # Line ends that were converted twice.
    assert changes(vtt.replace("\n", "\r\r\n"), "vtt") == ()
    srt = encoded(made(), "srt").decode()
    assert changes(srt.replace("\n", "\r\r\n"), "srt") == ()
    # An empty line between an id and its times.
    assert changes(vtt.replace("s00010000\n00:", "s00010000\n\n00:"), "vtt") == ()
    assert changes(srt.replace("100010000\n00:", "100010000\n\n00:"), "srt") == ()
    assert changes(re.sub(r"\d{9}\n00:", "2\n\n00:", srt), "srt") == ()
    # Subtitle Edit: at the top of the screen, in italics.
    assert changes(srt.replace("She opens; the door.", "{\\an8}<i>She opens; the door.</i>"), "srt") == ()
    # The line by which Excel is told what parts the cells.
    table = encoded(made(), "csv").decode("utf-8-sig")
    assert changes(f"sep=,\r\n{table}", "csv") == ()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("srt", "00:00:10,000 --> 00:00:12,500", "00:00:10,000", "line 7: '00:00:10,000' stands in the text"),
        ("srt", "00:00:10,000 --> 00:00:12,500\n", "", "line 6: behind '100010000' there are no times"),
        ("srt", "100010000\n00:00:10,000 --> 00:00:12,500\n", "2\n", "behind '2' there are no times"),
        ("vtt", "00:00:10.000 --> 00:00:12.500\n", "", "behind 's00010000' there are no times"),
        ("csv", '"The lamp goes out,\nat last."', "#NAME?", "'#NAME\\?', the error of a spreadsheet"),
        ("vtt", "12.500\n", "12.500\ns00010000\n", "the id 's00010000' stands in the text"),
        ("srt", "12,500\n", "12,500\n100010000\n", "the id '100010000' stands in the text"),
        ("reaper", "[s00010000]", "s00010000]", "is damaged"),
        ("reaper", "[s00010000]", "[s0010000]", "is damaged"),
        ("csv", '"The lamp goes out,\nat last."', "#WERT!", "'#WERT!', the error of a spreadsheet"),
    ],
)
def test_what_an_editor_lost_is_refused(name: str, old: str, new: str, message: str) -> None:
    text = encoded(made(), name).decode()
    assert old in text
    with pytest.raises(ScriptError, match=message):
        script_format(name).read(text.replace(old, new).encode(), "x")
