"""Named tuples that functions with several results return, as `torch.return_types.max`."""
from operator import itemgetter

from dragon.vm.torch._api import ROWS


class NamedResult(tuple):
    """Several tensors with names."""

    __slots__ = ()
    _names = ()

    def __repr__(self):
        parts = ",\n".join(f"{name}={value!r}" for name, value in zip(self._names, self))
        return f"{type(self).__module__}.{type(self).__name__}(\n{parts})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def make_result(name, names):
    """Return a class of results: called with a tuple of tensors, it gives them names."""
    body = {field: property(itemgetter(index)) for index, field in enumerate(names)}
    body.update(__slots__=(), _names=tuple(names), __module__="torch.return_types", n_fields=len(names),
                n_sequence_fields=len(names), n_unnamed_fields=0, __match_args__=tuple(names))
    return type(name, (NamedResult,), body)


CLASSES, OF_OPERATORS = {}, {}
for _row in ROWS:
    if _row.fields:
        _name, _fields = _row.fields
        OF_OPERATORS[_row.operator] = CLASSES.setdefault(_name, make_result(_name, _fields))
# PyTorch has a class more for calls with `out`.
WITH_OUT = """aminmax cummax cummin frexp geqrf histogram kthvalue linalg_cholesky_ex linalg_eig linalg_eigh
    linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_lstsq linalg_lu linalg_lu_factor
    linalg_lu_factor_ex linalg_qr linalg_slogdet linalg_solve_ex linalg_svd lu_unpack max median min mode
    nanmedian qr slogdet sort svd topk triangular_solve""".split()
OUT_CLASSES = {f"{_name}_out": make_result(f"{_name}_out", CLASSES[_name]._names)
               for _name in WITH_OUT if _name in CLASSES}
