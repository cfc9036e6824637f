"""What an English line is made of, and in which language a line is.

AD is plain prose in the present tense: the list of the verbs that describers use finds nearly all of them
(a verb in 93 % of the 7,316 lines of CMD-AD's test set). It is for comparing lines with each other and with a
description. Other languages have no verbs here; their words are compared as they are.

Languages are identified by py3langid (BSD), which knows some 140. Lines of AD are short, so its answer counts
only where it is sure; for English, to which models fall back, less is enough. Where English is asked for, it
need not be sure of a line that has hardly a word of the lists of English. Quotations, names, and lettering
after its label (``Title: Les Enfants du Paradis.``) are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from shotad.core.config.languages import is_english, languages
from shotad.script import split_sentences
from shotad.script.english_words import (
    ADJECTIVE_ENDINGS,
    ADJECTIVES,
    ADVERBS,
    AFTER_A_VERB,
    BEFORE_NOUNS,
    COLOURS,
    FLOATING_QUANTIFIERS,
    FUNCTION_WORDS,
    LEMMAS,
    MASS_NOUNS,
    MOSTLY_NOUNS,
    NOMINATIVE_PRONOUNS,
    NOUNS_TOO,
    OBJECT_STARTERS,
    OTHER_WORDS,
    PARTICIPLES,
    PERFECTS,
    PLAIN_VERBS,
    PREPOSITIONS,
    THIRD_PERSON_VERBS,
    UNFINISHED_ENDINGS,
    lemma,
    listed,
    singular,
)
from shotad.script.letters import script_of, script_of_tag, words_in_other_scripts
from shotad.script.reasons import in_english
from shotad.script.rules import quotations

_NOUNS = NOUNS_TOO | MOSTLY_NOUNS | frozenset(map(lemma, NOUNS_TOO))
_SURE_VERBS = (
    (PLAIN_VERBS | THIRD_PERSON_VERBS)
    - _NOUNS
    - MASS_NOUNS
    - ADJECTIVES
    - ADVERBS
    - AFTER_A_VERB
    - PREPOSITIONS
    - listed("close clear slow")
)
_NO_SUBJECTS = FLOATING_QUANTIFIERS | {"then"}
_SUBJECTS = NOMINATIVE_PRONOUNS | listed("someone somebody everyone everybody")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in small letters, its lemma, and whether it is a verb where it stands."""

    text: str
    lemma: str
    verb: bool


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text; a verb's form after an article, a possessive or a preposition is none."""
    matches = list(_WORD.finditer(text))
    raws = [match.group().replace("’", "'") for match in matches]
    words: list[Word] = []
    for i, raw in enumerate(raws):
        # A word behind a comma or a full stop says nothing about this one.
        has_next = i + 1 < len(raws) and not text[matches[i].end() : matches[i + 1].start()].strip()
        # "in black" ends a phrase: the word behind it has nothing before it.
        is_after_clothes = i > 1 and raws[i - 2].lower() == "in" and raws[i - 1] in COLOURS
        before = raws[i - 1] if i and not is_after_clothes else ""
        after = raws[i + 1] if has_next else ""
        is_verb = _is_verb(raw, before, after, words)
        form = raw.lower()
        stem = form.removesuffix("'s")
        base = LEMMAS[form] if is_verb and form in LEMMAS else singular(stem)
        words.append(Word(stem, base, is_verb))
    return tuple(words)


def verbs_of(text: str) -> frozenset[str]:
    """Lemmas of the verbs, but for ``be`` and ``have``."""
    return frozenset(word.lemma for word in words_of(text) if word.verb) - {"be", "have"}


def content_of(text: str) -> Counter[str]:
    """Lemmas of the words that carry meaning, counted."""
    return Counter(word.lemma for word in words_of(text) if word.text not in FUNCTION_WORDS)


def subject_and_verb(text: str) -> tuple[str, str]:
    """Subject and first verb by lemma, empty where there is none: ``Slowly, Ann opens it → (ann, open)``.

    The subject is the last word before the verb that is no adverb; a participle waits for the finite verb.
    """
    words = words_of(text)
    verbs = [i for i, word in enumerate(words) if word.verb]
    finite = []
    for i in verbs:
        form, base = words[i].text, words[i].lemma
        participle = form.endswith("ing") or form in PERFECTS or (i == 0 and form in PARTICIPLES)
        if form == base or not participle:
            finite.append(i)
    if not verbs:
        return "", ""
    main_verb = (finite or verbs)[0]
    subjects = [
        word.lemma
        for word in words[:main_verb]
        if not word.verb and not word.text.endswith("ly") and word.text not in _NO_SUBJECTS
    ]
    return subjects[-1] if subjects else "", words[main_verb].lemma


def without_quotations(text: str) -> str:
    """The text with blanks in place of what stands in quotation marks."""
    for start, end in quotations(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def letters_of(text: str) -> str:
    """Letters and digits in small letters, without anything between."""
    return "".join(char for char in text.casefold() if char.isalnum())


def is_unfinished(text: str) -> bool:
    """True for a line that breaks off: its last word wants another, such as ``the`` or ``of``."""
    words = words_of(text)
    return bool(words) and words[-1].text in UNFINISHED_ENDINGS


def _is_verb(raw: str, raw_before: str, after: str, earlier: list[Word]) -> bool:
    """Whether the word ``raw`` is a verb.

    ``raw_before`` and ``after`` stand beside it (empty: a phrase begins or ends there), ``earlier`` are all
    words before it.
    """
    word, before = raw.lower(), raw_before.lower()
    infinitive = raw[:1].isupper() and LEMMAS.get(word) == word
    if infinitive and (before or after not in AFTER_A_VERB - {"and", "as", "while"}):
        return False  # a name: "Bob watches", "Mark and Ann"; but not "Cut to black"
    if word in _NOUNS and before not in _SUBJECTS:
        # What is often a noun, after an adjective or before a verb: "the old train | stops"
        ending = ADJECTIVE_ENDINGS.search(raw_before) if raw_before.islower() else None
        if raw_before in ADJECTIVES - OTHER_WORDS or (ending and before not in _NOUNS):
            is_noun = after not in OBJECT_STARTERS
        elif word in NOUNS_TOO:
            is_noun = before in FLOATING_QUANTIFIERS or after in _SURE_VERBS
        else:
            is_noun = after in THIRD_PERSON_VERBS - MOSTLY_NOUNS
        if is_noun:
            return False
    if before in BEFORE_NOUNS or before.endswith("'s") or word in PREPOSITIONS:
        return False
    if word in LEMMAS:
        # "pulls open", "stops short": a bare form right after a verb is none.
        return LEMMAS[word] != word or not earlier or not earlier[-1].verb
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and before in _SUBJECTS


_ENGLISH = 5.0
"""Times by which English must be likelier than the language asked for: of 1,045 human AD lines that it was
not chosen on 96 to 100 % are found, and of 500 captions in nine languages none is doubted."""
_OTHER = 250.0
"""The same for any other language, which must also be `_LIKELY`."""
_LIKELY = 0.7
"""Probability from which a language is taken for that of a line."""

_SIBLINGS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in ("da no nn sv", "cs sk", "hr sr bs sl", "es gl ca pt an", "id ms", "de lb", "nl af fy",
                  "fr oc", "it lij vec", "zh yue wuu", "ar ary arz")
)  # fmt: skip
"""Languages so much alike that a short line of one may pass for another."""

_LETTERING_NOUNS = listed(
    "banner billboard caption card clapperboard credit credits headline inscription intertitle label"
    " lettering letters logo note placard plaque postcard poster screen sign subtitle text title titles"
    " words"
)
_LETTERING = re.compile(
    rf"(?P<label>\b(?:{'|'.join(sorted(_LETTERING_NOUNS))})\b[^:.!?\n]{{0,40}}|\b(?:reads?|says?)):[^.!?\n]*",
    re.IGNORECASE,
)
"""Lettering that a line reads out without quotation marks, behind its label."""
_VERBS_OF_THINGS = listed(
    "bake beep blare bubble burble char chime chirp churn clank clatter clink coagulate congeal cool"
    " creak crackle crumble crunch curdle dangle defrost dissolve drizzle drool erupt evaporate fizz"
    " fizzle flicker foam ferment froth fry gleam glint glisten gurgle hiss jiggle jingle ooze ping pop"
    " puff quiver rattle ripen rustle scorch seethe shimmer simmer sizzle slosh smoulder smolder sparkle"
    " spatter spew splatter splutter sputter squeak squelch steam swirl thaw tinkle topple trickle"
    " twinkle waft whir whirr wilt wobble"
)
"""What things do in a line of few words, whose subject may be a foreign word: ``Ratatouille bubbles.``"""
_ENGLISH_WORDS = (
    FUNCTION_WORDS
    | ADJECTIVES
    | ADVERBS
    | NOUNS_TOO
    | MASS_NOUNS
    | PREPOSITIONS
    | frozenset(LEMMAS)
    | _LETTERING_NOUNS
    | _VERBS_OF_THINGS
)
_FEW_ENGLISH = 0.25
"""Share of words known as English up to which a line need only be `_UNENGLISH` to be in another language.

Both numbers were chosen on the 7,316 human AD lines of CMD-AD, of which 2 are refused, and on 382 captions in
five languages, of which 366 are found. First reading on lines not looked at before: 1 of 2,983 lines of TV-AD
refused (a name and a greeting), 3 of 202 other human lines (credits), and 118 of 120 short lines in twelve
languages found."""
_UNENGLISH = 5.0
"""Times by which another language must be likelier than English for such a line."""


def other_language(text: str, language: str, names: Collection[str] = ()) -> str | None:
    """The language of a text that is plainly not in ``language`` (a tag), in English; None where it may be.

    >>> other_language("She opens the door.", "de"), other_language("Sie öffnet die Tür.", "de")
    ('English', None)
    """
    plain = without_quotations(text)
    if is_english(language):
        plain = _LETTERING.sub(r"\g<label>", plain)
    for name in names:
        plain = re.sub(rf"(?<!\w){re.escape(name)}", " ", plain)
    if not any(map(str.isalpha, plain)):
        return None
    likely: dict[str, float] = dict(_identifier().rank(plain))
    code = language.lower().replace("_", "-").split("-")[0]
    code = {"nb": "no", "cmn": "zh"}.get(code, code)
    accepted = {code}.union(*(group for group in _SIBLINGS if code in group))
    accepted_share = max((likely.get(accepted_code, 0.0) for accepted_code in accepted), default=0.0)
    best = max(likely, key=likely.__getitem__)
    # A short Spanish line may be Galician or Portuguese as well, and is no German one all the same.
    siblings = {best}.union(*(group for group in _SIBLINGS if best in group)) - accepted
    best_share = sum(likely.get(sibling, 0.0) for sibling in siblings)
    is_likely = best_share >= _LIKELY and best_share > _OTHER * accepted_share > 0
    if is_english(language) and likely[best] > _UNENGLISH * accepted_share:
        is_likely = is_likely or _share_of_english(plain) <= _FEW_ENGLISH
    if best not in accepted and is_likely:
        return languages().get(best, "another language")
    # Where the test does not know the language asked for, it must be sure of English.
    may_be_english = accepted_share > 0 or likely["en"] >= _LIKELY
    if not is_english(language) and may_be_english and likely["en"] > _ENGLISH * accepted_share:
        return "English"
    # The tag may name a script in which few of the letters are
    script = script_of_tag(language)
    if script is None:
        return None
    letter_scripts = [script_of(letter) for letter in plain if letter.isalpha()]
    is_other_script = 3 * letter_scripts.count(script) < len(letter_scripts)
    return "another script" if is_other_script else None


def plain_language(text: str, language: str) -> str | None:
    """The code of the language of a longer text that is plainly not in ``language`` (a tag).

    None where it may be in it, or has too few words to be sure.
    """
    if len(text.split()) < _WORDS_TO_BE_SURE or other_language(text, language) is None:
        return None
    code, share = _identifier().classify(text)
    return str(code) if share >= _SURE and code in languages() else None


_WORDS_TO_BE_SURE = 12
_SURE = 0.99


def language_fault(text: str, language: str, names: Collection[str] = (), material: str = "") -> str | None:
    """What a text is that is not, or not wholly, in ``language`` (a tag), as a sentence goes on; else None.

    Letters of another script are enough, but for words that ``material`` has: names, what is read from the
    screen.

    >>> language_fault("Eine Frau lächelt.", "en"), language_fault("A woman 微笑着 smiles.", "en")
    ('in German', 'partly in another script ("微笑着")')
    >>> language_fault('A sign reads "出口".', "en", material='A door. A sign reads "出口".')
    """
    wrong_language = other_language(text, language, names)
    if wrong_language is not None:
        return _fault_in(wrong_language)
    sentences = split_sentences(text, language)
    for sentence in sentences if len(sentences) > 1 else ():
        wrong_language = other_language(sentence, language, names)
        if wrong_language is not None and len(sentence.split()) >= _WORDS_OF_SENTENCE:
            return _fault_in(wrong_language, partly=True)
    allowed_text = "\n".join((material, *names)).casefold()
    strange_words = [
        word for word in words_in_other_scripts(text, language) if word.casefold() not in allowed_text
    ]
    if not strange_words:
        return None
    own_letters = sum(map(str.isalpha, text)) - sum(sum(map(str.isalpha, word)) for word in strange_words)
    letters = f'"{" ".join(strange_words[:_MOST_SHOWN])}"'
    return in_english("fault.partly_script" if own_letters > 0 else "fault.script", letters=letters)


def _fault_in(language: str, *, partly: bool = False) -> str:
    """What a text is that is in ``language``, or in part: an English name, or another script or language."""
    match language, partly:
        case "another language", False:
            return in_english("fault.other_language")
        case "another language", True:
            return in_english("fault.partly_other_language")
        case "another script", False:
            return in_english("fault.other_script")
        case "another script", True:
            return in_english("fault.partly_other_script")
    return in_english("fault.partly_language" if partly else "fault.language", language=language)


_WORDS_OF_SENTENCE = 3
"""Words from which one sentence of several is enough to tell a language."""
_MOST_SHOWN = 5
"""Words in another script that a fault names."""


def _share_of_english(text: str) -> float:
    """The share of a text's words that are known as English: no names, few nouns; 1 for no words."""
    words = [match.group().replace("’", "'").lower().removesuffix("'s") for match in _WORD.finditer(text)]
    english = sum(word in _ENGLISH_WORDS or singular(word) in _ENGLISH_WORDS for word in words)
    return english / len(words) if words else 1.0


def looks_english(lines: Sequence[str]) -> bool:
    """Whether most of these lines are English, as far as the test can tell."""
    english: list[bool] = [_identifier().classify(line)[0] == "en" for line in lines]
    return 2 * sum(english) > len(lines)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def with_own_words(line: str, own_words: Mapping[str, str]) -> str:
    """``line`` with the listener's words in place of others (``prompt.own_words``), longer ones first.

    Whole words only, in the case in which they are given; what begins the sentence keeps its capital letter.
    Quoted text stays as it is.

    >>> with_own_words("The boy sees Thom's sign: 'Thom'.", {"Thom": "Dad", "the boy": "my brother"})
    "My brother sees Dad's sign: 'Thom'."
    """
    if not own_words:
        return line
    instead = {word.casefold(): own_word for word, own_word in own_words.items()}
    longest_first = sorted(own_words, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)
    quoted = quotations(line)

    def own(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in quoted):
            return match[0]
        written, own_word = match[0], instead[match[0].casefold()]
        # A name in lower case is another word: will, rose.
        if written.islower() and written not in own_words:
            return written
        began_in_lower_case = written not in own_words and written[0].isupper()
        return own_word[0].upper() + own_word[1:] if began_in_lower_case else own_word

    return pattern.sub(own, line)
