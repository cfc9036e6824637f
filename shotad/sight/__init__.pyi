from . import (
    cast_entries as cast_entries,
    castfile as castfile,
    castfolder as castfolder,
    faces as faces,
    facetracks as facetracks,
    found_people as found_people,
    gallery as gallery,
    inscriptions as inscriptions,
    motion as motion,
    photos as photos,
    text as text,
)
from .castfile import (
    CastFile as CastFile,
)
from .castfolder import (
    Appearance as Appearance,
    CastPicture as CastPicture,
    CastPictures as CastPictures,
    DiscoveryRecord as DiscoveryRecord,
    merge as merge,
    write_overview as write_overview,
)
from .charbank import (
    load_cast as load_cast,
    read_films_of_bank as read_films_of_bank,
)
from .faces import (
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
    tracks_of_shot as tracks_of_shot,
)
from .found_people import (
    FoundPerson as FoundPerson,
    Match as Match,
    group_people as group_people,
    match_people as match_people,
)
from .gallery import (
    Gallery as Gallery,
    Identification as Identification,
    PhotoReading as PhotoReading,
    identify as identify,
    read_gallery as read_gallery,
)
from .inscriptions import (
    FrameText as FrameText,
    texts_of_shots as texts_of_shots,
)
from .pictures import (
    crop as crop,
)
from .text import (
    TextReader as TextReader,
    find_credits as find_credits,
)
