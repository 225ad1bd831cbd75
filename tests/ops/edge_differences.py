"""Where results at the edges differ from the oracle's and are right, or cannot be helped: who, what, and why."""
import collections
import functools
import re

# Names of rows or families, a pattern of the line that tells the difference, a reason.
Difference = collections.namedtuple("Difference", "names line reason")

LARGEST = r"3\.4028\d*e\+38|3\.3895\d*e\+38|1\.7976\d*e\+308|65504"

DIFFERENCES = [Difference(*entry) for entry in (
    ("hardswish gelu", LARGEST, "PyTorch's overflow at the largest number, where the result is that number"),
    ("gelu hardswish", "inf", "PyTorch's vector code gives NaN for infinity"),
    ("broadcast_prelu", "gradient", "its oracle is a composition, which takes infinity times 0"),
    ("sigmoid_backward tanh_backward", "", "the order of factors decides where they overflow, outside of all results"),
    ("softshrink", "", "signs of zero differ among PyTorch's dtypes"),
    ("remainder fmod", "grid", "PyTorch's quotient overflows where y is tiny: what is left is not NaN"),
    ("atan2", "gradient", "PyTorch's squares of tiny numbers vanish, and so does its gradient"),
    ("hypot", "gradient", "PyTorch multiplies a denormal number by the cotangent first"),
    ("maximum minimum clamp fmax fmin", r"result 0: .*-?0\.0\) at .*expected np.float\d+\(-?0\.0\)",
     "which of two zeros is greater, PyTorch's vector loop and the rest behind it disagree on"),
    ("pow", r"in complex.*(1\+0j\) at|gradient)", "0 ** 0 is 1, as NumPy's is, where PyTorch has NaN of logarithms"),
    ("lerp", LARGEST, "a processor with fused products does not round them, nor overflow, before the sum"),
    ("lerp", r"in complex.*expected np\.complex\d+\(-?0j\)", "a weight too small to matter leaves PyTorch nothing"),
    ("acosh", "in complex.*gradient", "on the branch cut PyTorch's gradient has the sign of the other side"),
    ("sinc", "in b?float16.*gradient", "PyTorch's digits cancel in 16 bits"),
    ("sinc atanh angle", "in complex.*gradient", "PyTorch divides by squares that vanish or overflow"),
    ("prod", "in complex.*gradient", "the product overflows: PyTorch divides infinities"),
    ("ldexp", LARGEST, "the last rounding before the largest number"),
    ("zeta", "", "of NaN and at poles: NaN, as in SciPy"),
    ("igamma igammac", "", "orders at the edges differ by design: limits, as in SciPy, where PyTorch gives NaN"),
    ("polar", "gradient", "PyTorch takes the direction of the result, which a length of 0 or below has lost or turned"),
    ("addcmul addcdiv", LARGEST + r"|nan\) at .*inf, 1\.0000000150474662e\+30, 1\.0000000150474662e\+30\]",
     "the order of factors, and whether they are rounded before the sum, decide where they overflow"),
    ("rows_matmul rows_dots", LARGEST, "fused products are not rounded, nor do they overflow, before the sum"),
    ("rows_matmul rows_dots rows_extreme", "[0-9]+ for [46] of .*raises",
     "there is a row for each start and a number for each place; the oracle spreads one number, and reads the first "
     "rows of many"),
    ("erfcx log_ndtr", "gradient", "PyTorch's derivatives cancel far from 0"),
    ("bessel_j0 bessel_j1 bessel_y0 bessel_y1", "inf", "at infinity the limit 0, where the oracle has NaN"),
    ("digamma polygamma logit", "gradient", "at poles PyTorch gives a huge number, or infinity with a random sign"),
    ("gcd lcm", "in int", "of the least integer, which has no absolute value"),
    ("view_dtype view_as_complex", "raises nothing", "PyTorch refuses to view nothing by its strides"),
    ("view_as_real", " 0 for .*gradient raises", "PyTorch refuses to view a gradient of nothing by its strides"),
    ("subview restride as_strided", "raises", "attributes of the sample belong to its sizes"),
    ("block_diag", "0 for 1 .*gradient", "PyTorch's gradient forgets the row of an empty vector"),
    ("cross", LARGEST + r"|-1e\+30", "a product of huge numbers, rounded once or twice"),
    ("index_add", "0 for", "PyTorch looks at no index where there is nothing to add"),
    ("take_along_axis", "raises InvalidIndex", "indices of the sample belong to its sizes"),
    ("normalization", r"-10000\.0|" + LARGEST + r"|-1e\+30",
     "of equal huge numbers PyTorch's mean is not that number: what is left is divided by the root of epsilon"),
    ("binary_cross_entropy", "gradient 1", "towards the target PyTorch's logarithms are not held at -100"),
    ("soft_margin_loss", "", "PyTorch's logarithm of 1 + exp overflows"),
    ("multi_margin_loss multilabel_margin_loss", "inf|nan|" + LARGEST,
     "a difference of infinities is NaN: PyTorch's comparison takes it for no loss"),
    ("ctc_loss", "inf", "no path has any probability: the loss is infinite, where PyTorch has infinity less infinity"),
    ("ctc_loss", "1 for 4", "targets of the sample belong to its sizes: PyTorch reads what lies beyond the classes"),
    ("fft_fft", "in (int|bool)", "rounding of float32, where integers are held to all digits"),
    ("var std var_mean std_mean", r"-1e\+30|" + LARGEST, "squares overflow, as NumPy's do; PyTorch takes doubles"),
    ("var_mean std_mean", "inf .*result 1", "the mean of infinities, where PyTorch's running mean is NaN"),
    ("histc", "in b?float16", "in 16 bits PyTorch's bins have no width"),
    ("cumprod", r"-1e\+30|in float16: -10000|1\.401\d*e-45", "quotients overflow, or vanish, in another order"),
    ("linear_scan", "inf|nan", "its oracle has no state before the first, which is 0 here: infinity times 0 is NaN"),
    ("bilinear", " 0 for ", "PyTorch refuses layers without inputs"),
    ("bilinear chain_matmul matrix_power linalg_matrix_power", r"inf|-1e\+30|" + LARGEST,
     "products of huge numbers overflow in another order"),
    ("group_norm", "1 for 3 .*gradient", "of groups of two all but the last digits cancel, in PyTorch as here"),
    ("topk kthvalue mode nanmedian nanmedian_axis", "result 1|gradient",
     "among equal numbers PyTorch's choice is another"),
    ("median nanmedian", "0 for .*gradient", "PyTorch's NaN of nothing carries a gradient, of nothing"),
    ("lamb_step", "", "its oracle is a composition, which divides by norms that are 0 and multiplies them first"),
    ("foreach_norm", r"-1e\+30|" + LARGEST, "of a single number PyTorch takes the absolute value"),
    ("crop_boxes", " 0 for [57] of .*raises", "pixels of no image: the oracle sums nothing"),
    ("scale_and_translate", "inf|nan", "its oracle multiplies by 0 what is not read"),
    ("scale_and_translate", " 0 for [57] of .*raises", "pictures without pixels are refused, as TensorFlow does"),
    ("project_images", " 0 for [57] of .*raises", "pictures without pixels are what lies outside, as TensorFlow's"),
    ("crop_boxes", "edges 3 here and there.*inf", "rounding decides whether a place is on a pixel and reads no other"),
    ("turn_hue", "inf", "infinite colours have no hue: the one that torchvision leaves is not that of the oracle"),
    ("interpolate im2col col2im blur", " 0 for ", "PyTorch refuses pictures without channels"),
    ("pixel_shuffle pixel_unshuffle channel_shuffle", " 0 for ",
     "PyTorch leaves empty pictures in their shape, or gives them gradients of another"),
    ("recurrent", r"-1e\+30|" + LARGEST, "sums of huge products overflow in another order"),
    ("fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
     "fractional_max_pool3d_with_indices", "samples", "PyTorch takes samples outside of [0, 1) for places"),
    ("lu_unpack linalg_lstsq linalg_vander linalg_det det linalg_cond_name linalg_cond", "",
     "parts of the sample belong to its sizes; of nothing PyTorch refuses some; huge determinants overflow"),
    ("pooling", " 0 for ", "PyTorch refuses nothing along some axes and not along others"),
    ("linalg", " (0|1|7) for ", "samples of the row belong to its sizes, and PyTorch refuses some of nothing"),
    ("fft", " 0 for ", "PyTorch's library refuses batches of none"),
    ("istft", "inf", "where frames overlap, PyTorch's infinity has lost its NaN"),
    ("scaled_dot_product_attention", "gradient|inf|nan", "PyTorch's fused kernel: rows that are -inf or NaN are 0"),
    ("conv conv1d conv2d conv3d", "inf|nan", "PyTorch multiplies what it pads by infinite weights"),
    ("convolution", r"in bfloat16.*(: -?inf|nan\) at)", "blocks are filled up with zeros: infinity times 0"),
    ("convolution", " 0 for ", "PyTorch refuses layers without channels in one dimension and not in another"),
    ("convolution", LARGEST + r"|-1e\+30|in float16: -10000", "sums of huge products overflow in another order"),
)]


@functools.lru_cache(maxsize=None)
def _patterns(name, family):
    """Return the patterns of a row."""
    return [re.compile(difference.line) for difference in DIFFERENCES
            if {name, family} & set(difference.names.split())]


def is_known(row, dtype, line):
    """Return whether a line tells a known difference."""
    return any(pattern.search(line) for pattern in _patterns(row.name, row.family))
