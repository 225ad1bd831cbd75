"""The only file of the harness that knows how Dragon is spelled."""
import functools

import numpy

import dragon


def operator(row):
    """Return the function a row is about."""
    if row.call is not None:
        return functools.partial(row.call, dragon)
    return getattr(dragon.ops, row.name)


@functools.lru_cache(maxsize=None)
def schema(name):
    """Return the schema of an operator as a dict."""
    return dragon._C.schema(name)


def names():
    """Return the names of all registered operators."""
    return list(dragon._C.op_names())


@functools.lru_cache(maxsize=None)
def argument_types(name):
    """Return {argument: type as the schema writes it}, in order."""
    return {argument["name"]: argument["type"] for argument in schema(name)["arguments"]}


def is_pointwise(row):
    """Whether a row's operator works element by element."""
    return row.call is None and bool(schema(row.name)["pointwise"])


def is_dynamic(row):
    """Whether the shapes of an operator's results depend on numbers."""
    return row.call is None and bool(schema(row.name)["dynamic"])


def is_view(row):
    """Whether an operator's result shares memory with its argument."""
    return row.call is None and bool(schema(row.name)["view"])


def tensor(item, requires_grad=False):
    """Return a fresh tensor with an Input's numbers."""
    made = dragon.from_numpy(numpy.array(item.array, order="C"))
    if item.dtype == "bfloat16":
        made = dragon.ops.cast(made, dragon.bfloat16)
    if requires_grad:
        made.requires_grad = True
    return made


def borrow(array):
    """Return a tensor over a NumPy array of any strides."""
    return dragon.from_numpy(array)


def meta(item):
    """Return a tensor without numbers that looks like an Input."""
    return dragon.ops.to_device(tensor(item), dragon.Device("meta"))


def is_tensor(value):
    """Whether a value is one of the engine's tensors."""
    return isinstance(value, dragon._C.Tensor)


def dtype_name(value):
    """Return the NumPy name of a tensor's dtype."""
    return value.dtype.name


def array(value):
    """Return a copy of a result's numbers; bfloat16 comes as float32."""
    if not is_tensor(value):
        return numpy.asarray(value)
    value = value.detach()
    if dtype_name(value) == "bfloat16":
        value = dragon.ops.cast(value, dragon.float32)
    return numpy.array(value.numpy())


def garbage(like):
    """Return a tensor with a result's shape and dtype, and other numbers."""
    return dragon.ops.full(list(like.shape), 1, dtype=like.dtype)


def grad(ys, xs, cotangents, create_graph=False):
    """Return the gradients of ys with respect to xs; None where nothing flows."""
    return dragon.grad(ys, xs, cotangents, create_graph=create_graph, allow_unused=True)


def total(terms):
    """Return the sum of the elements of all tensors, as one 0-d tensor."""
    return functools.reduce(lambda a, b: a + b, [dragon.ops.sum(term) for term in terms])


def conjugate(value):
    """Return the complex conjugate."""
    return dragon.ops.conj(value) if dtype_name(value).startswith("complex") else value


def real(value):
    """Return the real part."""
    return dragon.ops.real(value) if dtype_name(value).startswith("complex") else value


def seed(number):
    """Seed the engine's default generator."""
    dragon.manual_seed(number)


def tensor_of(number):
    """Return the tensor that a bare number stands for."""
    return dragon._C.tensor(number)


def multiply(x, y):
    """Return the product of two tensors."""
    return dragon.ops.mul(x, y)


def stack(tensors):
    """Return tensors side by side, along a new first axis."""
    return dragon.ops.stack(list(tensors), 0)
