"""Operators of pictures: Dragon's faces beside the genuine TensorFlow, PyTorch and torchvision.

    python benchmarks/pictures_operators.py [--seconds 0.3] [--threads 1] [--only resize]

All sides run in one process, in turns; a figure is the best call. PYTHONPATH picks another checkout's Dragon.
"""
import argparse
import functools
import importlib
import os
import pathlib
import runpy
import time

import numpy as np

HEIGHT, WIDTH, SIZE, BATCH, BOXES, CALLS = 375, 500, 224, 32, 1000, 3
TORCHVISION = pathlib.Path(__file__).resolve().parents[1] / "tests/harness/genuine_torchvision.py"
METHODS = ("nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def draw(*shape, whole=False):
    """Return random pixels: bytes, or floats between 0 and 1."""
    random = np.random.default_rng(0)
    return random.integers(0, 256, shape, np.uint8) if whole else random.random(shape, np.float32)


def draw_boxes(count):
    """Return boxes (y1, x1, y2, x2) of which many overlap, and their scores."""
    random = np.random.default_rng(1)
    first = random.random((count, 2)) * 0.8
    boxes = np.concatenate([first, first + random.random((count, 2)) * 0.2], 1).astype(np.float32)
    return boxes, random.random(count, np.float32)


def make_tensorflow_cases(tf):
    """Return {name: call} of TensorFlow's functions."""
    image = tf.image
    one, many = tf.constant(draw(1, HEIGHT, WIDTH, 3)), tf.constant(draw(BATCH, HEIGHT, WIDTH, 3))
    raw, small = tf.constant(draw(1, HEIGHT, WIDTH, 3, whole=True)), tf.constant(draw(1, 112, 112, 3))
    wide, wider = tf.constant(draw(4, 56, 56, 64)), tf.constant(draw(4, 28, 28, 256))
    boxes, scores = map(tf.constant, draw_boxes(BOXES))
    which = tf.constant(np.zeros(64, np.int32))
    few = boxes[:64]
    classes = tf.constant(np.random.default_rng(2).random((2, BOXES, 5), np.float32))
    spread = tf.constant(np.broadcast_to(draw_boxes(BOXES)[0][None, :, None], (2, BOXES, 1, 4)).copy())
    to = functools.partial
    cases = {}
    for method in METHODS:
        cases[f"tf.image.resize {method}, 1 float, down"] = to(image.resize, one, (SIZE, SIZE), method)
    for method in ("bilinear", "bicubic", "lanczos3"):
        cases[f"tf.image.resize {method} antialias, 1 float, down"] = to(image.resize, one, (SIZE, SIZE), method,
                                                                         antialias=True)
    for method in ("nearest", "bilinear", "bicubic", "area"):
        cases[f"tf.image.resize {method}, 1 uint8, down"] = to(image.resize, raw, (SIZE, SIZE), method)
        cases[f"tf.image.resize {method}, 1 float, up"] = to(image.resize, small, (SIZE, SIZE), method)
        cases[f"tf.image.resize {method}, {BATCH} float, down"] = to(image.resize, many, (SIZE, SIZE), method)
    for method in ("nearest", "bilinear", "bicubic"):
        cases[f"tf.image.resize {method}, 64 channels, up"] = to(image.resize, wide, (112, 112), method)
    cases["tf.image.resize bilinear, 256 channels, up"] = to(image.resize, wider, (56, 56))
    cases["tf.image.resize bilinear, 256 channels, down"] = to(image.resize, wider, (14, 14))
    for method in ("bilinear", "nearest"):
        cases[f"tf.image.crop_and_resize {method}, 64 boxes"] = to(image.crop_and_resize, one, few, which, (56, 56),
                                                                   method)
    cases["tf.image.non_max_suppression"] = to(image.non_max_suppression, boxes, scores, 100, 0.5)
    cases["tf.image.non_max_suppression, all"] = to(image.non_max_suppression, boxes, scores, BOXES, 0.3)
    cases["tf.image.non_max_suppression_with_scores, soft"] = to(
        image.non_max_suppression_with_scores, boxes, scores, 100, 0.5, soft_nms_sigma=0.5)
    cases["tf.image.non_max_suppression_padded"] = to(image.non_max_suppression_padded, boxes, scores, 100, 0.5,
                                                      pad_to_max_output_size=True)
    cases["tf.image.combined_non_max_suppression"] = to(image.combined_non_max_suppression, spread, classes, 100, 100)
    return cases


def make_keras_cases(keras, tf):
    """Return {name: call} of Keras's layers and functions."""
    one, many = tf.constant(draw(1, HEIGHT, WIDTH, 3)), tf.constant(draw(8, SIZE, SIZE, 3))
    raw = tf.constant(draw(8, SIZE, SIZE, 3, whole=True))
    turn = np.array([0.9, 0.1, -3, -0.1, 0.9, 5, 0, 0], np.float32)
    layers, image = keras.layers, keras.ops.image
    cases = {"keras.layers.Resizing": functools.partial(layers.Resizing(SIZE, SIZE), one)}
    for fill in ("constant", "reflect"):
        cases[f"keras affine_transform {fill}, 8"] = functools.partial(image.affine_transform, many, turn,
                                                                       fill_mode=fill)
    cases["keras affine_transform nearest, 8 uint8"] = functools.partial(image.affine_transform, raw, turn, "nearest")
    cases["keras affine_transform bilinear, 8 uint8"] = functools.partial(image.affine_transform, raw, turn)
    move = np.array([0.5, 0.7], np.float32), np.array([3.0, -2.0], np.float32)
    cases["keras scale_and_translate cubic, 8"] = functools.partial(
        image.scale_and_translate, many, (8, 112, 150, 3), *move, (1, 2), "cubic")
    for name, options in (("RandomFlip", {}), ("RandomRotation", {"factor": 0.1}),
                          ("RandomZoom", {"height_factor": 0.1}),
                          ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}),
                          ("RandomShear", {"x_factor": 0.2, "y_factor": 0.2}), ("RandomPerspective", {}),
                          ("RandomContrast", {"factor": 0.2}), ("RandomCrop", {"height": 200, "width": 200})):
        cases[f"keras.layers.{name}, 8"] = functools.partial(getattr(layers, name)(**options, seed=1), many,
                                                             training=True)
    return cases


def make_torch_cases(torch):
    """Return {name: call} of PyTorch's functions."""
    functional = torch.nn.functional
    one, many = torch.tensor(draw(1, 3, HEIGHT, WIDTH)), torch.tensor(draw(BATCH, 3, HEIGHT, WIDTH))
    raw = torch.tensor(draw(1, 3, HEIGHT, WIDTH, whole=True))
    last, raw_last = (x.to(memory_format=torch.channels_last) for x in (one, raw))
    small, volume = torch.tensor(draw(1, 3, 112, 112)), torch.tensor(draw(1, 4, 32, 32, 32))
    features = torch.tensor(draw(4, 64, 56, 56))
    points = torch.tensor(draw(1, SIZE, SIZE, 2) * 2 - 1)
    places = torch.tensor(draw(1, 32, 32, 32, 3) * 2 - 1)
    wide_points = torch.tensor(draw(4, 56, 56, 2) * 2 - 1)
    cases = {}
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        for name, x in (("1 float", one), ("1 float, channels last", last), (f"{BATCH} float", many),
                        ("1 uint8", raw), ("1 uint8, channels last", raw_last)):
            if mode != "area" or "uint8" not in name:
                cases[f"interpolate {mode}, {name}, down"] = functools.partial(functional.interpolate, x, (SIZE, SIZE),
                                                                               mode=mode)
        cases[f"interpolate {mode}, 1 float, up"] = functools.partial(functional.interpolate, small, (SIZE, SIZE),
                                                                      mode=mode)
    for mode in ("bilinear", "bicubic"):
        for name, x in (("1 float", one), ("1 uint8", raw), ("1 uint8, channels last", raw_last)):
            cases[f"interpolate {mode} antialias, {name}, down"] = functools.partial(
                functional.interpolate, x, (SIZE, SIZE), mode=mode, antialias=True)
    cases["interpolate bilinear, 64 channels, up"] = functools.partial(functional.interpolate, features, (112, 112),
                                                                       mode="bilinear")
    cases["interpolate trilinear, up"] = functools.partial(functional.interpolate, volume, (48, 48, 48),
                                                           mode="trilinear")
    sample = functional.grid_sample
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            cases[f"grid_sample {mode} {padding}, 3 channels"] = functools.partial(
                sample, one, points, mode, padding, align_corners=False)
    cases["grid_sample bilinear zeros, 64 channels"] = functools.partial(sample, features, wide_points,
                                                                         align_corners=False)
    cases["grid_sample bilinear, volume"] = functools.partial(sample, volume, places, align_corners=False)

    def backward(x, grid, mode):
        x, grid = x.detach().requires_grad_(), grid.detach().requires_grad_()
        return lambda: torch.autograd.grad(sample(x, grid, mode, align_corners=False).sum(), [x, grid])
    for mode in ("bilinear", "bicubic"):
        cases[f"grid_sample {mode}, 3 channels, and backward"] = backward(one, points, mode)
    cases["grid_sample bilinear, 64 channels, and backward"] = backward(features, wide_points, "bilinear")
    return cases


def make_torchvision_cases(torchvision, torch):
    """Return {name: call} of torchvision's functions."""
    v2 = importlib.import_module(f"{torchvision.__name__}.transforms.v2").functional
    raw, one = torch.tensor(draw(3, HEIGHT, WIDTH, whole=True)), torch.tensor(draw(3, HEIGHT, WIDTH))
    mode = torchvision.transforms.InterpolationMode
    cases = {}
    for name, x in (("uint8", raw), ("float", one)):
        calls = {
            "resize antialias": (v2.resize, [SIZE, SIZE], mode.BILINEAR, None, True),
            "resize": (v2.resize, [SIZE, SIZE], mode.BILINEAR, None, False),
            "resized_crop": (v2.resized_crop, 30, 40, 250, 300, [SIZE, SIZE]),
            "affine": (v2.affine, 20.0, [10, 5], 1.1, [5.0, 0.0], mode.BILINEAR),
            "affine with fill": (v2.affine, 20.0, [10, 5], 1.1, [5.0, 0.0], mode.BILINEAR, 7.0),
            "rotate nearest": (v2.rotate, 30.0),
            "perspective": (v2.perspective, [[0, 0], [499, 0], [499, 374], [0, 374]],
                            [[10, 5], [480, 12], [490, 360], [4, 370]]),
            "gaussian_blur": (v2.gaussian_blur, [5, 5]),
            "adjust_brightness": (v2.adjust_brightness, 1.2), "adjust_contrast": (v2.adjust_contrast, 1.2),
            "adjust_saturation": (v2.adjust_saturation, 1.2), "adjust_hue": (v2.adjust_hue, 0.1),
            "horizontal_flip": (v2.horizontal_flip,)}
        for called, (function, *rest) in calls.items():
            cases[f"torchvision {called}, {name}"] = functools.partial(function, x, *rest)
    cases["torchvision normalize"] = functools.partial(v2.normalize, one, [0.5, 0.4, 0.3], [0.2, 0.2, 0.2])
    return cases


def measure(sides, seconds):
    """Return the least seconds of a call of each side, called in turns for so long."""
    best = [float("inf")] * len(sides)
    for side in sides:
        side()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, side in enumerate(sides):
            for _ in range(CALLS):
                begin = time.perf_counter()
                side()
                best[number] = min(best[number], time.perf_counter() - begin)
    return best


def main():
    """Print a table of operators."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", OMP_NUM_THREADS=str(options.threads),
                      DRAGON_NUM_THREADS=str(options.threads), OMP_WAIT_POLICY="passive")
    import keras as genuine_keras
    import tensorflow as genuine_tensorflow
    import torch as genuine_torch
    genuine_torchvision = runpy.run_path(str(TORCHVISION))["load"]()

    from dragon.vm import keras, tensorflow, torch, torchvision
    genuine_torch.set_num_threads(options.threads)
    genuine_tensorflow.config.threading.set_intra_op_parallelism_threads(options.threads)
    groups = ((make_tensorflow_cases, [(tensorflow,), (genuine_tensorflow,)]),
              (make_keras_cases, [(keras, tensorflow), (genuine_keras, genuine_tensorflow)]),
              (make_torch_cases, [(torch,), (genuine_torch,)]),
              (make_torchvision_cases, [(torchvision, torch), (genuine_torchvision, genuine_torch)]))
    print("| operator | dragon, ms | genuine, ms | dragon / genuine |\n|---|---|---|---|")
    for make, frameworks in groups:
        sides = [make(*framework) for framework in frameworks]
        for name in sides[0]:
            if options.only in name:
                dragon, genuine = measure([side[name] for side in sides], options.seconds)
                print(f"| `{name}` | {dragon * 1e3:.3f} | {genuine * 1e3:.3f} | {dragon / genuine:.2f} |", flush=True)


if __name__ == "__main__":
    main()
