"""Operators of DALI in a pipeline of one sample: a picture of 480 x 640 bytes, and other forms of it."""
import numpy as np

from harness import Case

CALLS = {
    "resize, larger side 224": "fn.resize(x, resize_longer=224)",
    "resize to 960 x 1280": "fn.resize(x, size=(960, 1280))",
    "resize of floats to 224": "fn.resize(fn.cast(x, dtype=types.FLOAT), size=(224, 224))",
    "crop_mirror_normalize to HWC": "fn.crop_mirror_normalize(x, crop=(448, 448), mean=[99.0, 90.0, 80.0], "
                                    "std=[50.0] * 3, output_layout='HWC')",
    "the same by one mean": "fn.crop_mirror_normalize(x, crop=(448, 448), mean=[99.0], std=[50.0], "
                            "output_layout='HWC')",
    "crop_mirror_normalize to CHW": "fn.crop_mirror_normalize(x, crop=(448, 448), mean=[99.0], std=[50.0])",
    "color_twist": "fn.color_twist(x, hue=20.0, saturation=1.2, brightness=1.1, contrast=0.9)",
    "color_space_conversion": "fn.color_space_conversion(x, image_type=types.RGB, output_type=types.YCbCr)",
    "gaussian_blur": "fn.gaussian_blur(x, sigma=2.0)",
    "laplacian": "fn.laplacian(x, window_size=5)",
    "rotate": "fn.rotate(x, angle=30.0, fill_value=0)",
    "warp_affine": "fn.warp_affine(x, matrix=np.float32([[1.1, 0.1, 3], [0, 0.9, 5]]), size=(480, 640))",
}


def _case(name, text):
    def make(e):
        from dragon.vm import dali
        from dragon.vm.dali import fn, types
        picture = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
        pipe = dali.Pipeline(1, 1, None)
        with pipe:
            source = fn.external_source(lambda: [picture], layout="HWC")
            pipe.set_outputs(eval(text, {"fn": fn, "types": types, "np": np, "x": source}))
        return pipe.run
    return Case(name, make, "", 0, 0)


CASES = [_case(name, text) for name, text in CALLS.items()]
