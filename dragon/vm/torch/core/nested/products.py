"""Products of jagged tensors with strided ones and with each other."""
from dragon.vm.torch.core.nested.padding import from_padded, padded
from dragon.vm.torch.core.nested.parts import form_of, is_jagged, longest, make, rule, same_form, shape_of, values_of
from dragon.vm.torch.core.nested.properties import unbind
from dragon.vm.torch.core.tensor import ops


def refuse(who, a, b):
    """Return what is raised for operands that do not meet."""
    shapes = [shape_of(x) if is_jagged(x) else tuple(x.shape) for x in (a, b)]
    return RuntimeError(f"{who}(): not supported between inputs of shapes {shapes[0]} and {shapes[1]}")


@rule("linear")
def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias`; the last dim is not the ragged one."""
    if not is_jagged(input) or is_jagged(weight) or form_of(input).dim == input.ndim - 1:
        raise refuse("linear", input, weight)
    return make(ops.linear(values_of(input), weight, bias), form_of(input))


@rule("matmul", "__matmul__")
def matmul(input, other, *, out=None):
    """Return the product of the last two dims."""
    if out is not None:
        raise NotImplementedError("matmul: got out= beside a nested tensor, expected none")
    if is_jagged(input) and is_jagged(other):
        return of_two(input, other)
    nested = input if is_jagged(input) else other
    form, held = form_of(nested), values_of(nested)
    # The ragged dim is summed over by neither: it is among the rows of the first, or the columns of the second.
    fits = form.dim < input.ndim - 1 if nested is input else form.dim >= 2 and form.dim != other.ndim - 2
    strided = other if nested is input else input
    if fits and strided.ndim == 2 and nested.ndim > 2:
        return make(ops.matmul(held, other) if nested is input else ops.matmul(input, held), form)
    if fits and strided.ndim == nested.ndim >= 3:
        whole = padded(held, form, 0.0 if held.dtype.is_floating_point else 0, longest(form))
        made = ops.matmul(whole, other) if nested is input else ops.matmul(input, whole)
        return from_padded(made, form, held.shape[form.dim - 1])
    raise refuse("matmul", input, other)


def of_two(a, b):
    """Return the product of two jagged tensors: sample by sample, or summed over the ragged dim."""
    if a.ndim > 3 and b.ndim > 3 and a.ndim == b.ndim and same_form(a, b) and form_of(a).dim < a.ndim - 2:
        return make(ops.matmul(values_of(a), values_of(b)), form_of(a))
    one, two = form_of(a), form_of(b)
    if a.ndim == b.ndim == 3 and (one.dim, two.dim) == (2, 1) and one.size == two.size:
        return ops.stack([ops.matmul(x, y) for x, y in zip(unbind(a), unbind(b))], 0)
    raise refuse("matmul", a, b)


@rule("bmm")
def bmm(input, mat2, *, out=None):
    """Return the products of matrices, one for each sample."""
    for name, x in (("input", input), ("mat2", mat2)):
        if x.ndim != 3:
            raise ValueError(f"bmm(): {name} must be 3D: got {x.ndim} dims")
    return matmul(input, mat2, out=out)
