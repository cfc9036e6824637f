"""English words: numbers, articles, plurals, agreement, and how long a text is when spoken."""

from __future__ import annotations

import re

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VOWELS = re.compile(r"[aeiouy]", re.IGNORECASE)
_AN_DESPITE_SPELLING = ("hour", "honest", "heir")
_A_DESPITE_SPELLING = ("uni", "use", "usu", "eu", "one", "ewe")
_PLURALS = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "sheep": "sheep",
    "mouse": "mice", "goose": "geese", "foot": "feet", "fish": "fish", "deer": "deer",
    "knife": "knives", "bus": "buses", "aircraft": "aircraft",
}  # fmt: skip
_PAIRS = frozenset({"skis", "scissors", "glasses", "trousers", "binoculars"})
_MASSES = frozenset({"broccoli", "fire", "smoke", "water", "snow"})
_SINGULARS = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_GERUNDS = {"be": "being", "keep": "keeping"}


def number(count: int) -> str:
    """A small number as a word: ``3`` is "three"; above ten it stays in digits."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def article(noun: str) -> str:
    """The noun with its indefinite article, by sound: "an umbrella", "a unicycle", "an hour"."""
    word = noun.lower()
    vowel = word.startswith(_AN_DESPITE_SPELLING) or (
        word[:1] in "aeiou" and not word.startswith(_A_DESPITE_SPELLING)
    )
    return f"{'an' if vowel else 'a'} {noun}"


def plural(noun: str) -> str:
    """The noun's plural; only its last word changes: "wine glass" gives "wine glasses"."""
    *before, last = noun.split(" ")
    return " ".join([*before, _PLURALS.get(last) or _regular_plural(last)])


def counted(noun: str, count: int) -> str:
    """A noun phrase for so many: "a dog", "two dogs", "scissors", "several boats" for more than three."""
    if noun in _MASSES:
        return noun
    if noun in _PAIRS:
        return f"a pair of {noun}" if count == 1 else f"several pairs of {noun}"
    if count == 1:
        return article(noun)
    return f"{number(count) if count <= 3 else 'several'} {plural(noun)}"


def is_plural(noun: str, count: int) -> bool:
    """True where `counted`'s phrase takes a plural verb; "a pair of skis" and "smoke" do not."""
    return count > 1 and noun not in _MASSES


def agree(verb: str, many: bool) -> str:
    """The present form of a verb phrase; its first word is a verb, and so is one after "&" or ", then".

    "enter & come closer" gives "enters and comes closer" for one, "enter and come closer" for many.
    """
    parts = re.split(r"( & |, then )", verb)
    return "".join(_joint(part) if at % 2 else _present(part, many) for at, part in enumerate(parts))


def gerund(verb: str) -> str:
    """The -ing form of a verb phrase: "come closer" gives "coming closer"."""
    head, _, rest = verb.partition(" ")
    if head in _GERUNDS:
        form = _GERUNDS[head]
    elif head.endswith("e") and not head.endswith("ee"):
        form = f"{head[:-1]}ing"
    else:
        form = f"{head}ing"
    return f"{form} {rest}".rstrip()


def spoken_words(text: str) -> int:
    """How many words a voice says for a written text; never fewer than the words written.

    "2010" counts two, "www.sintel.org" seven (w, w, w, dot, sintel, dot, org), "sci-fi" two.
    """
    return sum(max(1, _spoken(token)) for token in text.split())


def capital(text: str) -> str:
    """The text with its first letter in upper case; opening quotation marks do not count."""
    for at, letter in enumerate(text):
        if letter.isalnum():
            return text[:at] + letter.upper() + text[at + 1 :]
    return text


def bare(text: str) -> str:
    """Letters and digits only, in lower case, single spaces: what two texts are compared by."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _regular_plural(noun: str) -> str:
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def _joint(part: str) -> str:
    return " and " if part == " & " else part


def _present(verb: str, many: bool) -> str:
    head, _, rest = verb.partition(" ")
    if head == "be":
        form = "are" if many else "is"
    elif many:
        form = head
    else:
        form = _SINGULARS.get(head) or _regular_plural(head)
    return f"{form} {rest}".rstrip()


def _spoken(token: str) -> int:
    address = re.fullmatch(r"\W*+((?:[\w-]++[./@:]++)++[\w-]++/?)\W*", token)
    if address and re.search(r"[a-z]", token, re.IGNORECASE):
        parts = [part for part in re.split(r"([./@:]+)", address[1]) if part]
        return sum(1 if re.match(r"[./@:]", part) else _spoken_word(part) for part in parts)
    return sum(_spoken_word(part) for part in re.findall(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*", token))


def _spoken_word(word: str) -> int:
    if word.isdecimal():
        return _spoken_number(word)
    if word.lower() == "www":
        return 3
    if len(word) > 1 and word.isascii() and not _VOWELS.search(word):
        return (len(word) + 1) // 2
    return 1


def _spoken_number(digits: str) -> int:
    """Words in a number: "forty-two" counts two, a year as "nineteen forty", others digit by digit."""
    value = int(digits)
    if len(digits) == 4 and value >= 1000:
        rest = value % 100
        return 1 + (2 if 0 < rest < 10 else _below_hundred(rest))
    return _below_hundred(value) if value < 100 else len(digits)


def _below_hundred(value: int) -> int:
    return 1 if value <= 20 or value % 10 == 0 else 2
