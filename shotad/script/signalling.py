"""How HLS and DASH say that a rendition is audio description: lines to put into a playlist or manifest.

Players choose by these words alone, and without them description is a track that nobody finds.

HLS (RFC 8216, 4.3.4.1, and its second edition, draft-pantos-hls-rfc8216bis): an AUDIO rendition carries the
characteristic ``public.accessibility.describes-video``, and is AUTOSELECT, so that a device set to prefer
description takes it (Apple's HLS authoring specification; AWS and Azure write the same). The second edition
adds ``public.machine-generated`` for any rendition that a program made. For SUBTITLES it names no
characteristic of description, and Apple defines describes-video as audible: a text rendition of descriptions
is therefore marked by its name only, and never selected by itself.

DASH (ISO/IEC 23009-1; DVB-DASH, ETSI TS 103 285, 6.1.2; DASH-IF; Dolby's AC-4 and DD+ delivery kits): the
Accessibility descriptors ``description`` of the role scheme and ``1`` (for the visually impaired) of
TV-Anytime's AudioPurposeCS, both, since players know one or the other. The Role tells how it is heard:
``alternate`` takes the place of the programme's sound (broadcast mix), ``commentary`` is mixed into it by
the receiver. A text of descriptions has the Role ``description``, which the role scheme has for both sound
and text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from lxml import etree

from shotad.core import ScriptError
from shotad.script.cue import clean_text, is_language
from shotad.script.dapt import Violation
from shotad.script.track import Track

DESCRIBES_VIDEO = "public.accessibility.describes-video"
MACHINE_MADE = "public.machine-generated"
ROLES = "urn:mpeg:dash:role:2011"
AUDIO_PURPOSE = "urn:tva:metadata:cs:AudioPurposeCS:2007"
MPD = "urn:mpeg:dash:schema:mpd:2011"

_ATTRIBUTE = re.compile(r'(?P<name>[A-Z0-9-]+)=(?P<value>"[^"\r\n]*"|[^",\s]+)(?:,|$)')


@dataclass(frozen=True, slots=True)
class Rendition:
    """What is signalled: an address, a BCP 47 language, and the name that players show.

    ``mixed``: programme and description together; else description alone, to be mixed by the receiver.
    ``machine_made``: a program wrote it, whether or not a person has reviewed it since.
    """

    uri: str
    language: str
    name: str = "Audio description"
    mixed: bool = True
    machine_made: bool = True
    channels: int = 2
    group: str = "audio"

    def __post_init__(self) -> None:
        if not is_language(self.language):
            raise ValueError(f"language must be a BCP 47 tag such as en-GB, got {self.language!r}")
        if self.channels < 1:
            raise ValueError(f"a rendition has 1 channel or more, got {self.channels}")


def hls_audio(rendition: Rendition) -> str:
    """The ``#EXT-X-MEDIA`` line of described sound. HLS players replace the sound: it must be mixed."""
    marks = (DESCRIBES_VIDEO, *((MACHINE_MADE,) if rendition.machine_made else ()))
    return _media(
        "AUDIO", rendition, auto=True,
        more=f',CHARACTERISTICS="{",".join(marks)}",CHANNELS="{rendition.channels}"',
    )  # fmt: skip


def hls_text(rendition: Rendition) -> str:
    """The ``#EXT-X-MEDIA`` line of a WebVTT rendition that holds the descriptions."""
    marks = f',CHARACTERISTICS="{MACHINE_MADE}"' if rendition.machine_made else ""
    return _media("SUBTITLES", rendition, auto=False, more=f"{marks},FORCED=NO")


def dash_audio(rendition: Rendition) -> str:
    """The ``AdaptationSet`` of described sound, with one Representation to be filled in."""
    role = "alternate" if rendition.mixed else "commentary"
    return _adaptation_set(
        rendition,
        'contentType="audio" mimeType="audio/mp4"',
        f'  <Accessibility schemeIdUri="{ROLES}" value="description"/>\n'
        f'  <Accessibility schemeIdUri="{AUDIO_PURPOSE}" value="1"/>\n'
        f'  <Role schemeIdUri="{ROLES}" value="{role}"/>\n',
        'id="audio-description" bandwidth="128000" codecs="mp4a.40.2" audioSamplingRate="48000"',
    )


def dash_text(rendition: Rendition) -> str:
    """The ``AdaptationSet`` of the descriptions as WebVTT, for players that speak them."""
    return _adaptation_set(
        rendition,
        'contentType="text" mimeType="text/vtt"',
        f'  <Role schemeIdUri="{ROLES}" value="description"/>\n',
        'id="text-description" bandwidth="256"',
    )


def write_hls(track: Track) -> str:
    """Lines for the multivariant playlist of the track's film; the addresses are to be filled in."""
    sound, text = _renditions(track, "m3u8")
    notes = (
        f"Audio description of {track.film.name}, to be put into its multivariant playlist.",
        track.statement,
        "The sound must hold programme and description mixed. GROUP-ID is that of the other sound, CHANNELS "
        "its number of channels; URI is the media playlist of the segmented sound.",
        "The second line is for players that speak text: name its group as SUBTITLES in EXT-X-STREAM-INF, or "
        "leave it out.",
    )
    head = "".join(f"# {_one_line(note)}\n" for note in notes)
    return f"{head}{hls_audio(sound)}\n{hls_text(text)}\n"


def write_dash(track: Track) -> str:
    """Adaptation sets for the film's manifest, in a Period; the addresses are to be filled in."""
    sound, text = _renditions(track, "m4a")
    notes = (
        f"Audio description of {track.film.name}: take the adaptation sets over into each Period of its MPD.",
        track.statement,
        "alternate: the sound holds programme and description mixed. Sound with the description alone, which "
        "the receiver mixes in, has the Role commentary and a dependencyId that names the programme's sound.",
        "BaseURL, codecs and bandwidth are those of your packager; the text is the WebVTT of shotad export.",
    )
    comments = (re.sub(r"-(?=-|$)", "- ", _one_line(note)).strip() for note in notes)
    head = "".join(f"<!-- {comment} -->\n" for comment in comments)
    sets = "".join(f"  {line}\n" for s in (dash_audio(sound), dash_text(text)) for line in s.splitlines())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<Period xmlns="{MPD}">\n{sets}</Period>\n'


def check_hls(playlist: bytes) -> tuple[Violation, ...]:
    """What is wrong with the ``#EXT-X-MEDIA`` lines of a playlist as signals of description."""
    found: list[Violation] = []
    described = False
    for number, line in enumerate(playlist.decode("utf-8-sig", "replace").splitlines(), 1):
        if not line.startswith("#EXT-X-MEDIA:"):
            continue
        values = _attributes(line.partition(":")[2])
        if values is None:
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
    sets = [node for node in root.iter("{*}AdaptationSet") if _is_sound(node)]
    marks = [
        {(str(a.get("schemeIdUri")), str(a.get("value"))) for a in s.iter("{*}Accessibility")} for s in sets
    ]
    if any({(ROLES, "description"), (AUDIO_PURPOSE, "1")} <= mark for mark in marks):
        return ()
    if any({(ROLES, "description"), (AUDIO_PURPOSE, "1")} & mark for mark in marks):
        return (
            Violation("Accessibility", "only one of the role scheme and AudioPurposeCS says description"),
        )
    return (Violation("Accessibility", "no AdaptationSet of sound says that it is audio description"),)


def _is_sound(node: etree._Element) -> bool:
    return node.get("contentType") == "audio" or (node.get("mimeType") or "audio/").startswith("audio/")


def _media(kind: str, rendition: Rendition, *, auto: bool, more: str) -> str:
    return (
        f'#EXT-X-MEDIA:TYPE={kind},GROUP-ID="{_quotable(rendition.group)}",NAME="{_quotable(rendition.name)}",'
        f'LANGUAGE="{rendition.language}",DEFAULT=NO,AUTOSELECT={"YES" if auto else "NO"}{more},'
        f'URI="{_address(rendition.uri)}"'
    )


def _adaptation_set(rendition: Rendition, kind: str, descriptors: str, representation: str) -> str:
    return (
        f"<AdaptationSet {kind} lang={quoteattr(rendition.language)}>\n"
        f"  <Label>{_xml(rendition.name)}</Label>\n{descriptors}"
        f"  <Representation {representation}>\n"
        f"    <BaseURL>{_xml(_address(rendition.uri))}</BaseURL>\n"
        f"  </Representation>\n</AdaptationSet>"
    )


def _renditions(track: Track, sound_ending: str) -> tuple[Rendition, Rendition]:
    stem = quote(PurePosixPath(track.film.name).stem or track.film.name, safe="")
    text_ending = "vtt.m3u8" if sound_ending == "m3u8" else "vtt"
    name = f"Audio description ({track.language})"
    try:
        return (
            Rendition(f"{stem}.ad.{sound_ending}", track.language, name),
            Rendition(f"{stem}.ad.{text_ending}", track.language, f"{name}, text", group="descriptions"),
        )
    except ValueError as error:
        raise ScriptError(f"{error}.", "Correct the language in the track.") from None


def _attributes(text: str) -> dict[str, str] | None:
    values: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _ATTRIBUTE.match(text, at)
        if match is None:
            return None
        values[match["name"]] = match["value"].strip('"')
        at = match.end()
    return values


def _quotable(text: str) -> str:
    """A quoted string of HLS can hold neither a quote nor a line end."""
    return _one_line(text).replace('"', "'")


def _address(uri: str) -> str:
    return quote(_one_line(uri), safe="/:?#[]@!$&'()*+,;=%~")


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split("\n"))


def _xml(text: str) -> str:
    return _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
