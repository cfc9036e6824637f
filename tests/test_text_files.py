"""Text files that a person gave: what is refused at once, and in which encoding the rest is read."""

import os
import socket
from pathlib import Path

import pytest

from shotad.core.errors import SubtitleError, UsageError
from shotad.core.text_files import (
    SIZE_LIMITS,
    check_encoding,
    decode_text,
    read_file_bytes,
    read_text_file,
)

RUSSIAN = (
    "1\n00:00:01,000 --> 00:00:03,000\nЯ не знаю, где он.\n\n2\n00:00:04,000 --> 00:00:06,000\nИди сюда!\n"
)
FRENCH = "Je ne sais pas où il est.\nNous devons partir avant l'aube, ça ira très bien.\nQu'est-ce que tu fais là ?\n"
CHINESE = "我不知道他在哪里。\n我们必须在天亮之前离开。\n"
JAPANESE = "彼がどこにいるか分からない。\n夜明け前にここを出なければ。\n"
KOREAN = "그가 어디 있는지 모르겠어.\n해가 뜨기 전에 떠나야 해.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (FRENCH, "cp1252"),
        (CHINESE, "gbk"),
        (CHINESE, "gb18030"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        ("我們必須在天亮之前離開。\n你在做什麼?\n", "big5"),
        ("Δεν ξέρω πού είναι.\nΠρέπει να φύγουμε πριν την αυγή.\n", "cp1253"),
        ("Musimy wyjść przed świtem.\nŹle się czuję, ściągnij żółtą czapkę.\n", "cp1250"),
    ],
)
def test_an_old_encoding_is_detected_and_named(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes(text.encode(encoding))
    text_file = read_text_file(path, "subtitles")
    assert text_file.text == text
    assert text_file.detected
    assert text_file.encoding in text_file.note


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_certain(encoding: str) -> None:
    text_file = decode_text(RUSSIAN.encode(encoding), "a.srt")
    assert text_file.text == RUSSIAN
    assert text_file.note == ""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [RUSSIAN, "1\n00:00:01,000 --> 00:00:03,000\nHello.\n"])
def test_utf_16_without_a_mark(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding), "a.srt").text == text


def test_utf_8_that_was_damaged_in_one_place_stays_utf_8() -> None:
    text_file = decode_text((RUSSIAN * 3).encode() + b"\xd0", "a.srt")
    assert text_file.text == RUSSIAN * 3 + "\ufffd"
    assert "1 place" in text_file.note


def test_a_given_encoding_is_taken_and_a_mark_is_stronger() -> None:
    assert decode_text("Été".encode("cp850"), "a.srt", encoding="cp850").text == "Été"
    assert decode_text(RUSSIAN.encode("utf-8-sig"), "a.srt", encoding="cp1251").text == RUSSIAN
    with pytest.raises(SubtitleError, match="line 3: the text is not UTF-8"):
        decode_text(RUSSIAN.encode("cp1251"), "a.srt", SubtitleError, encoding="utf-8")


@pytest.mark.parametrize("name", ["klingon", "rot13", "", "a\0b"])
def test_an_unknown_encoding(name: str) -> None:
    with pytest.raises(UsageError, match="no encoding"):
        check_encoding(name)


@pytest.mark.posix
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = {
        "pipe": pipe,
        "folder": tmp_path,
        "device": Path("/dev/zero"),
        "No such file": tmp_path / "none",
    }
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # the whole path may be too long for a socket
        listener.bind("s")
        refused["socket"] = tmp_path / "s"
        for reason, path in refused.items():
            with pytest.raises(SubtitleError, match=reason):
                read_text_file(path, "subtitles", SubtitleError)


def test_a_file_that_is_too_large_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    with path.open("wb") as out:
        out.truncate(700_000_000)
    with pytest.raises(SubtitleError, match=r"700\.0 MB, at most 16\.0 MB"):
        read_text_file(path, "subtitles", SubtitleError)
    os.truncate(path, SIZE_LIMITS["note"])
    assert len(read_file_bytes(path, "note")) == SIZE_LIMITS["note"]


def test_a_pointer_of_git_lfs_says_that_its_content_was_not_fetched(tmp_path: Path) -> None:
    pointer = tmp_path / "cmdad_anno.csv"
    content = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    pointer.write_text(content, encoding="utf-8")
    for read in (read_text_file, read_file_bytes):
        with pytest.raises(
            SubtitleError, match=r"table .*cmdad_anno\.csv cannot be read: .*Git LFS.*git lfs pull"
        ):
            read(pointer, "table", SubtitleError)


def test_nul_characters_are_no_text() -> None:
    with pytest.raises(SubtitleError, match="line 2 holds a NUL"):
        decode_text(b"Hello,\nwor\0ld", "a.srt", SubtitleError)
