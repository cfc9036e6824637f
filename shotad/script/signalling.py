"""Mark audio description in HLS and DASH: lines to put into a playlist or manifest.

Players select the description by these marks alone; without them nobody finds it.

HLS (RFC 8216, 4.3.4.1, and draft-pantos-hls-rfc8216bis): an AUDIO rendition has the characteristic
``public.accessibility.describes-video`` and is AUTOSELECT, so that a device set to prefer description takes
it (Apple's HLS authoring specification, AWS, Azure); ``public.machine-generated`` marks what a program made.
No characteristic marks SUBTITLES as description (Apple defines describes-video as audible): a text of
descriptions is marked by its name only, and never selected automatically.

DASH (ISO/IEC 23009-1; DVB-DASH, ETSI TS 103 285, 6.1.2; DASH-IF; Dolby's delivery kits): the Accessibility
descriptors ``description`` of the role scheme and ``1`` (visually impaired) of TV-Anytime's AudioPurposeCS,
both, since players know one or the other. The Role says how it is played: ``alternate`` replaces the
programme's sound, ``commentary`` is mixed into it by the receiver. A text of descriptions has the Role
``description``.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from lxml import etree

from shotad.core.errors import ScriptError, quoted
from shotad.script.cue import Script, clean_text, is_language
from shotad.script.dapt import Violation
from shotad.script.track import Track
from shotad.script.track_texts import texts_in

DESCRIBES_VIDEO = "public.accessibility.describes-video"
MACHINE_MADE = "public.machine-generated"
ROLES = "urn:mpeg:dash:role:2011"
AUDIO_PURPOSE = "urn:tva:metadata:cs:AudioPurposeCS:2007"
MPD = "urn:mpeg:dash:schema:mpd:2011"

_ATTRIBUTE = re.compile(r'(?:^|(?<=,))(?P<name>[A-Z0-9-]++)=(?P<value>"[^"\r\n]*+"|[^",\s]++)(?:,|$)')


def write_hls(track: Track) -> str:
    """Lines for the multivariant playlist of the track's film; the user fills in the addresses.

    Raises ScriptError for a language that is no tag.
    """
    stem, name = _address_and_name(track)
    texts = texts_in(track.language)
    sound_attributes = f'CHARACTERISTICS="{DESCRIBES_VIDEO},{MACHINE_MADE}",CHANNELS="2",URI="{stem}.ad.m3u8"'
    text_attributes = f'CHARACTERISTICS="{MACHINE_MADE}",FORCED=NO,URI="{stem}.ad.vtt.m3u8"'
    notes = (
        texts("hls.use", film=track.film.name),
        track.statement,
        texts("hls.sound"),
        texts("hls.text"),
    )
    text_name = texts("script.text_of", title=name)
    comments = "".join(f"# {_one_line(note)}\n" for note in notes)
    return (
        f'{comments}#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="{name}",LANGUAGE="{track.language}",'
        f"DEFAULT=NO,AUTOSELECT=YES,{sound_attributes}\n"
        f'#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="descriptions",NAME="{text_name}",'
        f'LANGUAGE="{track.language}",DEFAULT=NO,AUTOSELECT=NO,{text_attributes}\n'
    )


def write_dash(track: Track) -> str:
    """Adaptation sets for the film's manifest, in a Period; the user fills in the addresses.

    One is the described sound, one the descriptions as WebVTT for players that speak them. Raises ScriptError
    for a language that is no tag.
    """
    stem, name = _address_and_name(track)
    texts = texts_in(track.language)
    text_name = texts("script.text_of", title=name)
    notes = (
        texts("dash.use", film=track.film.name),
        track.statement,
        texts("dash.sound"),
        texts("dash.text"),
    )
    comments = ""
    for note in notes:
        # An XML comment must not contain two hyphens in a row, or end with one.
        comment = re.sub(r"-(?=-|$)", "- ", _one_line(note)).strip()
        comments += f"<!-- {comment} -->\n"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
{comments}<Period xmlns="{MPD}">
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
    <Label>{text_name}</Label>
    <Role schemeIdUri="{ROLES}" value="description"/>
    <Representation id="text-description" bandwidth="256">
      <BaseURL>{stem}.ad.vtt</BaseURL>
    </Representation>
  </AdaptationSet>
</Period>
"""


def _address_and_name(track: Track) -> tuple[str, str]:
    """The beginning of the addresses, and the name that players show; nothing in either must be escaped."""
    if not is_language(track.language):
        message = f"language must be a BCP 47 tag such as en-GB, got {quoted(track.language)}."
        raise ScriptError(message, "Correct the language in the track.")
    stem = quote(_one_line(PurePosixPath(track.film.name).stem or track.film.name), safe="")
    return stem, texts_in(track.language)("script.title_with_language", language=track.language)


def read_hls(_: bytes, name: str) -> Script:
    """Always raises ScriptError: a playlist or manifest holds no lines."""
    message = f"{name} announces audio description, but holds none."
    raise ScriptError(message, "Give the script itself.")


read_dash = read_hls


def check_hls(playlist: bytes) -> tuple[Violation, ...]:
    """What is wrong with the ``#EXT-X-MEDIA`` lines of a playlist as marks of description."""
    violations: list[Violation] = []
    has_description = False
    for number, line in enumerate(playlist.decode("utf-8-sig", "replace").splitlines(), 1):
        if not line.startswith("#EXT-X-MEDIA:"):
            continue
        attribute_list = line.partition(":")[2]
        matches = list(_ATTRIBUTE.finditer(attribute_list))
        values = {match["name"]: match["value"].strip('"') for match in matches}
        # Whatever the pattern skipped is no attribute.
        if "".join(match[0] for match in matches) != attribute_list:
            violations.append(Violation("EXT-X-MEDIA", "is no list of attributes", number))
            continue
        missing = [key for key in ("TYPE", "GROUP-ID", "NAME") if key not in values]
        if missing:
            violations.append(Violation("EXT-X-MEDIA", f"{', '.join(missing)} missing", number))
        if values.get("DEFAULT") == "YES" and values.get("AUTOSELECT") == "NO":
            violations.append(Violation("EXT-X-MEDIA", "DEFAULT is YES, but AUTOSELECT is NO", number))
        if DESCRIBES_VIDEO in values.get("CHARACTERISTICS", "").split(","):
            if values.get("TYPE") == "AUDIO":
                has_description = True
            if values.get("TYPE") != "AUDIO":
                message = f"{DESCRIBES_VIDEO} on {values.get('TYPE')}: it is defined for AUDIO"
                violations.append(Violation("CHARACTERISTICS", message, number))
            elif values.get("AUTOSELECT") != "YES":
                message = "described sound without AUTOSELECT=YES is not chosen by itself"
                violations.append(Violation("AUTOSELECT", message, number))
    if not has_description and not violations:
        violations.append(Violation("CHARACTERISTICS", f"no AUDIO rendition says {DESCRIBES_VIDEO}"))
    return tuple(violations)


def check_dash(document: bytes) -> tuple[Violation, ...]:
    """What is wrong with a manifest, or a part of one, as a mark of description."""
    # No entities, no network: the file comes from outside.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(document, parser)
    except etree.XMLSyntaxError as error:
        return (Violation("XML", f"the document is not well-formed XML: {error}", error.lineno or 0),)
    required = {(ROLES, "description"), (AUDIO_PURPOSE, "1")}
    message = "no AdaptationSet of sound says that it is audio description"
    for adaptation_set in root.iter("{*}AdaptationSet"):
        mime_type = adaptation_set.get("mimeType") or "audio/"
        if adaptation_set.get("contentType") != "audio" and not mime_type.startswith("audio/"):
            continue
        descriptors: set[tuple[str, str]] = set()
        for element in adaptation_set.iter("{*}Accessibility"):
            descriptors.add((str(element.get("schemeIdUri")), str(element.get("value"))))
        if required <= descriptors:
            return ()
        if required & descriptors:
            message = "only one of the role scheme and AudioPurposeCS says description"
    return (Violation("Accessibility", message),)


def _one_line(text: str) -> str:
    """The text without line breaks, which would end a comment of a playlist."""
    return " ".join(clean_text(text).split("\n"))
