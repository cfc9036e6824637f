"""Text on the screen becomes statements that read it aloud; what is not read is kept with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from shotad.core.observations import Facts, TextFact
from shotad.engines.embedded.memory import Memory, same_text
from shotad.engines.embedded.phrases import text_clauses, text_words
from shotad.engines.embedded.quotes import Quote, clean, fit_quote
from shotad.engines.embedded.statement import WORTH, Statement
from shotad.engines.embedded.timing import Timing
from shotad.script.cue import Sight


@dataclass(frozen=True, slots=True)
class Unread:
    """A text that nobody reads out, and why."""

    text: str
    reason: str


def text_statements(
    facts: Facts, memory: Memory, room: int, timing: Timing | None = None
) -> tuple[list[Statement], list[Unread]]:
    """What can be read aloud in ``room`` words, one statement for each kind, and what cannot.

    In end credits all that is neither title nor sign counts as credits. With ``timing`` a text that comes
    late in its slot has only the words that are left in it.
    """
    new = _new_texts(facts, memory)
    statements: list[Statement] = []
    unread: list[Unread] = []
    for kind in ("title", "sign"):
        found, left = _read_out([text for text in new if text.kind == kind], room, timing)
        statements += [found] if found else []
        unread += left
    named = [text for text in new if text.kind == "credit"]
    if named or facts.credits:
        found, left = _credits(named, facts, memory, room, timing)
        statements += [found] if found else []
        unread += left
    return statements, unread


def _new_texts(facts: Facts, memory: Memory) -> list[TextFact]:
    """Speakable texts in film order, each once, without subtitles and what was read before."""
    new: list[TextFact] = []
    for text in sorted(facts.texts, key=lambda f: (f.shot, f.first, f.text)):
        known = any(same_text(text.text, other.text) for other in new)
        if text.kind != "subtitle" and clean(text.text) and not known and not memory.has_read(text.text):
            new.append(text)
    return new


def _read_out(
    texts: list[TextFact], room: int, timing: Timing | None
) -> tuple[Statement | None, list[Unread]]:
    """One statement that reads as many of these texts, all of one kind, as there is room for."""
    if not texts:
        return None, []
    left_over = room - text_words(texts[0])
    chosen: list[tuple[TextFact, Quote]] = []
    for text in sorted(texts, key=lambda f: -f.sure * (f.last - f.first)):
        late = room if timing is None else timing.words_from(_since(text))
        quote = fit_quote(text.text, min(left_over, late - text_words(text)) - len(chosen[:1]))
        if quote and (quote.whole or not (chosen or text.kind == "credit")):
            chosen.append((text, quote))
            left_over -= quote.spoken + (len(chosen) > 1)
    chosen.sort(key=lambda pair: (pair[0].shot, pair[0].first, pair[0].text))
    read = [text for text, _ in chosen]
    unread = _unread([text for text in texts if text not in read], room)
    if not chosen:
        return None, unread
    quotes = tuple(quote for _, quote in chosen)
    clauses = text_clauses(read[0].kind, quotes, _join(read), appearing=False)
    first, last = min(t.first for t in read), max(t.last for t in read)
    kind = read[0].kind
    sure = min(t.sure for t in read)
    sight = _sight(chosen, timing)
    statement = Statement(kind, read[0].shot, WORTH[kind], clauses, time=(first, last), sure=sure)
    return replace(statement, since=sight.since, until=sight.until), unread


def _since(text: TextFact) -> float:
    return text.first if text.since is None else text.since


def _sight(chosen: list[tuple[TextFact, Quote]], timing: Timing | None) -> Sight:
    """When it can be begun to read texts, one after the other, each while it stands there."""
    words = accumulate((quote.spoken for _, quote in chosen), initial=text_words(chosen[0][0]))
    parts = [(n, _since(text), text.last) for (text, _), n in zip(chosen, words, strict=False)]
    sight = Sight.of(parts, 0.0 if timing is None else timing.pace)
    assert sight is not None
    # The words before the first text are no reason to begin before it is there.
    return Sight(max(sight.since, _since(chosen[0][0])), sight.until)


def _join(texts: list[TextFact]) -> str:
    together = all(a.shot == b.shot and b.first < a.last for a, b in pairwise(texts))
    return "and" if together else "then"


def _credits(
    texts: list[TextFact], facts: Facts, memory: Memory, room: int, timing: Timing | None
) -> tuple[Statement | None, list[Unread]]:
    """A credit that fits is read; of end credits one that names the maker; else only that they appear."""
    wanted = [text for text in texts if not facts.credits or _names_maker(text.text)]
    found, _ = _read_out(wanted[:1] if facts.credits else wanted, room, timing)
    if found and not facts.credits:
        return found, _unread([t for t in texts if not _reads(found, t)], room)
    if memory.lines_since("credits appear") is not None:
        return None, [Unread(text.text, "more credits") for text in texts]
    quotes = found.clauses[0].quotes if found else ()
    shot = texts[0].shot if texts else facts.current[0]
    clauses = text_clauses("credit", quotes, "and", appearing=True)
    time = (texts[0].first, texts[-1].last) if texts else None
    since, until = time or (None, None)
    if found:
        since, until = found.since, found.until
    statement = Statement("credits", shot, WORTH["credits"], clauses, time=time, since=since, until=until)
    return statement, _unread([t for t in texts if not _reads(statement, t)], room)


def _reads(statement: Statement, text: TextFact) -> bool:
    return any(quote.words == clean(text.text) for quote in statement.clauses[0].quotes)


def _unread(texts: list[TextFact], room: int) -> list[Unread]:
    return [Unread(text.text, f"does not fit into {room} words") for text in texts]


def _names_maker(text: str) -> bool:
    words = clean(text).lower().split()
    return "by" in words[1:-1]
