from .audio import (
    Layout as Layout,
    Samples as Samples,
    SoundBlock as SoundBlock,
    SoundSeeker as SoundSeeker,
    choose_track as choose_track,
    sound_blocks as sound_blocks,
)
from .colour import (
    Orientation as Orientation,
    light_of as light_of,
    matrix_of as matrix_of,
    turn_of as turn_of,
)
from .container import (
    TEXT_CODECS as TEXT_CODECS,
    Media as Media,
    Probed as Probed,
    exact as exact,
    exact_start as exact_start,
    find_media as find_media,
    is_cover as is_cover,
    last_second as last_second,
    legible as legible,
    only as only,
    packets_of as packets_of,
    probe as probe,
    timeline_of as timeline_of,
)
from .decoder import Decoder as Decoder
from .framestore import (
    TICKS as TICKS,
    second_of as second_of,
    tick_of as tick_of,
)
from .framing import (
    STILLS as STILLS,
    Frames as Frames,
    zones_around as zones_around,
)
from .overlays import (
    COLOURS as COLOURS,
    fit as fit,
    marks_for as marks_for,
    paint as paint,
    vlm_size as vlm_size,
)
from .palette import (
    BLUE as BLUE,
    FAINT as FAINT,
    INK as INK,
    PAPER as PAPER,
    SKY_BLUE as SKY_BLUE,
    VERMILLION as VERMILLION,
    Colour as Colour,
    colour_of as colour_of,
    css as css,
    ink_on as ink_on,
    jpeg as jpeg,
    matrix_png as matrix_png,
    page_environment as page_environment,
)
from .pyav_reader import open_film as open_film
from .reader import TOLERANCE as TOLERANCE, Film as Film, Frame as Frame, Picture as Picture, Size as Size
from .sampling import (
    CONTEXT_REACH as CONTEXT_REACH,
    Moment as Moment,
    Pictures as Pictures,
    ShotMoments as ShotMoments,
    clips as clips,
    context_shots as context_shots,
    moments_of as moments_of,
    plan_frames as plan_frames,
    published_moments_of as published_moments_of,
)
from .shots import survey as survey
from .singing import Voices as Voices, left_to_people as left_to_people, mark_slots as mark_slots
from .slot_records import (
    HandSlots as HandSlots,
    Prepared as Prepared,
    SlotChange as SlotChange,
    change_slots as change_slots,
    changes_since as changes_since,
    film_of as film_of,
    forget_lost_slots as forget_lost_slots,
    hand_in_both as hand_in_both,
    hand_row as hand_row,
    keep_to as keep_to,
    new_slot as new_slot,
    read_hand_slots as read_hand_slots,
    recorded as recorded,
    refuse_lost_slots as refuse_lost_slots,
)
from .slots import (
    BREATH as BREATH,
    HARD_MINIMUM as HARD_MINIMUM,
    credits_interval as credits_interval,
    fixed_slots as fixed_slots,
    free_time as free_time,
    kept_free as kept_free,
    may_be_credits as may_be_credits,
    plan_slots as plan_slots,
    subtract as subtract,
    union as union,
    why_few as why_few,
    word_budget as word_budget,
)
from .speech import (
    HEARING_WEIGHTS as HEARING_WEIGHTS,
    FoundSpeech as FoundSpeech,
    HeardSpeech as HeardSpeech,
    check_inside as check_inside,
    find_speech as find_speech,
    hear_speech as hear_speech,
)
from .subtitle_check import fit_subtitles as fit_subtitles
from .subtitles import (
    Subtitles as Subtitles,
    embedded_track as embedded_track,
    end_of_sound_and_picture as end_of_sound_and_picture,
    read_subtitles as read_subtitles,
)
