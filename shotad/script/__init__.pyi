from .cue import (
    EARLIEST as EARLIEST,
    LEAD as LEAD,
    LONGEST as LONGEST,
    REDO as REDO,
    Cue as Cue,
    CueKind as CueKind,
    CueStatus as CueStatus,
    Edit as Edit,
    EditField as EditField,
    LineState as LineState,
    Maker as Maker,
    Provenance as Provenance,
    Sight as Sight,
    Voiced as Voiced,
    accept as accept,
    clean_text as clean_text,
    count_words as count_words,
    hand_id as hand_id,
    in_sight as in_sight,
    is_changed as is_changed,
    line_stamp as line_stamp,
    mark_edit as mark_edit,
    milliseconds as milliseconds,
    review_stamp as review_stamp,
    short_hash as short_hash,
    spoken_interval as spoken_interval,
    unaccept as unaccept,
)
from .cuefile import EMPTIED as EMPTIED, cue_json as cue_json, read_cue as read_cue
from .dapt import write_dapt as write_dapt
from .dapt_sound import Recording as Recording
from .edits import (
    Derivation as Derivation,
    derive as derive,
    given_back as given_back,
    is_by_hand as is_by_hand,
    redone as redone,
    respeak as respeak,
    respoken as respoken,
    without_edits as without_edits,
)
from .english.clauses import bare as bare, is_lead as is_lead, main_verb as main_verb
from .english.fit import Fitted as Fitted, split_sentences as split_sentences, variants as variants
from .english.inlanguage import (
    capitals_are_names as capitals_are_names,
    fit_spoken as fit_spoken,
    own_signs as own_signs,
)
from .english.names import NO_NAMES as NO_NAMES, names_in as names_in
from .english.needs import RESULTS as RESULTS, SEEING as SEEING
from .english.nouns import (
    ADJECTIVE_ENDINGS as ADJECTIVE_ENDINGS,
    ADJECTIVES as ADJECTIVES,
    COLOURS as COLOURS,
    MASSES as MASSES,
    MOSTLY_NOUNS as MOSTLY_NOUNS,
    NO_ARTICLE as NO_ARTICLE,
    NOUNS_IN_ING as NOUNS_IN_ING,
    NOUNS_TOO as NOUNS_TOO,
    PERHAPS_NOUNS_IN_ING as PERHAPS_NOUNS_IN_ING,
    PLURALS as PLURALS,
    singular as singular,
)
from .english.persons import people_named as people_named
from .english.smallwords import (
    ADVERBS as ADVERBS,
    AFTER_A_VERB as AFTER_A_VERB,
    BEFORE_NOUNS as BEFORE_NOUNS,
    COORDINATING as COORDINATING,
    DETERMINERS as DETERMINERS,
    FLOATING as FLOATING,
    FUNCTION_WORDS as FUNCTION_WORDS,
    LINKING as LINKING,
    NOMINATIVE as NOMINATIVE,
    OBJECTS as OBJECTS,
    OTHERS as OTHERS,
    PLURAL_DETERMINERS as PLURAL_DETERMINERS,
    POSSESSIVES as POSSESSIVES,
    PREPOSITIONS as PREPOSITIONS,
    PRONOUNS as PRONOUNS,
    RELATIVE as RELATIVE,
    SINGULAR_DETERMINERS as SINGULAR_DETERMINERS,
    STOPS as STOPS,
    UNFINISHED as UNFINISHED,
    listed as listed,
)
from .english.verbs import (
    BASES as BASES,
    GERUNDS as GERUNDS,
    LEMMAS as LEMMAS,
    PARTICIPLES as PARTICIPLES,
    PERFECTS as PERFECTS,
    PLAIN as PLAIN,
    THIRD as THIRD,
    forms as forms,
    gerunds as gerunds,
    lemma as lemma,
    pasts as pasts,
    third as third,
)
from .exporting import script_file as script_file, write_format as write_format
from .fields import Fields as Fields
from .findings import finding_of as finding_of, finding_row as finding_row
from .given import given_shots as given_shots, slot_cues as slot_cues
from .language.embeddings import (
    Embedder as Embedder,
    Vectors as Vectors,
    check_installed as check_installed,
    make_embedder as make_embedder,
)
from .language.parsing import (
    Parse as Parse,
    Parser as Parser,
    ParserModel as ParserModel,
    Token as Token,
    find_parser as find_parser,
)
from .language.tokenvectors import (
    EncoderPlace as EncoderPlace,
    TokenEncoder as TokenEncoder,
    TokenVectors as TokenVectors,
    check_name as check_name,
    locate as locate,
)
from .language.whichmodel import DEFAULT as DEFAULT, embedding_model as embedding_model
from .lint.accepted import (
    AcceptWish as AcceptWish,
    accept_findings as accept_findings,
    covers as covers,
    parse_wish as parse_wish,
    read_accepted as read_accepted,
    stamp_of as stamp_of,
    stamps as stamps,
)
from .lint.dialogue_overlap import check_dialogue as check_dialogue, check_subtitles as check_subtitles
from .lint.interval_index import IntervalIndex as IntervalIndex
from .lint.lines import (
    Material as Material,
    TrackLine as TrackLine,
    lines_of_script as lines_of_script,
    lines_of_track as lines_of_track,
)
from .lint.listing import rules_json as rules_json, rules_text as rules_text
from .lint.people import check_pronouns as check_pronouns
from .lint.rates import check_pace as check_pace
from .lint.report import (
    Report as Report,
    as_json as as_json,
    as_text as as_text,
    in_order as in_order,
    summary_line as summary_line,
)
from .lint.rules import RULES as RULES, hint_of as hint_of, order_of as order_of, title_of as title_of
from .lint.screen import check_texts as check_texts, read_from as read_from
from .lint.sentences import Reader as Reader, reader_for as reader_for
from .lint.wordfiles import UserWords as UserWords, lists_for as lists_for, read_words as read_words
from .lookup import find_lines as find_lines
from .namerules import check_names as check_names
from .nameruns import SENTENCE_START as SENTENCE_START, key_of as key_of, keys_of as keys_of
from .names.givennames import HER_NAMES as HER_NAMES, HIS_NAMES as HIS_NAMES, listed_as as listed_as
from .names.members import TITLES as TITLES, Member as Member, members as members
from .names.mentions import Mention as Mention, book_of as book_of, mentions as mentions
from .names.tokens import NameToken as NameToken, acts as acts, respelt as respelt, tokens_of as tokens_of
from .names.words import (
    AFTER_OBJECT as AFTER_OBJECT,
    ANY_NOUNS as ANY_NOUNS,
    CLAUSE_WORDS as CLAUSE_WORDS,
    GENERIC_NOUNS as GENERIC_NOUNS,
    HE as HE,
    HER_NOUNS as HER_NOUNS,
    HIS_NOUNS as HIS_NOUNS,
    NAME_DETERMINERS as NAME_DETERMINERS,
    NAME_FUNCTION_WORDS as NAME_FUNCTION_WORDS,
    NAME_PREPOSITIONS as NAME_PREPOSITIONS,
    PERSON_NOUNS as PERSON_NOUNS,
    PLURAL_NOUNS as PLURAL_NOUNS,
    REFLEXIVES as REFLEXIVES,
    SHE as SHE,
    SUBJECT_PRONOUNS as SUBJECT_PRONOUNS,
    THEY as THEY,
    UPON_OTHERS as UPON_OTHERS,
    WHO as WHO,
)
from .pace import Budget as Budget, budget_in as budget_in, rate_of as rate_of, spoken_words as spoken_words
from .people import CastMention as CastMention, cast_mentions as cast_mentions, words_of as words_of
from .rules import (
    BENCHMARK as BENCHMARK,
    Finding as Finding,
    Level as Level,
    Limits as Limits,
    check_line as check_line,
    check_order as check_order,
    check_seen as check_seen,
    gaps as gaps,
    quotations as quotations,
    silences as silences,
    similarity as similarity,
    stretches as stretches,
)
from .scriptfiles import (
    WRITTEN as WRITTEN,
    Brought as Brought,
    are_written as are_written,
    edited_scripts as edited_scripts,
    script_places as script_places,
    script_texts as script_texts,
    write_texts as write_texts,
)
from .shortening import Answer as Answer, Shorten as Shorten, Wish as Wish
from .tempo import BREATH as BREATH, usual_words as usual_words
from .text import (
    ALL_FORMATS as ALL_FORMATS,
    FORMATS as FORMATS,
    Format as Format,
    check_script as check_script,
    read_cues as read_cues,
    script_format as script_format,
)
from .timecodes import parse_time as parse_time, timecode as timecode
from .track import (
    REMOVED as REMOVED,
    FilmId as FilmId,
    Track as Track,
    cue_block as cue_block,
    cue_span as cue_span,
    from_json as from_json,
    load_track as load_track,
    to_json as to_json,
)
from .tracking import (
    TRACK as TRACK,
    import_into as import_into,
    present_track as present_track,
    save_track as save_track,
    track_lock as track_lock,
    with_edited_scripts as with_edited_scripts,
    with_scripts as with_scripts,
)
from .translations import (
    import_translation as import_translation,
    is_translation as is_translation,
    log_name as log_name,
    outdated_note as outdated_note,
    save_translation as save_translation,
    times_of as times_of,
    track_name as track_name,
    translation_of as translation_of,
    translation_places as translation_places,
    with_translation_scripts as with_translation_scripts,
)
from .words import (
    ARTICLES as ARTICLES,
    MARKUP as MARKUP,
    SOMEONE as SOMEONE,
    TALK as TALK,
    WordList as WordList,
)
