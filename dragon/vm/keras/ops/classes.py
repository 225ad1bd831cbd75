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
# Which parameters take tensors, where their names do not tell; all others are in the configuration.
TENSORS = {
    "x": "diag diagflat histogram roll squareplus tril triu top_k", "targets predictions": "in_top_k", "y": "trapezoid",
    "array": "rot90", "images transform": "affine_transform", "images scale translation": "scale_and_translate",
    "images start_points end_points": "perspective_transform", "volumes": "extract_patches_3d",
    "image1 image2": "ssim", "start stop step": "arange", "fill_value": "full", "x fill_value": "full_like",
    "x weights": "average bincount", "x1 x2 rtol atol": "isclose", "abs_ angle": "polar", "operands": "_einsum",
    "x mean variance offset scale": "batch_normalization", "x gamma beta": "layer_normalization",
    "x scale": "rms_normalization", "query key value bias mask scale": "dot_product_attention",
    "inputs depthwise_kernel pointwise_kernel": "separable_conv", "inputs sequence_lengths": "ctc_decode",
    "target output target_length output_length": "ctc_loss", "sorted_sequence values": "searchsorted",
    "condlist choicelist default": "select", "variable": "stop_gradient", "tensor pattern axes_lengths": "rearrange",
    "pred true_fn false_fn": "cond", "index branches operands": "switch", "loop_vars": "while_loop",
    "init_val": "fori_loop", "f xs": "map", "f init xs": "scan", "f elems": "associative_scan",
    "function elements": "vectorized_map", "fun primals tangents": "jvp",
}


@functools.cache
def _tensors_of():
    return {name: parameters.split() for parameters, names in TENSORS.items() for name in names.split()}


def operation(function=None, *, moves=(), keeps_zeros=False):
    """Let a function take symbolic tensors, under the names that files of functional models have for it.

    Parameters
    ----------
    function : Callable
        A function of keras.ops.
    moves : Sequence[int], optional
        Places of the arguments whose elements are only moved, and may be strings.
    keeps_zeros : bool, optional, default=False
        Whether Keras has a sparse tensor's result be sparse: a zero becomes one.

    Returns
    -------
    Callable
        The same, which makes a node of a graph when called with symbolic tensors.

    """
    if function is None:
        return functools.partial(operation, moves=moves, keeps_zeros=keeps_zeros)
    name = function.__name__
    function = moving(*moves)(function) if moves else function
    camel = "".join(word.capitalize() for word in name.split("_"))
    room = function.__module__.split("ops.")[-1].split(".")[0]
    made = make_operation(function, name=NAMES.get(name, camel), tensors=_tensors_of().get(name),
                          module=f"keras.src.ops.{room}")
    made.operation.keeps_zeros = keeps_zeros
    return made
