"""How HLS and DASH say that a rendition is audio description: lines to put into a playlist or manifest.

Players choose by these words alone, and without them description is a track that nobody finds.

HLS (RFC 8216, 4.3.4.1, and draft-pantos-hls-rfc8216bis): an AUDIO rendition has the characteristic
``public.accessibility.describes-video`` and is AUTOSELECT, so that a device set to prefer description takes
it (Apple's HLS authoring specification, AWS, Azure); ``public.machine-generated`` marks what a program made.
No characteristic says description of SUBTITLES (Apple defines describes-video as audible): a text of
descriptions is marked by its name only, and never selected by itself.

DASH (ISO/IEC 23009-1; DVB-DASH, ETSI TS 103 285, 6.1.2; DASH-IF; Dolby's delivery kits): the Accessibility
descriptors ``description`` of the role scheme and ``1`` (visually impaired) of TV-Anytime's AudioPurposeCS,
both, since players know one or the other. The Role says how it is heard: ``alternate`` takes the place of
the programme's sound, ``commentary`` is mixed into it by the receiver. A text of descriptions has the Role
``description``.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from lxml import etree

from shotad.core import ScriptError, quoted
from shotad.script.cue import Script, clean_text, is_language
from shotad.script.dapt import Violation
from shotad.script.track import Track

DESCRIBES_VIDEO = "public.accessibility.describes-video"
MACHINE_MADE = "public.machine-generated"
ROLES = "urn:mpeg:dash:role:2011"
AUDIO_PURPOSE = "urn:tva:metadata:cs:AudioPurposeCS:2007"
MPD = "urn:mpeg:dash:schema:mpd:2011"

_ATTRIBUTE = re.compile(r'(?:^|(?<=,))(?P<name>[A-Z0-9-]++)=(?P<value>"[^"\r\n]*+"|[^",\s]++)(?:,|$)')


def write_hls(track: Track) -> str:
    """Lines for the multivariant playlist of the track's film; with addresses left to fill in."""
    stem, name = _named(track)
    sound = f'CHARACTERISTICS="{DESCRIBES_VIDEO},{MACHINE_MADE}",CHANNELS="2",URI="{stem}.ad.m3u8"'
    text = f'CHARACTERISTICS="{MACHINE_MADE}",FORCED=NO,URI="{stem}.ad.vtt.m3u8"'
    notes = (
        f"Audio description of {track.film.name}, to be put into its multivariant playlist.",
        track.statement,
        "The sound must hold programme and description mixed. GROUP-ID is that of the other sound, CHANNELS "
        "its number of channels; URI is the media playlist of the segmented sound.",
        "The second line is for players that speak text: name its group as SUBTITLES in EXT-X-STREAM-INF, or "
        "leave it out.",
    )
    head = "".join(f"# {_one_line(note)}\n" for note in notes)
    return (
        f'{head}#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="{name}",LANGUAGE="{track.language}",'
        f"DEFAULT=NO,AUTOSELECT=YES,{sound}\n"
        f'#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="descriptions",NAME="{name}, text",'
        f'LANGUAGE="{track.language}",DEFAULT=NO,AUTOSELECT=NO,{text}\n'
    )


def write_dash(track: Track) -> str:
    """Adaptation sets for the film's manifest, in a Period; the addresses are to be filled in: described
    sound, and the descriptions as WebVTT for players that speak them."""
    stem, name = _named(track)
    notes = (
        f"Audio description of {track.film.name}: take the adaptation sets over into each Period of its MPD.",
        track.statement,
        "alternate: the sound holds programme and description mixed. Sound with the description alone, which "
        "the receiver mixes in, has the Role commentary and a dependencyId that names the programme's sound.",
        "BaseURL, codecs and bandwidth are those of your packager; the text is the WebVTT of shotad export.",
    )
    comments = (re.sub(r"-(?=-|$)", "- ", _one_line(note)).strip() for note in notes)
    head = "".join(f"<!-- {comment} -->\n" for comment in comments)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
{head}<Period xmlns="{MPD}">
  <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="{track.language}">
    <Label>{name}</Label>
    <Accessibility schemeIdUri="{ROLES}" value="description"/>
    <Accessibility schemeIdUri="{AUDIO_PURPOSE}" value="1"/>
    <Role schemeIdUri="{ROLES}" value="alternate"/>
    <Representation id="audio-description" bandwidth="128000" codecs="mp4a.40.2" audioSamplingRate="48000">
      <BaseURL>{stem}.ad.m4a</BaseURL>
    </Representation>
  </AdaptationSet>
  <AdaptationSet contentType="text" mimeType="text/vtt" lang="{track.language}">
    <Label>{name}, text</Label>
    <Role schemeIdUri="{ROLES}" value="description"/>
    <Representation id="text-description" bandwidth="256">
      <BaseURL>{stem}.ad.vtt</BaseURL>
    </Representation>
  </AdaptationSet>
</Period>
"""


def _named(track: Track) -> tuple[str, str]:
    """How addresses begin, and what players show; nothing in either has to be escaped."""
    if not is_language(track.language):
        what = f"language must be a BCP 47 tag such as en-GB, got {quoted(track.language)}."
        raise ScriptError(what, "Correct the language in the track.")
    stem = quote(_one_line(PurePosixPath(track.film.name).stem or track.film.name), safe="")
    return stem, f"Audio description ({track.language})"


def read_hls(_: bytes, name: str) -> Script:
    """Nothing: raises ScriptError."""
    what = f"{name} announces audio description, but holds none."
    raise ScriptError(what, "Give the script itself.")


read_dash = read_hls


def check_hls(playlist: bytes) -> tuple[Violation, ...]:
    """What is wrong with the ``#EXT-X-MEDIA`` lines of a playlist as signals of description."""
    found: list[Violation] = []
    described = False
    for number, line in enumerate(playlist.decode("utf-8-sig", "replace").splitlines(), 1):
        if not line.startswith("#EXT-X-MEDIA:"):
            continue
        text = line.partition(":")[2]
        attributes = list(_ATTRIBUTE.finditer(text))
        values = {match["name"]: match["value"].strip('"') for match in attributes}
        if "".join(match[0] for match in attributes) != text:
            found.append(Violation("EXT-X-MEDIA", "is no list of attributes", number))
            continue
        missing = [key for key in ("TYPE", "GROUP-ID", "NAME") if key not in values]
        if missing:
            found.append(Violation("EXT-X-MEDIA", f"{', '.join(missing)} missing", number))
        if values.get("DEFAULT") == "YES" and values.get("AUTOSELECT") == "NO":
            found.append(Violation("EXT-X-MEDIA", "DEFAULT is YES, but AUTOSELECT is NO", number))
        if DESCRIBES_VIDEO in values.get("CHARACTERISTICS", "").split(","):
            described |= values.get("TYPE") == "AUDIO"
            if values.get("TYPE") != "AUDIO":
                message = f"{DESCRIBES_VIDEO} on {values.get('TYPE')}: it is defined for AUDIO"
                found.append(Violation("CHARACTERISTICS", message, number))
            elif values.get("AUTOSELECT") != "YES":
                message = "described sound without AUTOSELECT=YES is not chosen by itself"
                found.append(Violation("AUTOSELECT", message, number))
    if not described and not found:
        found.append(Violation("CHARACTERISTICS", f"no AUDIO rendition says {DESCRIBES_VIDEO}"))
    return tuple(found)


def check_dash(document: bytes) -> tuple[Violation, ...]:
    """What is wrong with a manifest, or a part of one, as signal of description."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(document, parser)
    except etree.XMLSyntaxError as error:
        return (Violation("XML", f"the document is not well-formed XML: {error}", error.lineno or 0),)
    sets = [
        node
        for node in root.iter("{*}AdaptationSet")
        if node.get("contentType") == "audio" or (node.get("mimeType") or "audio/").startswith("audio/")
    ]
    marks = [
        {(str(a.get("schemeIdUri")), str(a.get("value"))) for a in s.iter("{*}Accessibility")} for s in sets
    ]
    both = {(ROLES, "description"), (AUDIO_PURPOSE, "1")}
    if any(both <= mark for mark in marks):
        return ()
    what = "no AdaptationSet of sound says that it is audio description"
    if any(both & mark for mark in marks):
        what = "only one of the role scheme and AudioPurposeCS says description"
    return (Violation("Accessibility", what),)


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split("\n"))
