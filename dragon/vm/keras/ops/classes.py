"""What functions of keras.ops are called in graphs and files: one table of the names that are not guessed."""
import functools

from dragon.vm.keras.core.operation import operation as make_operation
from dragon.vm.shared.arrays.moving import moving

# A function `some_name` is the class SomeName, except:
NAMES = {
    "abs": "Absolute", "allclose": "AllClose", "batch_normalization": "BatchNorm", "cdist": "CDist",
    "ctc_decode": "CTCDecode", "ctc_loss": "CTCLoss", "fft": "FFT", "fft2": "FFT2", "ifft2": "IFFT2",
    "irfft": "IRFFT", "rfft": "RFFT", "isin": "IsIn", "istft": "ISTFT", "stft": "STFT", "jvp": "JVP",
    "layer_normalization": "LayerNorm", "psnr": "PSNR", "rms_normalization": "RMSNorm",
    "searchsorted": "SearchSorted", "svd": "SVD", "hard_swish": "HardSilu", "swish": "Silu", "_einsum": "Einsum",
    "rgb_to_hsv": "RGBToHSV", "hsv_to_rgb": "HSVToRGB", "rgb_to_grayscale": "RGBToGrayscale",
    "extract_patches_3d": "ExtractPatches3D", "ssim": "SSIM",
}
# Which parameters take tensors; all others are in the configuration. A function that is not named here takes `x`.
TENSORS = {
    "x1 x2": """add allclose append arctan2 correlate cross divide divide_no_nan dot equal floor_divide fmax fmin fmod
        gcd greater greater_equal heaviside hypot inner isin kron lcm ldexp less less_equal logaddexp logaddexp2
        logical_and logical_or logical_xor matmul maximum minimum mod multiply nextafter not_equal outer power psnr
        subtract tensordot true_divide vdot""",
    "x y": "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor cdist left_shift right_shift",
    "inputs": "adaptive_average_pool adaptive_max_pool average_pool max_pool multi_hot",
    "xs": "concatenate dstack hstack vstack",
    "x q": "nanpercentile nanquantile percentile quantile",
    "data segment_ids": "segment_max segment_min segment_prod segment_sum",
    "target output": "binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy",
    "inputs kernel": "conv conv_transpose depthwise_conv",
    "a b": "lstsq solve solve_triangular",
    "x indices": "take take_along_axis",
    "images": """affine_transform crop_images elastic_transform extract_patches gaussian_blur hsv_to_rgb pad_images
        resize rgb_to_grayscale rgb_to_hsv sobel_edges""",
    "volumes": "extract_patches_3d", "images start_points end_points": "perspective_transform",
    "images transform": "affine_transform", "inputs coordinates": "map_coordinates", "image1 image2": "ssim",
    "images scale translation": "scale_and_translate",
    "start stop step": "arange", "start stop": "linspace logspace", "f elems": "associative_scan",
    "x weights": "average bincount",
    "x mean variance offset scale": "batch_normalization", "inputs sequence_lengths": "ctc_decode",
    "target output target_length output_length": "ctc_loss", "x bins": "digitize", "pred true_fn false_fn": "cond",
    "query key value bias mask scale": "dot_product_attention", "operands": "_einsum", "init_val": "fori_loop",
    "fill_value": "full", "x fill_value": "full_like", "x key": "get_item", "targets predictions": "in_top_k",
    "x1 x2 rtol atol": "isclose", "fun primals tangents": "jvp", "x gamma beta": "layer_normalization",
    "f xs": "map", "abs_ angle": "polar", "tensor pattern axes_lengths": "rearrange", "x scale": "rms_normalization",
    "array": "rot90", "f init xs": "scan", "indices values": "scatter", "inputs indices updates": "scatter_update",
    "sorted_sequence values": "searchsorted", "condlist choicelist default": "select", "a": "diff",
    "inputs depthwise_kernel pointwise_kernel": "separable_conv", "inputs start_indices": "slice",
    "inputs start_indices updates": "slice_update", "variable": "stop_gradient",
    "index branches operands": "switch", "y": "trapezoid", "indices": "unravel_index",
    "condition x1 x2": "where", "loop_vars": "while_loop", "function elements": "vectorized_map",
}

# What only moves elements takes strings too; by which arguments they come.
MOVING = {
    (0,): """array_split broadcast_to concatenate copy diagonal dstack expand_dims flip fliplr flipud hsplit hstack
        moveaxis ravel repeat reshape roll rot90 slice split squeeze stack swapaxes take take_along_axis tile transpose
        unstack vsplit vstack""",
    (0, 1): "append", (1, 2): "where",
}


@functools.cache
def _places_of():
    return {name: places for places, names in MOVING.items() for name in names.split()}


@functools.cache
def _tensors_of():
    return {name: parameters.split() for parameters, names in TENSORS.items() for name in names.split()}


def operation(function):
    """Let a function take symbolic tensors, under the names that files of functional models have for it.

    Parameters
    ----------
    function : Callable
        A function of keras.ops.

    Returns
    -------
    Callable
        The same, which makes a node of a graph when called with symbolic tensors.

    """
    name = function.__name__
    function = moving(*_places_of()[name])(function) if name in _places_of() else function
    camel = "".join(word.capitalize() for word in name.split("_"))
    room = function.__module__.split("ops.")[-1].split(".")[0]
    return make_operation(function, name=NAMES.get(name, camel), tensors=_tensors_of().get(name, ["x"]),
                          module=f"keras.src.ops.{room}")
