"""Recognise a class from a handful of latents: scores, decisions with a guarantee, explanations, forgetting."""

from corel.oneclass._bank import Assessment as Assessment
from corel.oneclass._bank import ClassBank as ClassBank
from corel.oneclass._bank import allowed_rejections as allowed_rejections
from corel.oneclass._bank import backbone_settings as backbone_settings
from corel.oneclass._bank import check_support as check_support
from corel.oneclass._estimator import OneClass as OneClass
from corel.oneclass._explain import Explanation as Explanation
from corel.oneclass._sets import prediction_sets as prediction_sets
