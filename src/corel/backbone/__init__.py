"""The artifact of training: one file that holds the encoder and all that scoring needs to know of it."""

from corel.backbone._backbone import DEFAULT as DEFAULT
from corel.backbone._backbone import Backbone as Backbone
from corel.backbone._file import WRAPPED as WRAPPED
from corel.backbone._file import shipped as shipped
