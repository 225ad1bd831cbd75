"""Pictures per second and core, from JPEG files to normalized batches: Dragon beside torchvision, TensorFlow and DALI.

    python benchmarks/pictures.py [--rounds 5] [--torchvision PYTHON] [--tensorflow PYTHON] [--dali PYTHON]

Made photographs of 500 x 375 pixels are decoded, cropped at random, resized to 224 x 224, flipped at random and
normalized, in batches of 32 on one thread. Sides take turns, each turn in a process of its own, whose time on the
processor counts. PYTHON is an interpreter that has the package; a side without one is left out.
"""
import argparse
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

COUNT, BATCH, SIDE, TURNS = 64, 32, 224, 6
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDES = ("dragon", "torchvision", "tensorflow", "dali")


def photograph(seed, width=500, height=375):
    """Return the pixels of a made photograph: soft shades, some shapes with edges, and the noise of a camera."""
    import numpy as np
    from PIL import Image, ImageDraw
    draw = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), 120.0)
    for cells, strength in ((4, 60), (12, 40), (40, 22), (120, 13)):
        rows = max(2, height * cells // width)
        grey, tint = draw.normal(size=(rows, cells, 1)), draw.normal(size=(rows, cells, 3))
        small = (0.7 * grey + 0.3 * tint).astype("float32")
        layers = [Image.fromarray(small[:, :, c]).resize((width, height), Image.BICUBIC) for c in range(3)]
        pixels += strength * np.stack([np.asarray(layer) for layer in layers], -1)
    shades = pixels[:, :, :1] / 120
    picture = Image.fromarray(pixels.clip(0, 255).astype("uint8"))
    pen = ImageDraw.Draw(picture)
    for _ in range(25):
        x, y = int(draw.integers(width)), int(draw.integers(height))
        across, down = (int(size) for size in draw.integers(8, 90, 2))
        shape = pen.ellipse if draw.random() < 0.5 else pen.rectangle
        shape([x, y, x + across, y + down], fill=tuple(int(value) for value in draw.integers(0, 255, 3)))
    lit = np.asarray(picture) * (0.85 + 0.15 * shades)
    noise = draw.normal(size=(height, width, 1)) * 9 + draw.normal(size=(height, width, 3)) * 3
    return (lit + noise).clip(0, 255).astype("uint8")


def write_photographs(folder):
    """Write the files, quality 90 and colours at half the size; return how many bytes one has."""
    from PIL import Image
    sizes = []
    for number in range(COUNT):
        file = io.BytesIO()
        Image.fromarray(photograph(number)).save(file, "JPEG", quality=90, subsampling="4:2:0")
        pathlib.Path(folder, f"{number:03}.jpg").write_bytes(file.getvalue())
        sizes.append(len(file.getvalue()))
    return statistics.mean(sizes)


def by_dragon(files, **options):
    """Return a function that makes one batch."""
    import random
    from dragon.io.pictures import ImageClassification
    transform = ImageClassification(SIDE, **options)

    class Draws(random.Random):
        def integer(self, count):
            return self.randrange(count)
    draws = Draws(0)
    return lambda batch: transform.batch([(data, 0) for data in batch], [draws] * len(batch))


def by_torchvision(files):
    """Return a function that makes one batch."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
    from harness import genuine_torchvision
    genuine_torchvision.load()
    import torch
    from PIL import Image
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    transform = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip(), v2.ToImage(),
                            v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])
    return lambda batch: torch.stack([transform(Image.open(io.BytesIO(data)).convert("RGB")) for data in batch])


def by_tensorflow(files):
    """Return a function that makes one batch: a graph, as tf.data would run it."""
    import numpy as np
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    mean, std = 255 * np.array(MEAN, "float32"), 255 * np.array(STD, "float32")

    def one(data):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(data), tf.zeros((1, 0, 4)), area_range=(0.08, 1.0),
            aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10, use_image_if_no_bounding_boxes=True)
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        picture = tf.image.resize(tf.image.decode_and_crop_jpeg(data, window, channels=3), (SIDE, SIDE))
        return (tf.image.random_flip_left_right(picture) - mean) / std
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    source = tf.data.Dataset.from_tensor_slices(files).repeat().map(one).batch(BATCH).with_options(options)
    batches = iter(source)
    return lambda batch: next(batches)


def by_dali(files):
    """Return a function that makes one batch."""
    import numpy as np
    from nvidia.dali import fn, pipeline_def, types
    arrays = [np.frombuffer(data, np.uint8) for data in files]

    @pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def pipe():
        data = fn.external_source(source=lambda info: arrays[info.idx_in_epoch % len(arrays)], batch=False,
                                  dtype=types.UINT8, ndim=1)
        pictures = fn.decoders.image_random_crop(data, device="cpu", output_type=types.RGB)
        pictures = fn.resize(pictures, resize_x=SIDE, resize_y=SIDE)
        return fn.crop_mirror_normalize(pictures, dtype=types.FLOAT, output_layout="CHW", mean=[255 * m for m in MEAN],
                                        std=[255 * s for s in STD], mirror=fn.random.coin_flip())
    made = pipe()
    made.build()
    return lambda batch: made.run()


def measure(side, folder):
    """Return pictures per second of processor time, the best of some turns over all files after one that warms up."""
    files = [path.read_bytes() for path in sorted(pathlib.Path(folder).glob("*.jpg"))]
    makers = {"dragon": by_dragon, "torchvision": by_torchvision, "tensorflow": by_tensorflow, "dali": by_dali,
              "dragon, fast": lambda files: by_dragon(files, fast=True)}
    make = makers[side](files)
    batches = [files[start:start + BATCH] for start in range(0, COUNT, BATCH)]
    rates = []
    for _ in range(TURNS):
        start = time.process_time()
        for batch in batches:
            make(batch)
        rates.append(COUNT / (time.process_time() - start))
    return max(rates[1:])


def main():
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    for side in SIDES[1:]:
        parser.add_argument(f"--{side}", metavar="PYTHON")
    parser.add_argument("--turn", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.turn:
        print(json.dumps(measure(*args.turn)))
        return
    pythons = {"dragon": sys.executable, "dragon, fast": sys.executable,
               **{side: getattr(args, side) for side in SIDES[1:] if getattr(args, side)}}
    found = {side: [] for side in pythons}
    with tempfile.TemporaryDirectory() as folder:
        print(f"{write_photographs(folder) / 1000:.0f} kB a file")
        for _ in range(args.rounds):
            for side, python in pythons.items():
                environment = dict(os.environ, OMP_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3")
                if not side.startswith("dragon"):
                    environment.pop("PYTHONPATH", None)
                answer = subprocess.run([python, __file__, "--turn", side, folder], check=True, capture_output=True,
                                        text=True, env=environment, cwd=folder).stdout
                found[side].append(json.loads(answer.splitlines()[-1]))
    print("| side | pictures/s and core | Dragon / side |\n| --- | --- | --- |")
    mine = statistics.median(found["dragon"])
    for side, rates in found.items():
        print(f"| {side} | {statistics.median(rates):.0f} | {mine / statistics.median(rates):.2f} |")


if __name__ == "__main__":
    main()
