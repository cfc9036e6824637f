from .server.opening import film_id as film_id
from .server.serving import serve as serve
