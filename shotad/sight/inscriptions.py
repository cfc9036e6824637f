"""From lines read in frames to facts about text on the screen: what stands there, and what it is.

Lines are followed from frame to frame: an inscription, often read, in its best spelling. Pure: works on what
was read, not on pictures. The aim is to say nothing rather than something false; what counts, and how, is
stated at each rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import fmean, median

import numpy as np

from shotad.core import Box, Interval
from shotad.core.engine import TextFact, TextKind
from shotad.core.types import clip_all
from shotad.sight.motion import best_pairs
from shotad.sight.text import TextLine, is_readable, letters, tidy

TEXT_SCORE = 0.9
"""Score of a line that is sure enough to be said aloud (benchmarks/text.py)."""
_SURE_ALONE = 0.97
"""Score of a line that counts though it was read in a single frame, if it is also large."""
_LARGE = 0.06
"""Height of a large line, as a fraction of the picture's."""
_MARK = 0.1
"""Height of a mark in a corner, at most."""
_MARK_WORDS = 2
_MARKED = 5.0
"""Seconds for which a mark stands, and luma levels by which the picture around it changes meanwhile."""
_LIVELY = 2.5
_WILD = 10.0
"""Luma levels by which all the picture around a text changes as the camera moves, more than by people who
pass a sign."""
_STEADY = 0.9
"""Share of its readings that must agree on how lettering, or a text over a picture, is spelt, and of the
frames between in which such a text must be read."""
_COMES = 2
"""Frames of its shot that a text laid over the picture is not in yet, or no more."""
_MIDDLE = 0.06
"""Widths by which the middle of a title may miss the picture's."""
_STILL = (0.015, 0.03)
"""Widths and heights of the picture by which a text that keeps its place may be read elsewhere."""
_CARD = 0.75
"""Share of the picture, beside the text, that is plain on a card."""
_CREDITS_CARD = 0.5
"""The same behind credits, which may have a picture beside them."""
_FILLS = (0.4, 0.12)
"""Width of the picture that a text has which fills it, and the share of the picture that its lines cover."""
_CUT_OFF = 0.008
"""Widths from the picture's side within which a line is most likely cut off."""
_LONE_WORDS = frozenset("aio&éyeà")
"""Words of one letter with which a text may begin."""
_LETTERS = 4
"""Letters and digits of a text that is told: two or three are as often a misread thing."""
_NOTICE = re.compile(
    r"\brated\b|\brating\b|\bmotion picture association\b|\bthe following (?:preview|program|film)\b"
    r"|\bappropriate audiences\b|\bparental (?:guidance|advisory)\b|\bparents strongly cautioned\b"
    r"|\bviewer discretion\b|\ball rights reserved\b|\bunauthori[sz]ed\b|\bcopyright\b|©|\bfederal law\b"
    r"|\bfbi\b|\bany (?:resemblance|similarity)\b|\bsubscribe\b|\bdownloaded from\b|\bproduct placement\b",
    re.IGNORECASE,
)
"""Words of ratings, warnings and other notices that are not part of the film's story."""
_GLANCE = 1.2
"""Seconds for which text that is not large must stand to be told."""
_BESIDE = 1.0
"""Seconds by which a lost line of a text may be read before or after the rest."""
_TITLE_LINES = 4
"""Lines that a title has at most: more are a card, a page or a screen."""
_SCREEN = 8
"""Lines of all kinds in the picture at most that has a title: where there are more it is a screen."""
_EVEN = 4.0
"""Luma levels by which an even stripe differs in itself at most."""
_PLAIN = 12.0
"""Standard deviation of luma up to which the ground around a line is a plain card's."""
_SMALL = 0.12
"""Height up to which a line may be one of a roll of credits."""
_ROLL = 0.1
"""Height of a line of credits that rise, at most."""
_ROLLS = 2.5
"""Seconds for which credits roll: a sign that the camera passes rises for less."""
_PROSE = 5
"""Words in a line of prose, at least, on the mean."""
_ROLE = re.compile(
    r"\b(?:directed|written|produced|edited|designed|composed|presented|story|screenplay|music|photographed"
    r"|film|costumes?|casting|animation|based) (?:by|on)\b|\bstarring\b|\bfeaturing\b|\bdirectors?\b"
    r"|\bproducers?\b|\beditors?\b|\bcinematograph|\bscreenplay\b|\bcast(?:ing)?\b|\bcrew\b|\bcomposers?\b"
    r"|\bassistants?\b|\bsupervis|\bdesigner\b|\bcostumes?\b|\bmake-?up\b|\bcopyright\b|©"
    r"|\ball rights reserved\b|\bspecial thanks\b|\bwith the support of\b",
    re.IGNORECASE,
)
"""Words of credits in English; other languages are recognised by form alone."""
_ROLE_ALONE = re.compile(
    r"(?:music|sound|camera|photography|lighting|story|screenplay|script|animation|visual effects"
    r"|production)",
    re.IGNORECASE,
)
"""What names a role where it is a line of its own, above or below a name."""
_SELLER = re.compile(
    r"^(?:www\.)?[\w-]+\.(?:com|net|tv|io)$|shutter ?stock|getty ?images|istock|dreamstime", re.IGNORECASE
)
"""What those who make or sell films print over the pictures of copies for a look."""
_SENTENCE_END = re.compile(r"[.?!…][\"'”’)]*$|[,;]$|\.\.\.")


def texts_of_shots(
    observations: Sequence[FrameText], speech: Sequence[Interval] = ()
) -> tuple[TextFact, ...]:
    """The texts seen in ``observations`` (ascending seconds), by first sighting.

    A line counts if it was read in two frames with a score of 0.9 once at least, or in one if it is large
    (0.06 of the height) and its score 0.97; one of fewer than four letters needs three frames and 0.97, or a
    line beside it that counts. Lines that stand together are one text, in reading order. ``speech`` is where
    people speak: what stands at the bottom meanwhile is a subtitle. Text that is seen in several shots
    belongs to the first. Left out are: marks of the sender or the maker (small text that stays in a corner,
    or from the first frame to the last), notices of law and rating, what is seen for a moment only, what has
    fewer than four letters, one word over a picture that begins small, and what is part of a longer text of
    its shot.
    """
    inscriptions = follow(observations)
    sure = [line for line in inscriptions if _counts(line)]
    cards = [_complete(card, inscriptions) for card in _cards(sure)]
    cards = [card for card in cards if not _is_mark(card, observations) and not _is_notice(card)]
    low_cards = sum(map(_stands_low, cards))
    facts: list[TextFact] = []
    for card in cards:
        kind = _kind(card, low_cards, speech, observations)
        if _is_settled(card, kind):
            facts.append(_fact(card, kind))
    whole = [fact for fact in facts if not any(_echoes(fact, other) for other in facts)]
    return tuple(sorted(whole, key=lambda fact: (fact.first, fact.shot)))


def _echoes(fact: TextFact, other: TextFact) -> bool:
    """True for what is part of a longer text that stands there then: a line of it that was lost and read
    again."""
    then = other.first - _BESIDE <= fact.first and fact.last <= other.last + _BESIDE
    return fact.shot == other.shot and then and fact.text != other.text and fact.text in other.text


def _spelt(line: Inscription) -> float:
    """The share of its readings, from when it is whole, that are spelt as the best."""
    alike = [reading.line.text == line.text for reading in line.readings if reading.seconds >= line.whole]
    return sum(alike) / len(alike)


def _is_settled(card: Sequence[Inscription], kind: TextKind) -> bool:
    """True for credits and subtitles, and for text that is large or stands whole long enough to be read and
    is not still being written when it was seen last."""
    if kind in ("credit", "subtitle"):
        return True
    if sum(letters(line.text) for line in card) < _LETTERS - (kind == "title"):  # "FIN" on a card
        return False
    still_written = any(line.first < line.whole == line.last for line in card)
    lasts = max(line.last for line in card) - max(line.whole for line in card)
    large = max(line.height for line in card) >= _LARGE
    # Digits alone on things are often rivets and buttons.
    has_words = any(char.isalpha() for line in card for char in line.text)
    if still_written or not (large or (lasts >= _GLANCE and has_words)):
        return False
    # One word over a picture that begins small is most likely the end of one that is half hidden.
    text = card[0].text
    if len(card) == 1 and " " not in text and text[0].islower() and card[0].ground > _PLAIN:
        return False
    if not has_words and lasts < _GLANCE:
        return False
    # Letters on things are bent, small or half hidden: they must be read alike nearly always.
    return kind != "scene" or (has_words and all(_spelt(line) >= _STEADY for line in card))


def _is_notice(card: Sequence[Inscription]) -> bool:
    """True for cards of law and rating, and for what asks the viewer to buy or to subscribe."""
    return bool(_NOTICE.search(" ".join(line.text for line in card))) and not _is_credit(card)


def _counts(line: Inscription) -> bool:
    frames = len(line.frames)
    if letters(line.text) < 4:
        return frames >= 3 and line.score >= _SURE_ALONE
    if frames == 1:
        return line.height >= _LARGE and line.score >= _SURE_ALONE
    return line.score >= TEXT_SCORE


def _cards(lines: Sequence[Inscription]) -> list[list[Inscription]]:
    """Lines that stand together at the same time, as groups."""
    cards: list[list[Inscription]] = []
    for line in lines:
        near = [card for card in cards if any(_together(line, other) for other in card)]
        merged = [line, *(other for card in near for other in card)]
        cards = [card for card in cards if card not in near] + [merged]
    return cards


def _together(first: Inscription, second: Inscription) -> bool:
    """True for lines that share frames, half of the shorter one's at least, and are neighbours on a card."""
    shared = len(first.frames & second.frames)
    if 2 * shared < min(len(first.frames), len(second.frames)) or not shared:
        return False
    high = max(first.height, second.height)
    low = min(first.height, second.height)
    apart = abs(first.centre[1] - second.centre[1])
    aside = abs(first.centre[0] - second.centre[0]) - (first.width + second.width) / 2
    if apart < 0.5 * low:
        return aside < 0.15 and high < 1.6 * low
    return apart < 2.0 * high + 0.02 and aside < 0.0 and abs(first.tilt - second.tilt) < 8


def _complete(card: list[Inscription], inscriptions: Sequence[Inscription]) -> tuple[Inscription, ...]:
    """``card`` in reading order, with the well read lines in its midst that do not count alone; one that was
    lost and found again, or was read before it was whole or in pieces, stands there once."""
    more = [
        line
        for line in inscriptions
        if line not in card
        and line.score >= TEXT_SCORE
        and any(_together(line, other) for other in card)
        and len(line.frames) > 1
    ]
    kept_lines: list[Inscription] = []
    for line in sorted([*card, *more], key=lambda line: (-len(line.text), -len(line.frames))):
        if not any(_is_part(line, other) for other in kept_lines):
            kept_lines.append(line)
    return _in_reading_order([line for line in (*card, *more) if line in kept_lines])


def _is_part(line: Inscription, other: Inscription) -> bool:
    """True for what ``other`` says too, and never beside it: lost, or read in two pieces at first."""
    beside = (reading.line.text for reading in other.readings if reading.frame in line.frames)
    return line.text in other.text and not any(line.text in text for text in beside)


def _in_reading_order(card: Sequence[Inscription]) -> tuple[Inscription, ...]:
    """From the top, and from the left on one level, whether the card stands or rolls."""
    rows: list[list[tuple[float, Inscription]]] = []
    for height, line in sorted(_heights(card), key=lambda item: item[0]):
        if rows and height - rows[-1][0][0] < 0.5 * line.height:
            rows[-1].append((height, line))
        else:
            rows.append([(height, line)])
    return tuple(line for row in rows for _, line in sorted(row, key=lambda item: item[1].centre[0]))


def _heights(card: Sequence[Inscription]) -> list[tuple[float, Inscription]]:
    """How far down each line stands from the first one, measured in the frames that show both.

    A roll's last line shares no frame with its first: it is measured from one that has been placed.
    """
    placed = [(0.0, card[0])]
    rest = list(card[1:])
    while rest:
        best = max(rest, key=lambda line: max(len(line.frames & other.frames) for _, other in placed))
        height, other = max(placed, key=lambda item: len(best.frames & item[1].frames))
        upper, lower = ({r.frame: r.line.box.centre[1] for r in line.readings} for line in (other, best))
        steps = [lower[frame] - upper[frame] for frame in sorted(upper.keys() & lower.keys())]
        placed.append((height + (fmean(steps) if steps else best.centre[1] - other.centre[1]), best))
        rest.remove(best)
    return placed


def _is_mark(card: Sequence[Inscription], observations: Sequence[FrameText]) -> bool:
    """True for a mark of who made or sells the film.

    It is a seller's name over a picture; small text in a corner over three shots, or from the first frame to
    the last; or a word or two there, however often they are read: over a lively picture a mark is missed in
    most frames. A word or two that stand in every frame over a lively picture are a mark wherever they are.
    """
    if all(_SELLER.search(line.text) and line.ground > _PLAIN for line in card):
        return True
    shots = {reading.shot for line in card for reading in line.readings}
    frames = frozenset.union(*(line.frames for line in card))
    high = max(line.height for line in card)
    aside = all(min(abs(at - 0.5) for at in line.centre) > 0.3 for line in card)
    stood = max(line.last for line in card) - min(line.first for line in card)
    if aside and len(shots) >= 3 and stood >= 5 and high <= _LARGE:
        return True
    short = sum(len(line.text.split()) for line in card) <= _MARK_WORDS
    lasts = observations[-1].seconds - observations[0].seconds
    always = len(frames) == len(observations) and lasts >= _MARKED
    if short and always and min(line.unrest for line in card) > _LIVELY:
        return True
    ends = {0, 1} & frames and {len(observations) - 1, len(observations) - 2} & frames
    often = len(frames) >= 4 and 3 * len(frames) >= 2 * len(observations)
    return aside and high <= _MARK and (short or (bool(ends) and often))


def _fact(card: Sequence[Inscription], kind: TextKind) -> TextFact:
    first = min(card, key=lambda line: line.first)
    # Mean score, each inscription weighted by its letters
    confidence = fmean(*zip(*((line.score, letters(line.text)) for line in card), strict=True))
    return TextFact(
        shot=first.readings[0].shot,
        text=" ".join(line.text for line in card),
        kind=kind,
        first=first.first,
        last=max(line.last for line in card),
        sure=round(min(confidence, 1.0), 3),
        since=first.first if _is_roll(card) else max(line.whole for line in card),
        fills=_fills_picture(card) and _is_whole(card),
    )


def _kind(
    card: Sequence[Inscription],
    low_cards: int,
    speech: Sequence[Interval],
    observations: Sequence[FrameText],
) -> TextKind:
    lasts = max(line.last for line in card) - min(line.first for line in card)
    on_card = _stands_on_card(card, observations)
    laid_over = _is_laid_over(card, observations)
    names_roles = any(_ROLE.search(line.text) for line in card)
    plain = median(observations[i].plain for i in _longest(card).frames) >= _CREDITS_CARD
    if lasts >= _ROLLS and _is_roll(card) and (names_roles or plain) and not _is_cut_off(card):
        return "credit"
    # Posters name roles too: what names them is credits only where it does not belong to the scene.
    if _is_credit(card) and (on_card or laid_over) and _is_read_again(card):
        return "credit"
    if _stands_low(card) and _is_said(card, low_cards, speech):
        return "subtitle"
    if lasts >= _ROLLS and plain and all(_rises_alone(line) for line in card) and not _is_page(card):
        return "credit"
    few_lines = len(card) <= _TITLE_LINES and not _is_screen(card, observations)
    if not (few_lines and _is_whole(card) and (on_card or laid_over)):
        return "scene"
    centred = abs(fmean(line.centre[0] for line in card) - 0.5) < _MIDDLE
    return "title" if on_card or (centred and not _is_caption(card)) else "caption"


def _longest(card: Sequence[Inscription]) -> Inscription:
    """The line that was read most often; of several the one of most letters."""
    return max(card, key=lambda line: (len(line.frames), letters(line.text)))


def _stands_on_card(card: Sequence[Inscription], observations: Sequence[FrameText]) -> bool:
    """True where nearly nothing but the text is in the picture. A plain board in the scene is no card: the
    whole picture counts, not what is just around the letters."""
    plain = [observations[i].plain for i in _longest(card).frames]
    return median(plain) >= _CARD and all(line.tilt == 0 for line in card)


def _is_laid_over(card: Sequence[Inscription], observations: Sequence[FrameText]) -> bool:
    """True for level text that keeps its place, where something shows that it does not belong to the scene.

    It goes on over a cut; or all around it changes while it stays; or it comes or goes within its shot, while
    nothing ever hides it. Letters on a thing keep their place too where the camera does.
    """
    line = _longest(card)
    drift_x, drift_y = line.drift
    if any(other.tilt for other in card) or abs(drift_x) > _STILL[0] or abs(drift_y) > _STILL[1]:
        return False
    if _spelt(line) < _STEADY:
        return False
    if line.unrest > _WILD or _goes_on_over_cut(line):
        return True
    shots = {reading.shot for other in card for reading in other.readings}
    frames_of_shot = [i for i, observation in enumerate(observations) if observation.shot in shots]
    first, last = min(line.frames), max(line.frames)
    comes_or_goes = max(first - frames_of_shot[0], frames_of_shot[-1] - last) >= _COMES
    never_hidden = len(line.frames) >= _STEADY * (last - first + 1)
    return comes_or_goes and never_hidden


def _goes_on_over_cut(line: Inscription) -> bool:
    """True where the line stands in two shots, and the picture around it is another one in the second."""
    for before, after in pairwise(line.readings):
        blocks = before.line.around, after.line.around
        if before.shot != after.shot and len(blocks[0]) == len(blocks[1]) > 0:
            changes = [abs(light - light_after) for light, light_after in zip(*blocks, strict=True)]
            if median(changes) > _WILD:
                return True
    return False


def _is_screen(card: Sequence[Inscription], observations: Sequence[FrameText]) -> bool:
    """True where so many lines stand in the picture that it is a page, a display or a shop front."""
    return fmean(len(observations[i].lines) for i in _longest(card).frames) > _SCREEN


def _fills_picture(card: Sequence[Inscription]) -> bool:
    """True for a text that fills most of the picture: a letter, a headline, a sign shown on its own."""
    left = min(line.centre[0] - line.width / 2 for line in card)
    right = max(line.centre[0] + line.width / 2 for line in card)
    covered = sum(line.width * line.height for line in card)
    return right - left >= _FILLS[0] and covered >= _FILLS[1]


def _is_whole(card: Sequence[Inscription]) -> bool:
    """True where the text is most likely read as it stands, from its first word to its last."""
    return _is_read_again(card) and not _is_cut_off(card) and not _is_broken(card)


def _is_read_again(card: Sequence[Inscription]) -> bool:
    """True where every line was read in two frames or more: one that was read once may be half written or
    misread, or belong to the scene behind the text."""
    return all(len(line.frames) > 1 for line in card)


def _is_broken(card: Sequence[Inscription]) -> bool:
    """True where the text is most likely not read as it stands: its first word is a lone consonant or begins
    small before capitals, or more than half of its words repeat others."""
    words = [word.casefold() for line in card for word in line.text.split()]
    first, *others = card
    lone = len(words) > 1 and len(words[0]) == 1 and words[0].isalpha() and words[0] not in _LONE_WORDS
    misplaced = first.text[0].islower() and any(line.text.isupper() for line in others)
    return lone or misplaced or 2 * len(set(words)) < len(words)


def _is_cut_off(card: Sequence[Inscription]) -> bool:
    """True where a line reaches a side of the picture: its words most likely go on beyond."""
    return any(
        min(line.centre[0] - line.width / 2, 1 - line.centre[0] - line.width / 2) < _CUT_OFF for line in card
    )


def _rises_alone(line: Inscription) -> bool:
    """True for a small level line that goes up through the picture, as those of a roll do."""
    dx, dy = line.drift
    return dy < -0.1 and abs(dx) < 0.02 and line.tilt == 0 and line.height <= _ROLL


def _is_caption(card: Sequence[Inscription]) -> bool:
    """True for small text low at a side: a place, a time, a name."""
    x, y = (fmean(line.centre[axis] for line in card) for axis in (0, 1))
    return y > 0.75 and abs(x - 0.5) > 0.12 and max(line.height for line in card) <= _MARK


def _is_roll(card: Sequence[Inscription]) -> bool:
    """True for small lines that all rise together, and are neither prose nor the list of a screen."""
    if _is_page(card):
        return False
    rising = [line for line in card if line.drift[1] < -0.02 and abs(line.drift[0]) < 0.02]
    small = sum(line.height <= _SMALL for line in card)
    return len(rising) >= 3 and 2 * len(rising) > len(card) and 3 * small >= 2 * len(card)


def _is_credit(card: Sequence[Inscription]) -> bool:
    """True where a line names a role, above or beside a name, as in ``Directed by Colin Levy``."""
    if any(line.tilt > 0 for line in card):
        return False
    roles = sum(bool(_ROLE.search(line.text) or _ROLE_ALONE.fullmatch(line.text)) for line in card)
    named = any(re.search(r"\b(?:[Bb]y|BY|starring|STARRING)\s+[A-Z]", line.text) for line in card)
    return roles > 0 and (len(card) > roles or named)


def _stands_low(card: Sequence[Inscription]) -> bool:
    """True for three level lines at most, in the bottom quarter, in the middle, of a subtitle's size."""
    x = fmean(line.centre[0] for line in card)
    y = fmean(line.centre[1] for line in card)
    level = all(line.tilt == 0 for line in card)
    sized = all(0.025 <= line.height <= 0.12 for line in card)
    return len(card) <= 3 and level and sized and y > 0.75 and abs(x - 0.5) < 0.08


def _is_said(card: Sequence[Inscription], low_cards: int, speech: Sequence[Interval]) -> bool:
    """True for text at the bottom that is speech in writing.

    Either people speak for a third of its time, or it is a sentence or part of one, or it is one of
    three or more that follow each other in that place.
    """
    first, last = min(line.first for line in card), max(line.last for line in card)
    time = Interval(first, max(last, first + 0.5))
    spoken = sum(part.duration for part in clip_all(speech, time))
    text = " ".join(line.text for line in card)
    sentence = bool(_SENTENCE_END.search(text)) or text.startswith(("-", "–", "—"))
    return 3 * spoken > time.duration or sentence or text[:1].islower() or low_cards >= 3


def looks_like_credits(observations: Sequence[FrameText]) -> bool:
    """True if the frames show credits.

    Most of them hold three small lines or more, and these rise from frame to frame and are no prose, or two
    of them name roles on plain ground. Many lines alone are a page, a screen or posters as well.
    """
    rows = [joined_rows(observation.lines) for observation in observations]
    full = [
        i for i, row in enumerate(rows) if len(row) >= 3 and sum(a.box.height <= _SMALL for a in row) >= 3
    ]
    if not full or 2 * len(full) < len(rows):
        return False
    if 2 * sum(_is_striped(rows[i]) for i in full) > len(full):
        return False
    roles = {line.text for i in full for line in rows[i] if _ROLE.search(line.text)}
    plain = median(observations[i].plain for i in full) >= _CREDITS_CARD
    low = [i for i in full if sum(line.box.height <= _ROLL for line in rows[i]) >= 3]
    page = _is_prose([line.text for i in full for line in rows[i]])
    # Lines move up, and none down, between most neighbouring frames.
    steps = [
        after.line.box.centre[1] - before.line.box.centre[1]
        for line in follow(observations)
        for before, after in pairwise(line.readings)
    ]
    rises = len(steps) >= 3 and 4 * sum(step < -0.005 for step in steps) >= 3 * len(steps)
    return (len(roles) >= 2 and plain) or (2 * len(low) > len(full) and not page and rises)


def _is_page(card: Sequence[Inscription]) -> bool:
    middle = [line.readings[len(line.readings) // 2].line for line in card]
    return _is_striped(middle) or _is_prose([line.text for line in card])


def _is_striped(card: Sequence[TextLine]) -> bool:
    """True for lines on even stripes of different light: the list of a screen, or a table."""
    bands = [line.around[half] for line in card for half in (slice(6), slice(6, None)) if line.around[half]]
    even = [fmean(band) for band in bands if max(band) - min(band) < _EVEN]
    return 5 * len(even) > 4 * len(bands) and max(even) - min(even) > _PLAIN


def _is_prose(lines: Sequence[str]) -> bool:
    """True for lines of many words that mostly begin small: a page or a story that rolls by, no names."""
    words = [word for line in lines for word in re.findall(r"[^\W\d_]+", line)]
    small = sum(word[0].islower() for word in words)
    return len(words) >= _PROSE * len(lines) and 3 * small > 2 * len(words)


_WHOLE = 0.8
"""Likeness of a reading to the best spelling from which no part is still to come."""
_GAP = 2
"""Frames in a row in which a line may be missed without becoming another one."""


@dataclass(frozen=True, slots=True)
class FrameText:
    """What was read in the frame at ``seconds``, in shot ``shot``; ``lines`` is empty where nothing was.

    ``plain``: how much of the picture beside the lines is plain, 0 to 1 (`shotad.sight.text.plain_fraction`).
    """

    shot: int
    seconds: float
    lines: tuple[TextLine, ...]
    plain: float = 0.0


@dataclass(frozen=True, slots=True)
class LineReading:
    """One line in one frame. ``frame`` is the number of the frame in its sequence."""

    frame: int
    shot: int
    seconds: float
    line: TextLine


@dataclass(frozen=True, slots=True)
class Inscription:
    """One line of text as read in one or more frames, in order of time; ``text`` is its best spelling."""

    text: str
    readings: tuple[LineReading, ...]

    @property
    def first(self) -> float:
        return self.readings[0].seconds

    @property
    def last(self) -> float:
        return self.readings[-1].seconds

    @property
    def whole(self) -> float:
        """The second from which all of it stands there, give or take misread letters."""
        alike = (r.seconds for r in self.readings if likeness(r.line.text, self.text) >= _WHOLE)
        return next(alike, self.last)

    @property
    def frames(self) -> frozenset[int]:
        return frozenset(reading.frame for reading in self.readings)

    @property
    def score(self) -> float:
        """How surely it was read, 0 to 1: the best score, less where that reading is spelt otherwise."""
        return max(reading.line.score * likeness(reading.line.text, self.text) for reading in self.readings)

    @property
    def height(self) -> float:
        return median(reading.line.box.height for reading in self.readings)

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of where it stood, as fractions of the picture."""
        x, y = zip(*(reading.line.box.centre for reading in self.readings), strict=True)
        return median(x), median(y)

    @property
    def width(self) -> float:
        return median(reading.line.box.width for reading in self.readings)

    @property
    def tilt(self) -> float:
        return median(abs(reading.line.tilt) for reading in self.readings)

    @property
    def ground(self) -> float:
        """How uneven the picture around it was: median of the readings' standard deviations of luma."""
        return median(reading.line.ground for reading in self.readings)

    @property
    def unrest(self) -> float:
        """How much the picture around it changed, in luma levels: median over the blocks around it of their

        standard deviation over the readings. 0 for one reading.
        """
        blocks = {reading.line.around for reading in self.readings if reading.line.around}
        if len(blocks) < 2 or len({len(block) for block in blocks}) > 1:
            return 0.0
        return float(np.median(np.std(sorted(blocks), axis=0)))

    @property
    def drift(self) -> tuple[float, float]:
        """How far it went from first to last reading, x and y, in fractions of the picture.

        Across it is the least of left end, middle and right end: a line may also grow.
        """
        first_box, last_box = self.readings[0].line.box, self.readings[-1].line.box
        steps = (
            last_box.left - first_box.left,
            last_box.centre[0] - first_box.centre[0],
            last_box.right - first_box.right,
        )
        return min(steps, key=abs), last_box.centre[1] - first_box.centre[1]


def joined_rows(lines: Iterable[TextLine]) -> tuple[TextLine, ...]:
    """Lines that the detector cut at a wide space, put together: ``THE`` + ``BLENDER FOUNDATION``.

    Two neighbours on one level and of like height are one line if less than about one and a half heights
    lie between them. The rows are tidy; what cannot be text is left out.
    """
    rows: list[TextLine] = []
    for line in sorted(lines, key=lambda a: (a.box.left, a.box.top)):
        place = next((i for i, row in enumerate(rows) if _continues(row, line)), None)
        if place is None:
            rows.append(line)
        elif letters(line.text) or letters(rows[place].text):
            rows[place] = _join(rows[place], line)
    tidied = (replace(row, text=tidy(row.text)) for row in rows)
    return tuple(row for row in tidied if is_readable(row.text))


def _continues(row: TextLine, line: TextLine) -> bool:
    low, high = sorted((row.box.height, line.box.height))
    level = abs(row.box.centre[1] - line.box.centre[1]) < 0.4 * low
    gap = line.box.left - row.box.right
    return level and high < 1.6 * low and -0.5 * low < gap < 0.8 * low


def _join(row: TextLine, line: TextLine) -> TextLine:
    a, b = row.box, line.box
    box = Box(a.left, min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
    share = letters(row.text) / (letters(row.text) + letters(line.text))
    score = row.score * share + line.score * (1 - share)
    ground = max(row.ground, line.ground)
    return replace(row, text=f"{row.text} {line.text}", box=box, score=score, ground=ground)


def follow(observations: Sequence[FrameText]) -> list[Inscription]:
    """The inscriptions in ``observations`` (ascending seconds), by first reading, then from the top.

    Each line of a frame goes on at most one, the most alike first.
    """
    done: list[list[LineReading]] = []
    open_: list[list[LineReading]] = []
    for frame, observation in enumerate(observations):
        open_ = [track for track in open_ if frame - track[-1].frame <= _GAP + 1]
        rows = [
            LineReading(frame, observation.shot, observation.seconds, row)
            for row in joined_rows(observation.lines)
        ]
        likely = (
            (match, k, i)
            for i, row in enumerate(rows)
            for k, track in enumerate(open_)
            if (match := _match(track[-1], row)) > 0
        )
        row_of = {i: open_[k] for k, i in best_pairs(likely).items()}
        tracks = [row_of.get(i, []) for i in range(len(rows))]
        for row, track in zip(rows, tracks, strict=True):
            if not track:
                done.append(track)
                open_.append(track)
            track.append(row)
    inscriptions = [Inscription(best_spelling([r.line for r in track]), tuple(track)) for track in done]
    return sorted(
        inscriptions, key=lambda a: (a.first, a.readings[0].line.box.top, a.readings[0].line.box.left)
    )


def _match(last: LineReading, now: LineReading) -> float:
    """How surely the two are one line, 0 to 2.

    Either alike in place and, more or less, in spelling; or alike in spelling and size in neighbouring
    frames, in one column: lines that roll or move along.
    """
    before, after = last.line, now.line
    alike = likeness(before.text, after.text)
    overlap = before.box.iou(after.box)
    contained = before.text in after.text or after.text in before.text
    # What is read while it is still being written: its last letter, half drawn, may be misread
    part = contained or (len(before.text) > 4 and after.text.startswith(before.text[:-1]))
    if overlap > 0.2 and (alike >= 0.65 or part):
        return alike + overlap
    if now.frame - last.frame > 1 or letters(after.text) < 4 or alike < 0.8:
        return 0.0
    low, high = sorted((before.box.height, after.box.height))
    column = abs(before.box.centre[0] - after.box.centre[0]) < 0.25
    return alike if column and high < 1.35 * low else 0.0


@lru_cache(maxsize=8192)
def likeness(first: str, second: str) -> float:
    """1 for equal texts, 0 for entirely different ones: 1 - edits / length, case and spaces aside at half."""
    if first == second:
        return 1.0
    longest = max(len(first), len(second))
    if not longest:
        return 1.0
    exact = 1 - _edits(first, second) / longest
    a, b = first.casefold().replace(" ", ""), second.casefold().replace(" ", "")
    loose = 1 - _edits(a, b) / max(len(a), len(b), 1)
    return (exact + loose) / 2


def _edits(first: str, second: str) -> int:
    """Levenshtein's distance."""
    above = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(second, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


def best_spelling(lines: Sequence[TextLine]) -> str:
    """The spelling that all readings speak for most, each with the eighth power of its score.

    A reading speaks for a spelling as far as it is like it, and by nine tenths if it is part of it: a title
    that fades in or is written letter by letter ends up whole.
    """
    weight: dict[str, float] = defaultdict(float)
    for line in lines:
        weight[line.text] += line.score**8
    return max(weight, key=lambda text: sum(w * _support(r, text) for r, w in weight.items()))


def _support(reading: str, spelling: str) -> float:
    if reading == spelling:
        return 1.0
    alike = likeness(reading, spelling) ** 2
    return max(alike, 0.9) if reading in spelling else alike
