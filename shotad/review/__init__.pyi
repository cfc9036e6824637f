from .routes import film_id as film_id
from .serving import serve as serve
