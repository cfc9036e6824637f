"""Subtitles say when somebody speaks or sings and who, nothing else counts, and no role or sound is a name."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, Utterance
from shotad.core.errors import SubtitleError
from shotad.core.types import SpeechKind
from shotad.film import read_subtitles
from shotad.film.speech import check_inside
from shotad.film.subtitles import (
    embedded_track,
    end_of_sound_and_picture,
    parse_subtitles,
    read_caption,
    read_turns,
)
from shotad.script.frame_count import FilmFrames

SHARED = Path(__file__).parents[3] / "shared" / "data"

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Who's</i> there?

2
00:00:03,000 --> 00:00:04,000
[door slams]

3
00:00:05,000 --> 00:00:07,000
♪ Hello darkness ♪
"""


def bounds(utterances: Sequence[Utterance]) -> list[tuple[float, float]]:
    return [(u.interval.start, u.interval.end) for u in utterances]


def test_words_are_speech_without_their_marks() -> None:
    for raw, text in (
        ("Hello.", "Hello."),
        ("<i>Hello</i> <font color='red'>you</font>", "Hello you"),
        (r"{\an8}{\i1}Hello{\i0}\Nyou", "Hello you"),
        ("<v.loud John Doe>Hello</v>", "Hello"),
        ("<c.yellow>Hello</c> <00:01.500>you", "Hello you"),
        ("JOHN SMITH (V.O.): Hello", "Hello"),
        ("ÉMILE : Salut", "Salut"),
        ("- Hello.\n- You too.", "Hello. You too."),
        ("–Hello.\n—You too.", "Hello. You too."),
        ("(laughs) I know", "I know"),
        ("I said [coughs] no", "I said no"),
        ("(I told you so.)", "I told you so."),
        ("Tom &amp; I &lt;3", "Tom & I <3"),
        ("Note: at 5:30", "Note: at 5:30"),
        ("NARRATOR:", "NARRATOR:"),
        ("#1 is best", "#1 is best"),
        ("Visit www.example.com and tell us what you think", "Visit www.example.com and tell us what you think"),
        ("See section (b)", "See section"),
        ("He is late :)", "He is late :)"),
        ("♪ La la ♪\n- Stop it!", "La la Stop it!"),
    ):  # fmt: skip
        said = read_caption(raw)
        assert said is not None
        assert (said.text, said.kind) == (text, SpeechKind.SPEECH)


def test_sounds_tunes_and_subtitlers_are_no_speech() -> None:
    for raw in (
        "[door slams]", "(laughs)", "（笑）", "*sighs*", "- [sighs]\n- (groans)", "[door\nslams]", "[door slams",
        "[indistinct chatter]", "[crowd talking]", "JOHN: [sighs]", "♪", "♪ ♪", "♪ jaunty music playing ♪",
        "♪ [jaunty tune] ♪", "[upbeat piano music]", "...", "-", "", "<i></i>", "Subtitles by Joe",
        "Synced and corrected by xyz", "www.example.com",
    ):  # fmt: skip
        assert read_caption(raw) is None


def test_sung_words_are_lyrics_and_a_voice_that_is_named_but_not_written_is_speech() -> None:
    lyrics, speech = SpeechKind.LYRICS, SpeechKind.SPEECH
    for raw, text, kind in (
        ("♪ Hello darkness ♪", "Hello darkness", lyrics),
        ("<i>♪ Hello darkness,\nmy old friend ♪</i>", "Hello darkness, my old friend", lyrics),
        ("# Hello darkness #", "Hello darkness", lyrics),
        ("♪ I love this song ♪", "I love this song", lyrics),
        ("[singing in Spanish]", "", lyrics),
        ("[speaking French]", "", speech), ("(Whispering)", "", speech), ("[Narrator speaks]", "", speech),
    ):  # fmt: skip
        said = read_caption(raw)
        assert said is not None
        assert (said.text, said.kind) == (text, kind)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "film.srt"
    text = SRT.replace("Who's</i> there?", "Où est</i> Zoë?").replace("♪", "#").replace("\n", newline)
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"):
        path.write_bytes(text.encode(encoding))
        assert [u.text for u in read_subtitles(path).utterances] == ["Où est Zoë?", "Hello darkness"], (
            encoding
        )


ASS = """[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20
Style: Sign,Arial,20
Style: OP-romaji,Arial,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:09.00,0:00:10.00,Default,,0,0,0,,{\\i1}Later.{\\i0}
Dialogue: 0,0:00:01.00,0:00:02.50,Default,John,0,0,0,,Who's there,\\Nyou?
Dialogue: 1,0:00:01.00,0:00:02.50,Default,John,0,0,0,,Who's there,\\Nyou?
Dialogue: 0,0:00:03.00,0:00:04.00,Sign,,0,0,0,,{\\pos(1,2)}Baker Street
Dialogue: 0,0:00:04.00,0:00:05.00,Default,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}
Dialogue: 0,0:00:05.00,0:00:07.00,OP-romaji,,0,0,0,,{\\k20}hello {\\k30}darkness
Comment: 0,0:00:08.00,0:00:09.00,Default,,0,0,0,,Ask about this line
"""


def test_no_speech_is_signs_and_cues_that_end_too_early() -> None:
    assert parse_subtitles(ASS).utterances == (
        Utterance(Interval(1, 2.5), "Who's there, you?", speaker="John"),
        Utterance(Interval(5, 7), "hello darkness", SpeechKind.LYRICS), Utterance(Interval(9, 10), "Later."),
    )  # fmt: skip
    text = "1\n00:00:05,000 --> 00:00:05,000\nOne two three four five\n"
    assert bounds(parse_subtitles(text).utterances) == [(5, 7)]
    assert bounds(parse_subtitles(text.replace("05,000\nOne", "03,000\nOne")).utterances) == [(5, 7)]


def test_what_is_no_subtitle_file_is_refused(tmp_path: Path) -> None:
    for content, what in (
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"Dear reader, this is a letter.\n", "no known subtitle format"),
        (bytes(range(256)) * 40, "not text"),
        (b'<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml"/>', "holds no subtitle"),
        (b"[Script Info]\nScriptType: v4.00+\n", "holds no subtitle"),
    ):
        path = tmp_path / "film.srt"
        path.write_bytes(content)
        with pytest.raises(SubtitleError, match=what) as caught:
            read_subtitles(path)
        assert "film.srt" in caught.value.what
        assert "SRT" in caught.value.hint


def test_files_that_cannot_be_opened_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SubtitleError, match=r"absent\.srt"):
        read_subtitles(tmp_path / "absent.srt")
    with pytest.raises(SubtitleError, match="cannot be read"):
        read_subtitles(tmp_path)
    # A film given as subtitles is refused unread.
    path = tmp_path / "film.mkv"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(SubtitleError, match="17.8 MB, at most 16.0 MB"):
        read_subtitles(path)


@pytest.mark.skipif(not SHARED.exists(), reason="the supplied captions are not beside the repository")
def test_supplied_captions() -> None:
    sintel = read_subtitles(SHARED / "films" / "sintel-trailer.en.vtt").utterances
    assert bounds(sintel) == [(12, 15), (18.5, 20.5), (36.5, 39), (41.5, 44)]
    assert sintel[0].text == "What brings you to the land of the gatekeepers?"
    dream = read_subtitles(SHARED / "ad-text" / "elephants-dream" / "captions.en.vtt").utterances
    assert len(dream) == 78
    blocks = read_subtitles(SHARED / "ad-text" / "able-player" / "blocks4all_captions_en.vtt").utterances
    assert blocks[0].text == "Boon, he's very excited about the world."
    assert not any("[" in u.text for u in blocks)


@pytest.mark.parametrize(
    "timing",
    [
        "00:00:04,400 --> 00:00:06,000",
        "00:00:04.400 --> 00:00:06.000 align:start position:0%",
        "00:00:04,400 --> 00:00:06,000  X1:100 X2:200 Y1:100 Y2:200",
        "0:0:4,4 --> 0:0:6",
        "4.4 --> 6.0",
        "00:04.400 --> 00:06.000",
        "00:00:04,400-->00:00:06,000",
        "00:00:04,400 -> 00:00:06,000",
        "00:00:04,400 -- > 00:00:06,000",
        "00:00:04,400 \u2192 00:00:06,000",
        "00:00:04,400 \u2014> 00:00:06,000",
        "00:00:04,400 --&gt; 00:00:06,000",
        "00 : 00 : 04 , 400 --> 00 : 00 : 06 , 000",
        "\uff10\uff10\uff1a\uff10\uff10\uff1a\uff10\uff14\uff0c\uff14\uff10\uff10 \uff0d\uff0d\uff1e 00:00:06",
        "00:00:04:10 --> 00:00:06:00",
        "00:00:04;10 --> 00:00:06;00",
        "00:00:04:400 --> 00:00:06:000",
        "00:00:04.40,00:00:06.00",
        "0:00:04.400,0:00:06.000",
        "0:00:04,400,0:00:06,000",
    ],
)
@pytest.mark.parametrize("head", ["", "WEBVTT\n\n"])
def test_every_form_of_times_is_read(timing: str, head: str) -> None:
    subtitles = parse_subtitles(f"{head}{timing}\nHello.\n\n1:00:10,000 --> 1:00:12\nAfter an hour.\n")
    assert bounds(subtitles.utterances) == [(4.4, 6), (3610, 3612)]
    assert subtitles.notes == ()


def test_more_than_99_hours_and_times_before_the_film() -> None:
    far = parse_subtitles("1\n100:00:05,000 --> 100:00:07,000\nFar away.\n").utterances
    assert bounds(far) == [(360005, 360007)]
    early = parse_subtitles("1\n-00:00:01,000 --> 00:00:02,000\nEarly.\n").utterances
    assert bounds(early) == [(-1, 2)]


@pytest.mark.parametrize("head", ["", "WEBVTT\n\n"])
def test_lines_that_look_like_times_and_are_not_read_are_told(head: str) -> None:
    good = "00:00:04,400 --> 00:00:06,000\nHello.\n\n"
    unread = "00:00:0x,400 --> 00:00:06,000", "00:00:09,400 -->", "00:00:09,400", "4 400 --> 6 000"
    text = head + good + "".join(f"{line}\nLost.\n\n" for line in unread)
    subtitles = parse_subtitles(text, "film.srt")
    assert [u.text for u in subtitles.utterances] == ["Hello."]
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line in unread]
    (note,) = subtitles.notes
    assert note.startswith("film.srt: 4 lines look like times and are not read")
    assert f"{numbers[0]}, {numbers[1]}, {numbers[2]} and {numbers[3]}" in note
    with pytest.raises(SubtitleError, match="line 1 looks like a time"):
        parse_subtitles(f"{unread[0]}\nLost.\n")
    with pytest.raises(SubtitleError, match="line 3 looks like a time"):
        parse_subtitles(f"WEBVTT\n\n{unread[0]}\nLost.\n")


def test_words_with_arrows_and_times_are_words() -> None:
    words = "Look --> there", "It is 1 -> 2", "From 5:30 - 6:30, or at 12:30."
    text = "1\n00:00:04,400 --> 00:00:06,000\n" + "\n".join(words) + "\n"
    subtitles = parse_subtitles(text)
    assert [u.text for u in subtitles.utterances] == [" ".join(words)]
    assert subtitles.notes == ()


VTT_WITH_ALL = """WEBVTT
Kind: captions
X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000

STYLE
::cue { color: red }

NOTE 00:00:01.000 --> 00:00:02.000
left out

00:00:04.400 --> 00:00:09.500 align:start position:0%
 \nready<00:00:05.400><c> for</c> launch

name of a cue
00:00:10.000 --> 00:00:11.000
one
00:00:12.000 --> 00:00:13.000
two
\ufeff
WEBVTT

00:00:14.000 --> 00:00:15.000

three

00:00:16.000 --> 00:00:17.000 four
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\r\r\n"])
def test_webvtt_as_it_is_found(newline: str) -> None:
    utterances = parse_subtitles(VTT_WITH_ALL.replace("\n", newline)).utterances
    assert [u.text for u in utterances] == ["ready for launch", "one", "two", "three", "four"]
    assert bounds(utterances) == [(4.4, 9.5), (10, 11), (12, 13), (14, 15), (16, 17)]


SAMI = """<SAMI><HEAD><STYLE><!-- P { color: red } --></STYLE></HEAD><BODY>
<SYNC Start=4400><P Class=ENCC>Hello<br>you.
<SYNC Start=6000><P Class=ENCC>&nbsp;
<SYNC Start=oops><P Class=ENCC>Lost.
</BODY></SAMI>"""
TTML = """<?xml version="1.0" encoding="utf-16"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:frameRate="25">
<body begin="1s"><div>
<p begin="00:00:03.400" end="00:00:05">Hello<br/><span>you</span>.</p>
<p begin="225f" dur="2s">Frames.</p>
<p begin="15s"><span begin="1s" end="2s">Inside.</span></p>
<p begin="oops" end="3s">Lost.</p>
</div></body></tt>"""


@pytest.mark.parametrize(
    ("text", "lines", "notes"),
    [
        ("{1}{1}25\n{110}{150}Hello|you.\n{x\n", [(4.4, 6, "Hello you.")], 0),
        ("[44][60]Hello|/you.\n", [(4.4, 6, "Hello you.")], 0),
        ("[ti:x]\n[00:04.40]Hello you.\n[00:05,90]Bye.\n", [(4.4, 5.9, "Hello you."), (5.9, 7.4, "Bye.")], 0),
        ("00:00:04:Hello|you.\n00:00:05:Bye.\n", [(4, 5, "Hello you."), (5, 6.5, "Bye.")], 0),
        (SAMI, [(4.4, 6, "Hello you.")], 1),
        (TTML, [(4.4, 6, "Hello you ."), (10, 12, "Frames."), (17, 18, "Inside.")], 1),
        (
            "[INFORMATION]\n[TITLE]x\n[END INFORMATION]\n[SUBTITLE]\n00:00:04.40,00:00:06.00\nHello[br]you.\n",
            [(4.4, 6, "Hello you.")],
            0,
        ),
        (
            ASS.partition("Dialogue:")[0]
            + "Dialogue: 0,0:00:04,40,100:00:06,00,Default,,0,0,0,,Hello, you.\n"
            "Dialogue: 0,oops,0:00:06.00,Default,,0,0,0,,Lost.\n",
            [(4.4, 360006, "Hello, you.")],
            1,
        ),
    ],
    ids=["microdvd", "mpl2", "lrc", "tmplayer", "sami", "ttml", "subviewer", "ass"],
)
def test_other_formats(text: str, lines: list[tuple[float, float, str]], notes: int) -> None:
    subtitles = parse_subtitles(text)
    assert [(u.interval.start, u.interval.end, u.text) for u in subtitles.utterances] == lines
    assert len(subtitles.notes) == notes


SMPTE_TT = """<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
    xmlns:ebuttm="urn:ebu:tt:metadata" ttp:timeBase="{base}" ttp:frameRate="{nominal}" {more}>
<head><metadata>{head}</metadata></head>
<body><div><p begin="{begin}" end="{end}">Hello.</p></div></body></tt>"""


def smpte_bounds(
    begin: str, end: str, more: str = "", base: str = "smpte", **places: object
) -> tuple[float, float]:
    """The times of a line in TTML, in the film's seconds."""
    values = {"nominal": 30, "head": "", **places}
    text = SMPTE_TT.format(begin=begin, end=end, more=more, base=base, **values)
    ((start, stop),) = bounds(parse_subtitles(text).utterances)
    return start, stop


@given(
    spec=st.sampled_from(["23.976", "24", "25", "29.97", "29.97df", "30", "50", "59.94", "59.94df"]),
    first=st.integers(0, 24 * 3600 * 23),
    count=st.integers(1, 2000),
)
@settings(max_examples=60, deadline=None)
def test_time_codes_are_read_by_the_frames_that_they_count(spec: str, first: int, count: int) -> None:
    frames = FilmFrames.parse(spec)
    begin, end = frames.timecode(first), frames.timecode(first + count)
    expected = (float(first / frames.frame_rate), float((first + count) / frames.frame_rate))
    is_ntsc = frames.frame_rate != frames.nominal_rate
    more = 'ttp:frameRateMultiplier="1000 1001"' if is_ntsc else ""
    more += ' ttp:dropMode="dropNTSC"' if frames.is_drop else ""
    written = (begin.replace(";", ":"), end.replace(";", ":"))
    assert smpte_bounds(*written, more, nominal=frames.nominal_rate) == pytest.approx(expected, abs=2e-6)
    # The same in ticks and in frames from the start.
    ticks = (f"{first}t", f"{first + count}t")
    rate = f'{more} ttp:tickRate="{frames.nominal_rate}"'
    in_ticks = (first / frames.nominal_rate, (first + count) / frames.nominal_rate)
    assert smpte_bounds(*ticks, rate, nominal=frames.nominal_rate) == pytest.approx(in_ticks, abs=2e-6)
    counted = (f"{first}f", f"{first + count}f")
    assert smpte_bounds(*counted, more, nominal=frames.nominal_rate) == pytest.approx(expected, abs=2e-6)
    # SubRip and SubViewer with frames are read at the film's rate.
    for line in (f"{begin} --> {end}", f"{begin},{end}"):
        subtitles = parse_subtitles(f"1\n{line}\nHello.\n", frame_rate=frames.frame_rate)
        assert bounds(subtitles.utterances) == [pytest.approx(expected, abs=2e-6)]


@pytest.mark.parametrize(("more", "base", "begin", "second"), [
    ('ttp:frameRateMultiplier="1000 1001"', "smpte", "01:00:00:00", 3603.6),
    # As iTunes and DFXP write it.
    ('ttp:frameRateMultiplier="999 1000"', "smpte", "01:00:00:00", 3603.603604),
    ('ttp:frameRateMultiplier="1000:1001" ttp:dropMode="nonDrop"', "smpte", "01:00:00:00", 3603.6),
    ('ttp:frameRateMultiplier="1000 1001" ttp:dropMode="dropNTSC"', "smpte", "01:00:00:00", 3599.9964),
    ('ttp:frameRateMultiplier="1000 1001" ttp:dropMode="dropPAL"', "smpte", "01:00:00:00", 3599.9964),
    ('ttp:frameRateMultiplier="1000 1001"', "media", "01:00:00:15", 3600.5005),
    ('ttp:frameRateMultiplier="1000 1001"', "clock", "01:00:00:15", 3600.5005),
    ("", "smpte", "01:00:00:15", 3600.5),
    ('ttp:subFrameRate="2"', "smpte", "00:00:01:15.1", 1.516667),
    ('ttp:subFrameRate="2"', "media", "61t", 61 / 60),
])  # fmt: skip
def test_parameters_of_ttml_say_what_a_time_is(more: str, base: str, begin: str, second: float) -> None:
    start, _ = smpte_bounds(begin, "02:00:00:00", more, base)
    assert start == pytest.approx(second, abs=2e-6)


def test_a_programme_that_begins_at_ten_begins_at_the_start_of_its_film() -> None:
    head = "<ebuttm:documentStartOfProgramme>10:00:00:00</ebuttm:documentStartOfProgramme>"
    assert smpte_bounds("10:00:04:10", "10:00:06:00", nominal=25, head=head) == (4.4, 6)
    # What stands before it is shown before the film.
    assert smpte_bounds("09:59:50:00", "09:59:52:00", nominal=25, head=head) == (-10, -8)


@pytest.mark.parametrize(("rate", "end"), [("23.98", 1001 / 24), ("23.976", 1001 / 24), ("25", 40.0)])
def test_the_rate_in_a_file_of_frames_is_meant_exactly(rate: str, end: float) -> None:
    subtitles = parse_subtitles(f"{{1}}{{1}}{rate}\n{{100}}{{1000}}Hello.\n")
    assert subtitles.utterances[0].interval.end == pytest.approx(end, abs=1e-9)


def test_frames_need_a_rate() -> None:
    text = "{110}{150}Hello.\n"
    assert bounds(parse_subtitles(text, frame_rate=Fraction(25)).utterances) == [(4.4, 6)]
    with pytest.raises(SubtitleError, match="counted in frames"):
        parse_subtitles(text)


def test_an_encoding_that_was_detected_is_told(tmp_path: Path) -> None:
    path = tmp_path / "film.srt"
    words = "Я не знаю, где он."
    path.write_bytes(f"1\n00:00:04,400 --> 00:00:06,000\n{words}\n".encode("cp1251"))
    subtitles = read_subtitles(path)
    assert [u.text for u in subtitles.utterances] == [words]
    assert "cp1251" in subtitles.notes[0]
    assert "--encoding" in subtitles.notes[0]
    assert read_subtitles(path, encoding="cp1251").notes == ()


FAULTS = SHARED / "faults" / "subtitles"


@pytest.mark.skipif(not FAULTS.exists(), reason="the faulty subtitles are not beside the repository")
def test_supplied_faults() -> None:
    wanted = {
        "comma.vtt": [(4.4, 6), (6.4, 8), (9.5, 12.2)],
        "seconds.vtt": [(4, 6), (9, 12)],
        "hundred.srt": [(360005, 360007)],
        "rolling-captions.vtt": [(4.4, 9.5), (9.5, 9.51), (9.51, 12.2)],
    }
    for name, times in wanted.items():
        assert bounds(read_subtitles(FAULTS / name).utterances) == times, name


Cue = tuple[float, float, str]
LINES: list[Cue] = [(1.0, 2.5, "Who's there?"), (3.0, 4.0, "[door slams]"), (5.0, 6.5, "ANN: It's me.")]


def film_with(path: Path, *tracks: tuple[str, Sequence[Cue], dict[str, str]], start: float = 0.0) -> Path:
    """A film of 8 s of silence, the sound in English, with text tracks (codec, cues, tags)."""
    codec, rate = {".mp4": ("aac", 48000), ".webm": ("libopus", 48000)}.get(path.suffix, ("flac", 8000))
    with av.open(str(path), "w") as container:
        sound = container.add_stream(codec, rate=rate)
        sound.layout = "mono"
        sound.metadata["language"] = "eng"
        streams = [_text_stream(container, codec, tags) for codec, _, tags in tracks]
        for n in range(8):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, rate), np.int16), "s16", "mono")
            frame.rate, frame.pts, frame.time_base = rate, round((start + n) * rate), Fraction(1, rate)
            container.mux(sound.encode(frame))
        container.mux(sound.encode(None))
        for stream, (_, cues, _) in zip(streams, tracks, strict=True):
            for begin, end, text in cues:
                container.mux(_text_packet(stream, begin + start, end + start, text))
    return path


def _text_stream(container: Any, codec: str, tags: dict[str, str]) -> Any:
    stream = container.add_stream(codec)
    stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
    stream.codec_context.subtitle_header = b"[Script Info]\n"
    stream.metadata.update({key: value for key, value in tags.items() if key != "flag"})
    stream.disposition = getattr(Disposition, tags["flag"]) if "flag" in tags else Disposition(0)
    return stream


def _text_packet(stream: Any, begin: float, end: float, text: str) -> av.Packet:
    data = text.encode()
    if stream.codec_context.name == "mov_text":
        data = len(data).to_bytes(2, "big") + data
    elif stream.codec_context.name in ("ass", "ssa"):
        data = b"0,0,Default,,0,0,0,," + data
    packet = av.Packet(data)
    packet.stream, packet.time_base = stream, Fraction(1, 1000)
    packet.pts = packet.dts = round(begin * 1000)
    packet.duration = round((end - begin) * 1000)
    return packet


@pytest.mark.parametrize(
    ("name", "codec", "start"),
    [("a.mkv", "srt", 100.0), ("a.mkv", "ass", 0.0), ("a.mp4", "mov_text", 100.0), ("a.webm", "webvtt", 0.0)],
)
def test_embedded_tracks_count_from_film_start(tmp_path: Path, name: str, codec: str, start: float) -> None:
    film = film_with(tmp_path / name, (codec, LINES, {}), start=start)
    found = embedded_track(film)
    assert found is not None
    assert [(u.text, u.speaker) for u in found[0].utterances] == [("Who's there?", ""), ("It's me.", "Ann")]
    times = [moment for pair in bounds(found[0].utterances) for moment in pair]
    assert times == pytest.approx([1, 2.5, 5, 6.5], abs=0.03)
    assert found[1] == "the only text track"


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_an_embedded_track_of_another_film_lies_behind_sound_and_picture(tmp_path: Path, name: str) -> None:
    codec = "mov_text" if name.endswith("mp4") else "srt"
    film = film_with(tmp_path / name, (codec, [(65.0, 67.0, "Hello there.")], {}))
    end = end_of_sound_and_picture(film)
    assert end == pytest.approx(8, abs=0.1)
    found = embedded_track(film)
    assert found is not None
    with pytest.raises(SubtitleError, match="ends at 0:00:08"):
        check_inside(found[0].utterances, end)


MANY: list[Cue] = [(0.5 * k, 0.5 * k + 0.4, f"Line {k}.") for k in range(14)]
FEW = MANY[:3]


def chosen(tmp_path: Path, *tracks: tuple[Sequence[Cue], dict[str, str]]) -> tuple[int | None, str]:
    found = embedded_track(film_with(tmp_path / "a.mkv", *(("srt", cues, tags) for cues, tags in tracks)))
    if found is None:
        return None, ""
    lines = [utterance.text for utterance in found[0].utterances]
    return next(n for n, (cues, _) in enumerate(tracks) if [text for _, _, text in cues] == lines), found[1]


def test_tracks_of_few_lines_and_parts_are_not_trusted(tmp_path: Path) -> None:
    for part in ({"flag": "forced"}, {"title": "Signs & Songs"}, {"title": "Director's commentary"}):
        assert chosen(tmp_path, (MANY, part))[0] is None
        assert chosen(tmp_path, (MANY, part), (FEW, {}))[0] == 1
    # A track of few lines is not trusted beside a full one.
    few, many = {"language": "eng", "flag": "default"}, {"language": "fre"}
    number, reason = chosen(tmp_path, (FEW, few), (MANY, many))
    assert (number, "1 of 2" in reason) == (1, True)
    # A few lines in a long film are not its speech.
    assert chosen(tmp_path, ([*FEW, (1500.0, 1501.0, "The end.")], {}))[0] is None
    assert chosen(tmp_path, ([(10.0 * k, 10.0 * k + 2, "Words.") for k in range(150)], {}))[0] == 0
    # The language of the sound goes before captions and default.
    sdh = {"language": "eng", "title": "English SDH"}
    number, reason = chosen(
        tmp_path,
        (MANY, {"language": "fre", "flag": "default"}),
        (MANY[1:], {"language": "eng"}),
        (MANY[2:], sdh),
    )
    assert (number, "eng" in reason, "deaf" in reason) == (2, True, True)


# Who speaks
def test_speaker_of_a_cue() -> None:
    for raw, speaker in (
        ("JOHN SMITH (V.O.): Hello", "John Smith"),
        ("- JOHN: Hello", "John"),
        ("John: Hello", "John"),
        ("John (whispering): Hello", "John"),
        ("[Thom] Who's there?", "Thom"),
        ("[Thom]\nWho's there?", "Thom"),
        ("(Mr. Smith) Hello", "Mr. Smith"),
        ("DR. McGEE: No", "Dr. McGee"),
        ("ROSE'S VOICE: Hi", "Rose"),
        ("THOM AND ANN: Yes!", "Thom and Ann"),
        ("<v Thom>Hi</v>", "Thom"),
        ("<v.loud Thom Lee><i>Hi</i></v>", "Thom Lee"),
        ("<v नमस्ते>हाँ", "नमस्ते"),
        # A label over several lines is of all of them.
        ("THOM: Hello,\nhow are you?", "Thom"),
        # Roles, crowds, sounds and other words are nobody's names.
        ("NARRATOR: Hello", ""),
        ("MAN 2 [on phone]: Hello", ""),
        ("POLICE OFFICER: Stop", ""),
        ("BOON'S MOTHER: Hi", ""),
        ("(DOOR SLAMS) Hey!", ""),
        ("(LAUGHS) I know", ""),
        ("[MUSIC] Hi", ""),
        ("[Thom laughs] Hi", ""),
        ("[both] Hi", ""),
        ("Note: at 5:30", ""),
        ("5:30: go", ""),
    ):
        (said,) = read_turns(raw)
        whole = read_caption(raw)
        assert whole is not None
        assert (said.speaker, said.text, said.kind) == (speaker, whole.text, whole.kind)


def test_several_speakers_in_one_cue() -> None:
    for raw, turns in (
        ("- THOM: Hi.\n- ANN: Ho.", [("Thom", "Hi."), ("Ann", "Ho.")]),
        ("- [Thom] Hi.\n- [Ann] Ho.", [("Thom", "Hi."), ("Ann", "Ho.")]),
        ("- Hello.\n- THOM: Hi", [("", "Hello."), ("Thom", "Hi")]),
        ("- THOM: Hi\n- Hello.", [("Thom", "Hi"), ("", "Hello.")]),
        ("THOM: Hi,\nhow are you?\nANN: Ho.", [("Thom", "Hi, how are you?"), ("Ann", "Ho.")]),
        ("<v Thom>Hi</v> <v Ann>Ho</v>", [("Thom", "Hi"), ("Ann", "Ho")]),
        # The same voice twice, or none named, is one turn.
        ("- THOM: Hi.\n- THOM: Ho.", [("Thom", "Hi. Ho.")]),
        ("- Hi.\n- Ho.", [("", "Hi. Ho.")]),
    ):
        assert [(said.speaker, said.text) for said in read_turns(raw)] == turns


def test_a_label_in_the_text_goes_before_the_actor() -> None:
    text = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,Thom,0,0,0,,Hi.
Dialogue: 0,0:00:03.00,0:00:04.00,Default,Thom,0,0,0,,ANN: Ho.
Dialogue: 0,0:00:05.00,0:00:07.00,Default,Thom,0,0,0,,- Hi.\\N- BO: Ho.
"""
    assert [u.speaker for u in parse_subtitles(text).utterances] == ["Thom", "Ann", "", "Bo"]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        # Text recognition takes letters for digits, and other signs for the usual ones.
        ("1\n00:00:O4,400 --> 00:00:06,000\nHello.\n", [(4.4, 6.0)]),
        ("1\n00:00:04,400 --> 00:0O:06,000\nHello.\n", [(4.4, 6.0)]),
        ("1\nOO:OO:l4,4OO --> OO:OO:l6,OOO\nHello.\n", [(14.4, 16.0)]),
        ("1\n00.00.04.400 --> 00:00:06'000\nHello.\n", [(4.4, 6.0)]),
        ("1\n00:00:04.400 --> 00.00:06.000\nHello.\n", [(4.4, 6.0)]),
        # Marks of direction around lines that run from right to left; digits and decimal sign of Arabic.
        ("1\n\u202b00:00:04,400 --> 00:00:06,000\u202c\nשלום.\n", [(4.4, 6.0)]),
        ("1\n٠٠:٠٠:٠٤٫٤٠٠ --> ٠٠:٠٠:٠٦٫٠٠٠\nمرحبا.\n", [(4.4, 6.0)]),
        # Whisper on a terminal; Premiere with dropped frames.
        ("[00:04.400 --> 00:06.000]  Hello.\n[00:07.000 --> 00:08.000]  Bye.\n", [(4.4, 6.0), (7.0, 8.0)]),
        ("00;00;04;10 - 00;00;06;00\nV1\nHello.\n\n00;00;07;00 - 00;00;08;00\nV1\nBye.\n", [(4.4, 6.0), (7.0, 8.0)]),
        # Transcription programs write hours, where lyrics have hundredths of a second.
        ("[00:00:04] Hello.\n[00:00:06] Bye.\n", [(4.0, 5.5), (6.0, 7.5)]),
        ("[00:04:40] Hello.\n[00:06:75] Bye.\n", [(4.4, 5.9), (6.75, 8.25)]),
        ("[00:04:40] Hello.\n[00:06:45] Bye.\n", [(4.4, 5.9), (6.45, 7.95)]),
        # A clock that somebody reads out is no timing.
        ("WEBVTT\n\n00:04.400 --> 00:06.000\n10:30:15\n", [(4.4, 6.0)]),
        ('<tt><body timeContainer="seq"><p dur="2s">Hello.</p><p dur="3s">Bye.</p></body></tt>', [(0, 2), (2, 5)]),
        ('<tt><body><div begin="4.4s" end="6s"><p>Hello.</p></div></body></tt>', [(4.4, 6.0)]),
        ('<tt><body><div begin="4.4s"><p>Hello.</p></div></body></tt>', [(4.4, 5.4)]),
    ],
)  # fmt: skip
def test_times_as_programs_and_text_recognition_write_them(text: str, spoken: list[Any]) -> None:
    subtitles = parse_subtitles(text)
    times = [(one.interval.start, one.interval.end) for one in subtitles.utterances]
    assert times == [pytest.approx(pair) for pair in spoken]
    assert not subtitles.notes


FIRST_CUES = {
    "srt": "1\n00:01:02,400 --> 00:01:04,000\nFirst.\n\n2\n{}\nSecond.\n",
    "sbv": "0:01:02.400,0:01:04.000\nFirst.\n\n{}\nSecond.\n",
    "microdvd": "{{1}}{{1}}25\n{{1560}}{{1600}}First.\n{}Second.\n",
    "ttml": '<tt><body><p begin="62.4s" end="64s">First.</p>\n<p {}>Second.</p></body></tt>',
}


@pytest.mark.parametrize(
    ("form", "times"),
    [
        ("srt", "00:01:06400 --> 00:01:08,000"),
        ("srt", "00:0106,400 --> 00:01:08,000"),
        ("srt", "00:01:06,400 -- 00:01:08,000"),
        ("srt", "00:01:06,400 -4> 00:01:08,000"),
        ("srt", "00:01:06,400 --> 00:01:X8,000"),
        ("srt", "00:01:06,400 --"),
        ("srt", "01:06,400 --"),
        ("sbv", "0:01:a6.400,0:01:08.000"),
        ("sbv", "001:06.400,0:01:08.000"),
        ("microdvd", "1660}{1700}"),
        ("microdvd", "{x660}{1700}"),
        ("ttml", 'begin="66.4s"end="68s"'),
        ("ttml", 'begn="66.4s"'),
    ],
)
def test_a_damaged_time_is_told_and_never_read_as_another(form: str, times: str) -> None:
    subtitles = parse_subtitles(FIRST_CUES[form].format(times))
    first = subtitles.utterances[0]
    assert (first.interval.start, first.interval.end, first.text) == (62.4, 64.0, "First.")
    assert [one.text for one in subtitles.utterances[1:]] in ([], ["Second."])
    assert len(subtitles.notes) == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x00\x00\x01\xba\x44\x00\x04\x00" + bytes(2000), "VobSub, subtitles as pictures"),
        (b"# VobSub index file, v7\ntimestamp: 00:00:01:000, filepos: 000000000\n", "index of VobSub"),
        (b"PG\x00\x01\x5f\x90\x00\x00\x00\x00\x16\x00\x13" + bytes(200), "PGS, subtitles as pictures"),
        (b"850STL25.01100000" + b" " * 1007 + bytes(128), "EBU STL"),
        (b"Scenarist_SCC V1.0\n\n00:00:01:00\t9420 9420 c8e5 6c6c 6f80 942f\n", "SCC, captions as codes"),
        (
            b'<tt xmlns="http://www.w3.org/ns/ttml" xmlns:smpte="http://www.smpte-ra.org/schemas/2052-1/2010/smpte-tt">'
            b'<body><div begin="1s" end="3s" smpte:backgroundImage="a.png"/></body></tt>',
            "TTML of pictures",
        ),
    ],
)
def test_files_of_pictures_and_codes_are_named(tmp_path: Path, content: bytes, what: str) -> None:
    file = tmp_path / "movie.sub"
    file.write_bytes(content)
    with pytest.raises(SubtitleError, match=what) as caught:
        read_subtitles(file, frame_rate=Fraction(25))
    assert "Convert it first" in caught.value.hint
