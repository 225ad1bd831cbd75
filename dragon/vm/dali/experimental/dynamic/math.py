"""Mathematics by elements, on tensors and batches."""
from dragon.vm.dali import math as _math
from dragon.vm.dali.core.dynamic.computing import run as _run


def _lifted(function, name):
    def lifted(*operands):
        return _run(function, operands, {}, who=f"math.{name}")
    lifted.__name__ = lifted.__qualname__ = name
    lifted.__module__, lifted.__doc__ = __name__, function.__doc__
    return lifted


for _name, _function in vars(_math).copy().items():
    if callable(_function) and not _name.startswith("_"):
        globals()[_name] = _lifted(_function, _name)
