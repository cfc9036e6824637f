"""Signals of description in HLS and DASH: by the standards, escaped, and checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import etree

from shotad.core import ScriptError
from shotad.script import ALL_FORMATS, FilmId, Maker, Track
from shotad.script.formats import detect_format
from shotad.script.signalling import check_dash, check_hls, write_dash, write_hls

TRACK = Track(FilmId('a "b" #1 <c>--.mp4', "x", 10.0), "en-GB", (Maker("stage2", "fake"),), "0.1.0", ())


def test_the_hls_lines_of_described_sound_and_of_text() -> None:
    sound, text = write_hls(TRACK).splitlines()[-2:]
    assert sound == (
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio description (en-GB)",LANGUAGE="en-GB",DEFAULT=NO,'
        'AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video,public.machine-generated",'
        'CHANNELS="2",URI="a%20%22b%22%20%231%20%3Cc%3E--.ad.m3u8"'
    )
    assert "TYPE=SUBTITLES" in text
    assert "AUTOSELECT=NO" in text
    assert "describes-video" not in text


def test_dash_says_description_in_both_schemes_and_how_it_is_mixed() -> None:
    node = etree.fromstring(write_dash(TRACK).encode())[0]
    role, purpose = "urn:mpeg:dash:role:2011", "urn:tva:metadata:cs:AudioPurposeCS:2007"
    for tag, wanted in (
        ("Accessibility", [(role, "description"), (purpose, "1")]),
        ("Role", [(role, "alternate")]),
    ):
        assert [(n.get("schemeIdUri"), n.get("value")) for n in node.findall(f"{{*}}{tag}")] == wanted
    order = [etree.QName(child).localname for child in node]
    assert order == ["Label", "Accessibility", "Accessibility", "Role", "Representation"]
    assert node.findtext("{*}Label") == "Audio description (en-GB)"
    assert node.findtext("{*}Representation/{*}BaseURL") == "a%20%22b%22%20%231%20%3Cc%3E--.ad.m4a"


def test_what_is_written_is_found_and_valid_and_a_language_that_is_none_refused() -> None:
    for name, check, write in (("hls", check_hls, write_hls), ("dash", check_dash, write_dash)):
        text = write(TRACK)
        assert check(text.encode()) == ()
        assert detect_format("x", text.encode()) == name
        assert "made by machine" in text
        assert "a%20%22b%22%20%231%20%3Cc%3E--.ad." in text
        with pytest.raises(ScriptError, match="holds none"):
            ALL_FORMATS[name].read(text.encode(), "x")
    with pytest.raises(ScriptError, match="'english please'"):
        write_hls(replace(TRACK, language="english please"))


@pytest.mark.parametrize(("text", "clause", "message"), [
    ("#EXTM3U\n", "CHARACTERISTICS", "no AUDIO rendition"),
    ('#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a"\n', "EXT-X-MEDIA", "NAME missing"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a"b",GROUP-ID="a"\n', "EXT-X-MEDIA", "no list"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "AUTOSELECT", "not chosen"),
    ('#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "CHARACTERISTICS", "for AUDIO"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",DEFAULT=YES,AUTOSELECT=NO\n', "EXT-X-MEDIA", "DEFAULT is YES"),
])  # fmt: skip
def test_playlists_that_hide_the_description_are_found(text: str, clause: str, message: str) -> None:
    (found,) = check_hls(text.encode())
    assert found.clause == clause
    assert message in found.message


def test_manifests_that_hide_the_description_are_found() -> None:
    def wrong(text: str) -> str:
        (found,) = check_dash(text.encode())
        return found.message

    written = write_dash(TRACK)
    assert "only one" in wrong(written.replace("AudioPurposeCS", "Other"))
    assert "no AdaptationSet" in wrong(written.replace("<Accessibility", "<Essential"))
    assert "well-formed" in wrong(written.replace("</Period>", ""))
    assert "no AdaptationSet" in wrong('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD>&a;</MPD>')
