"""How well classes are told apart: the paper's one-vs-all protocol, with the controls that every table needs."""

from corel.evaluation._auc import one_vs_all_auc as one_vs_all_auc
from corel.evaluation._labeled import LabeledItems as LabeledItems
from corel.evaluation._labeled import read_labeled as read_labeled
from corel.evaluation._methods import nearest_neighbors as nearest_neighbors
from corel.evaluation._protocol import draw_exemplars as draw_exemplars
from corel.evaluation._protocol import evaluate as evaluate
from corel.evaluation._recognition import Recognition as Recognition
from corel.evaluation._recognition import recognize as recognize
from corel.evaluation._records import Evaluation as Evaluation
from corel.evaluation._records import Record as Record
from corel.evaluation._records import Summary as Summary
from corel.evaluation._records import half_interval as half_interval
from corel.evaluation._records import shown as shown
from corel.evaluation._remark import remark as remark
from corel.evaluation._split import split as split
