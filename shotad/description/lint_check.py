"""All rules on all lines of the tracks that a user names: work folders, films, tracks and scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from shotad.core import (
    Config,
    Interval,
    NoProgress,
    Progress,
    ShotadError,
)
from shotad.core.config.film import SlotSettings
from shotad.core.config.languages import is_english
from shotad.core.config.sound import FitSettings, LintSettings
from shotad.core.errors import (
    ScriptError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import refuse_special
from shotad.core.records import parse_json
from shotad.core.text_files import read_text_file
from shotad.core.types import SpeechKind
from shotad.core.workfolder import work_folder_of
from shotad.description.lint_material import (
    beside_film,
    in_folder,
    kept_findings,
    read_screen,
    run_of,
    script_material,
    track_material,
)
from shotad.film.slots import subtract
from shotad.script import (
    RULES,
    Finding,
    Level,
    LintReport,
    Material,
    SentenceReader,
    Track,
    TrackLine,
    load_track,
)
from shotad.script.guidelines import (
    accept_filter,
    accept_findings,
    finding_stamp,
    line_stamps,
    read_accepted,
    selects_rule,
    sort_findings,
)
from shotad.script.line_checks import (
    IntervalIndex,
    check_dialogue,
    check_pace,
    check_pronouns,
    check_subtitles,
    check_texts,
    make_sentence_reader,
    quoted_text_start,
)
from shotad.script.names import check_names, people_named
from shotad.script.rules import (
    BENCHMARK_LIMITS,
    Limits,
    UserWords,
    WordList,
    check_lead,
    check_line,
    check_order,
    check_silence,
    lists_for,
    read_words,
)
from shotad.script.track_files import TRACK

OVERLAP = 0.3
"""T1: seconds of speech that a line may touch (describers' own cues run that far over)."""
DIALOGUE_WINDOW = 25.0
"""L10: seconds; whoever spoke longer ago is not heard in the line any more."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Settings made ready: limits, words, who takes sentences apart (None: words alone), what was not had."""

    settings: LintSettings
    fit: FitSettings
    limits: Limits
    words: tuple[UserWords, ...]
    reader: SentenceReader | None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        settings: LintSettings, fit: FitSettings | None = None, slots: SlotSettings | None = None
    ) -> Checker:
        """A checker by these settings. Raises ConfigError for bad words, ShotadError without the parser.

        A line in a gap that is too short for a slot by ``slots.minimum`` gets a warning.
        """
        all_words = check_lint_settings(settings)
        reader, note = make_sentence_reader(settings)
        shortest_gap = max(slots.minimum, Limits().gap_error) if slots else Limits().gap_warning
        limits = Limits(
            gap_warning=shortest_gap,
            rate_error=settings.rate_error or math.inf,
            rate_warning=Limits().rate_warning if settings.rate_error else math.inf,
            overlap=OVERLAP,
            titles=settings.levels.get("L13", "off") != "off",
        )
        return Checker(settings, fit or FitSettings(), limits, all_words, reader, (note,) if note else ())


def check_lint_settings(settings: LintSettings) -> tuple[UserWords, ...]:
    """The word files that these settings name. Raises ConfigError for files and rules that are none."""
    for wish in settings.ignore:
        accept_filter(wish)
    return read_words(settings.words)


def lint_track(track: Track, folder: Path | None, config: Config) -> LintReport:
    """All that is wrong with a track, as far as its work folder knows the film."""
    material, skipped = track_material(track, folder)
    found = kept_findings(folder, track) if folder else ()
    checker = Checker.of(config.lint, config.fit, config.slots)
    return lint(material, checker, extra=found, folder=folder, skipped=skipped)


def lint(
    material: Material,
    checker: Checker,
    *,
    extra: Sequence[Finding] = (),
    folder: Path | None = None,
    skipped: Sequence[str] = (),
    each: Iterable[Finding] | None = None,
) -> LintReport:
    """All that is wrong with these lines, accepted or not; ``each``: what `CachedLineFindings` found of each
    of them.
    """
    single = each_line(material, checker) if each is None else each
    found = [*single, *all_lines(material, checker), *dict.fromkeys(extra)]
    # At the level that the settings give its rule, where they do not turn it off
    levels = checker.settings.levels
    levelled = [
        replace(finding, level=Level(levels[finding.rule])) if finding.rule in levels else finding
        for finding in found
        if levels.get(finding.rule) != "off"
    ]
    ordered = sort_findings(levelled, material.lines)
    texts = line_stamps(material.lines)
    known = read_accepted(folder) if folder is not None else frozenset()
    ignored = [accept_filter(wish) for wish in checker.settings.ignore]
    told = [finding for finding in ordered if not any(means(finding) for means in ignored)]
    return LintReport(
        material.name,
        material.lines,
        tuple(finding for finding in told if finding_stamp(finding, texts) not in known),
        tuple(dict.fromkeys((*skipped, *_not_checked(material)))),
        tuple(finding for finding in told if finding_stamp(finding, texts) in known),
        checker.notes,
    )


def each_line(
    material: Material, checker: Checker, *, only: Container[str] | None = None
) -> Iterator[Finding]:
    """Rules that look at a line and the words just before it; ``only`` names the lines looked at."""
    if material.is_benchmark:
        # Slots and budgets of a benchmark: no T2 and no T3.
        names = ("gap_error", "gap_warning", "rate_error", "rate_warning")
        wide = {name: getattr(BENCHMARK_LIMITS, name) for name in names}
        checker = replace(checker, limits=replace(checker.limits, **wide))
    limits = checker.limits
    lists = {line.language: lists_for(line.language, checker.words) for line in material.lines}
    english = [events for tongue, words in lists.items() if is_english(tongue) for events in _events(words)]
    wanted = [line for line in material.lines if only is None or line.id in only]
    parsed = checker.reader(wanted, frozenset(english)) if checker.reader else {}
    said = IntervalIndex(material.speech or (), lambda utterance: utterance.interval)
    talk = [u.interval for u in said.items if u.kind is not SpeechKind.LYRICS]
    spoken = IntervalIndex(talk, lambda interval: interval)
    film = Interval(0.0, material.duration) if said.items and material.duration > 0 else None
    free = IntervalIndex(subtract(film, (u.interval for u in said.items)) if film else (), lambda gap: gap)
    for number, line in enumerate(material.lines):
        if only is not None and line.id not in only:
            continue
        before = [earlier.text for earlier in material.lines[max(number - limits.history, 0) : number]]
        wording = check_line(line.text, previous=before, limits=limits, lists=lists[line.language])
        read = parsed.get(line.id)
        events = _events(lists[line.language])
        sentences = read.merge_findings(wording, events) if read is not None else wording
        yield from _of(line, sentences)
        when = line.spoken_interval
        yield from _of(line, _times(line, spoken.near(when), free.near(when), checker))
        seen_from = line.seen_from if line.seen_from is not None else material.seen_from.get(line.id)
        if seen_from is None and line.by_hand:
            seen_from = quoted_text_start(line, material.texts or ())
        if seen_from is not None:
            yield from _of(line, tuple(check_lead(when, seen_from, by_hand=line.by_hand)))
        if material.speech is not None:
            yield from _of(
                line,
                tuple(check_dialogue(line, said.near(when, DIALOGUE_WINDOW), DIALOGUE_WINDOW)),
            )
        if material.texts is not None:
            yield from _of(line, tuple(check_subtitles(line, material.texts, DIALOGUE_WINDOW)))


def _events(lists: Sequence[WordList]) -> frozenset[str]:
    """The verbs of the set ``event``, of what is done to somebody and is no state."""
    return frozenset(word for words in lists for word in words.sets.get("event", ()) if " " not in word)


def _times(
    line: TrackLine, spoken: Sequence[Interval], free: Sequence[Interval], checker: Checker
) -> tuple[Finding, ...]:
    """T1 to T4 and the times of T6, on the line as it is heard."""
    heard, voiced = line.spoken_interval, line.take
    around = max(
        (gap for gap in free if gap.overlaps(heard)),
        key=lambda gap: min(gap.end, heard.end) - max(gap.start, heard.start),
        default=None,
    )
    room = around
    if (slot := line.slot) is not None:
        # A voice may take the slot and, within the gap, as much beside it as lines may move.
        wide = Interval(slot.start - checker.fit.earlier, slot.end + checker.fit.later)
        part = wide.clip(around) if around is not None else None
        room = slot if part is None or part.duration < slot.duration else part
    measured = voiced.interval.duration - voiced.pause if voiced and voiced.interval else None
    found = check_line(
        line.spoken_text,
        interval=heard,
        slot=room,
        speech=spoken,
        gap=around,
        measured=measured,
        limits=checker.limits,
        lists=(),
    )
    times = [finding for finding in found if finding.rule.startswith("T") and finding.rule != "T3"]
    times += check_pace(line, checker.limits)
    if voiced is not None and voiced.interval is None:
        reason = "; ".join(voiced.steps) or "the voice found no room for it"
        times.append(Finding("T4", Level.ERROR, f"is not heard: {reason}"))
    return tuple(times)


def all_lines(material: Material, checker: Checker) -> Iterator[Finding]:
    """Rules on all lines together: their order and silences, who is meant, names, text on the screen."""
    for before, line in zip(material.lines, material.lines[1:], strict=False):
        yield from check_order(before.spoken_interval, line.spoken_interval, line.id)
    if material.speech is not None and material.duration > 0:
        free = subtract(Interval(0.0, material.duration), (u.interval for u in material.speech))
        heard = sorted(line.spoken_interval for line in material.lines)
        yield from check_silence(heard, free, checker.limits)
    english = [line for line in material.lines if is_english(line.language)]
    for line, unclear in zip(english, check_pronouns(english), strict=True):
        yield from _of(line, unclear)
    cast = material.cast
    if cast is not None:
        told = [(line.interval.start, line.text) for line in material.lines]
        people = people_named if len(english) == len(material.lines) else None
        named = check_names(
            told, lambda second: cast.characters(material.film or material.name, second), people
        )
        for line, amiss in zip(material.lines, named, strict=True):
            yield from _of(line, amiss)
    yield from check_texts(material)


def _of(line: TrackLine, findings: Sequence[Finding]) -> Iterator[Finding]:
    return (replace(finding, cue_id=line.id) for finding in findings)


def _not_checked(material: Material) -> Iterator[str]:
    """Rules that could not be looked at, and why."""
    if material.is_benchmark:
        yield "T2 and T3: slots or budgets are those of a benchmark."
    if material.speech is None:
        yield "T1, T2, T5 and L10: it is not known where anybody speaks; give --speech FILE."
    elif material.speech and not any(u.text for u in material.speech):
        yield "L10: the words of the dialogue are not known; give --speech FILE."
    if all(line.take is None for line in material.lines):
        yield "T4: no line has been spoken yet; shotad render does."
    if material.cast is None:
        yield "L7 and L8: there is no cast; give --cast CAST."
    if material.texts is None:
        yield "L11 and L12: nothing was read from the screen; --read-screen does (it takes a while)."
    languages = {
        line.language.lower().split("-")[0] for line in material.lines if not is_english(line.language)
    }
    if languages:
        those = ", ".join(sorted(languages))
        yield f"L1 to L6, but for markup and your own words: they are English, and lines are in {those}."


@dataclass(frozen=True, slots=True)
class LintTargets:
    """Files given beside what is checked, and which rules are wanted (``only`` empty: all)."""

    speech: Path | None = None
    film: Path | None = None
    cast: Path | None = None
    language: str | None = None
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    accept: Sequence[str] = ()
    screen: bool = False
    """Whether to read the film's screen, if it has not been."""


SettingsOf = Callable[[Config | None], Config]
"""What holds for a path: the settings asked for, over those of the run that wrote its work folder, if any."""


def checked_paths(
    paths: Sequence[Path], settings: SettingsOf, asked: LintTargets, progress: Progress | None = None
) -> Iterator[LintReport | tuple[Path, ShotadError]]:
    """A report for each path, or why there is none. Raises ShotadError for a wrong rule or single path."""
    known = [*RULES, "T", "L", "A"]
    for name in (*asked.only, *asked.skip):
        if name.upper() not in known and not name.islower():
            raise UsageError(
                f"There is no rule {name!r}.", f"There are {', '.join(RULES)}; T, L and A mean all of theirs."
            )
    accepted = [accept_filter(wish) for wish in asked.accept]
    checkers: list[Checker] = []
    for path in paths:
        try:
            file, folder = _found(path)
            report = _checked(file, folder, settings, checkers, asked, progress or NoProgress())
            if accepted:
                chosen = [one for one in report.findings if any(means(one) for means in accepted)]
                if not chosen:
                    rules = ", ".join(wish.strip().partition(":")[0] for wish in asked.accept)
                    what = f"Nothing is found that {rules} could mean."
                    raise UsageError(what, "Name rule and line as lint prints them: L4:s00083120.")
                accept_findings(folder or file.parent, chosen, report.lines)
                left = tuple(finding for finding in report.findings if finding not in chosen)
                report = replace(report, findings=left, accepted=(*report.accepted, *chosen))
        except ShotadError as error:
            if len(paths) == 1:
                raise
            yield path, error
        else:
            yield report


def _checked(
    file: Path,
    folder: Path | None,
    settings: SettingsOf,
    checkers: list[Checker],
    asked: LintTargets,
    progress: Progress,
) -> LintReport:
    """The report on one path, with the rules that were asked for."""
    run = run_of(folder or (work_folder_of(asked.film) if asked.film is not None else None))
    config = settings(run.config if run else None)
    if run and run.warning and any(name.startswith("lint.") for name in run.withheld):
        progress.note(run.warning)
    if _is_track(file):
        track = load_track(file)
        material, skipped = track_material(
            track, folder, speech=asked.speech, cast=asked.cast, encoding=config.speech.encoding
        )
        extra = kept_findings(folder, track) if folder is not None and file.name == TRACK else ()
    else:
        language = asked.language or config.language
        material, skipped = script_material(
            file, language, speech=asked.speech, cast=asked.cast, encoding=config.speech.encoding
        )
        extra = ()
        if folder is not None:
            material, more = in_folder(material, folder, load_track(folder / TRACK))
            skipped = (*skipped, *more)
    if asked.film is not None:
        material = beside_film(material, asked.film)
    if asked.screen:
        material = _with_screen(material, folder, config, asked, progress)
    # Words are read, and a parser is loaded, once for the same settings.
    checker = next((c for c in checkers if (c.settings, c.fit) == (config.lint, config.fit)), None)
    if checker is None:
        checkers.append(checker := Checker.of(config.lint, config.fit, config.slots))
    report = lint(material, checker, extra=extra, folder=folder or file.parent, skipped=skipped)

    def is_wanted(finding: Finding) -> bool:
        named = not asked.only or any(selects_rule(rule, finding.rule) for rule in asked.only)
        return named and not any(selects_rule(rule, finding.rule) for rule in asked.skip)

    found = tuple(filter(is_wanted, report.findings))
    return replace(report, findings=found, accepted=tuple(filter(is_wanted, report.accepted)))


def _with_screen(
    material: Material, folder: Path | None, config: Config, asked: LintTargets, progress: Progress
) -> Material:
    """The material with the texts of its film, read now unless they were before."""
    run = run_of(folder)
    own = run.film if run and run.film and run.film.exists() else None
    film = asked.film or own
    if film is None:
        what = f"The screen cannot be read: it is not known which film {material.name} belongs to."
        raise UsageError(what, "Name the film: --film FILM.")
    kept_in = folder if folder is not None else work_folder_of(film)
    spoken = [utterance.interval for utterance in material.speech or ()]
    return replace(material, texts=read_screen(film, kept_in, config, spoken, progress=progress))


def _found(path: Path) -> tuple[Path, Path | None]:
    """The file of lines that ``path`` means, and its work folder; None for a script that lies elsewhere."""
    for folder in (path, work_folder_of(path)):
        refuse_special(folder / TRACK)
        if (folder / TRACK).is_file():
            return folder / TRACK, folder
    if path.is_file() and not is_film(path):
        return path, path.parent if _is_track(path) or (path.parent / TRACK).is_file() else None
    beside = "" if path.suffix == ".shotad" else f" or in {work_folder_of(path)}"
    what = f"{path} has no track: there is no {TRACK} in it{beside}."
    raise WorkFolderError(what, "Run shotad describe first, or name a work folder or a script.")


def is_film(path: Path) -> bool:
    """Whether a file is none of text, and no package of documents: then it is taken for a film.

    Raises ScriptError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise ScriptError(f"{path} cannot be read: {error.strerror}.") from None
    is_text = head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" not in head
    return not is_text and not head.startswith(b"PK\x03\x04")


def _is_track(path: Path) -> bool:
    """Whether a file is a track and no plain script in JSON."""
    if path.suffix.lower() != ".json":
        return False
    try:
        head = parse_json(read_text_file(path, "script", ScriptError, encoding="utf-8").text)
    except (ScriptError, ValueError):
        return path.name == TRACK
    return isinstance(head, dict) and "schema_version" in head and "film" in head


@dataclass(slots=True)
class CachedLineFindings:
    """What `each_line` finds, kept for lines that stay the same: `of` gives it. For one thread."""

    _around: tuple[Material, Checker, frozenset[str]] | None = None
    # Of each line with the texts just before it, which is all that its rules look at
    _known: dict[str, tuple[TrackLine, tuple[str, ...], tuple[Finding, ...]]] = field(default_factory=dict)

    def of(self, material: Material, checker: Checker) -> tuple[Finding, ...]:
        """What is wrong with each line."""
        # Languages: the verbs that a parser is asked about are those of all of them.
        tongues = frozenset(line.language for line in material.lines)
        around = (replace(material, lines=(), end=material.duration), checker, tongues)
        if around != self._around:
            self._around, self._known = around, {}
        texts, history = [line.text for line in material.lines], checker.limits.history
        seen = {
            line.id: (line, tuple(texts[max(number - history, 0) : number]))
            for number, line in enumerate(material.lines)
        }
        kept = {name: self._known[name][2] for name in seen if self._known.get(name, ())[:2] == seen[name]}
        fresh: dict[str, list[Finding]] = {name: [] for name in seen if name not in kept}
        for finding in each_line(material, checker, only=fresh):
            fresh[finding.cue_id or ""].append(finding)
        self._known = {
            name: (*one, kept[name] if name in kept else tuple(fresh[name])) for name, one in seen.items()
        }
        return tuple(chain.from_iterable(found for _, _, found in self._known.values()))
