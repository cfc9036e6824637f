"""What is said for what is written: numbers, abbreviations, capitals, signs, names. Pure logic."""

from shotad.sound.pronunciation.lexicon import NOTHING, Lexicon, lexicon_of, parse_lexicon
from shotad.sound.pronunciation.writtenout import said

__all__ = ["NOTHING", "Lexicon", "lexicon_of", "parse_lexicon", "said"]
