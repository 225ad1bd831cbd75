"""Samples of the operators that have no row of their own: parts of bigger ones."""
from harness import Given, Sample


def whole(high, *shape):
    """Return int64 numbers below a bound."""
    return Given(shape, dtype="int64", low=0, high=high)


def window(spatial, size, window, stride, padding, dilation, *more):
    """Return the lists of a convolution or pooling, a number for each axis."""
    return [[number] * spatial if isinstance(number, int) else number
            for number in (size, window, stride, padding, dilation) if number is not None] + list(more)


PARTS = {
    "attention": [Sample((2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6), None, 0.35, False),
                  Sample((2, 2, 4, 8), (2, 2, 4, 8), (2, 2, 4, 8), None, 0.35, True),
                  Sample((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), Given((1, 2, 3, 5), dtype="bool"), 0.5, False),
                  Sample((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 3, 5), 0.5, False)],
    "average_pool": [Sample((2, 3, 8, 9), *window(2, [4, 4], 2, 2, 0, 1), False, True, 0),
                     Sample((2, 3, 8, 9), *window(2, [4, 5], 3, 2, 1, 1), False, False, 0),
                     Sample((2, 3, 8, 9), *window(2, [5, 5], 3, 2, 1, 1), False, True, 0),
                     Sample((2, 3, 8, 9), *window(2, [4, 5], 3, 2, 1, 1), False, True, 5),
                     Sample((2, 3, 6, 7), *window(2, [1, 1], 1, 1, 0, 1), True, True, 0),
                     Sample((2, 3, 6, 8), *window(2, [3, 2], 1, 1, 0, 1), True, True, 0),
                     Sample((2, 3, 6, 7), *window(2, [4, 3], 1, 1, 0, 1), True, True, 0),
                     Sample((2, 3, 9), *window(1, [4], 2, 2, 0, 1), False, True, 0)],
    "cdist_rows": [Sample((2, 3, 4), (2, 5, 4), p) for p in (0.0, 1.0, 2.0, 3.0, float("inf"))],
    "col2im_batch": [Sample((2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]),
                     Sample((1, 18, 9), [5, 5], [3, 3], [1, 1], [1, 1], [2, 2])],
    "conv_backward_data": [Sample((2, 4, 3, 3), (4, 3, 3, 3), (3,), *window(2, [7, 7], None, 2, 0, 1), 1),
                           Sample((2, 4, 3, 3), (4, 3, 3, 3), None, *window(2, [6, 6], None, 2, 1, 1), 1),
                           Sample((2, 4, 5), (4, 2, 3), (4,), *window(1, [9], None, 1, 0, 2), 2)],
    "conv_forward": [Sample((2, 4, 9), (6, 2, 3), (6,), *window(1, [9], None, 1, 1, 1), 2),
                     Sample((2, 3, 8, 9), (4, 3, 3, 3), (4,), *window(2, [4, 5], None, 2, 1, 1), 1),
                     Sample((2, 3, 8, 9), (4, 3, 3, 3), None, *window(2, [4, 5], None, 1, 0, 2), 1),
                     Sample((2, 3, 8, 9), (4, 3, 2, 2), None, *window(2, [8, 9], None, 1, 0, 1), 1),
                     Sample((1, 2, 4, 5, 6), (3, 2, 3, 3, 3), (3,), *window(3, [4, 5, 6], None, 1, 1, 1), 1)],
    "cross_entropy_terms": [Sample((4, 5, 2), whole(5, 4, 2), None, -100, 0.0),
                            Sample((4, 5, 2), whole(5, 4, 2), (5,), 1, 0.1)],
    "im2col_batch": [Sample((2, 3, 5, 6), [2, 3], [1, 1], [0, 0], [1, 1]),
                     Sample((2, 3, 5, 6), [2, 2], [2, 1], [1, 1], [2, 2])],
    "max_pool_with_indices": [
        Sample(Given((2, 3, 8, 9), distinct=True), *window(2, [4, 4], 2, 2, 0, 1), False),
        Sample(Given((2, 3, 8, 9), distinct=True), *window(2, [4, 5], 3, 2, 1, 1), False),
        Sample(Given((2, 3, 8, 9), distinct=True), *window(2, [5, 5], 3, 2, 1, 1), False),
        Sample(Given((2, 3, 9, 9), distinct=True), *window(2, [5, 5], 3, 1, 0, 2), False),
        Sample(Given((2, 3, 6, 7), distinct=True), *window(2, [1, 1], 1, 1, 0, 1), True),
        Sample(Given((2, 3, 6, 8), distinct=True), *window(2, [3, 2], 1, 1, 0, 1), True),
        Sample(Given((2, 3, 6, 7), distinct=True), *window(2, [4, 3], 1, 1, 0, 1), True)],
    "max_unpool": [Sample((1, 2, 2, 2), Given((1, 2, 2, 2), dtype="int64", values=[[[[0, 3], [8, 11]]] * 2]), [4, 4])],
    "native_batch_norm": [Sample((3, 4, 5), (4,), (4,), (4,), Given((4,), low=0.5, high=2.0), False, 0.1, 1e-5),
                          Sample((3, 4, 2, 2), None, None, (4,), Given((4,), low=0.5, high=2.0), False, 0.1, 1e-3),
                          Sample((3, 4), (4,), (4,), None, None, True, 0.1, 1e-5),
                          Sample((3, 4, 5), (4,), (4,), (4,), Given((4,), low=0.5, high=2.0), True, 0.1, 1e-5)],
    "native_group_norm": [Sample((2, 6, 4), 3, (6,), (6,), 1e-5), Sample((2, 6, 2, 3), 2, None, None, 1e-5)],
    "native_layer_norm": [Sample((2, 3, 5), [5], (5,), (5,), 1e-5), Sample((2, 3, 5), [3, 5], None, None, 1e-5)],
    "native_rms_norm": [Sample((2, 3, 5), [5], (5,), 1e-5), Sample((2, 3, 5), [3, 5], None, 1e-5)],
    "nll_loss_terms": [Sample((4, 5, 2), whole(5, 4, 2), None, -100), Sample((4, 5, 2), whole(5, 4, 2), (5,), 1)],
    "binary_cross_entropy_terms": [Sample(Given((3, 4), low=0.0, high=1.0), Given((3, 4), low=0.0, high=1.0))],
    "pair_places": [],
    "real_std": [Sample((3, 4), [1], 1, False), Sample((3, 4), None, 0, True), Sample((5,), [0], 2, False)],
    "real_var": [Sample((3, 4), [1], 1, False), Sample((3, 4), None, 0, True)],
    "real_var_mean": [Sample((3, 4), [0], 1, False), Sample((3, 4), None, 0, True)],
    "recurrent_layer": [
        Sample((12, 20), (3, 5), (3, 5), (20, 5), (20,), None, "lstm", reverse, [3, 3, 3, 3])
        for reverse in (False, True)] + [
        Sample((9, 20), (3, 5), (3, 5), (20, 5), (20,), None, "lstm", reverse, [3, 3, 2, 1])
        for reverse in (False, True)] + [
        Sample((12, 15), (3, 5), None, (15, 5), (15,), None, "gru", False, [3, 3, 3, 3]),
        Sample((9, 15), (3, 5), None, (15, 5), None, None, "gru", True, [3, 3, 2, 1]),
        Sample((8, 5), (2, 5), None, (5, 5), (5,), None, "tanh", False, [2, 2, 2, 2]),
        Sample((8, 5), (2, 5), None, (5, 5), None, None, "relu", True, [2, 2, 2, 2])],
    "resample": [Sample((1, 2, 4, 5), [8, 10], [0.0, 0.0], mode, corners, False)
                 for mode, corners in (("nearest", False), ("nearest-exact", False), ("bilinear", False),
                                       ("bilinear", True), ("bicubic", False), ("bicubic", True), ("area", False))] + [
        Sample((1, 2, 8, 9), [3, 4], [0.0, 0.0], mode, False, smooth)
        for mode, smooth in (("nearest", False), ("bilinear", False), ("bilinear", True), ("bicubic", False))] + [
        Sample((1, 2, 5), [7], [1.5], "linear", False, False), Sample((1, 2, 5), [7], [1.5], "nearest", False, False),
        Sample((1, 2, 3, 4, 5), [6, 8, 10], [0.0] * 3, "trilinear", False, False)] + [
        Sample((1, 2, 8, 5), [3, 7], [0.0, 0.0], mode, False, smooth)
        for mode in ("nearest-center", "triangle", "keys", "mitchell", "gaussian", "lanczos3", "lanczos5", "coverage")
        for smooth in (False, True)] + [
        Sample((1, 2, 8, 5), [3, 7], [0.4, 1.5], "lanczos", False, True)],
    "scatter_combine": [Sample((4, 3), 0, whole(4, 2, 3), (2, 3), how) for how in ("multiply", "amax", "amin")],
    "scatter_write": [Sample((4, 3), 1, whole(3, 4, 1), (4, 1), how) for how in ("assign", "add")],
    "target_weights": [],
}
# Which results are compared, where some are for gradients only.
RESULTS = {"recurrent_layer": (0, 1, 2), "attention": (0, 1)}
