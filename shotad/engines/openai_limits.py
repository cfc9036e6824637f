"""Numbers that servers write into the words of their errors: how long to wait, how many images they take.

No protocol has a field for either, so they are read from sentences. Gemini's pauses (``retryDelay``, "Please
retry in") are quoted in github.com/diegosouzapw/OmniRoute/issues/9504; the limits of images are those of the
sources in `openai_servers`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_UNITS: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "秒": 1.0,
    "分": 60.0,
}
"""Seconds of each unit, by the beginning of its name."""
_QUANTITY = (
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,12})?)\s{0,3}(milliseconds?|millis|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
    r"(?![a-z])"
)
_DURATION = rf"(?:{_QUANTITY}[\s,]*(?:and\s+)?)+"
_WAITING = (
    r"(?:retry(?:ing)?(?: (?:your|the|this))?(?: requests?)?|try(?:ing)? again|wait(?:ing)?|resets?|back ?off"
    r"|(?:available|allowed)(?: again)?|resume|come back|cooldown)"
)
_PAUSE_IN_WORDS = re.compile(
    rf"{_WAITING}(?:[_ ]?(?:delay|after|in))?[\"'\s:=]*"
    rf"(?:(?:in|after|for|at least|another|about|approximately|your request|of)\s+)*(?P<duration>{_DURATION})"
)
_PAUSE_FIELD = re.compile(
    r"(?:retry|reset)[_-]?(?:after|delay|in)[_-]?(?P<unit>ms|s|seconds)?[\"']?\s*[:=]\s*[\"']?(?P<number>\d{1,9}(?:\.\d{1,12})?)(?![\w.])"
)
"""A field of JSON with a number alone."""
_PAUSE_IN_CHINESE = re.compile(r"(?<![\d.])(\d{1,9})\s?(秒|分)钟?\s?(?:之|以)?后")


def seconds_of(duration: str) -> float:
    """The seconds of a duration in words; 0 where it holds none.

    >>> seconds_of("7m12.5s"), seconds_of("1 hour and 5 minutes"), seconds_of("250ms")
    (432.5, 3900.0, 0.25)
    """
    total = 0.0
    for number, unit in re.findall(_QUANTITY, duration.lower()):
        total += float(number) * _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    return total


def pause_in(text: str) -> float | None:
    """The pause in seconds that an error asks for in its words; None where it names none.

    >>> pause_in('{"message": "Please retry in 50.1s."}'), pause_in('{"retryDelay": "50s"}')
    (50.1, 50.0)
    >>> pause_in("Please try again in 1m0.5s."), pause_in('{"retry_after": 12}'), pause_in("Try again.")
    (60.5, 12.0, None)
    """
    words = text.lower()
    if (sentence := _PAUSE_IN_WORDS.search(words)) is not None:
        return seconds_of(sentence["duration"])
    if (field := _PAUSE_FIELD.search(words)) is not None:
        return float(field["number"]) * _UNITS["ms" if field["unit"] == "ms" else "s"]
    if (chinese := _PAUSE_IN_CHINESE.search(words)) is not None:
        return float(chinese[1]) * _UNITS["s" if chinese[2] == "秒" else "m"]
    return None


_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_DIGITS: Mapping[str, str] = {
    **{word: str(number) for number, word in enumerate(_NUMBER_WORDS)},
    "single": "1",
    "dozen": "12",
    "thirty": "30",
    "fifty": "50",
    "hundred": "100",
}
_NUMBER_WORD = re.compile(rf"\b(?:a (?=single|dozen|hundred))?({'|'.join(_DIGITS)})\b")
_CHINESE_DIGITS = {"两": "2", **{digit: str(number) for number, digit in enumerate("零一二三四五六七八九十")}}
_CHINESE_NUMBER = re.compile(r"(?<![二三四五六七八九十])([一二两三四五六七八九十])(?=\s*[张幅个枚])")
_LINK = re.compile(r"https?://\S+")
_IMAGE_NOUN = re.compile(
    r"\b(?:image ?urls?|images?|pictures?|photos?|media|data-uris?)\b(?:\(s\))?"
    r"|图[片像]|圖[片像]|画像|이미지|imágenes|imagens|imagem|imagen|immagini|bildern?|изображени[а-я]*"
)
_IS_NO_COUNT = re.compile(
    # a size
    r"(?<![\d.,])\d[\d.,]{0,12}\s?(?:[kmg]i?b|bytes?|megapixels?|pixels?|px|tokens?)\b"
    r"|(?<!\d)\d{1,6}\s?[x×]\s?\d"
    # a place, or a part of a name
    r"|\[\d{1,6}\]|\b(?:index|position|number|no\.?|#)\s?\d+|\b[a-z]+[.-]?\d[\w.-]*"
    r"|(?<![\d.])\d[\d.]{0,9}-?[a-z]\w*"
)
"""Numbers of an error that count no images."""
_REWORDED = (
    (re.compile(r"(?:less|fewer) than or equal to|no greater than|not (?:be )?greater than"), "at most"),
    (re.compile(r"between (\d{1,6}) and (\d{1,6})"), r"at most \2"),
    (re.compile(r"\b(\d{1,6})\s?(?:-|–|~|to|through|至|到)\s?(\d{1,6})\b"), r"at most \2"),
    (re.compile(r"\b(\d{1,6}) (?:or|and) (?:fewer|less|below)"), r"at most \1"),
)
_BELOW = re.compile(r"(?:(?:less|fewer) than|(?<![<>])<(?!=))\s*(\d+)")
"""A limit that is itself too many."""

_LIMIT_WORD = (
    r"(?:\b(?:at most|more than|up to|max(?:imum|imal)?|exceed\w{0,3}|over|above|beyond|limit\w{0,5}"
    r"|greater than|cap(?:ped)?|number of|count|restricted to|configured"
    r"|máximo|máx|au plus|plus de|höchstens|mehr als|massimo|como mucho|dépasser|superar|überschreiten"
    r"|максимум|не более)\b|<=|≤|>|最多|最大|超过|超過|超出|上限|限制|只能|以内|최대|초과)"
)
_ALLOWING_WORD = (
    rf"(?:{_LIMIT_WORD}|\b(?:only|exactly|supports?|accepts?|takes?|allow(?:s|ed)?|permit(?:s|ted)?"
    r"|expect(?:s|ed)?|requires?|send|use|provide|include|must be|should be|just)\b|仅|只)"
)
_LIMITS = tuple(
    re.compile(pattern)
    for pattern in (
        # at most 8 images; exactly one user image; 最多支持 10 张图片
        rf"{_ALLOWING_WORD}[^.;\d]{{0,40}}?(\d+)(?:\s*[张幅个枚개]\s*|\s(?:(?!of\b)[\w()-]+\s){{0,3}}?)IMAGE",
        # one image per request, one image at a time
        r"\b(\d+) (?:\w+ )?IMAGE (?:per|at a time|each|in (?:a|1)|only)\b",
        # images must be at most 8; images: 32 > 8; 图片最多 8 张
        rf"IMAGE.{{0,100}}?{_LIMIT_WORD}[^;\d]{{0,40}}?(\d+)",
        # maximum number of images (50); limit the number of images to 60
        rf"{_LIMIT_WORD}[^;\d]{{0,40}}?IMAGE[^;\d]{{0,40}}?(\d+)",
        # got 32 images, expected 3; the number of images must be 1
        r"IMAGE[^;]{0,60}?\b(?:expected|allowed|permitted|supported|must be|should be|must equal)"
        r"(?: only| just)?[\s:=]{1,3}(\d+)",
        # 32 images, 12 allowed
        r"IMAGE[^;]{0,40}?\b(\d+) (?:are |is )?(?:allowed|permitted|supported|max(?:imum)?)\b",
    )
)
"""How errors write the limit, in words as `_plain` leaves them. The first two stand beside the noun, so that
other words of the error do not matter."""
_BESIDE_NOUN = 2
_NO_NUMBER = re.compile(
    r"too (?:many|much) (?:\w+ ){0,2}IMAGE|\bmulti(?:ple)?[ -]?IMAGE|(?:several|more than 1) IMAGE"
    r"|(?:number|amount|count|limit) of (?:\w+ )?IMAGE|IMAGE (?:count|limit)|IMAGE\s*(?:数量|过多|太多|枚数)"
)
_ONE_ALONE = re.compile(r"\bmulti(?:ple)?[ -]?IMAGE|\b1 IMAGE|(?:several|more than 1) IMAGE")
_OTHER_LIMIT = re.compile(
    r"dimension|resolution|\bpixel|\bsizes?\b|width|height|aspect|\btokens?\b|context"
    r"|per (?:minute|day|hour|second)|rate limit|\bbytes?\b"
)
"""Words of a limit that is not one of how many images."""


def _plain(words: str) -> str:
    """The words of an error with ``IMAGE`` for each image noun, digits for numbers, and without what counts
    no images.

    >>> _plain("You may provide no more than ten image_urls (5 MB each), see https://a.example/9")
    'you may provide no more than 10 IMAGE ( each), see '
    """
    text = _LINK.sub("", words.lower())
    text = _CHINESE_NUMBER.sub(lambda match: _CHINESE_DIGITS[match[1]], text)
    text = _NUMBER_WORD.sub(lambda match: _DIGITS[match[1]], text)
    text = _IMAGE_NOUN.sub("IMAGE", text.replace("_", " "))
    text = _IS_NO_COUNT.sub("", text)
    for pattern, replacement in _REWORDED:
        text = pattern.sub(replacement, text)
    return _BELOW.sub(lambda match: f"at most {int(match[1]) - 1}", text)


def _limits(text: str) -> list[int]:
    """The numbers of images that an error allows, in words as `_plain` leaves them; none where it is about
    something else."""
    patterns = _LIMITS[:_BESIDE_NOUN] if _OTHER_LIMIT.search(text) else _LIMITS
    numbers = [int(number) for pattern in patterns for number in pattern.findall(text)]
    return [number for number in numbers if 0 < number < 10_000]


def is_about_number_of_images(words: str) -> bool:
    """Whether an error is that of too many images in a request.

    >>> [is_about_number_of_images(words) for words in ("Send exactly one image", "image exceeds 5 MB")]
    [True, False]
    """
    text = _plain(words)
    return bool(_limits(text) or (_NO_NUMBER.search(text) and not _OTHER_LIMIT.search(text)))


def image_limit(words: str, sent: int) -> int:
    """How many images an error allows, after ``sent`` were too many: its largest number below that, or one
    where it says so in words. Half of them where it gives no number.

    >>> image_limit("too many images and documents: 120 + 0 > 100", 120)
    100
    >>> image_limit("At most 1 image(s) may be provided in one prompt.", 32)
    1
    >>> image_limit("too many images", 32)
    16
    """
    text = _plain(words)
    numbers = [number for number in _limits(text) if number < sent]
    if not numbers and _ONE_ALONE.search(text):
        return 1
    if not numbers:
        numbers = [int(number) for number in re.findall(r"(?<![\w.-])\d+(?![\w-]|\.\d)", text)]
    return max((number for number in numbers if 0 < number < sent), default=sent // 2)


_ASKED_AND_ALLOWED = re.compile(
    r"\blimit:? ?(?P<limit>\d[\d,]{0,12})\b.{0,60}?\brequested:? ?(?P<asked>\d[\d,]{0,12})\b"
)


def exceeds_limit_alone(words: str) -> bool:
    """Whether a single request is more than a limit of tokens a minute allows, so that waiting does not help.

    >>> exceeds_limit_alone("tokens per min (TPM): Limit 30000, Requested 42000")
    True
    >>> exceeds_limit_alone("tokens per min (TPM): Limit 30000, Used 29000, Requested 4200")
    False
    """
    if "request too large" in words.lower():
        return True
    if (figures := _ASKED_AND_ALLOWED.search(words.lower())) is None:
        return False
    limit, requested = (int(figures[name].replace(",", "")) for name in ("limit", "asked"))
    return requested > limit
