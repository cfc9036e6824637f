"""Words that the Penn Treebank tokeniser knows one by one, as patterns."""

from __future__ import annotations


def _any(*lines: str) -> str:
    """Any of these words, the longer first."""
    return "|".join(sorted(" ".join(lines).split(), key=lambda word: (-len(word), word)))


def _with_a_capital(*lines: str) -> str:
    """Any of these words; the first letter only as it is here."""
    return "|".join(f"{word[0]}(?i:{word[1:]})" for word in " ".join(lines).split())


COUNTRY_PAIRS = r"(?i:(?:Canada|Sino|Korean|EU|Japan|non)-U\.S|U\.S\.-(?:U\.K|U\.S\.S\.R))"
"""Names of several states that are one token before a full stop."""

_MOSTLY_LAST = _any(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thurs Fri",
    "Ala Ariz Calif Colo Conn Ct Dak Fla Ga Ind Kan Kans Ky Md Mich Minn Mo Mont Neb Nev Okla Penn Tenn Va",
    "Vt Wis Wisc Wyo Inc Co Cos Corp Ltd Plc Rt Bancorp Bhd Assn Univ Intl Sys",
    "tel est ext sq Jr Sr Bros Blvd Rd Esq etc al seq Bldg Ed\\.D Ph\\.D",
)
_STATES = _with_a_capital("Ark Az Del Ill La Mass Miss Ore Pa Tex Wash")
"""Common words too, unless written with a capital."""
ABBREVIATIONS = f"(?i:{_MOSTLY_LAST})|{_STATES}|[Pp]?[Pp](?i:t)[ye]s?"
"""Keep their full stop, though a sentence may end with them."""

_NEVER_LAST = _any(
    "Mr Mrs Ms Dr Drs Prof Profs Sen Sens Rep Reps Atty Attys Lt Col Gen Messrs Gov Govs Adm Rev Maj Sgt Cpl",
    "Pvt Mt Capt St Ste Ave Pres Lieut Hon Brig Cmdr Comdr Pfc Spc Supt Supts Det Ft Adj Adv Asst Assoc Ens",
    "Insp Mlle Mme Msgr Sfc Ph Dept Invt Elec Natl vs Alex Wm Jos Cie cf TREAS a\\.k\\.a",
)
TITLES = f"(?i:{_NEVER_LAST})|[Mm][ft](?i:g)|{_with_a_capital('Miss')}"
"""Keep their full stop, and no sentence ends with them."""

BEFORE_NUMBERS = _any("ca fig figs prop no nos art bldg pp op")
"""Keep their full stop before a number only."""

SENTENCE_BEGINS = _with_a_capital(
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More",
    "Mr\\. Ms\\. Now Once One Other Our She Since So Some Such That The Their Then There These They This We",
    "What When While Yet You",
)
"""Words that begin a new sentence after initials."""

FILE_ENDINGS = _any(
    "bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt",
    "ps py sql tar txt wav x xml zip",
)

TELEPHONE = (
    r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[\- \xa0])?[0-9]{2,4}[\- \xa0])"
    r"[0-9]{3,4}[\- \xa0]?[0-9]{3,5}|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5}"
)

FACE = (
    r"[\^x=~<>]\.\[\^[xX]=[^<\n]*<>\]|[\-\^x=~<>']_[\-\^x=~<>']"
    r"|\([\-\^x=~<>'][_.]?[\-\^x=~<>']\)|\([\^x=~<>']-[\^x=~<>'`]\)"
)
"""Faces made of signs, read upright."""


def with_apostrophes(apostrophe: str, inner: str, letters: str) -> str:
    """Words that an apostrophe is part of."""
    a = apostrophe
    return (
        f"{a}(?i:n){a}?|(?i:Dunkin|somethin|ol){a}|{a}(?i:em)"
        f"|[A-HJ-XZn]{inner}[{letters}]{{2}}[{letters}]*|{a}[2-9]0(?i:s)|{a}(?i:till?)"
        f"|[{letters}]+[aeiouyAEIOUY]{inner}[aeiouA-Z][{letters}]*|{a}(?i:cause)|(?i:o){inner}(?i:o)"
        rf"|[lLdDjJ]{a}|(?i:cont'd\.?|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l)"
    )


def special(apostrophe: str, ampersand: str) -> str:
    """Single ones that no rule makes."""
    return (
        f"-(?i:[LR][RCS]B)-|(?i:C\\.D\\.s|pro-|anti-)|(?i:S){ampersand}(?i:P-500|Ls)"
        f"|(?i:cap){apostrophe}(?i:n)|(?i:c){apostrophe}(?i:est)"
    )
