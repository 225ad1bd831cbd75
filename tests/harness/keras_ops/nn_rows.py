"""Calls of the functions of nets, images, matrices and control flow."""
import numpy as np

from harness.keras_ops import Row, b, each, f, i

X = f(2, 3, 6, low=-3.0, high=3.0)
IMAGE, ONE, P = f(2, 7, 9, 3), f(5, 6, 3), f(4, 5, low=0.05, high=0.95)
CLASSES = P / P.sum(-1, keepdims=True)
TRUTH = np.eye(5, dtype="float32")[[0, 2, 4, 1]]
SQUARE = f(2, 3, 3) + 3 * np.eye(3, dtype="float32")
POSITIVE = SQUARE @ SQUARE.transpose(0, 2, 1)
Q, K, V = f(2, 4, 4, 8), f(2, 5, 2, 8), f(2, 5, 2, 8)
MASK = np.concatenate([np.ones((2, 1, 4, 1), bool), b(2, 1, 4, 4)], -1)
TRANSFORM = np.array([[0.9, 0.1, 0.5, -0.2, 1.1, 0.3, 0.01, 0.02], [1, 0.2, -3.3, 0, 1, 2.4, 0, 0]], "float32")
CORNERS = np.array([[0, 0], [0, 8], [6, 0], [6, 8]], "float32")
MOVED = CORNERS + f(4, 2, low=-0.5, high=0.5)
WAVE = f(2, 40)
CONV = [Row("nn.conv", f(2, *size, 4), f(*kernel, 4, 6), strides=s, padding=p, within=1e-4)
        for size, kernel in (((9,), (3,)), ((8, 7), (3, 2)), ((5, 6, 4), (2, 3, 2)))
        for s, p in ((1, "valid"), (2, "same"))]
ROWS = [
    *each(
        """nn.relu nn.relu6 nn.sigmoid nn.softplus nn.softsign nn.silu nn.swish nn.log_sigmoid nn.hard_sigmoid
        nn.hard_silu nn.hard_swish nn.hard_tanh nn.tanh_shrink nn.selu nn.softmax nn.log_softmax nn.leaky_relu
        nn.elu nn.celu nn.gelu nn.glu nn.hard_shrink nn.soft_shrink nn.squareplus nn.sparse_plus nn.sparse_sigmoid
        nn.sparsemax""", X),
    Row("nn.softmax", X, axis=(0, 2)), Row("nn.softmax", X, axis=None), Row("nn.log_softmax", X, axis=1),
    Row("nn.gelu", X, approximate=False), Row("nn.elu", X, alpha=0.5), Row("nn.celu", X, alpha=0.7),
    Row("nn.leaky_relu", X, 0.3), Row("nn.threshold", X, 0.1, 2.0),
    Row("nn.polar", f(3, low=0.1), f(3), gradient=False), *CONV,
    Row("nn.conv", f(2, 8, 7, 4), f(3, 2, 2, 6), dilation_rate=2, padding="same", within=1e-4),
    Row("nn.depthwise_conv", f(2, 8, 7, 4), f(3, 2, 4, 2), strides=2, padding="same", within=1e-4),
    Row("nn.depthwise_conv", f(2, 9, 4), f(3, 4, 1), within=1e-4),
    Row("nn.separable_conv", f(2, 8, 7, 4), f(3, 2, 4, 2), f(1, 1, 8, 5), padding="same", within=1e-4),
    *[
        Row("nn.conv_transpose", f(2, 5, 6, 4), f(3, 2, 3, 4), strides=s, padding=p, output_padding=o, within=1e-4)
        for s, p, o in ((1, "valid", None), (2, "same", None), (2, "valid", 1), (3, "same", None))],
    *[
        Row(f"nn.{kind}_pool", IMAGE, 2, strides=s, padding=p) for kind in ("max", "average") for s, p in
        ((None, "valid"), (2, "same"), (1, "same"))],
    *[Row(f"nn.{kind}_pool", f(2, 7, 3), 3, 2, "same") for kind in ("max", "average")], Row("nn.moments", X, (0, 1)),
    Row("nn.moments", X, [2], keepdims=True), Row("nn.batch_normalization", X, f(6), f(6, low=0.5), -1, f(6), f(6)),
    Row("nn.batch_normalization", X, f(3), f(3, low=0.5), 1), Row("nn.normalize", X),
    Row("nn.normalize", X, axis=(0, 1)), Row("nn.normalize", X, axis=1, order=3), Row("nn.layer_normalization", X),
    Row("nn.layer_normalization", X, f(6), f(6), epsilon=1e-3), Row("nn.rms_normalization", X, f(6)),
    Row("nn.rms_normalization", X, axis=(1, 2)),
    *each("nn.binary_crossentropy nn.categorical_crossentropy", TRUTH, CLASSES),
    *each("nn.binary_crossentropy nn.categorical_crossentropy", TRUTH, f(4, 5), from_logits=True),
    Row("nn.sparse_categorical_crossentropy", i(4), CLASSES),
    Row("nn.sparse_categorical_crossentropy", i(4, 1), f(4, 5), from_logits=True),
    Row("nn.one_hot", i(2, 3, low=-1), 5), Row("nn.one_hot", i(2, 3), 5, axis=0, dtype="int32"),
    Row("nn.multi_hot", i(2, 3), 5), Row("nn.multi_hot", i(3), 5, dtype="bool"),
    Row("nn.depth_to_space", f(2, 3, 4, 8), 2), Row("nn.space_to_depth", f(2, 6, 4, 3), 2),
    Row("nn.depth_to_space", f(2, 8, 3, 4), 2, data_format="channels_first"),
    Row("nn.unfold", f(2, 3, 6, 7), (2, 3), padding=1, stride=2), Row("nn.fold", f(2, 12, 20), (5, 6), 2),
    Row("nn.dot_product_attention", Q, K, V),
    Row("nn.dot_product_attention", Q, K, V, bias=f(2, 1, 4, 5), scale=0.3),
    Row("nn.dot_product_attention", Q, K, V, mask=MASK),
    Row("nn.dot_product_attention", Q, f(2, 4, 4, 8), f(2, 4, 4, 8), is_causal=True),
    Row("nn.psnr", f(2, 3), f(2, 3), 2.0),
    Row("nn.ctc_loss", i(2, 3, low=1), f(2, 7, 5), np.array([3, 2]), np.array([7, 6]), symbolic=False, within=1e-4),
    Row("nn.ctc_decode", f(2, 7, 5), np.array([7, 5]), gradient=False, symbolic=False),
    Row(
        "nn.ctc_decode", f(2, 7, 5), np.array([7, 5]), merge_repeated=False, mask_index=4, gradient=False,
        symbolic=False),
    Row(
        "nn.ctc_decode", f(2, 6, 4), np.array([6, 5]), strategy="beam_search", beam_width=50, top_paths=2,
        gradient=False, symbolic=False),
    *each("erf erfc", X), Row("erfinv", f(3, low=-0.9, high=0.9)), Row("rsqrt", f(3, low=0.1)),
    Row("logdet", POSITIVE), Row("logsumexp", X), Row("logsumexp", X, axis=1, keepdims=True), Row("top_k", X, 2),
    Row("top_k", X, 3, sorted=True), Row("in_top_k", i(4), P, 2, symbolic=False),
    *each(
        "segment_sum segment_max segment_min segment_prod", f(6, 2), np.array([0, 2, 1, 1, 0, 2]), 4, symbolic=False),
    *each("segment_sum segment_max", f(4, 2), np.array([0, 0, 1, 3]), sorted=True, symbolic=False),
    Row("cdist", f(2, 3, 4), f(2, 5, 4)), Row("view_as_complex", f(3, 2), gradient=False),
    Row("view_as_real", (f(3) + 1j * f(3)).astype("complex64"), gradient=False),
    Row("extract_sequences", WAVE, 6, 4), *each("fft fft2 ifft2", (f(2, 3, 4), f(2, 3, 4)), within=1e-4),
    Row("rfft", WAVE, within=1e-4), Row("rfft", WAVE, 32, within=1e-4),
    Row("irfft", (f(2, 9), f(2, 9)), within=1e-4), Row("irfft", (f(2, 9), f(2, 9)), 12, within=1e-4),
    Row("stft", WAVE, 10, 4, 16, within=1e-4),
    Row("stft", WAVE, 8, 4, 8, window="hamming", center=False, within=1e-4),
    Row("istft", (f(2, 11, 9), f(2, 11, 9)), 10, 4, 16, within=1e-3, gradient=False),
    Row("istft", (f(2, 11, 9), f(2, 11, 9)), 16, 4, 16, length=30, window="hamming", within=1e-3, gradient=False),
    *each("linalg.det linalg.inv", SQUARE, within=1e-4),
    Row("linalg.cholesky", POSITIVE, gradient=False, within=1e-4),
    Row("linalg.cholesky", POSITIVE, upper=True, gradient=False, within=1e-4),
    Row("linalg.cholesky_inverse", np.linalg.cholesky(POSITIVE), within=1e-3),
    Row("linalg.eigh", POSITIVE[:1] * 0 + np.diag([1.0, 2.0, 3.0]).astype("f4"), gradient=False),
    Row("linalg.lu_factor", SQUARE[0], gradient=False, within=1e-4),
    Row("linalg.qr", SQUARE, gradient=False, within=1e-4),
    Row("linalg.svd", f(2, 3, 4), compute_uv=False, gradient=False, within=1e-4),
    *each("linalg.solve", SQUARE, f(2, 3, 2), within=1e-4), Row("linalg.solve", SQUARE[0], f(3), within=1e-4),
    Row("linalg.solve_triangular", np.tril(SQUARE), f(2, 3, 2), lower=True, within=1e-4, gradient=False),
    Row("linalg.lstsq", f(5, 3), f(5, 2), within=1e-3, gradient=False), Row("linalg.matrix_rank", SQUARE),
    Row("linalg.pinv", f(2, 3, 4), within=1e-4, gradient=False), Row("linalg.norm", X[0]),
    Row("linalg.norm", X, axis=1), Row("linalg.norm", X, ord=1, axis=-1),
    Row("linalg.norm", X, ord=np.inf, axis=(1, 2)), Row("linalg.norm", X, ord="fro", axis=(1, 2), keepdims=True),
    Row("linalg.norm", X, ord=2, axis=(1, 2), gradient=False, within=1e-4), Row("linalg.norm", X, ord=3, axis=0),
    *[
        Row("image.resize", IMAGE, size, interpolation=m, antialias=a, within=1e-4) for size in ((5, 12), (14, 4)) for
        m in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5") for a in (False, True)],
    Row("image.resize", ONE, (4, 4), crop_to_aspect_ratio=True),
    Row("image.resize", ONE, (8, 4), pad_to_aspect_ratio=True, fill_value=1.5),
    Row("image.resize", f(2, 3, 7, 9), (5, 4), data_format="channels_first"),
    Row("image.resize", i(2, 7, 9, 3, high=255, dtype="uint8"), (5, 4)),
    Row("image.resize", i(2, 7, 9, 3, high=255, dtype="uint8"), (5, 4), "nearest"),
    *[
        Row("image.affine_transform", IMAGE, TRANSFORM, interpolation=n, fill_mode=m, fill_value=0.5, within=1e-4,
            gradient=False, symbolic=False)
        for n in ("nearest", "bilinear") for m in ("constant", "nearest", "wrap", "reflect")],
    Row("image.affine_transform", ONE, TRANSFORM[0], gradient=False, within=1e-4),
    Row("image.perspective_transform", IMAGE[0], CORNERS, MOVED, gradient=False, within=1e-3),
    *[
        Row("image.map_coordinates", f(5, 6), f(2, 7, low=-2.0, high=7.0), order=o, fill_mode=m, fill_value=0.5,
            gradient=m == "constant")
        for o in (0, 1) for m in ("constant", "nearest", "wrap")],
    *[
        Row("image.map_coordinates", f(5, 6), f(2, 7, low=-3.0, high=3.9), order=1, fill_mode=m) for m in
        ("mirror", "reflect")],
    Row("image.gaussian_blur", IMAGE, (3, 3), (1.0, 1.5)), Row("image.sobel_edges", IMAGE),
    Row("image.rgb_to_grayscale", IMAGE), Row("image.rgb_to_grayscale", i(5, 6, 3, high=255, dtype="uint8")),
    Row("image.rgb_to_hsv", f(2, 4, 5, 3, low=0.0, high=1.0)),
    Row("image.hsv_to_rgb", f(2, 4, 5, 3, low=0.0, high=1.0)), Row("image.extract_patches", IMAGE, 3),
    Row("image.extract_patches", IMAGE, (3, 2), strides=(1, 2), padding="same"),
    Row("image.extract_patches", ONE, 2, strides=1, dilation_rate=2),
    Row("image.extract_patches", f(2, 3, 7, 9), 3, data_format="channels_first"),
    Row("image.extract_patches_3d", f(2, 4, 5, 6, 2), 2),
    Row("image.pad_images", IMAGE, 1, 2, target_height=10, target_width=12),
    Row("image.crop_images", IMAGE, 1, 2, target_height=4, target_width=5),
    Row(
        "image.scale_and_translate", f(5, 6), (7, 4), np.array([1.4, 0.6], "f4"), np.array([0.2, -0.3], "f4"), (0, 1),
        "bilinear", gradient=False),
    Row(
        "image.scale_and_translate", f(5, 6), (7, 4), np.array([1.4, 0.6], "f4"), np.array([0.2, -0.3], "f4"), (0, 1),
        "lanczos3", gradient=False, within=1e-4),
    Row("image.ssim", f(2, 14, 15, 3, low=0.0), f(2, 14, 15, 3, low=0.0), within=1e-4),
    Row("image.elastic_transform", IMAGE, 3.0, 1.0, seed=3, gradient=False, symbolic=False, within=1e-4),
    Row(
        "image.elastic_transform", IMAGE, 3.0, 1.0, "nearest", "constant", 0.5, seed=3, gradient=False,
        symbolic=False),
    Row("cast", f(2, 3), "int32", gradient=False),
    Row("saturate_cast", f(9, low=-300.0, high=300.0), "uint8", gradient=False, symbolic=False),
    Row("saturate_cast", i(9, low=-300, high=300), "int8", symbolic=False),
    Row("convert_to_tensor", f(2, 3), symbolic=False),
    Row("convert_to_numpy", f(2, 3), gradient=False, symbolic=False),
    Row("shape", f(2, 3), symbolic=False, gradient=False), Row("unstack", X, axis=1),
    Row("slice", X, (0, 1, 2), (2, 2, 3)), Row("slice", f(2, 3), np.array([0, 1]), (2, 2)),
    Row("slice_update", f(4, 5), (1, 2), f(2, 2)),
    Row("scatter", np.array([[0, 1], [2, 0], [0, 1]]), f(3), (3, 2), symbolic=False),
    *[
        Row("scatter_update", f(4, 3), np.array([[0], [2]]), f(2, 3), reduction=r, symbolic=False) for r in
        (None, "add", "max", "min", "mul")],
    Row("scatter_update", f(4, 3), np.array([[0, 1], [2, 0]]), f(2)), Row("stop_gradient", X, gradient=False),
    Row("rearrange", f(2, 6, 4), "b (h p) c -> b h (p c)", p=2, symbolic=False),
    Row("rearrange", f(2, 3, 4), "a b c -> c (a b)", symbolic=False),
]
