"""What operators cost: multiply-adds, from the shapes of operands and results."""
import math


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


_CONVOLUTIONS = "conv conv1d conv2d conv3d conv_forward conv_fused"
_TRANSPOSED = "conv_transpose conv_transpose1d conv_transpose2d conv_transpose3d"
_RULES = {
    **dict.fromkeys(_CONVOLUTIONS.split(), _per_result(_convolution)),
    **dict.fromkeys(_TRANSPOSED.split(), _transposed),
    **dict.fromkeys("matmul mm bmm mv dot linear linear_fused inner".split(), _depth(0)),
    **dict.fromkeys("addmm baddbmm addmv".split(), _depth(1)),
    **dict.fromkeys("attention scaled_dot_product_attention".split(), _attention),
    **dict.fromkeys("lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell".split(), _recurrent),
}


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
    rule = _RULES.get(op)
    try:
        return None if rule is None else int(rule(shapes, results))
    except IndexError:  # a form of the call that has fewer axes
        return None
