"""How many tokens a text takes, where no tokenizer is at hand."""

from __future__ import annotations

import math

_LATIN_END, _GREEK_EXTENDED = 0x250, (0x1E00, 0x2000)
_SIGNS = (
    (0x1100, 0x1200),
    (0x2E80, 0xA4D0),
    (0xAC00, 0xD800),
    (0xF900, 0xFB00),
    (0xFF00, 0xFFF0),
    (0x20000, 0x40000),
)
"""Chinese, Japanese and Korean: ``[first, last)`` code points."""


def tokens_in(text: str) -> int:
    """About how many tokens a text takes; 0 for none.

    ASCII takes a token for 4 characters; a Latin letter with a mark 1.5 tokens (it breaks a word in two); a
    letter of another alphabet 0.45; a Chinese, Japanese or Korean sign 0.8. Measured on this project's own
    English prompts against real tokenizers: 1 to 10 % too few for SmolLM2 (13 % for a short answer in JSON),
    1 % below to 6 % above for Qwen, LLaMA3 and GPT-4o (o200k). In German, French, Spanish, Polish, Greek,
    Arabic, Chinese, Japanese and Korean within 18 % of LLaMA3 and GPT-4o (Russian: up to 38 % above); but
    SmolLM2, made for English, takes 1.3 to 3 times as many there, and Qwen twice as many in Greek and Hindi.

    >>> tokens_in("She climbs the stairs."), tokens_in("彼女は階段を上る。")
    (6, 8)
    """
    return math.ceil(round(sum(_weight(ord(sign)) for sign in text), 6))


def _weight(code: int) -> float:
    if code < 0x80:
        return 0.25
    if code < _LATIN_END or _GREEK_EXTENDED[0] <= code < _GREEK_EXTENDED[1]:
        return 1.5
    if any(first <= code < end for first, end in _SIGNS):
        return 0.8
    return 0.45
