"""Signals of description in HLS and DASH: by the standards, escaped, and checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import etree

from shotad.core import ScriptError
from shotad.script import ALL_FORMATS, FilmId, Maker, Track
from shotad.script.formats import detect_format
from shotad.script.signalling import (
    Rendition,
    check_dash,
    check_hls,
    dash_audio,
    hls_audio,
    hls_text,
    write_dash,
    write_hls,
)

TRACK = Track(FilmId('a "b" #1 <c>--.mp4', "x", 10.0), "en-GB", (Maker("stage2", "fake"),), "0.1.0", ())
NASTY = Rendition('x/a "b"&<c>.m3u8', "de", 'Hör"film"\n& <mehr>')


def test_the_hls_line_of_described_sound() -> None:
    assert hls_audio(Rendition("ad/en.m3u8", "en", channels=6, group="surround")) == (
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="surround",NAME="Audio description",LANGUAGE="en",DEFAULT=NO,'
        'AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video,public.machine-generated",'
        'CHANNELS="6",URI="ad/en.m3u8"'
    )
    assert "machine" not in hls_audio(Rendition("a", "en", machine_made=False))


def test_a_text_rendition_claims_no_audible_description() -> None:
    line = hls_text(Rendition("ad.m3u8", "en"))
    assert "TYPE=SUBTITLES" in line
    assert "AUTOSELECT=NO" in line
    assert "describes-video" not in line


def test_nothing_breaks_out_of_an_attribute() -> None:
    line = hls_audio(NASTY)
    assert "\n" not in line
    assert line.count('"') % 2 == 0
    assert """NAME="Hör'film' & <mehr>",""" in line
    assert 'URI="x/a%20%22b%22&%3Cc%3E.m3u8"' in line
    node = etree.fromstring(dash_audio(NASTY))
    assert node.findtext("Label") == 'Hör"film" & <mehr>'
    assert node.findtext("Representation/BaseURL") == "x/a%20%22b%22&%3Cc%3E.m3u8"


@pytest.mark.parametrize(("mixed", "role"), [(True, "alternate"), (False, "commentary")])
def test_dash_says_description_in_both_schemes_and_how_it_is_mixed(mixed: bool, role: str) -> None:
    node = etree.fromstring(dash_audio(replace(NASTY, mixed=mixed)))
    assert [(a.get("schemeIdUri"), a.get("value")) for a in node.findall("Accessibility")] == [
        ("urn:mpeg:dash:role:2011", "description"),
        ("urn:tva:metadata:cs:AudioPurposeCS:2007", "1"),
    ]
    assert [r.get("value") for r in node.findall("Role")] == [role]
    order = [etree.QName(child).localname for child in node]
    assert order == ["Label", "Accessibility", "Accessibility", "Role", "Representation"]


def test_what_is_written_is_found_and_valid() -> None:
    for name, check in (
        ("hls", check_hls),
        ("dash", check_dash),
    ):
        text = {"hls": write_hls, "dash": write_dash}[name](TRACK)
        assert check(text.encode()) == ()
        assert detect_format("x", text.encode()) == name
        assert "made by machine" in text
        assert "a%20%22b%22%20%231%20%3Cc%3E--.ad." in text
        with pytest.raises(ScriptError, match="holds none"):
            ALL_FORMATS[name].read(text.encode(), "x")


def test_comments_of_the_manifest_end_where_they_should() -> None:
    comments = etree.fromstring(write_dash(TRACK).encode()).getroottree().xpath("//comment()")
    assert len(comments) == 4
    assert all("--" not in str(comment.text) for comment in comments)


@pytest.mark.parametrize(
    ("text", "clause", "message"),
    [
        ("#EXTM3U\n", "CHARACTERISTICS", "no AUDIO rendition"),
        ('#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a"\n', "EXT-X-MEDIA", "NAME missing"),
        ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a"b",GROUP-ID="a"\n', "EXT-X-MEDIA", "no list"),
        ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "AUTOSELECT", "not chosen"),
        ('#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "CHARACTERISTICS", "for AUDIO"),
        ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",DEFAULT=YES,AUTOSELECT=NO\n', "EXT-X-MEDIA", "DEFAULT is YES"),
    ],
)  # fmt: skip
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


def test_a_language_that_is_none_is_refused() -> None:
    with pytest.raises(ScriptError, match="'english please'"):
        write_hls(replace(TRACK, language="english please"))
    with pytest.raises(ValueError, match="1 channel or more, got 0"):
        Rendition("a", "en", channels=0)
