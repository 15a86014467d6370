from ._app import create_app as create_app
from ._config import Config as Config
from ._config import Limits as Limits
from ._config import read_token as read_token
from ._server import serve as serve
