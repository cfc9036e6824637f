"""Which files beside a film are its subtitles and its descriptions, by names and first lines; and which tracks inside
it are descriptions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest
from av.stream import Disposition

from shotad.core.errors import ConfigError
from shotad.film.beside import (
    cast_beside,
    choose_cast,
    choose_note,
    choose_subtitles,
    descriptions_named,
    is_description_title,
    is_own_script,
    names_beside,
    note_beside,
    passed_over_files,
    passed_over_note,
    subtitles_beside,
)
from shotad.film.container import track_title
from shotad.film.description_tracks import description_tracks
from tests.media import FilmSpec, SoundSpec, make_film

CUE = "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n"
DESCRIPTION = "WEBVTT\nKind: descriptions\nLanguage: en\n\n00:01.000 --> 00:02.000\nA door opens.\n"
DAPT = (
    '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:daptm="http://www.w3.org/ns/ttml/profile/dapt#metadata" xml:lang="en" '
    'daptm:scriptRepresents="{}" daptm:scriptType="asRecorded"></tt>'
)
TTML = '<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"></tt>'


@pytest.mark.parametrize(("names", "languages", "chosen"), [
    (["m.srt", "m.en.srt"], ["en"], "m.srt"),
    (["m.de.srt", "m.en.srt", "m.fr.srt"], ["fr", "de", "en"], "m.fr.srt"),
    (["m.de.srt", "m.en.srt"], ["fr", "de", "en"], "m.de.srt"),
    (["m.it.srt"], ["fr", "en"], "m.it.srt"),
    (["m.english.srt", "m.deutsch.srt"], ["de", "en"], "m.deutsch.srt"),
    (["m.en.srt", "m.en.sdh.srt", "m.en.forced.srt"], ["en"], "m.en.sdh.srt"),
    (["m.en.forced.srt", "m.foreign.srt", "m.signs.ass"], ["en"], None),
    (["m.ad.srt", "m.descriptions.vtt", "m.commentary.srt"], ["en"], None),
    (["Subs/m.en.srt"], ["en"], "Subs/m.en.srt"),
    (["Subs/2_English.srt", "Subs/3_French.srt", "m.mp4"], ["fr"], "Subs/3_French.srt"),
    (["Subs/English.srt", "Subs/English SDH.srt", "Subs/English (forced).srt", "m.mp4"], ["en"], "Subs/English SDH.srt"),
    (["Subs/English.srt", "m.mp4", "n.mp4"], ["en"], None),
    (["Subs/m/2_English.srt", "Subs/n/2_English.srt", "m.mp4", "n.mp4"], ["en"], "Subs/m/2_English.srt"),
    (["subtitles/m.srt", "m.en.srt"], ["en"], "m.en.srt"),
    (["Subs/Making of.srt", "m.mp4"], ["en"], None),
    (["m.part.srt", "m2.srt", "m.txt"], ["en"], None),
    (["m.en.srt", "m.en.mp4"], ["en"], None),
    (["m (English).srt"], ["en"], "m (English).srt"),
    (["m.English (SDH).srt"], ["en"], "m.English (SDH).srt"),
    (["m_en.srt"], ["en"], "m_en.srt"),
    (["SUBS/English.srt", "m.mp4"], ["en"], "SUBS/English.srt"),
    (["Sub/English.srt", "m.mp4"], ["en"], "Sub/English.srt"),
    (["m 2 (English).srt", "m 2.mp4"], ["en"], None),
    (["m (commentary).srt", "m the second.srt", "m 2.srt"], ["en"], None),
    (["m.en-forced.srt", "m-forced.srt", "m.Signs&Songs.ass", "m.de.erzwungen.srt"], ["en"], None),
    (["m.hi.srt", "m.en.hi.srt"], ["en"], "m.en.hi.srt"),
    (["m.hi.srt", "m.de.srt"], ["hi", "de"], "m.hi.srt"),
    (["m.2019.1080p.en.srt", "m.de.srt"], ["en", "de"], "m.de.srt"),
    (["m.2019.1080p.WEB-DL.x264-GROUP.srt", "m.mp4"], ["en"], "m.2019.1080p.WEB-DL.x264-GROUP.srt"),
    (["m (2019).srt", "m 1984.srt"], ["en"], "m (2019).srt"),
    (["m 1984.srt", "m 1984 (English).srt", "m.extended.cut.srt", "m.old cut.srt"], ["en"], None),
])  # fmt: skip
def test_subtitles_are_chosen_by_their_names(
    names: Sequence[str], languages: Sequence[str], chosen: str | None
) -> None:
    assert choose_subtitles("m", names, languages) == chosen


FILM_FOLDER = {
    # Name beside Film.mp4: which of mpv, VLC, Kodi and Jellyfin take it as they come, and why we do otherwise.
    "Film.srt": "mpv vlc kodi jellyfin",
    "film.srt": "mpv vlc kodi jellyfin",
    "FILM.SRT": "mpv vlc kodi jellyfin",
    "Film.de.srt": "mpv vlc kodi jellyfin",
    "film.de-DE.srt": "mpv vlc kodi jellyfin",
    "Film.eng.srt": "mpv vlc kodi jellyfin",
    "Film.en.sdh.srt": "mpv vlc kodi jellyfin",
    "Film.en.hi.srt": "mpv vlc kodi jellyfin",
    "Film.german.srt": "vlc kodi jellyfin",
    "Film.2019.1080p.srt": "vlc kodi jellyfin",
    "Film (de).srt": "vlc kodi",
    "film [English].srt": "vlc kodi",
    "Film - English.srt": "vlc kodi",
    "Film_de.srt": "vlc kodi",
    "Film-de.srt": "vlc kodi",
    "Subs/Film.en.srt": "vlc kodi",
    "subtitles/film.srt": "vlc kodi",
    "Movie.srt": "",
    "Movie.Film.srt": "",
    "Sub/film.en.srt": "kodi: a folder of that name holds nothing else",
    "SUBTITLES/Film.srt": "kodi: so it is found on disks that know no case",
    "Subs/2_English.srt": ": there is but this film, and players offer it by hand",
    "Film.en.forced.srt": "mpv vlc kodi jellyfin: it holds but a few lines",
    "Film 2.srt": "vlc kodi: it is of another film",
    "Films.srt": "vlc kodi: it is of another film",
    "Film.extended.cut.srt": "vlc kodi jellyfin: its times are of another version",
}


@pytest.mark.parametrize(("name", "players"), FILM_FOLDER.items())
def test_the_names_that_players_take_are_taken(name: str, players: str) -> None:
    taking, _, exception = players.partition(":")
    most_take_it = len(taking.split()) >= 2
    chosen = choose_subtitles("Film", [name, "Film.mp4"], ["en"])
    assert chosen in (name, None)
    assert (chosen == name) == (most_take_it if not exception else not most_take_it)


def test_of_names_that_differ_by_case_that_of_the_film_is_taken() -> None:
    assert choose_subtitles("Film", ["FILM.srt", "Film.srt", "film.srt"], ["en"]) == "Film.srt"
    assert choose_subtitles("Film", ["film.srt", "FILM.srt", "Film.de.srt"], ["de"]) == "FILM.srt"
    names = ["Film.mp4", "film.mkv", "film.srt", "film.note.txt", "film.cast", "film.ad.vtt", "Film.de.srt"]
    assert choose_subtitles("Film", names, ["en"]) == "Film.de.srt"
    assert choose_subtitles("film", names, ["en"]) == "film.srt"
    assert (choose_note("Film", names), choose_note("film", names)) == (None, "film.note.txt")
    assert (choose_cast("Film", names), choose_cast("film", names)) == (None, "film.cast")
    assert descriptions_named("Film", names, lambda name: "WEBVTT") == []
    assert len(descriptions_named("film", names, lambda name: "WEBVTT")) == 1


def test_files_that_are_passed_over_are_told_with_the_reason() -> None:
    names = [
        *("Film.mp4", "film.srt", "Film.de.srt", "film.en.forced.srt", "Film.extended.cut.srt", "Movie.srt"),
        *(
            "film.mp3",
            "film.smi",
            "film.sup",
            "film.idx",
            "film.sub",
            "Film.de.sub",
            "Film.ad.vtt",
            "Film.nfo",
            "Film.jpg",
            "song.mp3",
        ),
    ]
    heads = {"Film.de.sub": "\0\0\1\ufffdD"}
    reasons = passed_over_files(
        "Film", names, ["film.srt", "Film.ad.vtt"], lambda name: heads.get(name, "{1}{2}Hi")
    )
    assert reasons == {
        "Film.de.srt": "film.srt goes first",
        "film.en.forced.srt": "its name says forced",
        "Film.extended.cut.srt": "its name has other words than a language",
        "Movie.srt": "its name is not the film's",
        "film.mp3": "its name does not say that it is a description",
        "film.smi": "film.srt goes first",
        "film.sup": "subtitles as pictures cannot be read",
        "film.idx": "subtitles as pictures cannot be read",
        "film.sub": "VobSub, subtitles as pictures, cannot be read; convert it to SRT",
        "Film.de.sub": "VobSub, subtitles as pictures, cannot be read; convert it to SRT",
    }
    several = {f"Film.{number}.srt": "film.srt goes first" for number in range(5)}
    note = passed_over_note(
        "Film", {**several, "Film.mp3": "its name is another's", "Film.fr.srt": "it is empty"}
    )
    assert "Film.4.srt (film.srt goes first); " in note
    assert "; and 1 more." in note
    # Beside several films a file is told of that whose name it has.
    films = [*names, "Other.mkv", "Film 2.mkv", "Film 2.en.forced.srt"]
    assert "Movie.srt" not in passed_over_files("Film", films, [])
    assert "Film 2.en.forced.srt" not in passed_over_files("Film", films, [])
    assert [*passed_over_files("Film 2", films, [])] == ["Film 2.en.forced.srt"]
    assert passed_over_note("Other", passed_over_files("Other", films, [])) == ""


def test_names_in_any_case_and_composition_are_found_on_the_disk(tmp_path: Path) -> None:
    film = tmp_path / "Mädchen.mp4"
    film.write_bytes(b"film")
    folder = tmp_path / "SUBS" / "MA\u0308DCHEN"
    folder.mkdir(parents=True)
    inner = folder / "2_German.srt"
    inner.write_text(CUE, encoding="utf-8")
    (tmp_path / "Other.mp4").write_bytes(b"film")
    assert subtitles_beside(film, ["de"]) == inner
    beside = tmp_path / "ma\u0308dchen.DE.Srt"
    beside.write_text(CUE, encoding="utf-8")
    assert subtitles_beside(film, ["de"]) == beside
    (tmp_path / "MÄDCHEN.Note.TXT").write_text("Anna is nine.", encoding="utf-8")
    note = note_beside(film)
    assert note is not None
    assert note.read_text(encoding="utf-8") == "Anna is nine."


@pytest.mark.parametrize(("of_film", "of_files"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_names_match_however_their_accents_are_written(of_film: str, of_files: str) -> None:
    stem = unicodedata.normalize(of_film, "Amélie")
    subtitles, ad, note, cast = (
        unicodedata.normalize(of_files, f"Amélie.{rest}")
        for rest in ("fr.srt", "fr.ad.vtt", "note.txt", "cast")
    )
    names = [subtitles, ad, note, cast]
    assert choose_subtitles(stem, names, ["fr"]) == subtitles
    assert [found.name for found in descriptions_named(stem, names, lambda name: "WEBVTT")] == [ad]
    assert (choose_note(stem, names), choose_cast(stem, names)) == (note, cast)


def test_a_file_that_holds_a_description_is_never_taken_for_dialogue(tmp_path: Path) -> None:
    film = tmp_path / "m.mp4"
    film.write_bytes(b"film")
    assert subtitles_beside(film, ["en"]) is None
    (tmp_path / "m.en.srt").write_text(CUE, encoding="utf-8")
    # SubRip of ours has nothing but the numbers of its lines.
    ours = CUE.replace("1\n", "300001000\n", 1)
    (tmp_path / "m.srt").write_text(ours, encoding="utf-8")
    (tmp_path / "m.vtt").write_text(DESCRIPTION, encoding="utf-8")
    assert subtitles_beside(film, ["en"]) == tmp_path / "m.en.srt"
    (tmp_path / "m.srt").write_text(CUE, encoding="utf-8")
    assert subtitles_beside(film, ["en"]) == tmp_path / "m.srt"
    assert (is_own_script(ours), is_own_script(CUE), is_own_script(DESCRIPTION)) == (True, False, False)
    # A folder of that name is no file.
    (tmp_path / "m.srt").unlink()
    (tmp_path / "m.srt").mkdir()
    assert subtitles_beside(film, ["en"]) == tmp_path / "m.en.srt"


def test_a_note_is_of_its_film_alone_and_a_cast_may_be_of_all_films_of_a_folder(tmp_path: Path) -> None:
    film = tmp_path / "movie.mp4"
    for name in ("note.txt", "other.note.txt", "movie2.note.txt", "movie.txt"):
        (tmp_path / name).write_text("Not of this film.", encoding="utf-8")
    assert (note_beside(film), cast_beside(film)) == (None, None)
    (tmp_path / "movie.note.txt").write_text("Ada owns the cat.", encoding="utf-8")
    (tmp_path / "cast").mkdir()
    assert note_beside(film) == tmp_path / "movie.note.txt"
    assert cast_beside(film) == tmp_path / "cast"
    (tmp_path / "movie.cast.yaml").write_text("people: []", encoding="utf-8")
    assert cast_beside(film) == tmp_path / "movie.cast.yaml"
    # A film that is a folder of frames, and one whose folder is not there.
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames.note.txt").write_text("Drawn.", encoding="utf-8")
    assert note_beside(tmp_path / "frames") == tmp_path / "frames.note.txt"
    assert note_beside(tmp_path / "gone" / "movie.mp4") is None


@pytest.mark.parametrize(("name", "beside"), [("m.note.txt", note_beside), ("m.cast", cast_beside)])
def test_a_note_or_a_cast_that_is_a_link_out_of_the_folder_is_refused(
    tmp_path: Path, name: str, beside: Callable[[Path], Path | None]
) -> None:
    (tmp_path / "films").mkdir()
    (tmp_path / "private").write_text("secret", encoding="utf-8")
    (tmp_path / "films" / name).symlink_to(tmp_path / "private")
    with pytest.raises(ConfigError, match="link out of the folder"):
        beside(tmp_path / "films" / "m.mp4")


DESCRIBED: Mapping[str, str] = {
    "movie.ad.vtt": "", "movie.en.ad.vtt": "en", "movie.descriptions.vtt": "", "movie.en-GB.descriptions.srt": "en",
    "movie.en.ad.m4a": "en", "movie.ad.mp3": "", "movie.deutsch.audiodeskription.flac": "de", "movie.Hörfilm.ger.wav": "de",
    "movie (Audio Description).mp3": "", "movie - Audio Description.opus": "", "movie_AD.mp3": "", "movie-en-ad.ogg": "en",
    "movie.English Descriptive Audio.ac3": "en", "movie.en.ad.mka": "en", "movie.AD.stereo.aac": "",
    "Movie_AD.wav": "", "MOVIE.AD.SRT": "", "movie.descriptive.m4a": "", "movie - Audiodeskription.mp3": "",
    "movie_AD_v2.wav": "", "movie_AD_final.wav": "", "movie.ad.2ch.wav": "", "movie_deu_AD_20.wav": "de",
    "movie AD Narration.wav": "", "movie.ad-script.vtt": "", "movie_desc.vtt": "", "movie.Hörfilmfassung.wav": "",
    "movie.hoerfassung.mp3": "", "movie.audiodescricao.pt-BR.mp3": "pt", "movie.audiodescription.fr.mp3": "fr",
    "movie.visually-impaired.mp3": "", "movie - Audiodeskription Schnitt 3 geprüft.wav": "",
    "movie.ad.csv": "", "movie.ad.frazier.csv": "", "movie.en.ad.docx": "en", "movie - AD script.docx": "", "movie.ad.txt": "",
    "movie AD.pdf": "", "movie.AD.xlsx": "", "movie.ad.json": "", "movie.ad.edl": "", "movie.ad.fcpxml": "",
    "movie - Audio Description.docx": "", "movie.audio.description.de.odt": "de", "movie.Hörfilm.rtf": "",
    "AD/movie.vtt": "", "ad/movie.de.wav": "de", "Audio Description/movie - final mix.mp3": "", "AD/movie.docx": "",
    "Audiodeskription/English.wav": "en", "AD/movie/narration_en.wav": "en", "Audio-Description (English)/movie.mp3": "",
    "Audio Description/script.pdf": "",
}  # fmt: skip
TEXT_ENDINGS = (
    *(".vtt", ".srt", ".csv", ".docx", ".txt", ".pdf", ".xlsx", ".json"),
    *(".edl", ".fcpxml", ".odt", ".rtf"),
)
ORDINARY = (
    "movie.ads.vtt", "movie.en.sdh.srt", "movie.en.cc.vtt", "movie.en.hi.srt", "movie.commentary.mp3", "movie.en.vtt",
    "movie.director.commentary.m4a", "movie - Ad Astra trailer.mp3", "movie.soundtrack.flac", "movie.mp3", "movie.chapters.vtt",
    "movie2.ad.vtt", "other.ad.vtt", "movie.ad.mp4", "movie.add.mp3", "movies.ad.mp3", "movie.description.txt",
    "movie.txt", "movie.docx", "movie.json", "movie.info.json", "movie.description.json", "movie.descriptions.csv", "movie.pdf",
    "movie - Described.docx", "movie.ad budget.xlsx", "AD/movie 2.wav", "AD/movies.wav", "AD/other.wav", "AD/track 1.jpg",
    "AD/2.wav", "Advertising/movie.wav", "Description/movie.txt", "Subs/movie.en.vtt", "AD/other/English.wav",
    "movie.forced.srt", "movie.en.m4a", "movie.ttml", "movie.xml", "movie.nfo.xml", "movie.descriptive.srt",
    "movie.ad.trailer.mp3", "movie.advert.mp3", "movie.score.wav", "movie.M&E.wav", "movie.vi.mp3",
)  # fmt: skip
"""What lies beside films and is no description."""


@pytest.mark.parametrize(("name", "language"), DESCRIBED.items())
def test_descriptions_are_known_by_their_names(name: str, language: str) -> None:
    (description,) = descriptions_named("movie", [name, "movie.mkv"], lambda _: "")
    assert (description.name, description.language) == (name, language)
    assert description.is_text == name.lower().endswith(TEXT_ENDINGS)
    assert choose_subtitles("movie", [name, "movie.mkv"], [language]) is None


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_files_are_no_descriptions(name: str) -> None:
    head = "WEBVTT\n\n00:01.000 --> 00:02.000\nI was born in 79 AD.\n" if name.endswith(".vtt") else CUE
    assert descriptions_named("movie", [name, "movie.mkv"], lambda _: head) == []


def test_a_folder_of_descriptions_beside_several_films_is_read_by_the_names_of_films() -> None:
    names = ["movie.mkv", "other.mkv", "AD/movie.wav", "AD/English.wav", "AD/other/narrator.wav"]
    names += ["AD/unread me.txt", "AD/movie take 7 bad.wav"]
    assert [named.name for named in descriptions_named("movie", names, lambda _: "")] == ["AD/movie.wav"]
    assert [named.name for named in descriptions_named("other", names, lambda _: "")] == [
        "AD/other/narrator.wav"
    ]
    reasons = passed_over_files("movie", names, ["AD/movie.wav"])
    assert reasons == {"AD/movie take 7 bad.wav": "its name has other words than the film and a language"}
    # Beside the only film all that lies there may be meant for it.
    alone = [name for name in names if name != "other.mkv"]
    assert "AD/unread me.txt" in passed_over_files("movie", alone, ["AD/movie.wav"])


def test_subtitles_of_a_described_copy_of_the_film_are_no_description() -> None:
    names = [
        "movie.mkv",
        "AD/movie.mp4",
        "AD/movie.srt",
        "AD/movie.ad.srt",
        "AD/English.mp3",
        "AD/movie.docx",
    ]
    named = [description.name for description in descriptions_named("movie", names, lambda _: CUE)]
    assert named == ["AD/movie.ad.srt", "AD/movie.docx", "AD/English.mp3"]
    heads = {"AD/movie.srt": DESCRIPTION}
    named = [entry.name for entry in descriptions_named("movie", names, lambda name: heads.get(name, CUE))]
    assert "AD/movie.srt" in named


def test_a_work_folder_called_ad_is_no_folder_of_descriptions(tmp_path: Path) -> None:
    film = tmp_path / "movie.mp4"
    for name in ("AD/movie.ad.vtt", "Audio Description/movie/movie.wav", "Subs/movie.srt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / "AD" / "track.json").touch()
    names = names_beside(film)
    assert "Audio Description/movie/movie.wav" in names
    assert "Subs/movie.srt" in names
    assert not any(name.startswith("AD/") for name in names)


def test_subtitles_in_frames_and_sami_are_taken_and_pictures_are_not(tmp_path: Path) -> None:
    film = tmp_path / "m.mp4"
    film.write_bytes(b"film")
    (tmp_path / "m.sub").write_bytes(b"\0\0\1\xbaD\0\4")
    assert subtitles_beside(film, ["en"]) is None
    (tmp_path / "m.en.smi").write_text("<SAMI><SYNC Start=1000><P>Hello.</SAMI>", encoding="utf-8")
    assert subtitles_beside(film, ["en"]) == tmp_path / "m.en.smi"
    (tmp_path / "m.sub").write_text("{25}{50}Hello.\n", encoding="utf-8")
    assert subtitles_beside(film, ["en"]) == tmp_path / "m.sub"
    # Where a look would cost a request, the index beside it says that it is pictures.
    assert choose_subtitles("m", ["m.sub", "m.idx", "m.mp4"], ["en"]) is None
    assert choose_subtitles("m", ["m.sub", "m.mp4"], ["en"]) == "m.sub"


def test_a_film_called_ad_has_no_description() -> None:
    assert (
        descriptions_named("Ad Astra", ["Ad Astra.mkv", "Ad Astra.srt", "Ad Astra.en.vtt"], lambda _: CUE)
        == []
    )
    assert descriptions_named("Ad", ["Ad.mkv", "Ad.srt", "Ad.mp3", "Ad Astra.mp3"], lambda _: CUE) == []
    # That of another film beside it is that film's.
    names = ["movie.mkv", "movie.ad.mkv", "movie.ad.srt"]
    assert descriptions_named("movie", names, lambda _: CUE) == []


def test_text_is_a_description_where_its_first_lines_say_so() -> None:
    texts = {
        "movie.vtt": DESCRIPTION, "movie.ttml": DAPT.format("visual"), "movie.dapt.xml": DAPT.format("visual.nonText"),
        "movie.en.dapt.xml": DAPT.format("audio.dialogue"), "movie.xml": TTML, "movie.en.ad.ttml": TTML,
    }  # fmt: skip
    named = [description.name for description in descriptions_named("movie", texts, texts.__getitem__)]
    assert named == ["movie.vtt", "movie.en.ad.ttml", "movie.ttml", "movie.dapt.xml"]
    # Where each look costs a request, only what its name makes likely is read.
    read: list[str] = []

    def read_head(name: str) -> str:
        read.append(name)
        return texts[name]

    descriptions_named("movie", texts, read_head, opens_all=False)
    assert sorted(read) == ["movie.dapt.xml", "movie.en.ad.ttml", "movie.en.dapt.xml"]


@pytest.mark.parametrize("title", [
    "Audio Description", "English AD", "AD", "(AD)", "English - Descriptive", "Audiodeskription", "Hörfilm", "Audiovision",
    "Audiodescripción", "Audiodescription", "Italiano - descrittiva", "Audio Described", "English [AD]", "Audiodescrição",
    "Descriptive Video Service", "DVS", "Syntolkning", "Deutsch (Audiodeskription)", "音声解説", "AD - English 5.1",
    "AD Deutsch", "German AD 2.0", "English_AD", "AD: English", "VFAD", "VF AD", "Version audiodécrite",
    "Descripción de audio", "Descripción", "Descrizione audio", "Commento audio per non vedenti",
    "Descrição de áudio", "Narração descritiva", "Deutsch für Sehbehinderte", "Hörfassung", "pour malvoyants",
    "Described", "Visually impaired commentary", "Ciegos",
])  # fmt: skip
def test_titles_of_descriptions(title: str) -> None:
    assert is_description_title(title)


@pytest.mark.parametrize("title", [
    "", "English", "Commentary", "Director's commentary", "Commentary with descriptive notes", "Ad Astra", "AD ASTRA 5.1",
    "Pompeii 79 AD", "English SDH", "Dolby Digital", "Adaptation", "Surround 5.1", "Audiokommentar", "Isolated score",
    "AD 79", "79 AD", "Ad", "ad English", "Ad-free", "Commentaire audio", "Comentario del director", "Commento del regista",
    "Hörspiel", "Original", "VFF", "Narrator", "Descrambled", "Description of the making",
])  # fmt: skip
def test_titles_of_other_tracks(title: str) -> None:
    assert not is_description_title(title)
    assert not is_description_title(title, is_text=True)


def test_captions_that_are_called_descriptive_are_for_the_deaf() -> None:
    for title in ("Descriptive", "English (descriptive, SDH)", "Audio description captions (CC)"):
        assert not is_description_title(title, is_text=True)
    assert is_description_title("Audio Description (text)", is_text=True)


SOUND = {"duration": 2.0}


@pytest.mark.parametrize(("suffix", "flag"), [
    (".mp4", Disposition.visual_impaired), (".mp4", Disposition.descriptions), (".mkv", Disposition.visual_impaired),
])  # fmt: skip
def test_tracks_are_known_by_their_flags(tmp_path: Path, suffix: str, flag: Disposition) -> None:
    sounds = (SoundSpec(language="eng", default=True), SoundSpec(language="ger"))
    made = make_film(FilmSpec(suffix=suffix, sounds=sounds)).path
    assert description_tracks(made) == ()
    marked = tmp_path / f"marked{suffix}"
    remuxed(made, marked, {1: flag})
    (track,) = description_tracks(marked)
    assert (track.number, track.is_text, track.language) == (1, False, "de")


def remuxed(source: Path, target: Path, flags: Mapping[int, Disposition]) -> None:
    """A copy of a film in which sound tracks have flags, by their numbers."""
    with av.open(str(source)) as film, av.open(str(target), "w") as copy:
        streams: dict[int, Any] = {}
        for stream in film.streams:
            streams[stream.index] = copy.add_stream_from_template(stream)
            streams[stream.index].metadata.update(stream.metadata)
        for number, flag in flags.items():
            streams[film.streams.audio[number].index].disposition = flag
        for packet in film.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                copy.mux(packet)


@pytest.mark.parametrize(("title", "is_one"), [
    ("Audiodescripción", True), ("Director's commentary", False), ("Surround", False),
])  # fmt: skip
def test_tracks_are_known_by_their_titles(title: str, is_one: bool) -> None:
    sounds = (SoundSpec(language="eng", default=True), SoundSpec(language="spa", title=title))
    film = make_film(FilmSpec(suffix=".mkv", rate=Fraction(25), sounds=sounds)).path
    assert [track.number for track in description_tracks(film)] == ([1] if is_one else [])


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"handler_name": "Hörfilmfassung"}, "Hörfilmfassung"),
        ({"handler_name": "Director's commentary"}, "Director's commentary"),
        ({"handler_name": "Hörfilm", "name": "Deutsch"}, "Deutsch"),
        ({"handler_name": "SoundHandler"}, ""),
        ({"handler_name": "ISO Media file produced by Google Inc."}, ""),
        ({}, ""),
    ],
)
def test_the_name_of_a_handler_is_a_title_where_it_says_what_a_track_is(
    metadata: dict[str, str], title: str
) -> None:
    assert track_title(metadata) == title


def test_a_track_of_mp4_is_known_by_the_name_of_its_handler(tmp_path: Path) -> None:
    film = tmp_path / "m.mp4"
    frames: dict[Any, av.AudioFrame] = {}
    with av.open(str(film), "w") as made:
        for title in ("SoundHandler", "Hörfilmfassung"):
            stream = made.add_stream("aac", rate=48000)
            stream.metadata["handler_name"] = title
            frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
            frame.sample_rate, frame.pts, frame.time_base = 48000, 0, Fraction(1, 48000)
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            frames[stream] = frame
        for stream, frame in frames.items():
            made.mux([*stream.encode(frame), *stream.encode(None)])
    assert [(track.number, track.title) for track in description_tracks(film)] == [(1, "Hörfilmfassung")]


def test_a_file_that_is_called_as_the_film_without_its_last_ending_breaks_nothing() -> None:
    assert "film.srt" in passed_over_files("film.srt", ["film.srt", "film.srt.mkv"], used=[])
