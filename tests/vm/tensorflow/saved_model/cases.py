"""Small functions of TensorFlow for `test_operators.py`: each is saved by the genuine one and run by both."""
import numpy as np

from dragon.vm.tensorflow import train

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape).astype("float32")


def integers(high, *shape):
    return RNG.integers(0, high, shape).astype("int32")


X, Y, POSITIVE = numbers(3, 4), numbers(3, 4), np.abs(numbers(3, 4)) + 0.5
UNIT = RNG.uniform(-0.9, 0.9, (3, 4)).astype("float32")
SQUARE = numbers(2, 3, 3) + 3 * np.eye(3, dtype="float32")
IMAGE = RNG.random((2, 8, 9, 3), dtype="float32")
TEXT = np.array(["Some words, here", "", "ünï code  ", "12.5"], object)
WORDS = np.array(["b", "a", "c", "b"], object)
EXAMPLE = train.Example(features=train.Features(feature={
    "a": train.Feature(int64_list=train.Int64List(value=[1, 2])),
    "b": train.Feature(bytes_list=train.BytesList(value=[b"x"]))})).SerializeToString()


def elementwise(tf):
    """Return {name: (function, inputs)} of operators that go through numbers."""
    unary = {name: (getattr(tf.math, name), [X]) for name in """
        abs atan ceil cos cosh digamma erf erfc exp expm1 floor is_finite is_inf is_nan lgamma negative reciprocal rint
        round sigmoid sign sin sinh softplus square tan tanh bessel_i0e bessel_i1e asinh""".split()}
    positive = {name: (getattr(tf.math, name), [POSITIVE]) for name in "log log1p rsqrt sqrt".split()}
    unit = {name: (getattr(tf.math, name), [UNIT]) for name in "acos asin atanh erfinv ndtri".split()}
    binary = {name: (getattr(tf.math, name), [X, POSITIVE]) for name in """
        add subtract multiply divide divide_no_nan multiply_no_nan maximum minimum squared_difference floordiv floormod
        atan2 xdivy xlogy equal not_equal less less_equal greater greater_equal""".split()}
    bits = {name: (getattr(tf.bitwise, name), [integers(9, 4), integers(3, 4)]) for name in """
        bitwise_and bitwise_or bitwise_xor left_shift right_shift""".split()}
    whole = {f"whole_{name}": (getattr(tf.math, name), [integers(9, 4) - 5, integers(3, 4) + 1]) for name in
             "floordiv floormod add multiply maximum".split()}
    return {**unary, **positive, **unit, **binary, **bits, **whole,
            "pow": (tf.pow, [POSITIVE, Y]), "acosh": (tf.acosh, [POSITIVE + 1]),
            "complex": (lambda x, y: tf.math.conj(tf.complex(x, y)), [X, Y]),
            "angle": (lambda x, y: tf.math.angle(tf.complex(x, y)), [X, Y]),
            "real": (lambda x, y: tf.math.real(tf.complex(x, y)) + tf.math.imag(tf.complex(y, x)), [X, Y]),
            "logical": (lambda x: tf.logical_or(tf.logical_and(x > 0, x < 1), tf.logical_not(x > 2)), [X]),
            "truncatediv": (tf.truncatediv, [integers(9, 4) - 5, integers(3, 4) + 1]),
            "invert": (tf.bitwise.invert, [integers(9, 4)]), "cast": (lambda x: tf.cast(x, tf.int64), [X * 9]),
            "bitcast": (lambda x: tf.bitcast(x, tf.int32), [X]), "add_n": (lambda x, y: tf.add_n([x, y, x]), [X, Y]),
            "clip": (lambda x: tf.clip_by_value(x, -0.5, 0.5), [X]), "igamma": (tf.math.igamma, [POSITIVE, POSITIVE]),
            "polygamma": (lambda x: tf.math.polygamma(2.0, x), [POSITIVE]),
            "zeta": (tf.math.zeta, [POSITIVE + 1, POSITIVE]), "xlog1py": (tf.math.xlog1py, [X, POSITIVE])}


def reductions(tf):
    """Return those that make one number of many."""
    plain = {f"reduce_{name}": (lambda x, name=name: getattr(tf, f"reduce_{name}")(x, 1, keepdims=True), [X])
             for name in "sum mean max min prod".split()}
    ids, few = np.array([0, 0, 2], "int32"), integers(3, 3)
    segments = {f"segment_{name}": (lambda x, name=name: getattr(tf.math, f"segment_{name}")(x, ids), [X])
                for name in "sum mean max min prod".split()}
    unsorted = {f"unsorted_{name}": (lambda x, name=name: getattr(tf.math, f"unsorted_segment_{name}")(x, few, 4), [X])
                for name in "sum max min prod".split()}
    return {**plain, **segments, **unsorted,
            "all": (lambda x: (tf.reduce_all(x > 0, 0), tf.reduce_any(x > 1, 1)), [X]),
            "argmax": (lambda x: (tf.argmax(x, 1), tf.argmin(x, 0, output_type=tf.int32)), [X]),
            "cumsum": (lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), [X]),
            "cumprod": (lambda x: tf.math.cumprod(x, 0), [X]), "norm": (lambda x: tf.norm(x, axis=1), [X]),
            "cumulative_logsumexp": (lambda x: tf.math.cumulative_logsumexp(x, 1), [X]),
            "euclidean": (lambda x: tf.math.reduce_euclidean_norm(x, 1), [X]),
            "logsumexp": (lambda x: tf.reduce_logsumexp(x, 1), [X]), "top_k": (lambda x: tf.math.top_k(x, 2), [X]),
            "in_top_k": (lambda x: tf.math.in_top_k(ids, x, 2), [X]), "l2_loss": (tf.nn.l2_loss, [X]),
            "bincount": (lambda x: tf.math.bincount(x, minlength=5, maxlength=5), [integers(5, 9)]),
            "bincount_rows": (lambda x: tf.math.bincount(x, axis=-1, binary_output=True), [integers(5, 2, 3)]),
            "bucketize": (lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.0, 0.7]), [X]),
            "cross_entropy": (lambda x, y: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), x), [X, Y]),
            "sparse_cross_entropy": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x), [X]),
            "histogram": (lambda x: tf.histogram_fixed_width(x, [-1.0, 1.0], 5), [X]),
            "sparse_segment": (lambda x: tf.raw_ops.SparseSegmentMean(data=x, indices=ids, segment_ids=ids), [X])}


def arrays(tf):
    """Return those that make, move, cut and join."""
    places = np.array([[0, 1], [2, 3]], "int32")
    return {
        "shape": (lambda x: tf.zeros(tf.concat([tf.shape(x)[1:], [2]], 0)) + tf.cast(
            tf.size(x) * tf.rank(x), "float32"), [X]),
        "fill": (lambda x: tf.fill([tf.shape(x)[0], 2], x[0, 0]), [X]),
        "range": (lambda x: tf.range(tf.shape(x)[0] * 2, 0, -2), [X]), "linspace": (lambda x: tf.linspace(
            x[0, 0], x[1, 1], 5), [X]), "like": (lambda x: tf.zeros_like(x) + tf.ones_like(x), [X]),
        "one_hot": (lambda x: tf.one_hot(x, 5, 2.0, -1.0, axis=0), [integers(5, 3)]),
        "reshape": (lambda x: tf.reshape(x, [tf.shape(x)[1], -1]), [X]),
        "squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]), [X]), "transpose": (tf.transpose, [SQUARE]),
        "reverse": (lambda x: tf.reverse(x, [0, 1]), [X]), "roll": (lambda x: tf.roll(x, [1, -1], [0, 1]), [X]),
        "reverse_sequence": (lambda x: tf.reverse_sequence(x, [1, 3, 4], 1), [X]),
        "broadcast": (lambda x: tf.broadcast_to(x[:, :1], tf.shape(x)), [X]),
        "tile": (lambda x: tf.tile(x, [2, 1]), [X]),
        "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=3.0), [X]),
        "pad_mirror": (lambda x: tf.pad(x, [[1, 0], [0, 2]], "REFLECT"), [X]),
        "space_to_batch": (lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 0]]), [IMAGE]),
        "depth": (lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x[:, :, :8], 2), 2), [IMAGE]),
        "concat": (lambda x, y: tf.concat([x, y], -1), [X, Y]), "stack": (lambda x, y: tf.stack([x, y], 1), [X, Y]),
        "unstack": (lambda x: tf.unstack(x, axis=1), [X]), "split": (lambda x: tf.split(x, 2, 1), [X]),
        "split_sizes": (lambda x: tf.split(x, [1, 3], 1), [X]), "slice": (lambda x: tf.slice(x, [1, 0], [2, -1]), [X]),
        "strided": (lambda x: (x[::-1, 1:3], x[..., tf.newaxis, 0], x[1:, -1]), [X]),
        "gather": (lambda x: tf.gather(x, [2, 0], axis=1), [X]), "gather_batch": (lambda x: tf.gather(
            x, tf.argsort(x), batch_dims=1), [X]), "gather_nd": (lambda x: tf.gather_nd(x, places), [X]),
        "where": (lambda x, y: tf.where(x > 0, x, y), [X, Y]), "where_places": (lambda x: tf.where(x > 0), [X]),
        "scatter": (lambda x: tf.scatter_nd(places, x[0, :2], [3, 4]), [X]),
        "scatter_update": (lambda x: tf.tensor_scatter_nd_update(x, places, [9.0, 8.0]), [X]),
        "scatter_add": (lambda x: tf.tensor_scatter_nd_add(x, places, [9.0, 8.0]), [X]),
        "scatter_max": (lambda x: tf.tensor_scatter_nd_max(x, places, [0.0, 0.0]), [X]),
        "unique": (lambda x: tf.unique(x), [integers(3, 6)]),
        "unique_counts": (lambda x: tf.unique_with_counts(x), [integers(3, 6)]),
        "partition": (lambda x: tf.dynamic_partition(x, [0, 1, 0], 2), [X]),
        "stitch": (lambda x: tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[2:]]), [X]),
        "searchsorted": (lambda x: tf.searchsorted([-1.0, 0.0, 1.0], x[0]), [X]), "sort": (tf.sort, [X]),
        "sequence_mask": (lambda x: tf.sequence_mask(x, 5), [integers(5, 3)]),
        "band": (lambda x: tf.linalg.band_part(x, 1, 0), [SQUARE]), "eye": (lambda x: tf.eye(3) + x, [SQUARE]),
        "list_diff": (lambda x: tf.raw_ops.ListDiff(x=x, y=[1, 2]), [integers(5, 6)]),
        "invert_permutation": (tf.math.invert_permutation, [np.array([2, 0, 1], "int32")]),
        "repeat": (lambda x: tf.repeat(x, [1, 2, 0], axis=0), [X]),
        "meshgrid": (lambda x: tf.meshgrid(x[0], x[1]), [X]),
        "strided_update": (lambda x: tf.raw_ops.TensorStridedSliceUpdate(
            input=x, begin=[0, 1], end=[3, 3], strides=[2, 1], value=tf.zeros([2, 2])), [X])}


def networks(tf):
    """Return those of networks, images and matrices."""
    kernel, each = numbers(3, 3, 3, 4), numbers(3, 3, 3, 2)
    boxes = np.array([[0.1, 0.1, 0.6, 0.7], [0.1, 0.12, 0.6, 0.72], [0.5, 0.5, 1, 1]], "float32")
    scores, mean, spread = np.array([0.9, 0.8, 0.7], "float32"), numbers(3), np.abs(numbers(3)) + 0.5
    volume, deep = numbers(1, 4, 5, 4, 2), numbers(2, 2, 2, 2, 3)
    v1 = tf.compat.v1
    return {
        "conv": (lambda x: tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "SAME"), [IMAGE]),
        "conv_explicit": (lambda x: tf.nn.conv2d(x, kernel, 1, [[0, 0], [1, 0], [2, 1], [0, 0]], dilations=2), [IMAGE]),
        "depthwise": (lambda x: tf.nn.depthwise_conv2d(x, each, [1, 1, 1, 1], "VALID", dilations=[2, 2]), [IMAGE]),
        "transposed": (lambda x: tf.nn.conv2d_transpose(x, numbers(3, 3, 2, 3) * 0 + 0.5, [2, 16, 18, 2], 2), [IMAGE]),
        "conv3": (lambda x: tf.nn.conv3d(x, deep, [1] * 5, "SAME"), [volume]),
        "max_places": (lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "VALID"), [IMAGE]),
        "max_places_of_all": (
            lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "VALID", include_batch_in_index=True), [IMAGE]),
        "max_pool": (lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), [IMAGE]),
        "avg_pool": (lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), [IMAGE]),
        "pool3": (lambda x: tf.nn.max_pool3d(x, 2, 1, "VALID") + tf.nn.avg_pool3d(x, 2, 1, "VALID"), [volume]),
        "bias": (lambda x: tf.nn.bias_add(x, mean), [IMAGE]),
        "batch_norm": (lambda x: v1.nn.fused_batch_norm(x, spread, mean, mean, spread, is_training=False)[0], [IMAGE]),
        "batch_norm_training": (lambda x: v1.nn.fused_batch_norm(x, spread, mean), [IMAGE]),
        "lrn": (lambda x: tf.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.7), [IMAGE]),
        "activations": (lambda x: [f(x) for f in (tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softsign,
                                                  tf.nn.softmax, tf.nn.log_softmax, tf.nn.leaky_relu, tf.nn.gelu,
                                                  tf.nn.silu)], [X]),
        "resize": (lambda x: [tf.image.resize(x, [5, 12], m) for m in ("bilinear", "nearest", "bicubic", "area")],
                   [IMAGE]),
        "resize_old": (lambda x: [v1.image.resize(x, [5, 12], m, align_corners=c) for m in (0, 1)
                                  for c in (True, False)], [IMAGE]),
        "lanczos": (lambda x: tf.image.resize(x, [5, 12], "lanczos3", antialias=True), [IMAGE]),
        "crop": (lambda x: tf.image.crop_and_resize(x, boxes, [0, 1, 0], [4, 5]), [IMAGE]),
        "colours": (lambda x: tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(tf.image.adjust_contrast(x, 0.7))), [IMAGE]),
        "hue": (lambda x: tf.image.adjust_saturation(tf.image.adjust_hue(x, 0.2), 0.5), [IMAGE]),
        "patches": (lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"), [IMAGE]),
        "suppression": (lambda x: tf.image.non_max_suppression(x, scores, 3, 0.5), [boxes]),
        "suppression_soft": (lambda x: tf.image.non_max_suppression_with_scores(
            x, scores, 3, soft_nms_sigma=0.5), [boxes]),
        "suppression_combined": (lambda x: tuple(tf.image.combined_non_max_suppression(
            x[None, :, None], scores[None, :, None], 3, 4)), [boxes]),
        "png": (lambda x: tf.io.decode_png(tf.io.encode_png(tf.cast(x[0] * 255, tf.uint8))), [IMAGE]),
        "matmul": (lambda x, y: tf.matmul(x, y, transpose_b=True), [X, Y]),
        "batch_matmul": (lambda x: tf.matmul(x, x, adjoint_a=True), [SQUARE]),
        "einsum": (lambda x, y: tf.einsum("bij,bjk->bik", x, y), [SQUARE, SQUARE]),
        "inverse": (lambda x: (tf.linalg.inv(x), tf.linalg.det(x), tf.linalg.solve(x, x)), [SQUARE]),
        "cholesky": (lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True)), [SQUARE]),
        "triangular": (lambda x: tf.linalg.triangular_solve(x, x, lower=False), [SQUARE]),
        "slogdet": (lambda x: tuple(tf.linalg.slogdet(x)), [SQUARE]), "svd": (lambda x: tf.linalg.svd(
            x, compute_uv=False), [SQUARE]), "eigh": (lambda x: tf.linalg.eigvalsh(x + tf.transpose(x, [0, 2, 1])),
                                                      [SQUARE]),
        "diag": (lambda x: (tf.linalg.diag(x), tf.linalg.diag_part(x), tf.linalg.set_diag(x, x[:, 0])), [X[:, :3]]),
        "fft": (lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))), [X]),
        "rfft": (lambda x: tf.signal.irfft(tf.signal.rfft(x)), [X]), "stft": (lambda x: tf.abs(tf.signal.stft(
            x, 8, 4)), [numbers(2, 20)])}


def texts(tf):
    """Return those of strings, ragged and sparse tensors."""
    s = tf.strings
    features = {"a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.VarLenFeature(tf.string),
                "c": tf.io.FixedLenFeature([], tf.float32, 0.5), "d": tf.io.RaggedFeature(tf.int64)}
    return {
        "case": (lambda x: (s.lower(x), s.upper(x, "utf-8"), s.strip(x)), [TEXT]),
        "length": (lambda x: (s.length(x), s.length(x, "UTF8_CHAR")), [TEXT]),
        "substr": (lambda x: s.substr(x, 0, 0), [TEXT]), "join": (lambda x: s.join([x, "-", x], "/"), [TEXT]),
        "reduce_join": (lambda x: s.reduce_join(x, 0, separator=","), [TEXT]),
        "split": (lambda x: s.split(x).to_tensor("?"), [TEXT]),
        "split_by": (lambda x: s.split(x, ",").to_tensor(), [TEXT]),
        "regex": (lambda x: (s.regex_replace(x, "[aeiou](.)", r"<\1>"), s.regex_full_match(x, ".*e.*")), [TEXT]),
        "hash": (lambda x: (s.to_hash_bucket_fast(x, 97), s.to_hash_bucket(x, 97),
                            s.to_hash_bucket_strong(x, 97, [1, 2])), [TEXT]),
        "number": (lambda x: s.to_number(x[3:]), [TEXT]), "as_string": (lambda x: s.as_string(x, precision=2), [X]),
        "format": (lambda x: s.format("x = {}", [x]), [integers(5, 3)]),
        "base64": (lambda x: tf.io.decode_base64(tf.io.encode_base64(x)), [TEXT]),
        "raw": (lambda x: tf.io.decode_raw(x[:1], tf.uint8), [TEXT]),
        "unicode": (lambda x: s.unicode_decode(x, "UTF-8").to_tensor(-1), [TEXT]),
        "unicode_split": (lambda x: s.unicode_split(x, "UTF-8").to_tensor("?"), [TEXT]),
        "transcode": (lambda x: s.unicode_transcode(x, "UTF-8", "UTF-16-BE"), [TEXT]),
        "encode": (lambda x: s.unicode_encode(s.unicode_decode(x, "UTF-8"), "UTF-8"), [TEXT]),
        "ngrams": (lambda x: s.ngrams(x, 2, "_"), [WORDS]), "bytes_split": (lambda x: s.bytes_split(
            x).to_tensor(), [WORDS]),
        "unique_text": (lambda x: tf.unique(x), [WORDS]), "equal_text": (lambda x: tf.equal(x, "b"), [WORDS]),
        "where_text": (lambda x: tf.where(x == "b", "yes", x), [WORDS]), "csv": (lambda x: tf.io.decode_csv(
            x, [0, ""]), [np.array(["1,a", ",b"], object)]),
        "serialize": (lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32), [X]),
        "ragged_range": (lambda x: tf.ragged.range(x).to_tensor(-1), [integers(5, 4)]),
        "ragged_sum": (lambda x: tf.reduce_sum(tf.ragged.range(x), 1), [integers(5, 4) + 1]),
        "ragged_gather": (lambda x: tf.gather(tf.ragged.range(x), [2, 0]).to_tensor(), [integers(5, 4)]),
        "ragged_map": (lambda x: tf.map_fn(tf.reduce_sum, tf.ragged.range(x), fn_output_signature=tf.int32),
                       [integers(5, 4)]),
        "ragged_out": (lambda x: tf.ragged.range(x) * 2, [integers(5, 4) + 1]),
        "ragged_stack": (lambda x: tf.RaggedTensor.from_tensor(x, padding=0).to_sparse(), [integers(3, 2, 4)]),
        "sparse": (lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x), -1.0), [np.maximum(X, 0)]),
        "sparse_matmul": (lambda x, y: tf.sparse.sparse_dense_matmul(
            tf.sparse.from_dense(x), y, adjoint_b=True), [X, Y]),
        "sparse_out": (lambda x: tf.sparse.reorder(tf.sparse.from_dense(x)), [X]),
        "sparse_rows": (lambda x: tf.sparse.fill_empty_rows(tf.sparse.from_dense(x), 7)[0], [np.eye(3, 4, 2, "int32")]),
        "examples": (lambda x: tf.io.parse_example(x, features)["a"], [np.array([EXAMPLE, EXAMPLE], object)]),
        "examples_all": (lambda x: [v for k, v in sorted(tf.io.parse_example(x, features).items())],
                         [np.array([EXAMPLE], object)])}


def flow(tf):
    """Return those of decisions, loops, lists and random numbers."""
    def loop(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), [0, x])[1]

    def array(x):
        found = tf.TensorArray(tf.float32, 0, True, element_shape=[4])
        for row in tf.range(tf.shape(x)[0]):
            found = found.write(row, x[row])
        return found.concat(), found.gather([1, 0]), found.size()

    def nested(x):
        total = 0.0
        for row in x:
            if tf.reduce_sum(row) > 0.0:
                total += tf.reduce_max(row)
            elif row[0] > 1.0:
                break
            else:
                continue
        return total
    return {
        "cond": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), [X]), "while": (loop, [X]),
        "case": (lambda x: tf.switch_case(x, [lambda: 1, lambda: 2, lambda: 3]), [np.int32(1)]), "array": (array, [X]),
        "nested": (nested, [X]), "map_fn": (lambda x: tf.map_fn(lambda row: row * row[0], x), [X]),
        "scan": (lambda x: tf.scan(lambda a, b: a + b, x), [X]), "foldl": (lambda x: tf.foldl(tf.maximum, x), [X]),
        "gradient": (lambda x: tf.gradients(tf.reduce_sum(tf.tanh(x) ** 2 * tf.sigmoid(x)), x), [X]),
        "checks": (lambda x: tf.debugging.check_numerics(tf.ensure_shape(x, [None, 4]), "bad"), [X]),
        "stop": (lambda x: tf.stop_gradient(tf.identity(x)), [X]), "vectorized": (lambda x: tf.vectorized_map(
            lambda row: tf.reduce_sum(row) * row, x), [X]),
        "stateless": (lambda x: (tf.random.stateless_uniform(tf.shape(x), [1, 2]),
                                 tf.random.stateless_normal([3], [3, 4]),
                                 tf.random.stateless_truncated_normal([3], [3, 4]),
                                 tf.random.stateless_uniform([3], [5, 6], 2, 9, tf.int32)), [X]),
        "assert": (lambda x: [tf.debugging.assert_greater(x, -99.0), x][1], [X])}


FAMILIES = (elementwise, reductions, arrays, networks, texts, flow)
