"""How long a voice needs for lines that fill their word budget, in several languages.

    python benchmarks/pace.py [--voice NAME] [--text captions|lines]

For the lines of each language: the seconds that the budget gives to a line of so many words
(`slots.seconds_per_word`) over the seconds that the voice needs for it at its usual speed. 1 is a line that
fits exactly; below 1 the voice is longer than planned. The mean is over all seconds.

``captions`` are those of one video in four languages (Able Player's "World Wide Access"): the voice was set
by them. ``lines`` are the good lines of ``lint-languages.txt`` and, for English, human AD of Elephants Dream:
it was judged by them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from common import DATA, DESCRIBERS, DREAM, command_line
from lint_languages import read_our_lines

from shotad.core.config.film import SlotSettings
from shotad.core.config.sound import VoiceSettings
from shotad.script import count_words, read_cues
from shotad.script.pace import spoken_words, usual_words
from shotad.sound import make_voice
from shotad.sound.pronunciation import spoken_text

LANGUAGES = ("en", "de", "fr", "es")
FEWEST = 4
"""Words of a line that is worth measuring."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--voice", default="espeak-ng")
    parser.add_argument("--text", choices=("captions", "lines"), default="captions")
    options: argparse.Namespace = parser.parse_args()
    print("language  lines  letters/s  usual words/min  planned over needed  lines a fifth too long")
    for language in LANGUAGES:
        lines = captions_of(language) if options.text == "captions" else lines_of(language)
        measure(language, lines, options.voice)


def captions_of(language: str) -> list[str]:
    """The captions of one video in a language."""
    path = DATA / "ad-text" / "able-player" / f"wwa_captions_{language}.vtt"
    return [" ".join(cue.text.split()) for cue in read_cues(path)]


def lines_of(language: str) -> list[str]:
    """Lines of AD in a language that break no rule."""
    if language == "en":
        return [cue.text for name in DESCRIBERS.values() for cue in read_cues(DREAM / name)]
    return [line.text for line in read_our_lines() if line.language == language and not line.rule]


def measure(language: str, texts: Sequence[str], voice_name: str) -> None:
    """Print a row: how the planned time of these lines and the time that the voice needs compare."""
    voice = make_voice(VoiceSettings(name=voice_name), language)
    lines = [text for text in texts if count_words(text) >= FEWEST]
    sent = [spoken_text(line, language, reads=voice.reads) for line in lines]
    takes = voice.speak_all(sent, 1.0)
    planned = needed = letters = words = 0.0
    longer = 0
    for line, take in zip(lines, takes, strict=True):
        seconds = len(take.samples) / take.rate
        budget = spoken_words(line, language) * SlotSettings().seconds_per_word
        planned += budget
        needed += seconds
        letters += sum(map(str.isalnum, line))
        words += usual_words(line, language)
        longer += seconds > 1.2 * budget
    print(
        f"{language:8}  {len(lines):5}  {letters / needed:9.1f}  {60 * words / needed:15.0f}  "
        f"{planned / needed:19.2f}  {longer:5} {longer / len(lines):6.1%}"
    )


if __name__ == "__main__":
    main()
