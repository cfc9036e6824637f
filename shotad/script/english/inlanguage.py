"""Lines in other languages than English: made to fit, and with the signs of their own script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shotad.core import is_english
from shotad.script.english.fit import Fitted, fit_words
from shotad.script.pace import rate_of, spoken_words

_WIDE_END = re.compile(r"(?<=[。！？])")
_WIDE_BORDER = re.compile(r"[，、；]")
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_NOUN_CAPITALS = frozenset(("de", "lb", "gsw", "nds"))
"""Languages that write every noun with a capital letter."""


def fit_spoken(text: str, max_words: int, *, language: str = "en") -> Fitted | None:
    """As `fit_words`, by the time that a line takes to say: at most that of ``max_words`` English words."""
    if rate_of(language).words or spoken_words(text, language) <= max_words:
        return fit_words(text, max_words, language=language)
    return next((one for one in _wide(text) if 0 < spoken_words(one.text, language) <= max_words), None)


def own_signs(text: str, language: str) -> str:
    """The line with the full stops and commas of its own script, where reading the answer made them plain.

    >>> own_signs("他打开门, 走进去.", "zh"), own_signs("वह दरवाज़ा खोलती है।.", "hi")
    ('他打开门，走进去。', 'वह दरवाज़ा खोलती है।')
    """
    if is_english(language):
        return text
    text = re.sub(r"([।॥。！？؟۔])\.$", r"\1", text)
    text = re.sub(r'"\s++([^"]+)(?<=\s)"', lambda found: f'"{found[1].rstrip()}"', text)
    code = language.lower().split("-")[0]
    if code in ("zh", "yue", "cmn", "ja"):
        comma = "、" if code == "ja" else "，"
        text = re.sub(rf"(?<={_CJK}),\s*|(?<=[\w\"]),\s*(?={_CJK})", comma, text)
        text = re.sub(rf"(?<={_CJK})\.\s*|(?<=\")\.$", "。", text)
    return text


def capitals_are_names(language: str) -> bool:
    """Whether a capital letter within a sentence is a name's."""
    return language.lower().split("-")[0] not in _NOUN_CAPITALS


def _wide(text: str) -> Iterator[Fitted]:
    """Ever shorter beginnings of a line of Chinese or Japanese: sentences, then clauses."""
    sentences = [part for part in _WIDE_END.split(text) if part.strip()]
    for number in range(len(sentences) - 1, 0, -1):
        yield Fitted("".join(sentences[:number]).strip(), ("dropped sentences",))
    if not sentences:
        return
    steps = ("dropped sentences",) if len(sentences) > 1 else ()
    for border in reversed(list(_WIDE_BORDER.finditer(sentences[0]))):
        head = sentences[0][: border.start()].strip()
        if _quotes_closed(head):
            yield Fitted(f"{head}。", (*steps, "dropped clauses"))


def _quotes_closed(text: str) -> bool:
    return text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in ("“”", "「」", "『』"))
