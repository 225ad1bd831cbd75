"""Tensors from nothing but a description, and tensors of other dtypes."""
from dragon import _C
from dragon.core.capture.settings import is_sketching
from dragon.vm.shared import nest
from dragon.vm.shared.arrays.array import as_ints, indices_of
from dragon.vm.shared.arrays.moving import is_ragged, is_text, moving, take
from dragon.vm.shared.errors import UnimplementedError, invalid_argument
from dragon.vm.shared.tensors.convert import cast_numbers, convert_to_tensor, placed
from dragon.vm.shared.tensors.dtypes import as_dtype, fits_into, float32, int32, string
from dragon.vm.shared.tensors.placing import is_plain
from dragon.vm.shared.tensors.shape import TensorShape, as_shape
from dragon.vm.shared.tensors.tensor import Base, ops

PROMOTED = ("int32", "int64", "float16", "bfloat16", "float32", "float64")


def constant(value, dtype=None, shape=None, name="Const"):
    """Return a tensor of given numbers or strings.

    Parameters
    ----------
    value : Any
        Numbers, text, nested lists of them or an array.
    dtype : DType, optional
        By default what the value has.
    shape : Sequence[int], optional
        The shape; a single number fills it.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        The numbers.

    Examples
    --------
    >>> tf.constant([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>

    """
    if dtype is not None and isinstance(value, _C.Tensor) and value.dtype != (dtype := as_dtype(dtype)):
        if not (fits_into and fits_into[0](dtype, value)):
            raise TypeError(f"Expected tensor {value!r} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        value = ops.cast(value, dtype)
    made = convert_to_tensor(value, dtype)
    if shape is None or made.shape == (shape := TensorShape(as_shape(shape))):
        return made
    count = made.shape.num_elements()
    if count == shape.num_elements():
        return reshape_any(made, tuple(shape))
    if count == 1 and not made.ndim:
        return fill(tuple(shape), made)
    raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {made!r} (converted from "
                    f"{value!r}) has {count} elements, but got `shape` {shape} with {shape.num_elements()} elements).")


@moving(0)
def reshape_any(x, shape):
    """Return a tensor of numbers or strings in another shape."""
    return ops.reshape(x, shape)


def zeros(shape, dtype=float32, name=None, layout=None):
    """Return zeros.

    Parameters
    ----------
    shape : Union[Sequence[int], Tensor]
        The sizes of the axes.
    dtype : DType, optional, default=tf.float32
        The type of the elements.
    name, layout : optional
        Accepted.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> tf.zeros((2, 3), tf.int32)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)>

    """
    return _filled(shape, dtype, 0)


def ones(shape, dtype=float32, name=None, layout=None):
    """Return ones.

    Parameters
    ----------
    shape : Union[Sequence[int], Tensor]
        The sizes of the axes.
    dtype : DType, optional, default=tf.float32
        The type of the elements.
    name, layout : optional
        Accepted.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> tf.ones(2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 1.], dtype=float32)>

    """
    return _filled(shape, dtype, 1)


def _filled(shape, dtype, number):
    dtype = as_dtype(dtype)
    if dtype is string:
        if number:
            raise TypeError(f"tf.ones: there is no one among strings. Received: dtype={dtype!r}")
        return fill(shape, "")
    return ops.full(as_shape(shape), number, dtype=dtype)


def zeros_like(input, dtype=None, name=None, layout=None):
    """Return zeros in the shape of a tensor.

    Parameters
    ----------
    input : Tensor
        Whose shape is taken.
    dtype : DType, optional
        That of `input` by default.
    name, layout : optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape.

    Examples
    --------
    >>> tf.zeros_like([1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 0, 0], dtype=int32)>

    """
    return _like(input, dtype, 0)


def ones_like(input, dtype=None, name=None, layout=None):
    """Return ones in the shape of a tensor.

    Parameters
    ----------
    input : Tensor
        Whose shape is taken.
    dtype : DType, optional
        That of `input` by default.
    name, layout : optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape.

    Examples
    --------
    >>> tf.ones_like([1.5, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 1.], dtype=float32)>

    """
    return _like(input, dtype, 1)


def _like(x, dtype, number):
    x = take(x)
    dtype = as_dtype(dtype) if dtype is not None else x.dtype
    if not isinstance(x, _C.Tensor) or dtype is string:
        return _filled(x.shape, dtype, number)
    return ops.full_like(x.detach(), number, dtype=dtype)


@moving(1)
def fill(dims, value, name=None, layout=None):
    """Return a tensor of a shape that holds one number everywhere."""
    value = take(value)
    return ops.clone(ops.broadcast_to(value, as_shape(dims)))


def eye(num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None):
    """Return identity matrices."""
    rows = as_ints(num_rows)
    made = ops.eye(rows, rows if num_columns is None else as_ints(num_columns), dtype=as_dtype(dtype))
    if batch_shape is None:
        return made
    return ops.clone(ops.broadcast_to(made, (*as_shape(batch_shape), *made.shape)))


def range_(start, limit=None, delta=1, dtype=None, name="range"):
    """Return numbers from `start` up to `limit`, which is not among them, in steps of `delta`.

    Parameters
    ----------
    start : number
        The first number; the limit, if it is the only one.
    limit : number, optional
        Where to stop.
    delta : number, optional, default=1
        The step.
    dtype : DType, optional
        That of the arguments by default.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        One axis.

    Examples
    --------
    >>> tf.range(5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([0, 1, 2, 3, 4], dtype=int32)>
    >>> tf.range(3, 18, 5)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([ 3,  8, 13], dtype=int32)>

    """
    start, limit = (0, start) if limit is None else (start, limit)
    numbers = [start, limit, delta]
    if dtype is None:
        names = [take(number).dtype.name for number in numbers]
        unknown = [name for name in names if name not in PROMOTED]
        if unknown:
            raise TypeError(f"tf.range: got dtype {unknown[0]}, expected one of {', '.join(PROMOTED)}")
        dtype = max(names, key=PROMOTED.index)
    values = [number.item() if isinstance(number, _C.Tensor) else number.item() if hasattr(number, "item") else number
              for number in numbers]
    if values[2] == 0:
        raise invalid_argument("Requires delta != 0: 0 [Op:Range]")
    if values[2] > 0 and values[0] > values[1] or values[2] < 0 and values[0] < values[1]:
        relation = "start <= limit when delta > 0" if values[2] > 0 else "start >= limit when delta < 0"
        raise invalid_argument(f"Requires {relation}: {values[0]}/{values[1]} [Op:Range]")
    return ops.arange(*values, dtype=as_dtype(dtype))


def linspace(start, stop, num, name=None, axis=0):
    """Return evenly spaced numbers from `start` to `stop`, which is the last one.

    Parameters
    ----------
    start, stop : Union[number, Tensor]
        The first and the last number.
    num : int
        How many.
    name : str, optional
        Accepted.
    axis : int, optional, default=0
        Where the new axis stands, if the ends are tensors.

    Returns
    -------
    Tensor
        `num` numbers.

    Examples
    --------
    >>> tf.linspace(0.0, 1.0, 5)
    <tf.Tensor: shape=(5,), dtype=float32, numpy=array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)>

    """
    start = take(start)
    stop = take(stop, start.dtype if not isinstance(stop, _C.Tensor) else None)
    num = as_ints(num)
    if num < 0:
        raise invalid_argument(f"Requires num > 0: {num} [Op:LinSpace]")
    if start.dtype.is_integer:
        start, stop = ops.cast(start, "float64"), ops.cast(stop, "float64")
    shape = tuple(ops.broadcast_to(start, tuple((start + stop).shape)).shape)
    start, stop = (ops.unsqueeze(ops.broadcast_to(end, shape), axis) for end in (start, stop))
    if num <= 1:
        return ops.clone(ops.narrow(start, axis, 0, num))
    places = ops.arange(0, num, dtype=start.dtype)
    axis = axis % (len(shape) + 1)
    places = ops.reshape(places, [num if index == axis else 1 for index in range(len(shape) + 1)])
    made = start + (stop - start) / (num - 1) * places
    # The last one is `stop` itself, whatever rounding does.
    return ops.where(places == num - 1, ops.broadcast_to(stop, tuple(made.shape)), made)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """Return a tensor with an axis more, which holds `on_value` at the places that numbers name.

    Parameters
    ----------
    indices : Tensor
        Places, integers.
    depth : int
        The size of the new axis.
    on_value, off_value : number, optional
        1 and 0 by default.
    axis : int, optional
        Where the new axis stands; at the end by default.
    dtype : DType, optional
        `tf.float32` by default.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        With one axis more.

    Examples
    --------
    >>> tf.one_hot([0, 2], 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

    """
    if is_ragged(indices):
        return one_hot(indices, depth, on_value, off_value, axis, dtype)
    indices, depth = indices_of(indices, "OneHot"), as_ints(depth)
    if depth < 0:
        raise invalid_argument(f"depth must be non-negative, got: {depth} [Op:OneHot]")
    given = [value for value in (on_value, off_value) if value is not None]
    dtype = as_dtype(dtype or (take(given[0]).dtype if given else float32))
    for name_, value in (("on_value", on_value), ("off_value", off_value)):
        if isinstance(value, Base) and value.dtype is not dtype:
            raise TypeError(f"dtype {value.dtype!r} of {name_} does not match dtype parameter {dtype!r}")
    axis, rank = -1 if axis is None else axis, indices.ndim + 1
    if not -1 <= axis < rank:
        raise invalid_argument(f"Expected axis to be -1 or between [0, {rank}). But received: {axis} [Op:OneHot]")
    axis %= rank
    places = ops.reshape(ops.arange(0, depth, dtype=indices.dtype),
                         [depth if place == axis else 1 for place in range(rank)])
    hit = ops.eq(ops.unsqueeze(indices, axis), places)
    if not given:
        return ops.cast(hit, dtype)
    one, zero = (True, False) if dtype.is_bool else (1, 0)
    on = convert_to_tensor(one if on_value is None else on_value, dtype)
    off = convert_to_tensor(zero if off_value is None else off_value, dtype)
    return ops.where(hit, on, off)


def cast(x, dtype, name=None):
    """Return numbers in another dtype; of complex numbers the real parts, of floats as integers the whole parts.

    Parameters
    ----------
    x : Tensor
        The numbers.
    dtype : Union[DType, str]
        What they become.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape.

    Examples
    --------
    >>> tf.cast([1.7, -1.7], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>

    """
    dtype = as_dtype(dtype)
    if is_ragged(x):
        return x.with_flat_values(cast(x.flat_values, dtype))
    if hasattr(x, "dense_shape") and hasattr(x, "indices"):
        return type(x)(x.indices, cast(x.values, dtype), x.dense_shape)
    x = take(x) if not is_text(x) else convert_to_tensor(x)
    if not isinstance(x, _C.Tensor) or dtype is string:
        if x.dtype is dtype:
            return x
        raise UnimplementedError(None, None, f"Cast {x.dtype.name} to {dtype.name} is not supported [Op:Cast]; use "
                                 "tf.strings.to_number or tf.strings.as_string")
    if x.dtype is dtype:
        return convert_to_tensor(x)
    if x.dtype.is_complex and not dtype.is_complex:
        x = ops.real(x)
        if x.dtype is dtype:
            return x
    return cast_numbers(x, dtype)


def saturate_cast(value, dtype, name=None):
    """Return numbers in another dtype, the nearest ones that it has."""
    value, dtype = take(value), as_dtype(dtype)
    if dtype.is_integer or dtype.size < value.dtype.size:
        low, high = max(value.dtype.min, dtype.min), min(value.dtype.max, dtype.max)
        if value.dtype.is_floating and dtype.is_integer:
            # The greatest integers may be no floats; the nearest float below stands for them.
            import numpy as np
            kind = np.float32 if value.dtype.name == "bfloat16" else value.dtype.as_numpy_dtype
            top = kind(high)
            high = float(top if int(top) <= high else np.nextafter(top, kind(0)))
            return ops.cast(ops.clamp(value, float(low), high), dtype)
        value = ops.clamp(value, value.dtype.as_numpy_dtype(low).item(), value.dtype.as_numpy_dtype(high).item())
    return cast(value, dtype)


def identity(input, name=None):
    """Return the same numbers, which later writes into a variable do not change."""
    if hasattr(input, "_component_tensors"):
        return nest.map_structure(identity, input, expand_composites=True)
    x = convert_to_tensor(input)
    x = x if is_plain[0] else placed(x)
    return ops.view(x, tuple(x.shape)) if isinstance(x, _C.Tensor) and x is input else x


def identity_n(input, name=None):
    """Return the same tensors."""
    return [identity(item) for item in input]


def bitcast(input, type, name=None):
    """Return the same bits read as another dtype."""
    x, dtype = convert_to_tensor(input), as_dtype(type)
    old, new = x.dtype.size, dtype.size
    if new < old:
        return ops.view_dtype(ops.unsqueeze(ops.contiguous(x), -1), dtype)
    if new > old:
        if not x.ndim or x.shape[-1] != new // old:
            raise invalid_argument(f"Cannot bitcast from {x.dtype.name} to {dtype.name}: shape {x.shape} [Op:Bitcast]")
        return ops.squeeze(ops.view_dtype(ops.contiguous(x), dtype), -1)
    return ops.view_dtype(x, dtype)


def sequence_mask(lengths, maxlen=None, dtype="bool", name=None):
    """Return rows that begin with as many trues as `lengths` says."""
    lengths = take(lengths)
    if maxlen is None:
        maxlen = int(ops.max(lengths)) if lengths.shape.num_elements() else 0
    mask = ops.lt(ops.arange(0, as_ints(maxlen), dtype=lengths.dtype), ops.unsqueeze(lengths, -1))
    return cast(mask, dtype)


def meshgrid(*args, **kwargs):
    """Return grids of coordinates: `indexing` is "xy" (default) or "ij"."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    return list(ops.meshgrid([ops.reshape(take(arg), (-1,)) for arg in args], indexing=indexing))


def shape(input, out_type=int32, name=None):
    """Return a tensor's shape as a tensor.

    Parameters
    ----------
    input : Tensor
        Whose shape is asked for.
    out_type : DType, optional
        `tf.int32` by default, or `tf.int64`.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        As many numbers as there are axes.

    Examples
    --------
    >>> tf.shape([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>

    """
    given = input.shape if hasattr(input, "shape") else convert_to_tensor(input).shape
    dtype = as_dtype(out_type)
    if is_sketching():
        from dragon.vm.shared.tensors.sizes import captured_shape
        return captured_shape(given, dtype)
    return convert_to_tensor(list(given), dtype) if len(given) else ops.zeros((0,), dtype=dtype)


def shape_n(input, out_type=int32, name=None):
    """Return the shapes of tensors as tensors."""
    return [shape(item, out_type) for item in input]


def size(input, out_type=int32, name=None):
    """Return how many elements a tensor has, as a tensor."""
    x = input.flat_values if is_ragged(input) else convert_to_tensor(input)
    return convert_to_tensor(x.shape.num_elements(), as_dtype(out_type))


def rank(input, name=None):
    """Return how many axes a tensor has, as a tensor."""
    return convert_to_tensor(input.ndim if is_ragged(input) else len(convert_to_tensor(input).shape))
