"""Descriptions in other languages than English, and translations of them, become sound and films."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import av
import pytest

from shotad.core import Config, Interval, WorkFolder
from shotad.description import lint_track
from shotad.script import Maker, load_track, save_translation, spoken_interval, spoken_words, track_name
from shotad.script.dapt_reader import check_dapt
from tests.rendering.described import LINES, film_with, rendered, track_of, write_folder

TRANSLATED: Mapping[str, tuple[str, str, str]] = {
    "de": (
        "Eine Katze schläft am Fenster.",
        "Sie öffnet die alte Haustür. Eine Lampe geht aus.",
        "Regen fällt auf die leere Straße.",
    ),
    "ar": ("قطة تنام قرب النافذة.", "تفتح الباب القديم. ينطفئ مصباح.", "المطر يهطل على الشارع الخالي."),
    "zh-Hans": ("一只猫睡在窗边。", "她打开旧门。一盏灯灭了。", "雨落在空荡荡的街道上。"),
    "ja": ("猫が窓辺で眠る。", "彼女は古いドアを開ける。明かりが消える。", "雨が人のいない通りに降る。"),
}


def lines_in(language: str) -> dict[float, str]:
    return dict(zip(sorted(LINES), TRANSLATED[language], strict=True))


def stream_tags(path: Path, number: int) -> dict[str, str]:
    with av.open(str(path)) as container:
        return {key.lower(): value for key, value in container.streams[number].metadata.items()}


def translation(place: Path, language: str) -> Path:
    """A translation beside the track, as shotad translate would leave it."""
    track = track_of(place)
    texts = TRANSLATED[language]
    cues = []
    for cue, text in zip(track.cues, texts, strict=True):
        slot = Interval(cue.interval.start, cue.interval.start + 5)
        time = spoken_interval(slot, spoken_words(text, language), 0.375)
        cues.append(replace(cue, text=text, language=language, interval=time))
    made = (Maker("Translation", "fake"),)
    new = replace(track, cues=tuple(cues), language=language, translated_from="en", makers=made)
    with WorkFolder(place) as folder:
        save_translation(new, folder)
    return place / track_name(language)


@pytest.mark.parametrize(("language", "ending", "code", "title"), [
    ("de", "mp4", "deu", "Audiodeskription (AD)"),
    ("de", "mkv", "ger", "Audiodeskription (AD)"),
    ("fr", "mkv", "fre", "Audiodescription (AD)"),
])  # fmt: skip
def test_the_track_of_sound_carries_language_and_title(tmp_path, language, ending, code, title):
    lines = {at: "Une chatte dort." if language == "fr" else text for at, text in lines_in("de").items()}
    place = write_folder(tmp_path / "w", lines=lines, language=language)
    done, voice = rendered(place, f"film:{ending}")
    path = done.made[0].wanted.path
    assert (done.failed, path.name) == (False, f"{film_with().stem}.described.{ending}")
    tags = stream_tags(path, 2)
    assert tags["language"] == code
    assert title in (tags.get("title"), tags.get("handler_name"))
    assert [text for text, _ in voice.calls] == list(dict.fromkeys(lines.values()))


@pytest.mark.parametrize("language", list(TRANSLATED))
def test_a_translation_is_rendered_beside_the_original(place: Path, language: str) -> None:
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    file = translation(place, language)
    # Lines of this length break no rule of time, whatever script they are written in.
    found = lint_track(load_track(file), place, Config()).findings
    assert [one for one in found if one.rule.startswith("T") and one.rule != "T5"] == []
    done, voice = rendered(place, "ad", file=file)
    stem = film_with().stem
    assert [one.wanted.path.name for one in done.made] == [f"{stem}.{language}.ad.wav"]
    assert not done.failed
    assert [text for text, _ in voice.calls][:3] == list(TRANSLATED[language])
    spoken = [cue.spoken for cue in load_track(place / track_name(language)).heard]
    assert all(one is not None and one.text for one in spoken)
    changed = {name for name, data in before.items() if (place / name).read_bytes() != data}
    assert changed <= {"log.txt"}
    recorded = place / f"{stem}.{language}.ad.recorded.dapt.xml"
    assert check_dapt(recorded.read_bytes()) == ()
    assert 'daptm:langSrc="en"' in recorded.read_text(encoding="utf-8")
    assert f'xml:lang="{language}"' in recorded.read_text(encoding="utf-8")
