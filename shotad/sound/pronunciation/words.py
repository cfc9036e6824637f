"""What each language says for signs, abbreviations and units: the files in ``configs/saying``."""

from __future__ import annotations

from functools import cache

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from shotad.core import ConfigError, read_yaml, saying_text
from shotad.sound.voice_engines.base import plain_language

Pair = tuple[str, str]
"""One and many: ``(metre, metres)``."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Times(_Table):
    """How a time of day is said: ``{h}`` are the hours, ``{m}`` the minutes, in words."""

    hour: str = "{h}"
    """On the hour."""
    early: str = "{h} {m}"
    """Up to nine minutes past."""
    other: str = "{h} {m}"
    with_half: str = "{h}"
    """On the hour, where morning or evening is told behind it."""
    separators: str = ":"
    """Characters between hours and minutes: ``:h`` for 15:30 and 15h30."""
    o_clock: str = ""
    """What may stand behind already, and is said once."""


class Roman(_Table):
    """How Roman numerals behind names are said: ``Henry VIII → Henry the eighth``."""

    said: str = "cardinal"
    """``ordinal`` or ``cardinal``."""
    as_: str = "{}"
    capital: bool = False
    """Whether the ordinal is written with a capital letter."""
    dotted: bool = False
    """Whether the numeral has a full stop, as in German."""
    ordinals_to: int = 1000
    """Above it the cardinal is said."""
    up_to: int = 50
    titles: tuple[str, ...] = ()
    """``King NAME VIII`` is an ordinal whatever the name."""
    names: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    """Behind these the cardinal is said: ``Chapter VIII``."""

    @classmethod
    def model_validate_table(cls, table: dict[str, object]) -> Roman:
        """From a file, where ``as_`` is called ``as``."""
        return cls.model_validate({("as_" if key == "as" else key): value for key, value in table.items()})


class Words(_Table):
    """All of one language; what is empty is left as it is written."""

    before_name: dict[str, str] = {}
    """Titles, before a word with a capital letter; their full stop may be missing."""
    after_name: dict[str, str] = {}
    """Behind a word with a capital letter."""
    before_number: dict[str, str] = {}
    anywhere: dict[str, str] = {}
    within: dict[str, str] = {}
    """As ``anywhere``, but never at the end of a sentence: ``vs.``."""
    starts: frozenset[str] = frozenset()
    """Words that begin a sentence rather than a name."""
    months: tuple[str, ...] = ()
    """Behind which a number is the day's ordinal."""
    units: dict[str, Pair] = {}
    """Behind a number."""
    money: dict[str, Pair] = {}
    cents: dict[str, Pair] = {}
    scales: dict[str, str] = {}
    """``$5m``: five million dollars."""
    signs: dict[str, str] = {}
    point: str = ""
    """In decimals; without it they are left in digits."""
    dot: str = ""
    """In addresses of the web."""
    range: str = ""
    """Between two numbers: ``10–15``."""
    decimal: str = "."
    thousands: str = ""
    times: Times = Times()
    roman: Roman = Roman()
    spelled: frozenset[str] = frozenset()
    """In capitals, read letter by letter."""
    spoken: frozenset[str] = frozenset()
    """In capitals, short, and yet read as words."""


@cache
def words_of(language: str) -> Words:
    """The words of a language, none where there is no file. Raises ConfigError for one that is wrong."""
    name = plain_language(language)
    text = saying_text(name)
    if text is None:
        return Words()
    try:
        # All as text: to YAML, NO and ON are truths, and 12:30 is a number.
        table = read_yaml(text, yaml.BaseLoader)
        roman = Roman.model_validate_table(table.pop("roman", {}))
        return Words.model_validate({**table, "roman": roman})
    except (yaml.YAMLError, ValidationError, AttributeError) as error:
        raise ConfigError(f"The words of {name!r} cannot be read: {error}.") from None
