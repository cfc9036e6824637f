"""Sentences of other packages, as messages of the page.

A run, a render and an import write into the track, in its language, why a line was left out, what was done to
make it fit, and why it is doubtful: `shotad.script.track_texts` has those in all languages of the page. Lint
says in English which rule a line breaks, engines and voices what leaves this machine: those stand in tables
here. What stands in neither is shown as it is.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from shotad.review.messages import Message, Seconds, Sentence, Value, page_languages, sentence_view
from shotad.script.reasons import reason_in

LONGEST = 1000
"""Characters of a sentence that is looked at; a longer one is shown as it is."""

_Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""The pattern of a whole sentence, by the key of its text; its groups are the values."""


def _patterns(expressions: Mapping[str, str]) -> _Patterns:
    return {key: re.compile(expression, re.DOTALL) for key, expression in expressions.items()}


_QUOTED = r"(?P<quoted>'.*'|\".*\")"
_NAME = r"(?P<quoted_name>'.*'|\".*\")"
_RANGE = r"(?P<start>[\d:.]+) to (?P<end>[\d:.]+)"
_LEAVES = r"leaves no time for the line at (?P<time>[\d:.]+) \(“(?P<quotation>.*)”\), which "

_FINDINGS = _patterns(
    {
        # What stands around another finding comes before that.
        "finding.guessed": r"(?P<finding>.+) "
        r"\(by the number of words: not all of these lines have been spoken yet\)",
        "finding.T1": rf"This line \({_RANGE}\) lies over speech "
        r"\((?P<speech_start>[\d:.]+) to (?P<speech_end>[\d:.]+)\) for (?P<length>[\d.]+) s",
        "finding.T2": rf"This gap is (?P<length>[\d.]+) s \({_RANGE}\); lines need (?P<least>[\d.]+) s",
        "finding.T3": r"(?P<rate>\d+) words a minute, over (?P<limit>[\d.]+)",
        "finding.T3.spoken": r"spoken at (?P<rate>\d+) words a minute, over (?P<limit>[\d.]+)",
        "finding.T3.would": r"would have to be spoken at (?P<rate>\d+) words a minute, "
        r"over (?P<limit>[\d.]+)",
        "finding.T4.slot": r"The voice takes (?P<voice>[\d.]+) s, the slot has (?P<slot>[\d.]+) s",
        "finding.T4.not_heard": r"is not heard: (?P<reason>.+)",
        "finding.T4.would_not": r"would not be spoken: (?P<reason>.+)",
        "finding.T4.leaves_not_heard": rf"{_LEAVES}is not heard",
        "finding.T4.leaves_not_spoken": rf"{_LEAVES}is not spoken",
        "finding.T4.leaves_would_not": rf"{_LEAVES}would not be spoken",
        "finding.T5": rf"(?P<seconds>\d+) s without speech or AD \({_RANGE}\)",
        "finding.T6.before_film": r"This line starts (?P<seconds>[\d.]+) s before the film",
        "finding.T6.at_zero": r"This line starts at 0, and players show it before they play",
        "finding.T6.earlier": r"This line starts at (?P<time>[\d:.]+), "
        r"earlier than the line above it \((?P<before>[\d:.]+)\)",
        "finding.T6.overlaps": r"This line starts at (?P<time>[\d:.]+), "
        r"before the line above it ends \((?P<end>[\d:.]+)\)",
        "finding.T7": r"This line is spoken (?P<length>[\d.]+) s before what it describes is seen "
        r"\((?P<time>[\d:.]+)\)",
        "finding.L1.tense": rf"not in the present tense: {_QUOTED}",
        "finding.L1.passive": rf"passive: {_QUOTED}",
        "finding.L2.seen": rf"says that it is seen: {_QUOTED}",
        "finding.L2": rf"first or second person: {_QUOTED}",
        "finding.L3": rf"of the camera: {_QUOTED}",
        "finding.L3.perhaps": rf"perhaps of the camera: {_QUOTED}",
        "finding.L4": rf"interprets: {_QUOTED}",
        "finding.L5.task": rf"speaks of the task: {_QUOTED}",
        "finding.L5.markup": rf"markup: {_QUOTED}",
        "finding.L6": rf"pronoun with an unclear antecedent: {_QUOTED}",
        "finding.L7.early": rf"named before the film reveals it: {_QUOTED}",
        "finding.L7.similar": rf"not in the cast: {_QUOTED}; is it {_NAME}\?",
        "finding.L7.unknown": rf"not in the cast: {_QUOTED}",
        "finding.L8": rf"{_QUOTED} has another name in most lines: {_NAME}",
        "finding.L9.same": rf"is the same as the line before it: {_QUOTED}",
        "finding.L9.same_earlier": rf"is the same as the line (?P<distance>\d+) before it: {_QUOTED}",
        "finding.L9.similar": rf"is nearly the same as the line before it: {_QUOTED}",
        "finding.L9.similar_earlier": r"is nearly the same as the line (?P<distance>\d+) before it: "
        rf"{_QUOTED}",
        "finding.L10": rf"is said in the dialogue too: {_QUOTED}",
        "finding.L11.title": rf"title that nobody reads out \({_RANGE}\): {_QUOTED}",
        "finding.L11.caption": rf"caption that nobody reads out \({_RANGE}\): {_QUOTED}",
        "finding.L11.screen": rf"scene that nobody reads out \({_RANGE}\): {_QUOTED}",
        "finding.L12": rf"stands in the subtitles of the picture: {_QUOTED}",
        "finding.L13": rf"a title before a name: {_QUOTED}",
        "finding.L14": rf"of a sound that everybody hears: {_QUOTED}",
        "finding.A1.loudness": r"(?P<file>.+) is at (?P<reached>-?[\d.]+) LUFS, not at (?P<target>-?[\d.]+) "
        r"±(?P<tolerance>[\d.]+) \((?P<profile>\w+)\)",
        "finding.A1.peak": r"the peaks of (?P<file>.+) reach (?P<peak>-?[\d.]+) dBTP, "
        r"over (?P<limit>-?[\d.]+) \((?P<profile>\w+)\)",
        "finding.A3": r"the voice at (?P<time>[\d:.]+) stands (?P<difference>-?[\d.]+) LU over the film, "
        r"under (?P<least>-?[\d.]+): let the film be lowered further \(mix\.duck\)",
    }
)

_SPOKEN_BY_VOICE = r"spoken by the voice instead: (?P<times>.+)\."

_NOTICES = _patterns(
    {
        "notice.frames": r"Frames of the film leave this machine: they are sent to (?P<host>.+)\.",
        "notice.frames_sound": r"Frames and sound of the film leave this machine: "
        r"they are sent to (?P<host>.+)\.",
        "notice.frames_descriptions": r"Frames of the film, and descriptions of it, leave this machine: "
        r"they are sent to (?P<host>.+)\.",
        "notice.frames_sound_descriptions": r"Frames and sound of the film, and descriptions of it, "
        r"leave this machine: they are sent to (?P<host>.+)\.",
        "notice.descriptions": r"Descriptions of the film, but no frames, leave this machine: "
        r"they are sent to (?P<host>.+)\.",
        "notice.lines": r"The lines of the track leave this machine: "
        r"they are sent to (?P<host>.+) to be spoken\.",
        "notice.lines_key": r"The lines of the track leave this machine: "
        r"they are sent to (?P<host>.+) to be spoken, with the key in (?P<key>.+)\.",
        "notice.open": r"The connection to (?P<host>.+) is not encrypted \(http\)\.",
        "render.programme_described": r"The film's sound under the lines is itself an audio description: "
        r"track (?P<track>.+)\.",
        "render.other_language": r"(?P<count>\d+) lines? (?:is|are) in '(?P<language>[^']+)'; "
        r"(?P<voice>[^;]+) speaks all in the track's language, '(?P<track_language>[^']+)'\.",
        "render.recording_outdated": rf"(?P<count>\d+) lines? recorded for another text, {_SPOKEN_BY_VOICE} "
        r"Record again, or keep the recording: shotad record --keep\.",
        "render.recording_gone": rf"(?P<count>\d+) lines? of which the recording is gone, {_SPOKEN_BY_VOICE} "
        r"Record again\.",
        "render.cast_gone": r"The cast of this run is gone, and with it how its names are said\.",
        "render.still_edited": r"Lines were edited until after they were spoken: the files hold them as they "
        r"were then\. Render again when the editing is done; only changed lines are spoken again\.",
    }
)

_HOST_WITH_KEY = re.compile(r"(?P<host>.+), with the key in (?P<key>.+)")


def reason_message(reason: str) -> Sentence:
    """A reason of a track, in whatever language it stands, as a message that has it in all languages of the
    page; what is no sentence of this program as it is."""
    versions = {language: reason_in(reason, language) for language in page_languages()}
    is_translated = len(set(versions.values())) > 1
    return Message("reason.in_languages", versions) if is_translated else reason


def reason_views(reasons: Iterable[str]) -> list[object]:
    """Reasons as JSON: a message's view, or the text."""
    return [sentence_view(reason_message(reason)) for reason in reasons]


def finding_message(finding: str) -> Sentence:
    """What a finding of lint or of a render says; in no table are A2, S1 and words of a user's own lists."""
    return _recognised(finding, _FINDINGS)


def notice_message(notice: str) -> Sentence:
    """What an engine or a voice sends away, or a note of a render."""
    return _recognised(notice, _NOTICES)


def _recognised(sentence: str, patterns: _Patterns) -> Sentence:
    if len(sentence) > LONGEST:
        return sentence
    for key, pattern in patterns.items():
        match = pattern.fullmatch(sentence)
        if match is not None:
            values = dict(_value(name, text) for name, text in match.groupdict().items())
            return Message(key, values)
    return sentence


def _value(group: str, text: str) -> tuple[str, Value]:
    """The name and the value of a place, from a group of a pattern and what stands there."""
    match group:
        case "length":
            return group, Seconds(float(text))
        case "quoted":
            return "quotation", _unquoted(text)
        case "quoted_name":
            return "name", _unquoted(text)
        case "finding":
            return group, finding_message(text)
        case "reason":
            return group, reason_message(text)
        case "host":
            with_key = _HOST_WITH_KEY.fullmatch(text)
            return group, text if with_key is None else Message("notice.key", with_key.groupdict())
        case "name" | "file" | "quotation":
            return group, text
    # A number as a number, so that the page writes it as its language does.
    return group, float(text) if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else text


def _unquoted(text: str) -> str:
    """What stands between the quotation marks that `repr` gave it."""
    try:
        return str(literal_eval(text))
    except (SyntaxError, ValueError):  # a message in which two words are quoted
        return text[1:-1]
