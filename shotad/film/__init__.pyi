from .audio import (
    Layout as Layout,
    Samples as Samples,
    SoundBlock as SoundBlock,
    choose_track as choose_track,
    sound_blocks as sound_blocks,
)
from .clip import ClipPlan as ClipPlan, Pictures as Pictures, clips as clips
from .colour import Turn as Turn, light_of as light_of, matrix_of as matrix_of, turn_of as turn_of
from .container import (
    Media as Media,
    exact as exact,
    exact_start as exact_start,
    find_media as find_media,
    is_cover as is_cover,
    legible as legible,
    only as only,
    packets_of as packets_of,
)
from .context import context_shots as context_shots
from .credits import credits_interval as credits_interval
from .cues import read_subtitles as read_subtitles
from .decoder import Decoder as Decoder
from .framestore import FrameStore as FrameStore
from .framing import OVERVIEW as OVERVIEW, STILLS as STILLS, Frames as Frames, zones_around as zones_around
from .gaps import free_time as free_time, subtract as subtract, union as union
from .grid import Grid as Grid
from .handslots import (
    HandSlots as HandSlots,
    Kept as Kept,
    SlotChange as SlotChange,
    change_slots as change_slots,
    changes_since as changes_since,
    hand_row as hand_row,
    keep_to as keep_to,
    new_slot as new_slot,
    read_hand_slots as read_hand_slots,
)
from .moments import (
    Moment as Moment,
    ShotMoments as ShotMoments,
    moments_of as moments_of,
    published_moments_of as published_moments_of,
)
from .opening import open_film as open_film
from .overlay.letters import (
    lettering as lettering,
    lines_height as lines_height,
    write as write,
    write_lines as write_lines,
)
from .overlay.marks import COLOURS as COLOURS, marks_for as marks_for
from .overlay.matrix import matrix_image as matrix_image, matrix_png as matrix_png
from .overlay.overlay import RED as RED, fit as fit, paint as paint, vlm_size as vlm_size
from .overlay.pages import page_environment as page_environment
from .overlay.palette import (
    BLACK as BLACK,
    BLUE as BLUE,
    FAINT as FAINT,
    INK as INK,
    PAPER as PAPER,
    RULE as RULE,
    SKY_BLUE as SKY_BLUE,
    THREAD_COLOURS as THREAD_COLOURS,
    VERMILLION as VERMILLION,
    WASH as WASH,
    YELLOW as YELLOW,
    Colour as Colour,
    css as css,
    ink_on as ink_on,
    thread_colour as thread_colour,
)
from .pass_progress import OnShots as OnShots
from .prepared import Prepared as Prepared, film_of as film_of, recorded as recorded
from .probing import Probed as Probed, last_second as last_second, probe as probe
from .reader import TOLERANCE as TOLERANCE, Film as Film, Frame as Frame, Picture as Picture, Size as Size
from .sampling import plan_frames as plan_frames
from .scan import survey as survey
from .slots import (
    BREATH as BREATH,
    HARD_MINIMUM as HARD_MINIMUM,
    fixed_slots as fixed_slots,
    plan_slots as plan_slots,
    why_few as why_few,
    word_budget as word_budget,
)
from .soundseek import SoundSeeker as SoundSeeker
from .speech import Speech as Speech, find_speech as find_speech
from .subtitles import embedded_track as embedded_track
