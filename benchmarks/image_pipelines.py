"""Images per second from a folder of JPEG files to batches: Dragon beside PyTorch, TensorFlow, WebDataset and DALI.

    python benchmarks/image_pipelines.py [--rounds 5] [--workers 2] [--sides dragon torch] [--python dali=PATH]

Every side decodes, takes a random region, resizes it to 224 x 224, flips, normalizes and makes batches of 64; each turn
is a process of its own, sides take turns, and medians are told. A side whose library is not there is left out. What
another interpreter has (DALI or WebDataset in an environment of their own) runs there: --python SIDE=PATH.

    python benchmarks/image_pipelines.py --by-workers docs/benchmarks/image_pipelines.svg

draws images per second by the number of workers.
"""
import argparse
import glob
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

SIDES = ("dragon", "dragon records", "dragon as torch", "dragon as tensorflow",
         "torch", "tensorflow", "webdataset", "dali")
HEIGHT, WIDTH, QUALITY, CLASSES, DIFFERENT = 375, 500, 90, 10, 160
SIZE, BATCH = 224, 64
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make_files(folder, count):
    """Write made photographs in a folder for each class and in a tar; return how many bytes one takes."""
    from PIL import Image
    from pictures import photograph
    made = []
    for number in range(min(count, DIFFERENT)):
        stream = io.BytesIO()
        Image.fromarray(photograph(number, WIDTH, HEIGHT)).save(stream, "jpeg", quality=QUALITY, subsampling="4:2:0")
        made.append(stream.getvalue())
    with tarfile.open(f"{folder}/pictures.tar", "w") as tar:
        for number in range(count):
            data, label = made[number % len(made)], number % CLASSES
            os.makedirs(f"{folder}/files/{label}", exist_ok=True)
            with open(f"{folder}/files/{label}/{number:05}.jpg", "wb") as file:
                file.write(data)
            for name, part in ((f"{number:05}.jpg", data), (f"{number:05}.cls", str(label).encode())):
                entry = tarfile.TarInfo(name)
                entry.size = len(part)
                tar.addfile(entry, io.BytesIO(part))
    return sum(map(len, made)) // len(made)


def dragon_side(workers, source):
    """Yield batches of Dragon's own pipeline."""
    from dragon.io import Iterator, Reader
    from dragon.io.pictures import ImageClassification
    with Iterator(Reader(source, shuffle=True), ImageClassification(SIZE, fast=True), BATCH, workers=workers,
                  kind="threads", last="drop") as iterator:
        while True:
            for batch in iterator:
                yield float(batch["image"][0, 0, 0, 0])


def dragon(folder, workers):
    """Yield batches from a folder."""
    from dragon.io.sources import PictureFolder
    return dragon_side(workers, PictureFolder(f"{folder}/files"))


def dragon_records(folder, workers):
    """Yield batches from records."""
    from dragon.io.records import KPLRecord, KPLRecordWriter
    from dragon.io.sources import PictureFolder
    path = f"{folder}/pictures.kpl"
    if not os.path.exists(path):
        with KPLRecordWriter(path) as writer:
            for sample in PictureFolder(f"{folder}/files"):
                writer.write(sample)
    return dragon_side(workers, KPLRecord(path))


def torch_transform(genuine=True):
    """Return torchvision's transform."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))
    if genuine:
        from harness import genuine_torchvision
        genuine_torchvision.load()
    import torch
    from torchvision.transforms import v2
    return v2.Compose([v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip(), v2.ToImage(),
                       v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])


def torch(folder, workers, genuine=True):
    """Yield batches of PyTorch's DataLoader over Pillow and torchvision."""
    from torch.utils.data import DataLoader
    transform = torch_transform(genuine)
    from torchvision.datasets import ImageFolder
    loader = DataLoader(ImageFolder(f"{folder}/files", transform), BATCH, shuffle=True, num_workers=workers,
                        persistent_workers=workers > 0, drop_last=True)
    while True:
        for pictures, _ in loader:
            yield float(pictures[0, 0, 0, 0])


def webdataset(folder, workers):
    """Yield batches of WebDataset's loader over Pillow and torchvision."""
    import webdataset as wds
    data = wds.WebDataset(f"{folder}/pictures.tar", shardshuffle=False, nodesplitter=wds.split_by_node,
                          workersplitter=None).shuffle(200).decode("pil").to_tuple("jpg", "cls")
    data = data.map_tuple(torch_transform(), lambda label: label).batched(BATCH, partial=False)
    loader = wds.WebLoader(data, batch_size=None, num_workers=workers, persistent_workers=workers > 0)
    while True:
        for pictures, _ in loader:
            yield float(pictures[0, 0, 0, 0])


def dragon_as_torch(folder, workers):
    """Yield batches of PyTorch's program, run by Dragon."""
    import dragon.vm
    dragon.vm.install()
    return torch(folder, workers, genuine=False)


def dragon_as_tensorflow(folder, workers):
    """Yield batches of TensorFlow's program, run by Dragon."""
    import dragon.vm
    dragon.vm.install()
    return tensorflow(folder, workers)


def tensorflow(folder, workers):
    """Yield batches of tf.data."""
    import tensorflow as tf

    def read(path):
        data = tf.io.read_file(path)
        shape = tf.io.extract_jpeg_shape(data)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.zeros([0, 0, 4], tf.float32), area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3),
            max_attempts=10, use_image_if_no_bounding_boxes=True)
        window = tf.concat([begin[:2], size[:2]], 0)
        picture = tf.image.decode_and_crop_jpeg(data, window, channels=3)
        picture = tf.image.random_flip_left_right(tf.image.resize(picture, [SIZE, SIZE]))
        label = tf.strings.to_number(tf.strings.split(path, os.sep)[-2], tf.int32)
        return (picture / 255 - MEAN) / STD, label
    count = len(glob.glob(f"{folder}/files/*/*.jpg"))
    data = tf.data.Dataset.list_files(f"{folder}/files/*/*.jpg").shuffle(count).repeat()
    data = data.map(read, num_parallel_calls=max(workers, 1)).batch(BATCH, drop_remainder=True).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = max(workers, 1)
    for pictures, _ in data.with_options(options):
        yield float(pictures[0, 0, 0, 0])


def dali(folder, workers):
    """Yield batches of DALI's pipeline on CPUs."""
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=max(workers, 1), device_id=None, prefetch_queue_depth=2)
    def pipeline():
        data, labels = fn.readers.file(file_root=f"{folder}/files", random_shuffle=True)
        pictures = fn.decoders.image_random_crop(data, device="cpu", random_area=[0.08, 1.0],
                                                 random_aspect_ratio=[3 / 4, 4 / 3])
        pictures = fn.resize(pictures, size=[SIZE, SIZE])
        pictures = fn.crop_mirror_normalize(
            pictures, dtype=types.FLOAT, output_layout="CHW", mean=[255 * value for value in MEAN],
            std=[255 * value for value in STD], mirror=fn.random.coin_flip())
        return pictures, labels
    made = pipeline()
    made.build()
    while True:
        pictures, _ = made.run()
        yield float(pictures.as_array()[0, 0, 0, 0])


def measure(side, folder, workers, batches):
    """Return (images per second, seconds to the first batch)."""
    begin = time.perf_counter()
    made = globals()[side.replace(" ", "_")](folder, workers)
    next(made)
    first = time.perf_counter() - begin
    for _ in range(4):
        next(made)
    begin = time.perf_counter()
    for _ in range(batches):
        next(made)
    return batches * BATCH / (time.perf_counter() - begin), first


def run_turn(side, folder, workers, batches, pythons):
    """Return what `measure` finds in a process of its own; None where the side's library is not there."""
    command = [pythons.get(side, sys.executable), os.path.abspath(__file__), "--turn", side, folder, str(workers),
               str(batches)]
    # Bytecode as installed packages have it, which also a checkout's first turn makes.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    if done.returncode:
        print(f"{side}: left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(folder, options, workers, sides):
    """Return {side: (images per second, seconds to the first batch)} as medians of interleaved rounds."""
    found = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side in list(found):
            answer = run_turn(side, folder, workers, options.batches, options.pythons)
            if answer is None:
                del found[side]
            else:
                found[side].append(answer)
    return {side: tuple(statistics.median(column) for column in zip(*answers)) for side, answers in found.items()}


def draw(found, path):
    """Draw images per second by workers."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dragon"
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for side in found[min(found)]:
        counts = [count for count in sorted(found) if side in found[count]]
        axes.plot(counts, [found[count][side][0] for count in counts], marker="o", label=side)
    axes.set_xlabel("workers")
    axes.set_ylabel("images per second")
    axes.set_xticks(sorted(found))
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--images", type=int, default=1280)
    parser.add_argument("--batches", type=int, default=30, help="how many are timed in a turn")
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=SIDES)
    parser.add_argument("--python", action="append", default=[], metavar="SIDE=PATH")
    parser.add_argument("--by-workers", metavar="PICTURE")
    parser.add_argument("--turn", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn:
        side, folder, workers, batches = options.turn
        print(json.dumps(measure(side, folder, int(workers), int(batches))))
        return
    options.pythons = dict(pair.split("=", 1) for pair in options.python)
    with tempfile.TemporaryDirectory() as folder:
        size = make_files(folder, options.images)
        print(f"{options.images} pictures of {HEIGHT} x {WIDTH}, about {size // 1000} kB each")
        counts = (0, 1, 2, 3) if options.by_workers else (options.workers,)
        found = {count: compare(folder, options, count, options.sides) for count in counts}
    print("| workers | | images/s | Dragon / it | first batch, s |\n| --- | --- | --- | --- | --- |")
    for count, sides in found.items():
        for side, (rate, first) in sides.items():
            ratio = f"{sides['dragon'][0] / rate:.2f}" if "dragon" in sides else ""
            print(f"| {count} | {side} | {rate:.0f} | {ratio} | {first:.2f} |")
    if options.by_workers:
        draw(found, options.by_workers)


if __name__ == "__main__":
    main()
