"""The texts of the page: all of them stand in the language files, and the files of all languages fit together."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from pygments.lexers import JavascriptLexer
from pygments.token import Comment, String

from shotad.core.errors import ReviewError
from shotad.core.types import Interval
from shotad.description.pipeline import ADDED
from shotad.review.acts import DROPPED
from shotad.review.english_sentences import finding_message, notice_message, reason_message
from shotad.review.messages import (
    TEXTS,
    Message,
    Seconds,
    Size,
    Time,
    fault_view,
    message,
    message_of,
    refusal,
    sentence_view,
)
from shotad.script.guidelines import rule_hint
from shotad.script.rules import check_lead, check_line, check_order
from shotad.script.track import EMPTIED, REMOVED
from shotad.script.track_texts import texts_in
from shotad.sound.spoken_lines import NO_WORDS

WEB = TEXTS.parent
REVIEW = WEB.parent
ROOT = REVIEW.parent.parent

KEY = r"[a-z_]+(?:\.[\w+-]+)+"
TAKEN_BY_NAME = ("rule.", "step.")
"""Beginnings of keys that are put together on the page: `test_texts_of_rules_and_steps_are_of_what_there_is`."""

NO_TEXTS = {
    # Names of headers, errors, keys and events
    "Content-Type", "Accept", "ApiError", "NotAllowedError", "AltGraph", "Ctrl", "Control", "Alt", "Shift", "Tab",
    "Enter", "Escape", "Home", "End", "PageUp", "PageDown", "Space", "ArrowUp", "ArrowDown", "ArrowLeft",
    "ArrowRight", "Alt+Arrow",
    # Names of classes
    "button film-open", "film-error fault", "film-facts hint", "strip bad", "buttons stays", "job-note hint",
    "speech wordless", "d-more rec", "d-row rec-options",
    # What is compared with what the server says, and what nobody reads
    "extreme close-up", "body, main > section", "not fetched yet", "progress of ", " is there already",
    # The name of the program, and what is said where there are no texts
    " – shotad review", "The texts of this page cannot be loaded (", "). Load the page again.",
}  # fmt: skip
WORDS = re.compile(r"(?:^|[\s(“])[A-Z][a-z]+|[a-z]{2,} [a-z]{2,}|\s[a-z]{2,}\s")
KEY_NAME = re.compile(r"(?:(?:Ctrl|Alt|Shift)\+)+\S*\s?")
SHOWN = re.compile(
    r"""(?:\bsay\(|\balert\(|\bannounce\(|\bconfirm\(|textContent\ =\ |setText\([\w.()]+,\ |
        \b(?:title|placeholder|alt):\ |"aria-(?:label|valuetext)"(?::|,)\ |\},\ )"[^"]*[A-Za-z]{2}[^"]*"(?!:)""",
    re.VERBOSE,
)

PLURALS = {
    "en": {"one", "other"}, "de": {"one", "other"}, "fr": {"one", "many", "other"},
    "es": {"one", "many", "other"}, "it": {"one", "many", "other"}, "pt": {"one", "many", "other"},
}  # fmt: skip
"""Plural categories by language (CLDR). ``many`` is for millions, which the page never counts; it may be left out."""

SAME_IN: dict[str, set[str]] = {
    "es": {"facts.error", "key.ctrl"},
    "fr": {
        "facts.notes",
        "films.title",
        "films.heading",
        "films.messages",
        "help.page",
        "import.noted",
        "job.notes",
        "key.ctrl",
        "list.state.machine",
        "list.note",
        "player.error_code",
        "player.volume",
        "player.pause",
        "slots.actions",
        "timeline.dialogue",
    },
    "it": {"cast.heading", "export.loudness", "key.ctrl", "player.volume"},
    "pt": {"export.loudness", "key.home", "key.end", "key.enter", "key.ctrl", "key.shift", "player.volume"},
}
"""Keys of texts that are the same words as in English, by language."""
SAME_TEXTS = {
    "SRT and WebVTT", "Film", "Film {number}", "Script", "Menu", "Word", "Export", "Start", "Name",
    "Streaming (Netflix)", "shotad review",
}  # fmt: skip


def texts_of(language: str) -> dict[str, Any]:
    texts: dict[str, Any] = json.loads((TEXTS / f"{language}.json").read_text(encoding="utf-8"))
    return texts


LANGUAGES = sorted(path.stem for path in TEXTS.glob("*.json"))
ENGLISH = texts_of("en")


def forms_of(text: Any) -> dict[str, str]:
    return {"": text} if isinstance(text, str) else text


def places_of(text: Any) -> set[str]:
    return {name for form in forms_of(text).values() for name in re.findall(r"\{(\w+)\}", form)}


def without_comments(source: str) -> tuple[str, list[str]]:
    """A script without its comments, and its string literals as they are written."""
    tokens = list(JavascriptLexer().get_tokens(source))
    return "".join(value for kind, value in tokens if kind not in Comment), [
        value.strip("\"'`") for kind, value in tokens if kind in String and kind is not String.Regex
    ]


def test_no_script_of_the_page_holds_a_text() -> None:
    outside = []
    for path in sorted(WEB.glob("*.js")):
        source, literals = without_comments(path.read_text(encoding="utf-8"))
        for literal in literals:
            if WORDS.search(literal) and not KEY_NAME.fullmatch(literal) and literal not in NO_TEXTS:
                outside.append(f"{path.name}: {literal}")
        for shown in SHOWN.findall(source):
            literal = shown[shown.index('"') + 1 : -1].rpartition('"')[2]
            if literal not in NO_TEXTS:
                outside.append(f"{path.name}: {shown}")
    assert outside == []


class ShownWords(HTMLParser):
    """What a page says without its scripts; not what stands in its `noscript`."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.is_in_noscript = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_in_noscript |= tag == "noscript"
        shown = ("aria-label", "title", "placeholder", "alt")
        self.words += [value or "" for name, value in attrs if name in shown]

    def handle_endtag(self, tag: str) -> None:
        if tag == "noscript":
            self.is_in_noscript = False

    def handle_data(self, data: str) -> None:
        if data.strip() and not self.is_in_noscript:
            self.words.append(data.strip())


@pytest.mark.parametrize("name", ["index.html", "films.html"])
def test_no_page_holds_a_text(name: str) -> None:
    page = ShownWords()
    page.feed((WEB / name).read_text(encoding="utf-8"))
    assert page.words == []


def test_each_text_is_used_and_each_key_that_is_used_has_a_text() -> None:
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for path in (*WEB.glob("*.js"), *WEB.glob("*.html"), *REVIEW.glob("*.py"))
    }
    named = {key for source in sources.values() for key in re.findall(rf'"({KEY})"', source)}
    asked = {
        (name, key)
        for name, source in sources.items()
        for key in re.findall(
            rf'(?:\b(?:text|message|refusal)\(|\bdata-(?:text|label)=|\bwith_texts\([^"]*?)\s*"({KEY})"',
            source,
        )
    }
    assert sorted(key for key in asked if key[1] not in ENGLISH) == []
    hints = {f"{key}.hint" for key in named}
    unused = [key for key in ENGLISH if key not in named | hints and not key.startswith(TAKEN_BY_NAME)]
    assert unused == []


def test_texts_of_rules_and_steps_are_of_what_there_is() -> None:
    rules = [key.removeprefix("rule.") for key in ENGLISH if key.startswith("rule.")]
    assert {rule: ENGLISH[f"rule.{rule}"] for rule in rules} == {rule: rule_hint(rule) for rule in rules}
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "shotad").rglob("*.py")]
    steps = [key.removeprefix("step.") for key in ENGLISH if key.startswith("step.")]
    assert [step for step in steps if not any(f'"{step}"' in module for module in modules)] == []


def test_the_page_offers_the_languages_that_have_a_file() -> None:
    offered = re.search(r"export const LANGUAGES = \[(.*?)\]", (WEB / "texts.js").read_text(encoding="utf-8"))
    assert offered is not None
    assert sorted(re.findall(r'"(\w+)"', offered[1])) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_all_texts_with_their_places_and_plurals(language: str) -> None:
    texts = texts_of(language)
    assert list(texts) == list(ENGLISH), "other keys, or in another order, than en.json"
    wrong = []
    for key, text in texts.items():
        forms = forms_of(text)
        kinds = set(forms)
        is_plural = not isinstance(ENGLISH[key], str)
        if is_plural and not {"one", "other"} <= kinds <= PLURALS[language]:
            wrong.append(f"{key}: plural forms {sorted(kinds)}")
        if not is_plural and kinds != {""}:
            wrong.append(f"{key}: plural forms of a text without `count`")
        # Each language takes its own of what stands there in all of them.
        if key != "reason.in_languages" and places_of(text) != places_of(ENGLISH[key]):
            wrong.append(
                f"{key}: {sorted(places_of(text))} stand in it, not {sorted(places_of(ENGLISH[key]))}"
            )
        for form in forms.values():
            if form != form.strip() or not form or re.search(r"<\w|&\w+;|  ", form):
                wrong.append(f"{key}: empty, with blanks around it, or HTML: {form!r}")
    assert wrong == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_language_is_translated(language: str) -> None:
    """A text with words of two letters or more that is the English one was forgotten, unless it is listed."""
    texts = texts_of(language)
    copied = []
    for key, text in texts.items():
        words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\w+\}", "", " ".join(forms_of(ENGLISH[key]).values())))
        is_listed = key in SAME_IN.get(language, set()) or str(text) in SAME_TEXTS
        if words and text == ENGLISH[key] and not is_listed:
            copied.append(key)
    assert copied == []


def test_a_message_is_english_for_programs_and_comes_back_from_json() -> None:
    said = message("act.moved", move=message("act.move.both", start=Time(80.4), end=Time(3723.25)))
    assert str(said) == "Moved to 1:20.400 to 1:02:03.250."
    assert message_of(json.loads(json.dumps(sentence_view(said)))) == said
    assert str(message("act.replaced_lines", count=1)) == "1 line"
    assert str(message("act.inserted", time=Time(1), length=Seconds(4.24))) == (
        "New line in this slot at 0:01.000: 4.2 s."
    )
    changes = [message("import.done.changed", count=2), message("import.done.added", count=1)]
    assert str(message("import.done", file="a.srt", changes=changes)) == (
        "Imported a.srt: 2 lines changed and 1 line added."
    )
    reason = message("note.reason", reason=reason_message("moved 0.5 s later"))
    assert str(reason) == "Moved 0.5 s later."
    received = refusal("upload.incomplete", received=Size(1_200_000), size=Size(2_000_000), file="a.mp4")
    assert fault_view(received) == {
        "what": "Only 1.2 MB of 2.0 MB of a.mp4 arrived.", "hint": "Send it again.", "key": "upload.incomplete",
        "values": {"received": {"size": 1_200_000}, "size": {"size": 2_000_000}, "file": "a.mp4"},
    }  # fmt: skip
    assert fault_view(ReviewError("No.", "Never.")) == {"what": "No.", "hint": "Never."}


@pytest.mark.parametrize(
    "reason",
    [
        ADDED, DROPPED, EMPTIED, NO_WORDS, REMOVED, texts_in("en")("reason.nothing"), "left out of film.srt", "spoken 1.25 times faster",
        "moved 0.5 s earlier", "text read at 0.45", "nobody is known to be called Ann", "a long line, 27 words",
    ],
)  # fmt: skip
def test_a_reason_in_a_track_is_a_message(reason: str) -> None:
    said = reason_message(reason)
    assert isinstance(said, Message)
    assert str(said) == reason


TAKES = "it takes 3.25 s at least, and 2.15 s are free between speech and other lines"


@pytest.mark.parametrize(
    "reason",
    [
        TAKES, f"{TAKES}; without the line at 00:01:02.500 it would fit",
        f"your recording does not fit: {TAKES}; record it again, shorter, or give it time",
    ],
)  # fmt: skip
def test_a_reason_of_the_voice_is_a_message(reason: str) -> None:
    assert str(reason_message(reason)) == reason
    assert isinstance(reason_message(reason), Message)


def test_the_lines_that_take_the_time_are_listed_in_each_language() -> None:
    said = reason_message(f"{TAKES}; without any of the lines at 00:01:02.500 and 00:02:00.000 it would fit")
    assert isinstance(said, Message)
    assert "00:01:02.500 und 00:02:00.000" in str(said.values["de"])
    assert "00:01:02.500 y 00:02:00.000" in str(said.values["es"])


def test_a_reason_of_another_language_is_there_in_all_languages_of_the_page() -> None:
    said = reason_message("Stufe II misslang: in der Antwort war keine Zeile zu finden")
    assert str(said) == "Stage II failed: no line was found in the answer"
    assert isinstance(said, Message)
    assert set(said.values) == set(LANGUAGES)


def test_a_reason_that_is_not_known_is_shown_as_it_is() -> None:
    assert reason_message("the moon was full") == "the moon was full"


SPEECH = (Interval(12.0, 15.4),)
LINE = Interval(14.0, 16.0)


def findings_on(text: str, **checked: Any) -> list[str]:
    """What the rules on one line say of it."""
    return [finding.message for finding in check_line(text, **checked)]


@pytest.mark.parametrize(
    "said",
    [
        *findings_on("She walks to the old door in the hall and opens it.", interval=LINE, speech=SPEECH),
        *findings_on("She waits.", gap=Interval(3.0, 4.3), slot=Interval(3.0, 4.3), measured=1.75),
        *findings_on("She waits.", interval=Interval(0.0, 2.0)),
        *findings_on("We see the camera zoom in on a mysterious **house**."),
        *findings_on("She opened the door. It was closed by Mr. Baker.", previous=["She opens the door."]),
        *findings_on("Ann opens a door.", previous=["Ann opens a door.", "Bob leaves."]),
        *findings_on("As an AI, I cannot say who it is. A shot rings out loudly."),
        *(finding.message for finding in check_order(LINE, Interval(15.0, 17.0), "b")),
        *(finding.message for finding in check_order(LINE, Interval(13.0, 17.0), "b")),
        *(finding.message for finding in check_lead(LINE, 19.3, by_hand=False)),
        "is not heard: the voice found no room for it", f"would not be spoken: {TAKES}",
        "leaves no time for the line at 00:01:02.500 (“She runs.”), which is not heard",
        "not in the cast: 'Anne'; is it 'Ann'?", "'Nan' has another name in most lines: 'Ann'",
        "the peaks of film.mkv reach -0.4 dBTP, over -1.0 (ebu)",
    ],
)  # fmt: skip
def test_what_lint_says_is_a_message(said: str) -> None:
    text = finding_message(said)
    assert isinstance(text, Message)
    quotes = str.maketrans('“”"', "'''")
    # Numbers lose zeros at their end: the page writes them as its language does.
    english, given = (
        re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):g}", words.translate(quotes))
        for words in (str(text), said)
    )
    assert english == given


def test_what_the_programs_word_lists_say_is_a_message() -> None:
    for path in sorted((ROOT / "configs" / "words").glob("*/*.txt")):
        for says in re.findall(r"^@says (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert isinstance(finding_message(f"{says}: 'so'"), Message), path


def test_words_of_a_users_own_list_are_shown_as_they_are() -> None:
    assert finding_message("house style: 'gonna'") == "house style: 'gonna'"


def test_what_leaves_this_machine_is_a_message() -> None:
    said = "Frames of the film leave this machine: they are sent to api.example, with the key in KEY."
    text = notice_message(said)
    assert isinstance(text, Message)
    assert isinstance(text.values["host"], Message)
    assert str(text) == said
