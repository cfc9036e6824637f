from .cast_entries import film_name as film_name, seconds_of as seconds_of, time_text as time_text
from .castfile import (
    CAST_FILE_HEADER as CAST_FILE_HEADER,
    CastFile as CastFile,
    cast_path as cast_path,
    conflicting_name as conflicting_name,
    find_member as find_member,
    names_of as names_of,
    photos_in as photos_in,
    unreadable_photos as unreadable_photos,
)
from .castfolder import (
    DISCOVERY_FILE as DISCOVERY_FILE,
    OVERVIEW_FILE as OVERVIEW_FILE,
    UNDO_FILE as UNDO_FILE,
    USE_LIST as USE_LIST,
    Appearance as Appearance,
    CastPictures as CastPictures,
    DiscoveryRecord as DiscoveryRecord,
    Picture as Picture,
    file_stem as file_stem,
    forget_use as forget_use,
    free_ids as free_ids,
    is_blank as is_blank,
    keep_for_undo as keep_for_undo,
    locked as locked,
    merge as merge,
    merge_appearances as merge_appearances,
    note_use as note_use,
    put_pictures as put_pictures,
    remove_pictures as remove_pictures,
    undo_merge as undo_merge,
    update_overview as update_overview,
    used_in as used_in,
    write_overview as write_overview,
)
from .charbank import load_cast as load_cast
from .faces import (
    FACE_MODEL_PAIRS as FACE_MODEL_PAIRS,
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
    portrait as portrait,
    portrait_candidates as portrait_candidates,
    select_portraits as select_portraits,
    track_from_json as track_from_json,
    track_to_json as track_to_json,
    tracks_of_shot as tracks_of_shot,
)
from .found_people import (
    FoundPerson as FoundPerson,
    Match as Match,
    group_people as group_people,
    match_people as match_people,
    person_from_tracks as person_from_tracks,
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
from .pictures import crop as crop
from .text import (
    TEXT_WEIGHTS as TEXT_WEIGHTS,
    TextReader as TextReader,
    credit_moments as credit_moments,
    find_credits as find_credits,
    plain_fraction as plain_fraction,
)
