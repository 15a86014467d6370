"""Every format that the program reads."""

from __future__ import annotations

from tests.attack.attacked import Attacked
from tests.attack.foreign_files import FOREIGN_FILES
from tests.attack.own_files import OWN_FILES
from tests.attack.run_files import RUN_FILES

FORMATS: dict[str, Attacked] = {**OWN_FILES, **RUN_FILES, **FOREIGN_FILES}
