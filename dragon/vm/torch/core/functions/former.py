"""Calls as old code wrote them: factors in front of tensors, `x.add_(0.5, y)` and `d.addmm_(1, -2, a, b)`."""
from dragon import _C
from dragon.core import warnings
from dragon.vm.torch._api import ROWS
from dragon.vm.torch.core.register import FUNCTIONS, overridable
from dragon.vm.torch.core.tensor import Tensor, ops


def _factors_of(name):
    """Return how many tensors an operator takes, and the factors that it takes by name; None for other operators."""
    arguments = _C.schema(name)["arguments"]
    factors = tuple(argument["name"] for argument in arguments if argument["keyword_only"])
    kinds = [argument["type"] for argument in arguments]
    count = len(kinds) - len(factors)
    return (count, factors) if factors and kinds == ["Tensor"] * count + ["Scalar"] * len(factors) else None


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
for _name in [row.operator for row in ROWS if "Tensor_" in row.places]:
    _found = _factors_of(_name)
    if _found is not None:
        FUNCTIONS[_name] = _former(_name, *_found)
        setattr(Tensor, _name, FUNCTIONS[_name])
        setattr(Tensor, _name + "_", _former(_name + "_", *_found))
FUNCTIONS["addmv_"] = Tensor.addmv_
for _name, _alias in (("subtract", "sub"), ("subtract_", "sub_")):
    setattr(Tensor, _name, getattr(Tensor, _alias))
FUNCTIONS["subtract"] = FUNCTIONS["sub"]
