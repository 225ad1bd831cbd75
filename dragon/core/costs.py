"""What operators cost: multiply-adds, from the shapes of operands and results."""
import functools
import math

from dragon import _C


def _per_result(row):
    """Return a rule for operators that add up so many products for each number of the result."""
    return lambda shapes, results: results * row(shapes)


def _convolution(shapes):
    return math.prod(shapes[1][1:])


def _transposed(shapes, results):
    return math.prod(shapes[0]) * math.prod(shapes[1][1:])


def _depth(first):
    """Return a rule for products of matrices; the first factor is the operand of that number."""
    return _per_result(lambda shapes: shapes[first][-1] if shapes[first] else 1)


def _attention(shapes, results):
    query, key = shapes[0], shapes[1]
    return math.prod(query) * key[-2] + results * key[-2]


def _recurrent(shapes, results):
    steps = math.prod(shapes[0][:-1])
    return steps * sum(math.prod(shape) for shape in shapes[1:] if len(shape) == 2)


# Products of two factors, and those that are added to the first operand.
_PRODUCTS = {**dict.fromkeys("matmul mm bmm mv dot inner linear linear_fused".split(), _depth(0)),
             **dict.fromkeys("addmm baddbmm addmv".split(), _depth(1))}


@functools.cache
def _rule(op):
    """Return the rule for an operator, or None; what layers compute is known by the names of its arguments."""
    if op in _PRODUCTS or op not in _C.op_names():
        return _PRODUCTS.get(op)
    names = [argument["name"] for argument in _C.schema(op)["arguments"]]
    if names[:2] == ["x", "weight"] and "stride" in names:
        return _transposed if "output_padding" in names else _per_result(_convolution)
    if names[:3] == ["q", "k", "v"]:
        return _attention
    return _recurrent if names[:2] == ["x", "hx"] else None


def multiply_adds(op, shapes, results):
    """Return how many multiply-adds a call takes: those of products of matrices, convolutions and recurrent steps.

    Parameters
    ----------
    op : str
        The operator.
    shapes : Sequence[Tuple[int, ...]]
        The shapes of its tensors, in the order of the arguments.
    results : int
        How many numbers the first result has.

    Returns
    -------
    Optional[int]
        None for other operators: their work is small beside those.

    """
    rule = _rule(op)
    try:
        return None if rule is None else int(rule(shapes, results))
    except IndexError:  # a form of the call that has fewer axes
        return None
