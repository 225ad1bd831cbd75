"""Named tuples that functions with several results return, as `torch.return_types.max`."""
from operator import itemgetter


class NamedResult(tuple):
    """Several tensors with names."""

    __slots__ = ()
    _names = ()

    def __repr__(self):
        parts = ",\n".join(f"{name}={value!r}" for name, value in zip(self._names, self))
        return f"{type(self).__module__}.{type(self).__name__}(\n{parts})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def make_result(name, fields):
    """Return a class of results: called with a tuple of tensors, it gives them names."""
    names = fields.split()
    body = {field: property(itemgetter(index)) for index, field in enumerate(names)}
    body.update(__slots__=(), _names=tuple(names), __module__="torch.return_types", n_fields=len(names),
                n_sequence_fields=len(names), n_unnamed_fields=0, __match_args__=tuple(names))
    return type(name, (NamedResult,), body)


# What a line says: name in PyTorch, fields, and the engine's operators that give such results.
TABLE = """
max values,indices max_axis
min values,indices min_axis
median values,indices median median_axis
nanmedian values,indices nanmedian nanmedian_axis
mode values,indices mode
sort values,indices sort
topk values,indices topk
kthvalue values,indices kthvalue
cummax values,indices cummax
cummin values,indices cummin
aminmax min,max aminmax
slogdet sign,logabsdet slogdet
linalg_slogdet sign,logabsdet linalg_slogdet
qr Q,R qr
linalg_qr Q,R linalg_qr
svd U,S,V svd
linalg_svd U,S,Vh linalg_svd
linalg_eig eigenvalues,eigenvectors linalg_eig
linalg_eigh eigenvalues,eigenvectors linalg_eigh
linalg_lstsq solution,residuals,rank,singular_values linalg_lstsq
linalg_cholesky_ex L,info linalg_cholesky_ex
linalg_inv_ex inverse,info linalg_inv_ex
linalg_lu P,L,U linalg_lu
linalg_lu_factor LU,pivots linalg_lu_factor
linalg_lu_factor_ex LU,pivots,info linalg_lu_factor_ex
linalg_ldl_factor LD,pivots linalg_ldl_factor
linalg_ldl_factor_ex LD,pivots,info linalg_ldl_factor_ex
linalg_solve_ex result,info linalg_solve_ex
lu_unpack P,L,U lu_unpack
geqrf a,tau geqrf
triangular_solve solution,cloned_coefficient triangular_solve
frexp mantissa,exponent frexp
histogram hist,bin_edges histogram
histogramdd hist,bin_edges
"""
CLASSES, OF_OPERATORS = {}, {}
for _line in TABLE.split("\n"):
    if _line:
        _name, _fields, *_operators = _line.split()
        CLASSES[_name] = make_result(_name, _fields.replace(",", " "))
        OF_OPERATORS.update((_operator, CLASSES[_name]) for _operator in _operators)
