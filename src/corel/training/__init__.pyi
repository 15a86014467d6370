from ._head import add_head as add_head
from ._loop import first_weights as first_weights
from ._loop import train as train
from ._run import TrainingInterrupted as TrainingInterrupted
from .config import PRESETS as PRESETS
from .config import TrainConfig as TrainConfig
