from ._bank import Assessment as Assessment
from ._bank import ClassBank as ClassBank
from ._bank import allowed_rejections as allowed_rejections
from ._bank import backbone_settings as backbone_settings
from ._bank import check_support as check_support
from ._estimator import OneClass as OneClass
from ._explain import Explanation as Explanation
from ._sets import prediction_sets as prediction_sets
