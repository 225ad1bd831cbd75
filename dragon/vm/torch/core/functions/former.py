"""Calls as old code wrote them: factors in front of tensors, `x.add_(0.5, y)` and `d.addmm_(1, -2, a, b)`."""

from dragon.core import warnings
from dragon.vm.torch.core.register import FUNCTIONS, overridable
from dragon.vm.torch.core.tensor import Tensor, ops

# Operator, how many tensors it takes, and the names of the factors in the order in which they stood.
FORMER = {"add": (2, ("alpha",)), "sub": (2, ("alpha",)), "addcmul": (3, ("value",)), "addcdiv": (3, ("value",)),
          "addmm": (3, ("beta", "alpha")), "addmv": (3, ("beta", "alpha")), "addr": (3, ("beta", "alpha")),
          "addbmm": (3, ("beta", "alpha")), "baddbmm": (3, ("beta", "alpha"))}


def _former(name, count, factors):
    """Return the operator, with the old order of arguments to fall back on."""
    operator = getattr(ops, name)

    def call(*args, **kwargs):
        tensors = [value for value in args if isinstance(value, Tensor)]
        numbers = [value for value in args if not isinstance(value, Tensor)]
        if len(tensors) == count and 0 < len(numbers) <= len(factors) and not set(factors) & set(kwargs):
            warnings.warn(f"{name}: got factors before tensors, which is deprecated; give "
                          f"{' and '.join(factors)} by name", UserWarning)
            return operator(*tensors, **dict(zip(factors, numbers)), **kwargs)
        return operator(*args, **kwargs)  # raises in the operator's own words
    call.__name__ = call.__qualname__ = name
    call.__wrapped__ = operator  # whose signature it has, and whose docstring, which is made when it is asked for
    return ops.with_fallback(name, overridable(call))


# What PyTorch took away, and what it says to use.
REMOVED = {"solve": "torch.linalg.solve (with the arguments the other way round)", "lstsq": "torch.linalg.lstsq",
           "symeig": "torch.linalg.eigh or torch.linalg.eigvalsh", "eig": "torch.linalg.eig or torch.linalg.eigvals",
           "matrix_rank": "torch.linalg.matrix_rank"}


def _removed(name, instead):
    def refuse(*args, **kwargs):
        raise RuntimeError(f"{name}: this function is deprecated and was removed from PyTorch; use {instead}")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Was removed from PyTorch in favour of {instead}."
    FUNCTIONS[name] = refuse
    if name != "matrix_rank":
        setattr(Tensor, name, refuse)


for _name, _instead in REMOVED.items():
    _removed(_name, _instead)
for _name, (_count, _factors) in FORMER.items():
    FUNCTIONS[_name] = _former(_name, _count, _factors)
    setattr(Tensor, _name, FUNCTIONS[_name])
    setattr(Tensor, _name + "_", _former(_name + "_", _count, _factors))
FUNCTIONS["addmv_"] = Tensor.addmv_
for _name, _alias in (("subtract", "sub"), ("subtract_", "sub_")):
    setattr(Tensor, _name, getattr(Tensor, _alias))
FUNCTIONS["subtract"] = FUNCTIONS["sub"]
