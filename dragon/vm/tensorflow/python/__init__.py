"""`tensorflow.python`: where libraries import names from that are public elsewhere, and the helpers that they use most.

`names.txt` tells for each module which of its names are where. A name that is in neither is missing, and says so.
"""
import os as _os

from dragon.vm.tensorflow.core import modules as _modules
from dragon.vm.tensorflow.core.inner import MEMBERS as _MEMBERS, raw_function as _raw_function

with open(_os.path.join(_os.path.dirname(__file__), "names.txt"), encoding="utf-8") as _file:
    _modules.enter_table("python", _file.read(), "Names of", _MEMBERS, _raw_function)
