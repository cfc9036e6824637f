from .cast.files.castfile import HEAD as HEAD, CastFile as CastFile, cast_path as cast_path
from .cast.files.choosing import chosen as chosen, names_of as names_of, taken_name as taken_name
from .cast.files.entries import film_name as film_name, seconds_of as seconds_of, time_text as time_text
from .cast.files.loading import load_cast as load_cast
from .cast.files.merging import UNDO as UNDO, keep_for_undo as keep_for_undo, merge as merge, undo as undo
from .cast.files.photofiles import photos_in as photos_in, unread_in as unread_in
from .cast.found.castfolder import (
    FACTS as FACTS,
    USED as USED,
    Facts as Facts,
    Found as Found,
    Holdings as Holdings,
    Picture as Picture,
    forget_use as forget_use,
    free_ids as free_ids,
    held as held,
    is_blank as is_blank,
    joined as joined,
    note_use as note_use,
    put_pictures as put_pictures,
    remove_pictures as remove_pictures,
    stem_of as stem_of,
    used_in as used_in,
)
from .cast.found.matching import Borders as Borders, Match as Match, match_people as match_people
from .cast.found.overview import (
    PAGE as PAGE,
    renew_overview as renew_overview,
    write_overview as write_overview,
)
from .cast.found.people import FoundPerson as FoundPerson, people_in as people_in, person_of as person_of
from .cast.found.portraits import (
    Embeddings as Embeddings,
    Look as Look,
    Portrait as Portrait,
    best_of as best_of,
    looks_of as looks_of,
    portrait as portrait,
    promising as promising,
)
from .cast.gallery import Gallery as Gallery, GalleryReading as GalleryReading, read_gallery as read_gallery
from .cast.identity import Verdict as Verdict, identify as identify
from .cast.photos import (
    PhotoReading as PhotoReading,
    check_photo as check_photo,
    load_photo as load_photo,
    photo_key as photo_key,
)
from .colours import colour_of as colour_of
from .facemodels import (
    PAIRS as PAIRS,
    FaceModels as FaceModels,
    get_face_models as get_face_models,
    make_face_models as make_face_models,
)
from .faces import Embedding as Embedding, Face as Face, FaceFinder as FaceFinder, FaceReader as FaceReader
from .facetracks import (
    FaceTrack as FaceTrack,
    from_row as from_row,
    to_row as to_row,
    tracks_of_shot as tracks_of_shot,
)
from .figures import figure_of as figure_of, things_of as things_of
from .groups import companies as companies
from .inscriptions import FrameText as FrameText
from .light import (
    Change as Change,
    Level as Level,
    active_area as active_area,
    change_of as change_of,
    level_of as level_of,
    luma as luma,
    mean_luma as mean_luma,
    since_of as since_of,
)
from .missed import with_missed as with_missed
from .motion import (
    Shift as Shift,
    camera_of as camera_of,
    composed as composed,
    inside_of as inside_of,
    is_break as is_break,
    shift_between as shift_between,
    small_gray as small_gray,
)
from .people import Glimpse as Glimpse, glimpses_of as glimpses_of
from .persons import Person as Person, Stretch as Stretch, people_fact as people_fact, people_of as people_of
from .reading import looks_like_credits as looks_like_credits, texts_of_shots as texts_of_shots
from .recognition import recognised as recognised
from .rolling import credit_moments as credit_moments, find_credits as find_credits
from .text import TEXT_WEIGHTS as TEXT_WEIGHTS, TextReader as TextReader
from .things import Blind as Blind, EfficientDet as EfficientDet, SsdMobileNet as SsdMobileNet, cut as cut
from .tracks import Track as Track, link as link
from .verdict import PeopleBorders as PeopleBorders
