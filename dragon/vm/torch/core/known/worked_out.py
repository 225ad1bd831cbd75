"""Sentences that are worked out of a letter's shapes: which sizes differ, and where."""
from dragon.core.sentences import numbers


def differing(a, b):
    """Return (size, size, axis) where two shapes first differ, from the end, without broadcasting."""
    a, b = numbers(a), numbers(b)
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return a[-back], b[-back], max(len(a), len(b)) - back
    return None


def broadcast(a, b):
    """Tell two shapes that do not go together."""
    found = differing(a, b)
    return found and (f"The size of tensor a ({found[0]}) must match the size of tensor b ({found[1]}) at "
                      f"non-singleton dimension {found[2]}")


def turned(a, b):
    """Tell them the other way around."""
    return broadcast(b, a)


def broadcast_indices(a, b):
    """Tell tensors of indices that do not go together."""
    return f"shape mismatch: indexing tensors could not be broadcast together with shapes {a:list}, {b:list}"


def expand(a, b):
    """Tell a shape `a` that a tensor of shape `b` cannot be repeated to."""
    wanted, given = numbers(a), numbers(b)
    if len(wanted) < len(given):
        return (f"the number of sizes provided ({len(wanted)}) must be greater or equal to the number of dimensions in "
                f"the tensor ({len(given)})")
    new = len(wanted) - len(given)
    if -1 in wanted[:new]:
        return (f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension "
                f"{new - 1 - wanted[:new][::-1].index(-1)}")
    for axis in range(len(wanted) - 1, new - 1, -1):
        if given[axis - new] not in (1, wanted[axis]) and wanted[axis] != -1:
            return (f"The expanded size of the tensor ({wanted[axis]}) must match the existing size "
                    f"({given[axis - new]}) at non-singleton dimension {axis}.  Target sizes: {wanted}.  "
                    f"Tensor sizes: {given}")
    return None


def expand_third(a, b):
    """Tell what a product is added to, of shape `a`, that cannot be repeated to the product's."""
    return expand(b, a)


def matrices(a, b):
    """Tell two factors of a product of matrices or vectors."""
    one, two = numbers(a), numbers(b)
    if not one or not two:
        return f"both arguments to matmul need to be at least 1D, but they are {len(one)}D and {len(two)}D"
    if len(one) == len(two) == 1:
        return dot(a, b)
    if len(two) == 1:
        return vector(a, b)
    if len(two) == 2:
        rows = 1
        for size in one[:-1]:
            rows *= size
        return f"mat1 and mat2 shapes cannot be multiplied ({rows}x{one[-1]} and {two[0]}x{two[1]})"
    if len(one) == len(two):
        return batches(a, b)
    return None


def batches(a, b):
    """Tell two batches of matrices."""
    one, two = numbers(a), numbers(b)
    return (f"Expected size for first two dimensions of batch2 tensor to be: [{one[0]}, {one[-1]}] but got: "
            f"[{two[0]}, {two[1]}].")


def vector(a, b):
    """Tell a matrix and a vector."""
    one, two = numbers(a), numbers(b)
    return f"size mismatch, got input ({one[-2]}), mat ({one[-2]}x{one[-1]}), vec ({two[0]})"


def dot(a, b):
    """Tell two vectors."""
    n, m = numbers(a)[0], numbers(b)[0]
    return (f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but "
            f"got {n} and {m} elements respectively")


def linear(a, b):
    """Tell a layer's input and weight."""
    one, two = numbers(a), numbers(b)
    if not one or len(two) != 2:
        return None
    rows = 1
    for size in one[:-1]:
        rows *= size
    return f"mat1 and mat2 shapes cannot be multiplied ({rows}x{one[-1]} and {two[1]}x{two[0]})"


def joined(a, b, d):
    """Tell two tensors that cannot be put one behind the other."""
    one, two = numbers(a), numbers(b)
    if len(one) != len(two):
        return f"Tensors must have same number of dimensions: got {len(one)} and {len(two)}"
    for axis, sizes in enumerate(zip(one, two)):
        if axis != int(d) and sizes[0] != sizes[1]:
            return (f"Sizes of tensors must match except in dimension {d}. Expected size {sizes[0]} but got size "
                    f"{sizes[1]} for tensor number 1 in the list.")
    return None


def narrowed(start, length, size):
    """Tell a part that reaches beyond its axis."""
    if not -int(size) <= int(start) <= int(size):
        return f"start out of range (expected to be in range of [-{size}, {size}], but got {start})"
    return f"start ({start}) + length ({length}) exceeds dimension size ({size})."


def transposed_or_not(who, a, n, w):
    """Tell a convolution's input of other channels than its weight has."""
    groups = numbers(w)
    how = "transposed=1" if "backward_data" in who else f"groups={max(1, int(n) // max(groups[1], 1))}"
    had = numbers(a)[1]
    return (f"Given {how}, weight of size {groups}, expected input{numbers(a)} to have {n} channels, but got {had} "
            f"channels instead")


def truth(a):
    """Tell a tensor that is neither true nor false."""
    count = "no values" if 0 in numbers(a) else "more than one value"
    return f"Boolean value of Tensor with {count} is ambiguous"


def scalar(a):
    """Tell a tensor that is not one number."""
    count = 1
    for size in numbers(a):
        count *= size
    return (f"a Tensor with {count} elements cannot be converted to Scalar; only one element tensors can be converted "
            "to Python scalars")


def rank(who, a, n, name):
    """Tell a factor of another rank than its operator takes."""
    said = {"mm": f"{'self' if name == 'input' else name} must be a matrix", "bmm":
            f"{'batch1' if name == 'input' else 'batch2'} must be a 3D tensor"}
    return said.get(who, f"{n}D tensors expected, but got {a:rank}D")


def permuted(dims, n):
    """Tell an order of axes that is none."""
    given = len(numbers(dims))
    if given == int(n):
        return "permute(): duplicate dims are not allowed."
    return ("number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
            f"i.e. input.dim() = {n} is not equal to len(dims) = {given}")


def negative(who, a):
    """Tell sizes below zero."""
    sizes = numbers(a)
    least = next((size for size in sizes if size < 0), 0)
    if who == "eye":
        return f"{'n' if sizes[0] < 0 else 'm'} must be greater or equal to 0, got {least}"
    return f"Trying to create tensor with negative dimension {least}: {sizes}"


def invalid(a):
    """Tell a shape with a size that means nothing."""
    sizes = numbers(a)
    place, least = next((place, size) for place, size in enumerate(sizes) if size < -1)
    return f"invalid shape dimension {least} at index {place} of shape {sizes}"


def no_axes(who):
    """Tell a tensor without axes from functions that go along the last one."""
    return "Dimension specified as -1 but tensor has no dimensions" if who.startswith("fft_") else None


def ranks(who, a, n):
    """Tell a convolution's input of a wrong number of axes."""
    return (f"Expected {int(n) - 1}D (unbatched) or {n}D (batched) input to {who}, but got input of size: "
            f"{numbers(a)}")


def argument(who, came, name, wanted):
    """Tell an argument of the wrong kind."""
    from dragon.vm.torch.core.tensor import ops
    words = getattr(getattr(ops, who, None), "__text_signature__", "").strip("()").split(", ")
    names = [word.partition("=")[0] for word in words if word not in "*/"]
    place = f" (position {names.index(name) + 1})" if name in names else ""
    kinds = {"a": "Number", "Tensor": "Tensor", "Tensor?": "Tensor", "bool": "bool", "float": "float", "str": "str"}
    kind = kinds.get(wanted, "int" if wanted in ("int", "int?") else "tuple of ints" if "int" in wanted else None)
    return kind and f"{who}(): argument '{name}'{place} must be {kind}, not {came}"


def lengths(n, m):
    """Tell lists of which some are longer than others."""
    return f"expected sequence of length {n} at dim 1 (got {m})"


ROWS = [
    ("masked_select: got shapes {a} and {b}, expected shapes that broadcast together", turned),
    ("masked_fill: got shapes {a} and {b}, expected shapes that broadcast together", turned),
    ("soft_margin_loss: mul: got shapes {a} and {b}, expected shapes that broadcast together", turned),
    ("index: got shapes {a} and {b}, expected shapes that broadcast together", broadcast_indices),
    ("addmm: got shapes {a} and {b}, expected shapes that broadcast together", expand_third),
    ("got shapes {a} and {b}, expected shapes that broadcast together", broadcast),
    ("got shape {a} for a tensor of shape {b}, expected a shape it broadcasts to", expand),
    ("dot: got shapes {a} and {b}, expected equal inner", dot),
    ("mv: got shapes {a} and {b}, expected equal inner", vector),
    ("bmm: got shapes {a} and {b}, expected equal inner", batches),
    ("got shapes {a} and {b}, expected equal inner", matrices),
    ("got factors of shapes {a} and {b}, expected equal inner", matrices),
    ("got shapes {a} and {b}, expected (..., m, k) and (..., k, n)", matrices),
    ("cell: linear: got input {a} and weight {b}, expected",
     lambda a, b: f"input has inconsistent input_size: got {a:last} expected {b:last}"),
    ("linear: got input {a} and weight {b}, expected", linear),
    ("{who}: got shape {a} for argument {name}, expected {n} dim", rank),
    ("cat: got {a} and {b}, expected equal sizes outside dim {d}", joined),
    ("narrow: got start {start} and length {length}, expected places of dim {d}, which has size {size}",
     lambda start, length, d, size: narrowed(start, length, size)),
    ("{who}: got input {a} with {m} channels (dim 1) and weight {w}, which takes {n}, expected",
     lambda who, a, m, w, n: transposed_or_not(who, a, n, w)),
    ("bool: got a tensor of shape {a}, expected one element", truth),
    ("item: got shape {a}, expected one element", scalar),
    ("permute: got dims {dims}, expected each of the {n} dims once", permuted),
    ("got shape {a}, expected sizes of at least 0, and at most one -1", invalid),
    ("zeros: got shape {a}, expected sizes of at least 0", lambda a: "zeros: Dimension size must be non-negative."),
    ("{who}: got shape {a}, expected sizes of at least 0", negative),
    ("{who}: got a 0-d tensor, expected at least one dim", no_axes, "IndexError"),
    ("{who}: got input {a} and weight {w}, expected {n} dims each", lambda who, a, w, n: ranks(who, a, n)),
    ("{who}: got '{came}' for argument '{name}', expected {wanted}", argument),
    ("tensor: got lists of length {n} and {m} at depth 1", lengths),
]
