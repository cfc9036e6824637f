"""The rules that are checked: what each asks for, why, and what to do about a line that breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for people: ``title`` in a few words, ``why``, the ``hint`` that goes with a finding,
    ``source``, and its usual level."""

    id: str
    title: str
    level: str
    why: str
    hint: str
    source: str


_COMMON = "common to describers' guidelines (ITC, DCMP, Netflix)"

_RULES = (
    Rule(
        "T1", "over speech", "error",
        "Who listens to both understands neither.",
        "Move the line into the pause before or after, or shorten it.",
        _COMMON,
    ),
    Rule(
        "T2", "short pause", "error under 2 s, warning under 4 s",
        "A line in a pause that short sounds squeezed in, and mostly runs over.",
        "Take a longer pause nearby, or leave the line out.",
        "WCAG 2 failure F113 speaks of 2 s; 4 s is a usual minimum",
    ),
    Rule(
        "T3", "too fast", "error over 200, warning over 180 words a minute",
        "About 160 words a minute can be followed beside a film (words of the usual length, with a breath).",
        "Use fewer words, give the line more time, or take a slower voice.",
        "160 words a minute is usual; the limits are this program's",
    ),
    Rule(
        "T4", "voice too long", "error",
        "The recorded line is longer than its room.",
        "Shorten the line or let it be spoken faster, and render again.",
        "follows from T1",
    ),
    Rule(
        "T5", "long silence", "warning over 45 s",
        "Where nobody speaks and nothing is described, listeners do not know whether the film goes on.",
        "Describe what happens there, or say that nothing does.",
        "WCAG 2 failure F113",
    ),
    Rule(
        "T6", "time out of order", "error",
        "Players drop or delay lines that begin at zero, before zero, or while another lasts.",
        "Correct the times.",
        "WebVTT and the players that read it",
    ),
    Rule(
        "T7", "told before it is seen", "error over 1 s; warning in a line that a person wrote or changed",
        "Over another picture a line misleads those who see a little, and spoils what comes.",
        "Move the line to where what it tells is on the screen, or have it written anew: shotad redo.",
        _COMMON,
    ),
    Rule(
        "L1", "past, future or passive", "warning",
        "AD is spoken while it happens: present tense. The active voice says who does it, in fewer words.",
        "Say who does what, in the present tense.",
        _COMMON,
    ),
    Rule(
        "L2", "first or second person", "error",
        "\"We see\" tells listeners that they do not.",
        "Leave out who watches: say what is there.",
        _COMMON,
    ),
    Rule(
        "L3", "camera words", "error; warning where it may be a thing",
        "Listeners follow the story, not its making.",
        "Say what comes into view, or whom we are near to, without the camera.",
        _COMMON,
    ),
    Rule(
        "L4", "interpretation", "warning",
        "What it means is for listeners to find out, as it is for those who see.",
        "Say what face, body or light show, and leave mood, motive and guess.",
        _COMMON,
    ),
    Rule(
        "L5", "left-over of a model", "error",
        "Headings, lists and remarks on the task are no description.",
        "Delete what is not about the film, or have the line written anew: shotad redo.",
        "this program's",
    ),
    Rule(
        "L6", "unclear pronoun", "warning",
        "Nobody was named in the last lines whom it could mean.",
        "Name who it is, or say what they look like.",
        _COMMON,
    ),
    Rule(
        "L7", "name not in the cast, or too early", "error",
        "A wrong name is worse than none, and a name told before the film tells it spoils it.",
        "Use a name of the cast file, or a descriptor until the name is told.",
        _COMMON,
    ),
    Rule(
        "L8", "two names for one person", "warning",
        "Listeners take a second name for a second person.",
        "Keep to the name that most lines have.",
        _COMMON,
    ),
    Rule(
        "L9", "repetition", "warning",
        "A line that was heard just before takes time and tells nothing.",
        "Say what is new, or leave the line out.",
        _COMMON,
    ),
    Rule(
        "L10", "repeats the dialogue", "warning",
        "What is said in the film is heard.",
        "Leave out what is said; describe what is not heard.",
        _COMMON,
    ),
    Rule(
        "L11", "text not read out", "warning",
        "Titles, signs and letters that can be read belong to what is seen.",
        "Read the text out, in quotation marks, near to where it is shown, if it matters.",
        _COMMON,
    ),
    Rule(
        "L12", "repeats subtitles", "error",
        "Subtitles that stand in the picture are spoken by a voice of their own or are heard already.",
        "Leave out the words of the subtitles.",
        _COMMON,
    ),
    Rule(
        "L13", "title before a name", "warning; off unless lint.titles is set",
        "Short names leave more time.",
        "Use the name alone.",
        "this program's",
    ),
    Rule(
        "A1", "loudness", "by profile",
        "A finished file does not have the loudness that was asked for, or its peaks are too high.",
        "Look at the settings of mix, and render again.",
        "EBU R128, ATSC A/85 and the profiles' own",
    ),
    Rule(
        "A2", "file not as asked", "error",
        "The described file lacks a track, a flag, a language, or its length.",
        "Choose another container, and render again.",
        "what players look for",
    ),
    Rule(
        "A3", "line not audible", "error",
        "The programme covers the line.",
        "Lower the programme further (mix.duck, mix.over), and render again.",
        "this program's",
    ),
)  # fmt: skip

RULES: Mapping[str, Rule] = {rule.id: rule for rule in _RULES}
"""By id, in the order in which they are told."""


def hint_of(rule: str) -> str:
    """What to do about a finding; empty for a rule of somebody's own."""
    return RULES[rule].hint if rule in RULES else ""


def title_of(rule: str) -> str:
    """The rule in a few words; its name for one of somebody's own."""
    return RULES[rule].title if rule in RULES else rule


def order_of(rule: str) -> tuple[int, str]:
    """Where a rule stands among others."""
    known = list(RULES)
    return (known.index(rule) if rule in known else len(known), rule)
