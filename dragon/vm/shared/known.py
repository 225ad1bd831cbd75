"""The sentences by which users of TensorFlow, and of Keras on it, know the engine's errors: told behind its letters."""
from dragon.core.sentences import Row, numbers, read

TEXT = """
got target {n}, expected {low} to {high}, or
-> Received a label value of {n} which is outside the valid range of [0, {high}]
where: got shapes {a} and {b}, expected shapes that broadcast together
-> condition {a:list}, then {b:list}, and else {b:list} must be broadcastable
got shapes {a} and {b}, expected (..., m, k) and (..., k, n)
-> Matrix size-incompatible: In[0]: {a:tight}, In[1]: {b:tight}
select: got index {i} for axis {d}, expected
-> slice index {i} of dimension {d} out of bounds.
index_select: got index {i} for axis {d}, expected 0 to {high} as it has size {n}
-> indices = {i} is not in [0, {n})
got subscripts for {m} axes, expected at most 0 for shape ()
-> Attempting to slice scalar input.
got subscripts for {m} axes, expected at most {n} for shape
-> Index out of range using input dim {n}; input has only {n} dims
got axis {d}, expected {low} to {high} for {n} axes
-> Expected dimension in the range [-{n}, {n}), but got {d}
got low = {a}, high = {b}, expected low < high
-> Need minval < maxval, got {a} >= {b}
cat: got {a} and {b}, expected equal sizes outside axis
-> ConcatOp : Dimensions of inputs should match: shape[0] = {a:tight} vs. shape[1] = {b:tight}
"""


def broadcast(a, b):
    """Tell two shapes that do not go together, as an operator does and as a graph does."""
    one, two = numbers(a), numbers(b)
    differing = next(((n, m) for n, m in zip(one[::-1], two[::-1]) if n != m and 1 not in (n, m)), None)
    shapes = f"Incompatible shapes: {a:tight} vs. {b:tight}"
    return differing and f"{shapes}. Dimensions must be equal, but are {differing[0]} and {differing[1]}"


def reshaped(a, n):
    """Tell a shape of another number of elements."""
    wanted = 1
    for size in numbers(a):
        wanted *= size
    return f"Input to reshape is a tensor with {n} values, but the requested shape has {wanted}"


def negative(a):
    """Tell a size below zero."""
    return f"Dimension {min(numbers(a))} must be >= 0"


def rows():
    """Return the table."""
    return ROWS


ROWS = [*read(TEXT), Row("got shapes {a} and {b}, expected shapes that broadcast together", broadcast),
        Row("got shape {a} for {n} elements, expected sizes whose product", reshaped),
        Row("got shape {a}, expected sizes of at least 0", negative)]
