"""Whether a line is in the language that was asked for: a cheap test by script and by small words.

It is made for lines of AD, which are short. It speaks up only where it is sure: a line without any word that
it knows passes. English is what models fall back to, so English is known best, with its verbs; of other
languages the smallest words stand here. What is quoted, and names, are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from shotad.core import is_english, languages
from shotad.description.wording import without_quotations
from shotad.script import FUNCTION_WORDS, THIRD, listed

_SMALL: Mapping[str, str] = {
    "de": "der die das den dem des ein eine einen einem einer und ist sind er sie es auf mit in im an am zu "
    "zum zur von vom aus ihr ihre ihren sein seine seinen sich nicht vor hinter neben über unter "
    "durch dann während bei nach ab wird hat einander für noch wieder hinauf herab",
    "fr": "le la les l un une des du de d et est sont il elle ils elles on sur dans avec au aux à sa son "
    "ses leur se s qui que ne pas vers par pour sous puis tandis en devant derrière lui y c ce cette",
    "es": "el la los las un una unos unas de del y es son él ella ellos se en con a al su sus lo le por "
    "para que hacia desde sobre bajo mientras luego sin entre está están hasta tras",
    "it": "il lo la i gli le l un uno una di del della dei e è sono lui lei si in con a al alla su sul "
    "sulla suo sua suoi da dal dalla nel nella per che mentre poi verso tra dietro davanti",
    "pt": "o a os as um uma de do da dos das e é são ele ela eles se em no na nos nas com ao à seu sua seus "
    "por para que enquanto depois sobre sob até pela pelo está estão",
    "nl": "de het een en is zijn hij zij ze op met in aan van uit haar hun zich niet voor achter naast over "
    "onder door dan terwijl bij naar te er die dat om wordt heeft weer",
    "sv": "och är en ett den det de han hon på med i av till från sin sitt sina sig inte för över under "
    "genom sedan medan vid ut in upp ner om mot som när hans hennes",
    "da": "og er en et den det de han hun på med i af til fra sin sit sine sig ikke for over under gennem "
    "så mens ved ud ind op ned om mod som når hans hendes",
    "nb": "og er en et ei den det de han hun på med i av til fra sin sitt sine seg ikke for over under "
    "gjennom så mens ved ut inn opp ned om mot som når hans hennes",
    "fi": "ja on ovat hän he se ne ei joka kun sitten sen hänen heidän kohti päälle alla jonka vasten yli "
    "läpi",
    "pl": "i w na z ze do od po za przy pod nad przez się jest są nie on ona oni jej jego ich to ten ta a "
    "który która gdy potem ku o u swoją swój swoje",
    "cs": "a v na z ze do od po za u pod nad přes se je jsou si on ona oni její jeho jejich to ten ta který "
    "když pak k ke s o svou svůj své není",
    "sk": "a v na z zo do od po za pri pod nad cez sa je sú si on ona oni jej jeho ich to ten tá ktorý keď "
    "potom k ku s o svoju svoj nie",
    "hu": "a az egy és is van nem ő ők hogy majd míg fel le ki be meg egyik mögött előtt alatt felett között",
    "ro": "un o și este sunt el ea ei pe cu în la de din lui sa său se nu spre prin sub peste apoi care "
    "când al a către iar ale",
    "tr": "bir ve bu o da de ile için onun gibi sonra doğru üzerine yanına içine olan değil iki her kadar",
    "hr": "i u na s sa iz do od po za pri pod nad kroz se je su ne on ona oni njen njegov to taj ta koji "
    "kad zatim prema o svoj svoju",
    "sl": "in v na z s iz do od po za pri pod nad skozi se je sta so ne on ona oni njen njegov to ta ki ko "
    "nato proti o svoj svojo",
    "ca": "el la els les l un una uns de del d i és són ell ella es s en amb a al seu seva seus per que cap "
    "des sobre sota mentre després entre",
    "id": "yang dan di ke dari dengan ini itu adalah ia dia mereka pada untuk sebuah seorang tidak lalu "
    "saat dalam akan oleh",
    "vi": "và là của một các những trong trên dưới với anh cô họ ông bà đang không ra vào lên xuống đến khi "
    "cho người chiếc",
    "et": "ja on ei ta nad see mis kes oma üle läbi alla peale juures siis kui ning",
    "lv": "un ir viņš viņa viņi uz ar no pie pār zem caur tad kad kas savu nav",
    "lt": "ir yra jis ji jie ant su iš prie per po tada kai kuris savo nėra į",
}

_SIBLINGS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in ("da nb nn no sv", "cs sk", "hr sr bs sl", "es gl ca pt ast", "id ms", "de gsw nds lb",
                  "nl af fy", "fr oc", "it co sc")
)  # fmt: skip
"""Languages that share so many small words that a short line of one may pass for another."""

_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(listed("ru uk be bg mk kk ky mn tg tt ba cv os ce av ab kv cu"), ("CYRILLIC",)),
    **dict.fromkeys(listed("ar fa ur ps sd ug ks"), ("ARABIC",)),
    **dict.fromkeys(listed("he yi"), ("HEBREW",)),
    **dict.fromkeys(listed("hi mr ne sa mai bho kok"), ("DEVANAGARI",)),
    **dict.fromkeys(listed("bn as mni"), ("BENGALI",)),
    **dict.fromkeys(listed("am ti"), ("ETHIOPIC",)),
    **dict.fromkeys(listed("bo dz"), ("TIBETAN",)),
    **dict.fromkeys(listed("zh yue cmn"), ("CJK",)),
    "el": ("GREEK",), "pa": ("GURMUKHI",), "gu": ("GUJARATI",), "or": ("ORIYA",), "ta": ("TAMIL",),
    "te": ("TELUGU",), "kn": ("KANNADA",), "ml": ("MALAYALAM",), "si": ("SINHALA",), "th": ("THAI",),
    "lo": ("LAO",), "my": ("MYANMAR",), "km": ("KHMER",), "ka": ("GEORGIAN",), "hy": ("ARMENIAN",),
    "ko": ("HANGUL", "CJK"), "ja": ("HIRAGANA", "KATAKANA", "CJK"), "dv": ("THAANA",), "chr": ("CHEROKEE",),
}  # fmt: skip
_BY_TAG: Mapping[str, tuple[str, ...]] = {
    "latn": ("LATIN",), "cyrl": ("CYRILLIC",), "arab": ("ARABIC",), "deva": ("DEVANAGARI",),
    "hebr": ("HEBREW",), "grek": ("GREEK",), "guru": ("GURMUKHI",), "beng": ("BENGALI",),
}  # fmt: skip
_KANA = ("HIRAGANA", "KATAKANA")
_EITHER = frozenset(("sr", "az", "uz", "tk", "ku", "ms", "iu", "bs"))
"""Languages that are written in two scripts; without one in the tag any will do."""

_WORD = re.compile(r"(?<=\w)['’]s\b|(?<!\w)[^\W\d_]+(?!\w)")
_ENGLISH_SHARE = 0.3
_FEW = 3
"""Words of a line in which one English word is enough, if it is no word of other languages (no, in, on)."""
_SURE = 3
"""Small words of another language from which a line without any of its own is taken for that one."""


def other_language(text: str, language: str, names: Collection[str] = ()) -> str | None:
    """What a text is in that is plainly not in ``language`` (a tag): ``English``, or another in English
    words. None where it is, or may be.

    >>> other_language("She opens the door.", "de"), other_language("Sie öffnet die Tür.", "de")
    ('English', None)
    """
    plain = without_quotations(text)
    for name in names:
        plain = re.sub(rf"(?<!\w){re.escape(name)}", " ", plain)
    wanted = _scripts_of(language)
    if wanted and (strange := _in_another_script(plain, wanted, language)):
        return strange if strange != "LATIN" else _latin_language(plain, language) or "another script"
    words = _words(plain)
    return _by_words(words, language) if words and "LATIN" in (wanted or ("LATIN",)) else None


def looks_english(lines: Sequence[str]) -> bool:
    """Whether most of these lines are English, as far as the test can tell."""
    told = [_english_share(_words(line)) for line in lines]
    return bool(told) and sum(share >= _ENGLISH_SHARE for share in told) * 2 > len(told)


def _by_words(words: Sequence[str], language: str) -> str | None:
    code, english = _code(language), is_english(language)
    own = {word for word in words if word in (_english() if english else _small(code))}
    if not english and _comes_in_english(words, own):
        return "English"
    others = {
        other: sum(word in _small(other) for word in words)
        for other in _SMALL
        if other != code and not any({other, code} <= group for group in _SIBLINGS)
    }
    best = max(others, key=lambda other: others[other])
    if english:
        sure = not own - _small(best) and others[best] * 2 >= len(words)
    else:
        sure = not own and others[best] * 4 >= len(words)
    return languages()[best] if sure and others[best] >= _SURE else None


def _comes_in_english(words: Sequence[str], own: Collection[str]) -> bool:
    """Whether more words are English than are the language's ``own``; what both have speaks for neither."""
    foreign = [word for word in words if word in _english() and word not in own]
    few = len(words) <= _FEW and any(word in _plainly_english() for word in foreign)
    ours = sum(word in own and word not in _english() for word in words)
    enough = len(foreign) >= (1 if few else 2)
    return enough and len(foreign) > ours and _english_share(words) >= _ENGLISH_SHARE


def _english_share(words: Sequence[str]) -> float:
    return sum(word in _english() for word in words) / len(words) if words else 0.0


def _latin_language(text: str, language: str) -> str | None:
    """Which language a text in Latin letters is in, where another script was asked for."""
    words = _words(text)
    return "English" if _comes_in_english(words, ()) else _by_words(words, language)


def _in_another_script(text: str, wanted: Sequence[str], language: str) -> str | None:
    """The script of most letters, where few are in one of those wanted: a brand may be in any."""
    found = [_script(char) for char in text if char.isalpha()]
    if not found:
        return None
    if _code(language) in ("zh", "yue", "cmn") and sum(one in _KANA for one in found) * 5 > len(found):
        return "Japanese"
    if _code(language) == "ja" and len(found) >= 8 and not any(one in _KANA for one in found):
        return "Chinese" if "CJK" in found else max(set(found), key=found.count)
    if sum(one in wanted for one in found) * 3 >= len(found):
        return None
    most = max(sorted(set(found)), key=found.count)
    return most if most == "LATIN" else most.capitalize() + " letters"


def _scripts_of(language: str) -> tuple[str, ...] | None:
    """The scripts that a language may be written in; None where any will do."""
    parts = language.lower().replace("_", "-").split("-")
    by_tag = next((_BY_TAG[part] for part in parts[1:] if part in _BY_TAG), None)
    if by_tag is not None:
        return by_tag
    return None if parts[0] in _EITHER else _SCRIPTS.get(parts[0], ("LATIN",))


def _code(language: str) -> str:
    code = language.lower().replace("_", "-").split("-")[0]
    return {"no": "nb", "nn": "nb", "bs": "hr", "sr": "hr", "ms": "id"}.get(code, code)


@cache
def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ")[0].removesuffix("-")


@cache
def _small(code: str) -> frozenset[str]:
    return frozenset(_SMALL.get(code, "").split())


@cache
def _plainly_english() -> frozenset[str]:
    return frozenset(THIRD | listed("the his her their they and with from into of 's"))


@cache
def _english() -> frozenset[str]:
    return frozenset(FUNCTION_WORDS | THIRD | {"'s"}) - {"s", "t"}


def _words(text: str) -> list[str]:
    """In small letters; an English genitive is a word of its own."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]
