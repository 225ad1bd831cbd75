"""Functions of TensorFlow 1 that TensorFlow 2 has under another name, with another rule, or no longer."""
from dragon.vm.shared.arrays import array, creation, gathering
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import OBJECTS, as_dtype
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import math, random
from dragon.vm.tensorflow.core.flow.execution import numpy_function


def _to(dtype):
    def function(x, name=None):
        return creation.cast(x, OBJECTS[dtype])
    return function


to_bfloat16, to_complex128, to_complex64, to_double, to_float, to_int32, to_int64 = map(
    _to, ("bfloat16", "complex128", "complex64", "float64", "float32", "int32", "int64"))
for _name in ("bfloat16", "complex128", "complex64", "double", "float", "int32", "int64"):
    globals()[f"to_{_name}"].__name__ = globals()[f"to_{_name}"].__qualname__ = f"to_{_name}"
    globals()[f"to_{_name}"].__doc__ = f"Return the numbers as {_name}."


def div(x, y, name=None):
    """Return quotients, of integers those rounded down."""
    x = take(x)
    return math.floordiv(x, y) if x.dtype.is_integer else math.truediv(x, y)


def floor_div(x, y, name=None):
    """Return quotients rounded down."""
    return math.floordiv(x, y)


def where(condition, x=None, y=None, name=None):
    """Return `x` where a condition holds and `y` elsewhere; a vector of conditions chooses rows."""
    if x is None and y is None:
        return gathering.where(condition)
    mask, x, y = take(condition), convert_to_tensor(x), convert_to_tensor(y)
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError(f"Dimension mismatch: x and y must have one shape. Received: {x.shape} and {y.shape}")
    if mask.ndim == 1 and x.ndim > 1:
        mask = ops.reshape(mask, (-1, *(1,) * (x.ndim - 1)))
    return gathering.where(mask, x, y)


def setdiff1d(x, y, index_dtype=OBJECTS["int32"], name=None):
    """Return (the entries of a vector that are none of another's, their places)."""
    import numpy as np
    first, second = convert_to_tensor(x), convert_to_tensor(y)
    places = np.flatnonzero(~np.isin(first.numpy(), second.numpy()))
    chosen = convert_to_tensor(places, "int64")
    return gathering.gather(first, chosen), creation.cast(chosen, as_dtype(index_dtype))


def py_func(func, inp, Tout, stateful=True, name=None):
    """Call a Python function with arrays; see `tf.numpy_function`."""
    return numpy_function(func, inp, Tout)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Return categories drawn by unnormalised log probabilities; see `tf.random.categorical`."""
    return random.categorical(logits, num_samples, output_dtype, seed)


def stateless_multinomial(logits, num_samples, seed, output_dtype=OBJECTS["int64"], name=None):
    """Return categories that are a function of a seed; see `tf.random.stateless_categorical`."""
    return random.stateless_categorical(logits, num_samples, seed, output_dtype)


def clip_by_average_norm(t, clip_norm, name=None):
    """Return the numbers scaled down, if need be, to a length of at most `clip_norm` for each of them."""
    x = take(t)
    count = 1
    for size in x.shape:
        count *= size
    bound = take(clip_norm, x.dtype)
    each = ops.div(ops.sqrt(ops.sum(ops.square(x))), float(count))
    return ops.div(ops.mul(x, bound), ops.maximum(each, bound))


def batch_gather(params, indices, name=None):
    """Return entries of the last axis of `indices`, whose other axes belong to those of `params`."""
    index = take(indices)
    if not index.ndim:
        raise ValueError(f"batch_gather: indices must have at least one axis. Received: {indices!r}")
    return gathering.gather(params, index, axis=index.ndim - 1, batch_dims=index.ndim - 1)


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """Return a dense tensor with values at places, which are numbers or rows of them."""
    from dragon.vm.shared.sparse import math as sparse_math
    from dragon.vm.shared.sparse.tensor import SparseTensor
    places, sizes = convert_to_tensor(sparse_indices), convert_to_tensor(output_shape)
    values = convert_to_tensor(sparse_values)
    places = array.reshape(places, [-1, 1 if places.ndim < 2 else places.shape[-1]])
    if not values.ndim:
        values = array.broadcast_to(values, [places.shape[0]])
    found = SparseTensor(creation.cast(places, "int64"), values, creation.cast(sizes, "int64"))
    return sparse_math.to_dense(found, default_value, validate_indices)


def string_split(source, sep=None, skip_empty=True, delimiter=" ", result_type="SparseTensor", name=None):
    """Return the parts of strings between separators, as a sparse or as a ragged tensor.

    Parameters
    ----------
    source : Tensor
        A vector of strings.
    sep : str, optional
        Characters, each of which separates; `delimiter` is its older name. "" splits into bytes.
    skip_empty : bool, optional, default=True
        Whether empty parts are left out.
    result_type : str, optional, default="SparseTensor"
        Or "RaggedTensor".

    """
    from dragon.vm.shared.ragged.making import from_row_lengths
    kind = result_type.lower()
    if kind not in ("sparsetensor", "raggedtensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor'. Received: {result_type!r}")
    separators = (delimiter if sep is None else sep)
    separators = separators.encode() if isinstance(separators, str) else separators
    rows = [_parts(text, separators, skip_empty) for text in convert_to_tensor(source).numpy().reshape(-1).tolist()]
    flat = [part for row in rows for part in row]
    values = convert_to_tensor(flat) if flat else convert_to_tensor([b""])[:0]
    ragged = from_row_lengths(values, convert_to_tensor([len(row) for row in rows], "int64"))
    return ragged if kind == "raggedtensor" else ragged.to_sparse()


def _parts(text, separators, skip_empty):
    """Return the parts of bytes between any of some bytes."""
    if not separators:
        return [text[place:place + 1] for place in range(len(text))]
    for other in separators[1:]:
        text = text.replace(bytes([other]), separators[:1])
    return [part for part in text.split(separators[:1]) if part or not skip_empty]


def split_strings(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Return the parts of strings as `tf.strings.split` does, as a sparse or as a ragged tensor."""
    from dragon.vm.tensorflow.strings import split
    kind = result_type.lower()
    if kind not in ("sparsetensor", "raggedtensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor'. Received: {result_type!r}")
    found = split(source if input is None else input, sep, maxsplit)
    return found if kind == "raggedtensor" else found.to_sparse()


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """Return slices as they are, anything else as a tensor."""
    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value, dtype)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """Return the input, having printed a message and tensors."""
    from dragon.vm.tensorflow.core.flow.execution import print_
    if first_n is not None:
        raise NotImplementedError("tf.compat.v1.Print: what is printed is printed at each call; first_n is not "
                                  f"supported. Received: first_n={first_n}")
    print_(message or "", *[array.reshape(item, [-1]) for item in data], sep="", summarize=summarize or 3)
    return convert_to_tensor(input_)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Return a tensor with a share of its elements zero; what is kept is named, or what is dropped."""
    from dragon.vm.tensorflow.nn import dropout as drop
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Only one of keep_prob and rate can be set")
        rate = 1 - keep_prob
    if rate is None:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    return drop(x, rate, noise_shape, seed)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
                     name=None, exponential_avg_factor=1.0):
    """Return (the normalized images, mean, variance), by the batch's own statistics or by those given."""
    from dragon.vm.tensorflow import nn
    x, scale, offset = take(x), take(scale), take(offset)
    first = data_format.startswith("NC")
    axes = [axis for axis in range(x.ndim) if axis != (1 if first else x.ndim - 1)]
    used_mean, used_variance, found_mean, found_variance = mean, variance, mean, variance
    if is_training:
        used_mean, used_variance = nn.moments(x, axes)
        count = 1
        for axis in axes:
            count *= x.shape[axis]
        found_mean = used_mean
        found_variance = ops.mul(used_variance, count / max(count - 1, 1))
        if exponential_avg_factor != 1.0 and mean is not None and variance is not None:
            part = float(exponential_avg_factor)
            found_mean = take(mean) * (1 - part) + found_mean * part
            found_variance = take(variance) * (1 - part) + found_variance * part
    wide = [take(one) for one in (used_mean, used_variance, offset, scale)]
    if first:
        wide = [ops.reshape(one, (-1, *(1,) * (x.ndim - 2))) for one in wide]
    return nn.batch_normalization(x, *wide, epsilon), found_mean, found_variance


def xw_plus_b(x, weights, biases, name=None):
    """Return x @ weights + biases."""
    from dragon.vm.tensorflow.nn import bias_add
    return bias_add(ops.matmul(take(x), take(weights)), biases)


def relu_layer(x, weights, biases, name=None):
    """Return relu(x @ weights + biases)."""
    return ops.relu(xw_plus_b(x, weights, biases))
