from .cast_entries import film_name as film_name, seconds_of as seconds_of, time_text as time_text
from .castfile import (
    HEAD as HEAD,
    CastFile as CastFile,
    cast_path as cast_path,
    chosen as chosen,
    names_of as names_of,
    photos_in as photos_in,
    taken_name as taken_name,
    unread_in as unread_in,
)
from .castfolder import (
    FACTS as FACTS,
    PAGE as PAGE,
    UNDO as UNDO,
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
    keep_for_undo as keep_for_undo,
    merge as merge,
    note_use as note_use,
    put_pictures as put_pictures,
    remove_pictures as remove_pictures,
    renew_overview as renew_overview,
    stem_of as stem_of,
    undo as undo,
    used_in as used_in,
    write_overview as write_overview,
)
from .charbank import load_cast as load_cast
from .faces import (
    PAIRS as PAIRS,
    Embedding as Embedding,
    Embeddings as Embeddings,
    Face as Face,
    FaceFinder as FaceFinder,
    FaceModels as FaceModels,
    FaceReader as FaceReader,
    get_face_models as get_face_models,
)
from .facetracks import (
    FaceTrack as FaceTrack,
    FaceView as FaceView,
    best_of as best_of,
    from_row as from_row,
    looks_of as looks_of,
    portrait as portrait,
    to_row as to_row,
    tracks_of_shot as tracks_of_shot,
)
from .found_people import (
    FoundPerson as FoundPerson,
    Match as Match,
    match_people as match_people,
    people_in as people_in,
    person_of as person_of,
)
from .gallery import (
    Gallery as Gallery,
    PhotoReading as PhotoReading,
    Verdict as Verdict,
    identify as identify,
    photo_key as photo_key,
    read_gallery as read_gallery,
)
from .inscriptions import (
    FrameText as FrameText,
    looks_like_credits as looks_like_credits,
    texts_of_shots as texts_of_shots,
)
from .motion import (
    active_area as active_area,
)
from .photos import check_photo as check_photo, load_photo as load_photo
from .pictures import cut as cut
from .text import (
    TEXT_WEIGHTS as TEXT_WEIGHTS,
    TextReader as TextReader,
    credit_moments as credit_moments,
    find_credits as find_credits,
    plain_share as plain_share,
)
