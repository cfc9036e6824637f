"""What lies beside a film and is meant for it, by the names of files: subtitles, a description, cast, note.

A name begins with that of the film, as players and media servers want it: ``movie.srt``, ``movie.en.srt``,
``movie.en.sdh.srt``, ``movie.en.ad.m4a`` (Jellyfin, Kodi, Plex, mpv). Subtitles may also lie in a folder
``Subs`` or ``Subtitles``, where VLC and Kodi look, and a description in a folder ``AD`` or ``Audio
Description``. Files of words are opened as far as their first lines: those say whether they hold dialogue or
a description, whatever the file is called.

Names are compared without upper and lower case, and however accents are written, on every system: mpv, VLC,
Kodi and Jellyfin do so too. Of two names that differ in nothing else, the one that is written as the film's
goes first. Sources: mpv ``player/external_files.c`` and ``misc/language.c``, VLC ``src/input/subtitles.c``,
Kodi ``xbmc/Util.cpp``, Jellyfin ``MediaInfoResolver.cs`` and ``ExternalPathParser.cs``.

The functions take names and do not care where the folder is; `names_beside` lists one of this machine.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from shotad.core.config.languages import language_named
from shotad.core.errors import ConfigError
from shotad.core.trust import is_inside, is_trusted

FILM_ENDINGS = frozenset(
    {
        *(".3g2", ".3gp", ".asf", ".avi", ".dv", ".f4v", ".flv", ".gxf", ".ivf", ".m1v", ".m2t", ".m2ts"),
        *(".m2v", ".m4v", ".mj2", ".mkv", ".mov", ".mp4", ".mpe", ".mpeg", ".mpg", ".mts", ".mxf", ".nut"),
        *(".obu", ".ogm", ".ogv", ".qt", ".rm", ".rmvb", ".tod", ".ts", ".vob", ".webm", ".wmv", ".wtv"),
        ".y4m",
    }
)
"""How names of films end: containers of pictures that shotad opens. A film that is named by itself may end
in any way."""

SUBTITLE_ENDINGS = (".srt", ".vtt", ".ass", ".ssa", ".ttml", ".dfxp", ".sbv", ".smi", ".sami", ".sub")
"""Endings of subtitles, that taken first where there are several. ``.sub`` is MicroDVD or SubViewer, or holds
the pictures of VobSub."""

READABLE_SCRIPTS = (
    ".vtt", ".srt", ".ttml", ".dfxp", ".xml", ".csv", ".docx", ".xlsx", ".json", ".edl", ".fcpxml",
)  # fmt: skip
"""Endings of descriptions as text whose lines can be read, that taken first where there are several."""

SCRIPT_ENDINGS = (
    *READABLE_SCRIPTS,
    *(".txt", ".doc", ".odt", ".ods", ".rtf", ".pdf", ".xls", ".ass", ".ssa", ".sbv", ".smi", ".sub", ".stl"),
)
"""Endings of descriptions as text; those whose lines cannot be read stand last."""

_SUBTITLE_SCRIPTS = frozenset({".vtt", ".srt", ".ttml", ".dfxp", ".xml"})
"""Endings of scripts whose first lines may say that they are a description, whatever the file is called."""

SOUND_ENDINGS = frozenset(
    {
        *(".aac", ".ac3", ".aif", ".aiff", ".eac3", ".flac", ".m4a", ".m4b", ".mka", ".mp2", ".mp3", ".oga"),
        *(".ogg", ".opus", ".wav", ".wma"),
    }
)
"""Endings of descriptions as sound."""

_SUBTITLE_FOLDERS = frozenset({"sub", "subs", "subtitle", "subtitles"})
"""Folders beside a film in which its subtitles may lie, in small letters; Kodi looks into these too, VLC into
some."""

_OTHER_SUBTITLE_ENDINGS = {
    ".idx": "subtitles as pictures cannot be read",
    ".lrc": "lyrics are not looked for",
    ".scc": "SCC cannot be read; convert it to SRT",
    ".stl": "EBU STL cannot be read; convert it to SRT",
    ".sup": "subtitles as pictures cannot be read",
}
"""Endings of subtitles that are not taken beside a film, and why."""

_MOST_PASSED_OVER = 6
"""Names in a note on files that are not used."""

RECORDS_OF_WORK = frozenset({"shots.json", "settings.json", "track.json"})
"""By which a folder is known to be a work folder, whatever it is called."""

HEAD_BYTES = 1 << 16
"""Bytes of a file of words that are read to see what it holds: heads with notes and styles are shorter."""

ReadHead = Callable[[str], str]
"""The first lines of a file, by its name as it was listed; empty where it cannot be read."""

_NOT_SPEECH = frozenset(
    {
        *("ad", "commentary", "comments", "description", "descriptions", "erzwungen", "forced", "forcé"),
        *("foreign", "forzado", "forzati", "karaoke", "kommentar", "lyrics", "signs", "songs"),
    }
)
"""Words in a name of subtitles that are no record of what is said."""
_FOR_DEAF = frozenset({"cc", "hi", "hoh", "sdh"})
_OTHER_KINDS = frozenset(
    {
        *("auto", "captions", "default", "dialog", "dialogue", "full", "orig", "original", "sub", "subs"),
        "subtitles",
    }
)
_SHORT_WORD = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*")
"""What players take for a language between a film's name and the ending of its subtitles, whether there is
one or not: ``movie.old.srt``."""
_RELEASE_WORD = re.compile(
    r"\d{3,4}[ip]|[48]k|uhd|hdr\d{0,2}|sdr|(?:8|10)bit|[hx](?:26[45])?|hevc|avc|av1|xvid|divx|"
    r"blu-?ray|b[dr]-?rip|remux|web(?:-?dl|-?rip)?|hd-?(?:tv|rip)|dvd(?:-?rip|\d)?|vhs-?rip|amzn|nf|"
    r"e?ac-?3|aac\d?|dts(?:-?hd)?|ddp?\d?|truehd|atmos|flac|opus|proper|repack"
)
"""How a copy was made: ``Movie.2019.1080p.BluRay.srt`` is of ``Movie.mp4``. Words for another cut of the film
are none of these: its times are others."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR_OF_FILM = re.compile(r"[.(\[](?:19|20)\d\d(?!\d)")
"""A year behind a point or in brackets. ``Movie 1984.srt`` may be of another film."""

_SEPARATORS = re.compile(r"[\s._()\[\],&+]+")

_DESCRIPTION_WORDS = frozenset(
    {
        *("ad", "audesc", "audiodescribed", "audiodescripcion", "audiodescripción", "audiodescriptie"),
        *("audiodescription", "audiodescrizione", "audiodescrição", "audiodeskription", "audiodeskrypcja"),
        *("audiopopis", "audiovision", "dapt", "desc", "descripción", "described", "description"),
        *("descriptions", "descriptive", "descrizione", "descrição", "dvs", "hörfilm", "hoerfilm"),
        *("kuvailutulkkaus", "luisterfilm", "syntolkning", "synstolking", "synstolkning", "vfad"),
    }
)
"""Words in the name of a file beside a film that make it a description: what the trade calls it."""
_WORDS_OF_PLOT = frozenset(
    {
        *("desc", "descripción", "described", "description", "descriptions", "descriptive", "descrizione"),
        "descrição",
    }
)
"""Those of them that in the name of a document, or of a folder, may mean what the film is about:
``movie.description.txt``, as yt-dlp writes it."""
_WORDS_BESIDE = frozenset(
    {
        *("audio", "broadcast", "default", "final", "full", "master", "mix", "mixed", "mono", "narration"),
        *(
            "narrator",
            "new",
            "only",
            "script",
            "soundtrack",
            "stereo",
            "surround",
            "text",
            "track",
            "version",
        ),
        *("video", "voice", "voiceover"),
        # Programs whose tables are beside it: movie.ad.frazier.csv.
        *("frazier", "reaper"),
    }
)
"""Words that may stand with them. ``movie - Ad Astra trailer.mp3`` has others, and is no description."""
_COUNT_BESIDE = re.compile(r"v\d{1,3}|\d{1,2}ch|\d{2,3}k(?:hz)?")
"""Counts that may: ``v2``, ``2ch``, ``48k``."""
_CHANNELS = re.compile(r"\d|[257][01]")
"""Of ``2.0`` or ``51`` in a title. A longer number may be a year: ``79 AD``."""
_TRACK_TITLE = re.compile(
    r"audio[ -]?descri|audio[ -]?de[sz]kri|audio[ -]?d[ée]crit|audio[ -]?popis|\bh(?:ö|oe)r(?:film|fassung)|"
    r"\baudiovision\b|kuvailutulkkaus|syn(?:s)?tolk|音声解説|тифлокоммент|\bvideo descri|"
    r"\bdescri(?:bed|ptive) (?:video|audio)|\bdescri(?:ción|ção|zione) (?:de |di )?[áa]udio|"
    r"\bnarração descritiva|\bDVS\b|"
    # Whom it is for.
    r"\bvisually impaired\b|\bfor the blind\b|\b(?:für )?(?:blinde|sehbehinderte)\b|"
    r"\b(?:malvoyant|mal-voyant|aveugle)s?\b|\b(?:in|non )vedenti\b|\b(?:ciegos|invidentes|cegos)\b|"
    r"\bdeficientes visuais\b",
    re.IGNORECASE,
)
_SOUND_TITLE = re.compile(r"\bdescri(?:ptive|ptif|ptiva|ttiva|ttivo|ptivo)\b", re.IGNORECASE)
"""Of a sound track. Subtitles that are called descriptive are for the deaf."""
_AD_IN_TITLE = re.compile(r"^AD$|[(\[]AD[)\]]|(?<!\d)[ -]AD$|^AD - ")
"""In capitals, alone, in brackets or at an end: ``English AD``, not ``AD ASTRA`` or ``79 AD``."""
_COMMENTARY_TITLE = re.compile(r"comment|kommentar", re.IGNORECASE)
_FOR_DEAF_TITLE = re.compile(r"\b(?:sdh|cc|hoh|hearing|captions?)\b", re.IGNORECASE)

_DESCRIPTIONS_HEAD = re.compile(r"\AWEBVTT[^\n]*\n(?:[^\n]+\n)*?Kind: *descriptions", re.IGNORECASE)
_OWN_NUMBER = re.compile(r"\A[1-4]\d{8,}\s*\n[^\n]*-->")
"""SubRip of ours: the number of a cue is the id of its line (`shotad.script.subtitle_formats`)."""
_OWN_ROW = re.compile(r"\A[^\n]*\n[1-4]\d{8,};[\d:.]+;")
"""Frazier's table of ours: its positions are the same numbers."""
_OWN_EDL = re.compile(r"\ATITLE: .* AD, \d+ lines? at [\d/]+(?:df)? fps from [\d:;]+\n")
_DAPT = re.compile(r"ns/ttml/profile/dapt|\bdaptm:scriptType")
_DAPT_OF_PICTURE = re.compile(r"scriptRepresents\s*=\s*[\"'][^\"']*\bvisual")


@dataclass(frozen=True, slots=True)
class NamedDescription:
    """A description beside a film: its file's name as it was listed, a language's short code (empty: the name
    has none), and whether it is text."""

    name: str
    language: str
    is_text: bool

    @property
    def is_readable(self) -> bool:
        """Whether it is text of a format whose lines can be read, by its ending."""
        return PurePosixPath(self.name).suffix.lower() in READABLE_SCRIPTS


def composed(name: str) -> str:
    """A name with its accents in one with their letters (NFC), for comparing: macOS and some servers write
    them apart."""
    return unicodedata.normalize("NFC", name)


def comparable(name: str) -> str:
    """A name in small letters, its accents in one with them: two names that are equal so are meant for the
    same film.

    >>> comparable("MÄDCHEN.srt") == comparable("Ma\u0308dchen.srt")
    True
    """
    return composed(composed(name).casefold())


def is_subtitle_folder(name: str) -> bool:
    """Whether subtitles of a film may lie in a folder of this name beside it."""
    return comparable(name) in _SUBTITLE_FOLDERS


@lru_cache(maxsize=4096)
def is_description_folder(name: str) -> bool:
    """Whether descriptions of a film may lie in a folder of this name beside it: ``AD``, ``Audio
    Description``."""
    # Files have endings, and a listing does not say which names are folders.
    if PurePosixPath(name).suffix:
        return False
    words = _words_of_description(comparable(name))
    return _say_nothing_else(words) and _is_named_description(words, is_text=True, is_document=True)


def is_inner_folder(name: str) -> bool:
    """Whether files for a film may lie in a folder of this name beside it."""
    return is_subtitle_folder(name) or is_description_folder(name)


@dataclass(frozen=True, slots=True)
class _Listing:
    """The names among which files for a film are looked for. ``stem`` is the film's, as `comparable`.

    ``names`` has each name as it was listed, by its comparable form: of several that differ by case alone the
    one that is written as the film, else the first in the order of letters. ``films`` are the stems of films.
    """

    stem: str
    names: dict[str, str]
    films: frozenset[str]


def _listing(stem: str, names: Iterable[str]) -> _Listing:
    """Those of ``names`` that may be meant for the film ``stem``.

    Beside ``Film.mp4`` and ``film.mkv``, ``film.srt`` is of the second alone.
    """
    own, key = composed(stem), comparable(stem)
    names = sorted(names)
    # A copy in a folder of descriptions is no other film.
    stems = {composed(stem_of(name)) for name in names if is_film_name(name) and "/" not in name}
    namesakes = [film_stem for film_stem in stems if film_stem != own and comparable(film_stem) == key]
    by_key: dict[str, str] = {}
    # Those written as the film stand first.
    for name in sorted(names, key=lambda name: not _file_of(name).startswith(own)):
        is_own = _file_of(name).startswith(own)
        if is_own or not any(_file_of(name).startswith(namesake) for namesake in namesakes):
            by_key.setdefault(comparable(name), name)
    return _Listing(key, by_key, frozenset(map(comparable, stems)))


def _file_of(name: str) -> str:
    """``Subs/movie.srt → movie.srt``, for comparing."""
    return composed(name).rpartition("/")[2]


def stem_of(name: str) -> str:
    """A file's name without its last ending: ``movie.en.srt → movie.en``."""
    ending = PurePosixPath(name).suffix
    return name[: -len(ending)] if ending else name


def is_film_name(name: str) -> bool:
    """Whether a file is a film by its name."""
    return not name.startswith(".") and PurePosixPath(name).suffix.lower() in FILM_ENDINGS


def is_commentary_title(title: str) -> bool:
    """Whether somebody talks about the film in a track, by its title."""
    return bool(_COMMENTARY_TITLE.search(title))


def is_description_title(title: str, *, is_text: bool = False) -> bool:
    """Whether a track of a film is an audio description by its title.

    Commentary is none, nor are captions for deaf people, some of which are called descriptive.
    """
    if is_text and _FOR_DEAF_TITLE.search(title):
        return False
    # Some call it a commentary for blind people.
    if _TRACK_TITLE.search(title):
        return True
    if is_commentary_title(title):
        return False
    if _AD_IN_TITLE.search(title.strip()) or (not is_text and _SOUND_TITLE.search(title)):
        return True
    # AD Deutsch, English_AD 5.1. In small letters "ad" may be any word.
    words = [word for word in re.split(r"[\W_]+", title) if word and not _CHANNELS.fullmatch(word)]
    if "AD" not in words and any(word.lower() == "ad" for word in words):
        return False
    return _are_of_description([word.lower() for word in words], is_text=is_text)


def _are_of_description(words: Sequence[str], *, is_text: bool, is_document: bool = False) -> bool:
    """Whether words in small letters name a description, with nothing but a language and words of sound.

    ``is_document``: in the name of a document or a folder, where a description may be that of the plot.
    """
    # Subtitles that are called descriptive are for the deaf.
    names = _DESCRIPTION_WORDS - ({"descriptive"} if is_text else set())
    if is_document:
        names -= _WORDS_OF_PLOT
    return any(word in names for word in words) and _say_nothing_else(words)


def _say_nothing_else(words: Sequence[str]) -> bool:
    """Whether words in small letters are those of descriptions, of sound and of languages alone."""
    usual_words = _DESCRIPTION_WORDS | _WORDS_BESIDE
    return all(word in usual_words or _COUNT_BESIDE.fullmatch(word) or language_named(word) for word in words)


def _is_named_description(words: Sequence[str], *, is_text: bool, is_document: bool = False) -> bool:
    """Whether the words in a name, in small letters, say that it is a description; otherwise as
    `_are_of_description`."""
    words_alone = [word for word in words if not word.isdecimal()]
    if _are_of_description(words_alone, is_text=is_text, is_document=is_document):
        return True
    # What can mean nothing else may stand with any words: "Audiodeskription für Kino A".
    title = " ".join(words)
    return bool(_TRACK_TITLE.search(title)) and not (is_text and _FOR_DEAF_TITLE.search(title))


def is_description_text(head: str) -> bool:
    """Whether a file of words holds a description by its first lines: WebVTT of that kind, a script of ours,
    or a DAPT document on what is seen."""
    head = head.removeprefix("\ufeff").replace("\r\n", "\n")
    if _DESCRIPTIONS_HEAD.search(head) or _OWN_NUMBER.search(head.lstrip()):
        return True
    return bool(_DAPT.search(head) and _DAPT_OF_PICTURE.search(head))


def is_own_script(head: str) -> bool:
    """Whether shotad wrote a script, by its first lines: they name it, or have numbers or a title of ours."""
    head = head.removeprefix("\ufeff").replace("\r\n", "\n")
    is_numbered = _OWN_NUMBER.search(head.lstrip()) or _OWN_ROW.search(head)
    return bool(is_numbered or _OWN_EDL.search(head)) or "shotad" in head[:4096]


def choose_subtitles(
    stem: str,
    names: Iterable[str],
    languages: Sequence[str],
    is_dialogue: Callable[[str], bool] = lambda name: True,
) -> str | None:
    """Of ``names``, those of the film's folder and of folders of subtitles in it (``Subs/en.srt``), the
    subtitles of the film ``stem``.

    ``movie.srt`` goes before ``movie.en.srt``, that before ``movie.1080p.en.srt``, and what lies beside the
    film before what lies in a folder. Of several languages the first of ``languages`` (short codes, the
    film's own first) is taken, then any: in every language they say when somebody speaks. Of one language
    those for deaf people are taken, which tell more. Forced lines, signs, songs, commentary and descriptions
    are no record of what is said. ``is_dialogue`` looks into a file that would be taken.
    """
    listing = _listing(stem, names)
    ranks: dict[str, tuple[object, ...]] = {}
    for name in listing.names:
        words = _words_of_subtitles(listing, name)
        if words is None or (words.kinds | words.other_words) & (_NOT_SPEECH | _DESCRIPTION_WORDS):
            continue
        if _is_of_pictures(listing, name):
            continue
        places = [languages.index(code) for code in words.languages if code in languages]
        ending = SUBTITLE_ENDINGS.index(PurePosixPath(name).suffix)
        ranks[name] = (
            "/" in name,
            words.names_release,
            bool(words.languages or words.kinds or words.other_words),
            min(places, default=len(languages)),
            not _FOR_DEAF & words.kinds,
            ending,
            name,
        )
    ranked = [listing.names[name] for name in sorted(ranks, key=ranks.__getitem__)]
    return next((name for name in ranked if is_dialogue(name)), None)


def _is_of_pictures(listing: _Listing, name: str) -> bool:
    """Whether ``name``, as `comparable`, holds the pictures of VobSub, whose index lies beside it."""
    return name.endswith(".sub") and f"{stem_of(name)}.idx" in listing.names


@dataclass(frozen=True, slots=True)
class _SubtitleWords:
    """What the name of subtitles says beside that of the film: short codes of languages, what kind they are
    (``sdh``, ``forced``), other words, and whether it names a copy of the film (``1080p``)."""

    languages: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    other_words: frozenset[str] = frozenset()
    names_release: bool = False


def _words_of_subtitles(listing: _Listing, name: str) -> _SubtitleWords | None:
    """The words in the name of a film's subtitles beside that of the film; None for a file that is none of
    this film's subtitles. ``name`` as `comparable`."""
    stem, films = listing.stem, listing.films
    folder, _, file_name = name.rpartition("/")
    if PurePosixPath(file_name).suffix not in SUBTITLE_ENDINGS:
        return None
    if is_description_folder(folder.partition("/")[0]):
        return None
    file_stem = stem_of(file_name)
    if file_stem == stem:
        return _SubtitleWords()
    # movie.part.srt is of movie.part.mp4 where there is such a film.
    if file_stem in films:
        return None
    after_stem = file_stem[len(stem) :]
    if file_name.startswith(f"{stem}."):
        words = _read_words(after_stem)
        # Players take every short word between two points for a language.
        is_short = all(map(_SHORT_WORD.fullmatch, words.other_words)) and " " not in after_stem
        if words.other_words and not is_short:
            return None
        return None if words == _SubtitleWords() else words
    # movie (English).srt, movie_en.srt, movie - English.srt, beside the film.
    if not folder and file_name.startswith(stem) and after_stem[:1] in {" ", "_", "-", "(", "["}:
        words = _read_words(after_stem)
        # movie 2 (English).srt is of the second film, movie 1984.srt perhaps too.
        numbers = [word for word in _SEPARATORS.split(after_stem) if word.isdecimal()]
        is_year_of_copy = words.names_release and all(map(_YEAR.fullmatch, numbers))
        is_other_film = bool(numbers) and not is_year_of_copy
        return None if is_other_film or words.other_words or words == _SubtitleWords() else words
    # Subs/2_English.srt, where there is but this film; Subs/movie/2_English.srt in any case.
    inner_folder, _, film_folder = folder.partition("/")
    is_for_film = film_folder == stem or (not film_folder and inner_folder and films == {stem})
    if not is_for_film:
        return None
    words = _read_words(file_stem)
    return None if words.other_words or words == _SubtitleWords() else words


def _read_words(text: str) -> _SubtitleWords:
    """What the rest of a name says, in small letters: ``.en-us.sdh``, `` - English (forced)``,
    ``.2019.1080p.web-dl.x264-group``. Numbers are left out, as is a year."""
    languages: set[str] = set()
    kinds: set[str] = set()
    other_words: set[str] = set()
    names_release = _YEAR_OF_FILM.search(text) is not None
    all_kinds = _FOR_DEAF | _OTHER_KINDS | _NOT_SPEECH
    words: list[str] = []
    for word in _SEPARATORS.split(text):
        parts = [part for part in word.split("-") if part]
        # en-us is a language of a region, and en-forced is none.
        words += parts if all_kinds.intersection(parts) else ["-".join(parts)]
    for word in words:
        if not word or word.isdecimal():
            continue
        if _RELEASE_WORD.fullmatch(word) or _RELEASE_WORD.fullmatch(word.partition("-")[0]):
            # Who made the copy stands behind the last word: x264-GROUP.
            names_release = True
        elif word in all_kinds:
            kinds.add(word)
        elif code := language_named(word):
            languages.add(code)
        else:
            other_words.add(word)
    if "hi" in kinds and not languages:
        # Hindi, where no other language says that it means the hard of hearing; Jellyfin reads it so too.
        kinds.discard("hi")
        languages.add("hi")
    return _SubtitleWords(frozenset(languages), frozenset(kinds), frozenset(other_words), names_release)


def descriptions_named(
    stem: str, names: Iterable[str], read_head: ReadHead, *, opens_all: bool = True
) -> list[NamedDescription]:
    """The descriptions of the film ``stem`` among ``names``, text first.

    The name has to say it. Short words such as "AD" may have nothing beside them but a language and words of
    sound: ``movie.en.ad.m4a``, ``movie_AD_v2.wav``. A file in a folder ``AD`` (``AD/movie.wav``) needs no
    word for it. Subtitles whose first lines say it need no such name; with ``opens_all`` False only files are
    opened whose names say it. A DAPT document of a dubbing is no description.
    """
    listing = _listing(stem, names)
    descriptions: list[NamedDescription] = []
    for name in sorted(listing.names):
        ending = PurePosixPath(name).suffix
        is_text, is_sound = ending in SCRIPT_ENDINGS, ending in SOUND_ENDINGS
        words = _words_after_film(listing, name)
        if words is None or not (is_text or is_sound):
            continue
        languages = [code for word in words if (code := language_named(word))]
        is_document = is_text and ending not in _SUBTITLE_SCRIPTS
        # Beside a copy of the film there, subtitles hold what is said in it.
        is_of_copy = ending in SUBTITLE_ENDINGS and _stands_beside_film(name, listing)
        is_in_folder = "/" in name and is_description_folder(name.partition("/")[0]) and not is_of_copy
        is_named = is_in_folder or _is_named_description(words, is_text=is_text, is_document=is_document)
        may_open = is_named or (opens_all and not is_document)
        if is_text and not is_document and may_open:
            head = read_head(listing.names[name])
            is_xml = ending in (".ttml", ".dfxp", ".xml")
            # Only the document itself says whether XML is a script, and whether of a description.
            is_named = is_description_text(head) or (is_named and (not is_xml or _is_plain_timed_text(head)))
        if is_named:
            listed_name = listing.names[name]
            descriptions.append(NamedDescription(listed_name, languages[-1] if languages else "", is_text))
    return sorted(
        descriptions, key=lambda description: (not description.is_text, _ending_rank(description.name))
    )


def _stands_beside_film(name: str, listing: _Listing) -> bool:
    """Whether a file in an inner folder, by its `comparable` name, begins as a film in the same folder."""
    folder = name.rpartition("/")[0]
    if not folder:
        return False
    films_there = [
        listed for listed in listing.names if listed.startswith(f"{folder}/") and is_film_name(listed)
    ]
    return any(name.startswith(stem_of(film)) for film in films_there)


def _words_after_film(listing: _Listing, name: str) -> list[str] | None:
    """The words in the name of a file behind that of the film; None for a file that is not of this film.

    ``name`` as `comparable`. In a folder of descriptions beside the only film, or in the film's own folder
    there, the name need not begin as the film, and then may have no other words than those of descriptions.
    """
    folder, _, file_name = name.rpartition("/")
    file_stem = stem_of(file_name)
    outer_folder, _, film_folder = folder.partition("/")
    if folder and not is_description_folder(outer_folder):
        return None
    after_stem = file_stem[len(listing.stem) :]
    is_of_film = file_stem.startswith(listing.stem) and not after_stem[:1].isalnum()
    if is_of_film and (not after_stem or file_stem not in listing.films):
        words = _words_of_description(after_stem)
        # AD/movie 2.wav may be of the second film.
        is_usual = not folder or _say_nothing_else(words) or _is_named_description(words, is_text=True)
        return words if is_usual else None
    if not folder or file_stem in listing.films:
        return None
    words = _words_of_description(file_stem)
    is_for_film = film_folder == listing.stem or (not film_folder and listing.films <= {listing.stem})
    return words if words and is_for_film and _say_nothing_else(words) else None


def _words_of_description(after_stem: str) -> list[str]:
    """``.pt-br.ad → pt-br, ad``; ``-en-ad → en, ad``."""
    words: list[str] = []
    for word in _SEPARATORS.split(after_stem):
        is_tag = bool(language_named(word)) and not word.endswith("-ad")
        words += [word] if is_tag else [part for part in word.split("-") if part]
    return words


def _is_plain_timed_text(head: str) -> bool:
    return "<tt" in head and not _DAPT.search(head)


def _ending_rank(name: str) -> tuple[int, str]:
    ending = PurePosixPath(name).suffix.lower()
    rank = SCRIPT_ENDINGS.index(ending) if ending in SCRIPT_ENDINGS else len(SCRIPT_ENDINGS)
    return rank, name


def passed_over_files(
    stem: str, names: Iterable[str], used: Collection[str], read_head: ReadHead = lambda name: ""
) -> dict[str, str]:
    """Why files among ``names`` that look as if they were meant for the film ``stem`` are not ``used``, by
    their names.

    They begin as the film, are subtitles beside the only film there, or lie in a folder of descriptions.
    ``used`` are those that are, the subtitles first. ``read_head`` is called for files in which subtitles may
    be pictures.
    """
    listing = _listing(stem, names)
    reasons: dict[str, str] = {}
    for key, name in sorted(listing.names.items()):
        folder, _, file_name = key.rpartition("/")
        ending = PurePosixPath(file_name).suffix
        is_subtitles = ending in SUBTITLE_ENDINGS or ending in _OTHER_SUBTITLE_ENDINGS
        is_in_description_folder = bool(folder) and is_description_folder(folder.partition("/")[0])
        is_description = is_in_description_folder and ending in SCRIPT_ENDINGS
        is_candidate = is_subtitles or is_description or ending in SOUND_ENDINGS
        if name in used or not is_candidate or file_name.startswith("."):
            continue
        after_stem = file_name[len(listing.stem) :]
        # Of film.srt.mkv nothing follows in film.srt.
        is_of_film = file_name.startswith(listing.stem) and not after_stem[:1].isalnum()
        longer_stems = (film for film in listing.films if len(film) > len(listing.stem))
        is_of_other_film = any(file_name.startswith(film) for film in longer_stems)
        may_be_of_only_film = (is_subtitles or is_in_description_folder) and listing.films == {listing.stem}
        if is_of_other_film or not (is_of_film or may_be_of_only_film):
            continue
        if is_in_description_folder:
            reasons[name] = "its name has other words than the film and a language"
        else:
            reasons[name] = _reason_passed_over(
                listing, key, is_of_film=is_of_film, used=used, read_head=read_head
            )
    return reasons


def _reason_passed_over(
    listing: _Listing, key: str, *, is_of_film: bool, used: Collection[str], read_head: ReadHead
) -> str:
    ending = PurePosixPath(key).suffix
    if ending in SOUND_ENDINGS:
        return "its name does not say that it is a description"
    if ending in _OTHER_SUBTITLE_ENDINGS:
        return _OTHER_SUBTITLE_ENDINGS[ending]
    if _is_of_pictures(listing, key) or (ending == ".sub" and is_vobsub(read_head(listing.names[key]))):
        return "VobSub, subtitles as pictures, cannot be read; convert it to SRT"
    words = _words_of_subtitles(listing, key)
    if words is None:
        return "its name has other words than a language" if is_of_film else "its name is not the film's"
    special_words = (words.kinds | words.other_words) & _NOT_SPEECH
    if special_words:
        return f"its name says {min(special_words)}"
    first_name = next((name for name in used if name.lower().endswith(SUBTITLE_ENDINGS)), "")
    return f"{first_name} goes first" if first_name else "it holds no dialogue"


_PACK_START = "\x00\x00\x01"
"""How a pack of MPEG begins: VobSub keeps its pictures in a program stream."""


def is_vobsub(head: str) -> bool:
    """Whether a file ``.sub`` holds pictures and no text, by its first letters."""
    return head.startswith(_PACK_START)


def passed_over_note(stem: str, reasons: Mapping[str, str]) -> str:
    """A sentence on the files of `passed_over_files` for the film ``stem``; empty where there are none."""
    if not reasons:
        return ""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in [*reasons.items()][:_MOST_PASSED_OVER]:
        names_by_reason.setdefault(reason, []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in names_by_reason.items())
    more = f"; and {len(reasons) - _MOST_PASSED_OVER} more" if len(reasons) > _MOST_PASSED_OVER else ""
    names = f"{stem}.srt, {stem}.ad.mp3"
    return f"Beside the film, not used: {listed}{more}. To use one, call it as the film: {names}."


def names_beside(film: Path) -> list[str]:
    """The names in the folder of a film that begin as its own, those of other films there, and those in its
    folders of subtitles (``Subs/en.srt``, ``Subs/movie/en.srt``) and of descriptions (``AD/movie.wav``).
    Empty where the folder cannot be read."""
    folder, stem = film.parent, stem_of(film.name)
    try:
        all_names = os.listdir(folder)
    except OSError:
        return []
    beginning = comparable(stem)
    names = [name for name in all_names if comparable(name).startswith(beginning) or is_film_name(name)]

    def names_in(inner: str) -> list[str]:
        try:
            return os.listdir(folder / inner)
        except OSError:  # it is no folder, or cannot be read
            return []

    return [*names, *names_in_inner_folders(stem, all_names, names_in)]


def names_in_inner_folders(
    stem: str, names: Iterable[str], names_in: Callable[[str], Iterable[str]]
) -> list[str]:
    """What lies in the folders of subtitles and of descriptions among ``names``, those beside the film
    ``stem``, and in its own folder there: ``Subs/en.srt``, ``Subs/movie/en.srt``. ``names_in`` lists a folder
    by such a name. Work folders are passed over."""
    inner_names: list[str] = []
    for folder in sorted(filter(is_inner_folder, names)):
        names_there = sorted(names_in(folder))
        if not RECORDS_OF_WORK.isdisjoint(names_there):
            continue
        for name in names_there:
            inner_names.append(f"{folder}/{name}")
            if comparable(name) == comparable(stem):
                inner_names += [f"{folder}/{name}/{inner}" for inner in sorted(names_in(f"{folder}/{name}"))]
    return inner_names


def read_head_beside(film: Path, name: str) -> str:
    """The first lines of a file of words that lies beside a film; empty where it cannot be read."""
    path = film.parent / name
    try:
        # A pipe would be waited for, for ever.
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    except OSError:
        return ""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return data.decode(encoding, "replace")


def subtitles_beside(film: Path, languages: Sequence[str]) -> Path | None:
    """The subtitles beside a film of this machine, as `choose_subtitles`; None where there are none.

    A file that holds a description by its first lines is none, whatever it is called.
    """
    is_dialogue = partial(is_dialogue_beside, film)
    name = choose_subtitles(stem_of(film.name), names_beside(film), languages, is_dialogue)
    return None if name is None else film.parent / name


def is_dialogue_beside(film: Path, name: str) -> bool:
    """Whether a file of words beside a film may hold what is said in it: it is there, and no description."""
    if not (film.parent / name).is_file():
        return False
    head = read_head_beside(film, name)
    return not is_description_text(head) and not is_vobsub(head)


def language_order(spoken: str | None, description: str) -> tuple[str, ...]:
    """Short codes of the languages in which subtitles are looked for: that of the film's sound (None: not
    known), that of the description, English."""
    codes = (language_named(spoken or ""), language_named(description), "en")
    return tuple(dict.fromkeys(code for code in codes if code))


def choose_note(stem: str, names: Collection[str]) -> str | None:
    """The note on the film ``stem`` among the names in its folder: ``movie.note.txt``.

    There is none for all films of a folder: a file ``note.txt`` may be about anything, and its text is sent.
    """
    return first_named(stem, [f"{stem}.note.txt"], names)


def first_named(stem: str, candidates: Iterable[str], names: Iterable[str]) -> str | None:
    """The first of ``candidates`` that is among ``names``, those in the folder of the film ``stem``, as it
    stands there; None where none is."""
    listed_names = _listing(stem, names).names
    return next((listed_names[name] for name in map(comparable, candidates) if name in listed_names), None)


def choose_cast(stem: str, names: Collection[str]) -> str | None:
    """The cast of the film ``stem`` among the names in its folder: its own, else that of all films there."""
    own = (f"{stem}.cast", f"{stem}.cast.yaml", f"{stem}.cast.yml")
    return first_named(stem, (*own, "cast", "cast.yaml", "cast.yml"), names)


def note_beside(film: Path) -> Path | None:
    """The note beside a film of this machine, as `choose_note`. Raises ConfigError as `refuse_link_out`."""
    return _chosen_beside(film, choose_note)


def cast_beside(film: Path) -> Path | None:
    """The cast beside a film of this machine, as `choose_cast`. Raises ConfigError as `refuse_link_out`."""
    return _chosen_beside(film, choose_cast)


def _chosen_beside(film: Path, choose: Callable[[str, Collection[str]], str | None]) -> Path | None:
    # The film may be a folder of frames that is called ".".
    film = Path(os.path.abspath(film))
    try:
        names = os.listdir(film.parent)
    except OSError:
        return None
    name = choose(stem_of(film.name), names)
    if name is None:
        return None
    refuse_link_out(film.parent / name, film)
    return film.parent / name


def refuse_link_out(path: Path, film: Path) -> None:
    """Raises ConfigError for a link beside a film that leads out of the film's folder, unless the user trusts
    that folder: what a note or a cast says is sent to the engine, and kept in the work folder."""
    # Where the film is a link itself, the note may lie beside the film that it leads to.
    folders = (path.parent, film.resolve().parent)
    if (
        path.is_symlink()
        and not any(is_inside(path, folder) for folder in folders)
        and not is_trusted(path.parent)
    ):
        raise ConfigError(
            f"{path} is a link out of the folder of the film.",
            "Put the file or folder itself there. If all files beside these films are your own: "
            f"shotad doctor --trust {path.parent}",
        )
