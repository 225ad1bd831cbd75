"""Samples per second of programs that people write around data: Dragon beside the genuine framework.

    python benchmarks/data_programs.py [--rounds 3] [--only cifar] [--python torch=PATH] [--python tensorflow=PATH]

A program runs unmodified on both sides, each turn in a process of its own, sides in turns; medians are told. Those of
PyTorch go through a DataLoader with as many workers as their name says.
"""
import argparse
import gzip
import json
import os
import pickle
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BATCH = 64
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.247, 0.243, 0.262)


def make_files(folder):
    """Write what the programs read: CIFAR-10, MNIST, a folder of pictures."""
    import numpy as np
    from pictures import photograph
    from PIL import Image
    chance = np.random.default_rng(0)
    os.makedirs(f"{folder}/cifar-10-batches-py")
    for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
        with open(f"{folder}/cifar-10-batches-py/{name}", "wb") as file:
            pickle.dump({"data": chance.integers(0, 256, (2000, 3072), np.uint8),
                         "labels": chance.integers(0, 10, 2000).tolist()}, file)
    with open(f"{folder}/cifar-10-batches-py/batches.meta", "wb") as file:
        pickle.dump({"label_names": [str(number) for number in range(10)]}, file)
    os.makedirs(f"{folder}/MNIST/raw")
    for part, count in (("train", 20000), ("t10k", 1000)):
        for name, head, size in ((f"{part}-images-idx3-ubyte", (2051, count, 28, 28), count * 784),
                                 (f"{part}-labels-idx1-ubyte", (2049, count), count)):
            data = struct.pack(f">{len(head)}i", *head) + chance.integers(0, 10, size, np.uint8).tobytes()
            with open(f"{folder}/MNIST/raw/{name}", "wb") as file:
                file.write(data)
            with gzip.open(f"{folder}/MNIST/raw/{name}.gz", "wb", 1) as file:
                file.write(data)
    for number in range(400):
        os.makedirs(f"{folder}/pictures/{number % 4}", exist_ok=True)
        Image.fromarray(photograph(number, 300, 200)).save(f"{folder}/pictures/{number % 4}/{number}.jpg", quality=90)


def loop(loader):
    """Yield how many samples each batch of a loader has, epoch after epoch."""
    while True:
        for batch in loader:
            yield len(batch["label"] if isinstance(batch, dict) else batch[1])


def cifar(folder, workers, version="v2"):
    """Return batches of CIFAR-10 as everybody trains it: random crops, flips, normalization, of pictures of Pillow."""
    import torch
    from torch.utils.data import DataLoader
    from torchvision import datasets
    datasets.CIFAR10._check_integrity = lambda self: True
    datasets.CIFAR10._load_meta = lambda self: None
    if version == "v2":
        from torchvision.transforms import v2 as kind
        last = [kind.ToImage(), kind.ToDtype(torch.float32, scale=True)]
    else:
        from torchvision import transforms as kind
        last = [kind.ToTensor()]
    transform = kind.Compose([kind.RandomCrop(32, padding=4), kind.RandomHorizontalFlip(), *last,
                              kind.Normalize(MEAN, STD)])
    data = datasets.CIFAR10(folder, train=True, transform=transform)
    return loop(DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0))


def mnist(folder, workers):
    """Return batches of MNIST through the first transforms."""
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms
    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    data = datasets.MNIST(folder, train=True, transform=transform)
    return loop(DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0))


def tensors(folder, workers):
    """Return batches of two tensors, row by row."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    data = TensorDataset(torch.randn(20000, 20), torch.randint(0, 2, (20000,)))
    return loop(DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0))


def dicts(folder, workers):
    """Return batches of dicts: tokens of texts, and numbers beside them."""
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Texts(Dataset):
        def __init__(self):
            self.words = np.random.default_rng(0).integers(0, 30000, (4000, 128))

        def __len__(self):
            return len(self.words)

        def __getitem__(self, number):
            words = torch.tensor(self.words[number])
            return {"input_ids": words, "attention_mask": torch.ones_like(words), "length": 128, "label": number % 2,
                    "score": 0.5, "text": "some words"}
    return loop(DataLoader(Texts(), BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0))


def pillow(folder, workers):
    """Return batches of a data set of one's own: Pillow opens and converts, the first transforms do the rest."""
    import glob

    from PIL import Image
    from torch.utils.data import DataLoader, Dataset
    from torchvision import transforms

    class Pictures(Dataset):
        def __init__(self):
            self.paths = sorted(glob.glob(f"{folder}/pictures/*/*.jpg"))
            self.transform = transforms.Compose([
                transforms.Resize(160), transforms.CenterCrop(144), transforms.RandomHorizontalFlip(),
                transforms.ToTensor(), transforms.Normalize(MEAN, STD)])

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, number):
            return self.transform(Image.open(self.paths[number]).convert("RGB")), number % 4
    return loop(DataLoader(Pictures(), BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0))


def slices(folder, workers):
    """Return batches of rows of arrays, shuffled, mapped and made ahead."""
    import numpy as np
    import tensorflow as tf
    images, labels = np.zeros((20000, 28, 28), np.uint8), np.zeros(20000, np.int64)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10000)
    return loop(data.map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label),
                         num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE))


def directory(folder, workers):
    """Return batches of image_dataset_from_directory, normalized and turned round by layers of Keras."""
    import keras
    import tensorflow as tf
    data = keras.utils.image_dataset_from_directory(f"{folder}/pictures", image_size=(160, 160), batch_size=BATCH)
    scale = keras.layers.Rescaling(1 / 255)
    return loop(data.map(lambda pictures, labels: (scale(pictures), labels),
                         num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))


def fit(folder, workers):
    """Return how many pictures an epoch of `fit` over image_dataset_from_directory takes."""
    import keras
    data = keras.utils.image_dataset_from_directory(f"{folder}/pictures", image_size=(96, 96), batch_size=BATCH)
    model = keras.Sequential([keras.Input((96, 96, 3)), keras.layers.Rescaling(1 / 255),
                              keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
                              keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    while True:
        model.fit(data, verbose=0)
        yield 400


PROGRAMS = {  # the program, the framework, the workers, further arguments, how many steps are timed
    "CIFAR-10, v2, 0 workers": (cifar, "torch", 0, (), 60), "CIFAR-10, v2, 2 workers": (cifar, "torch", 2, (), 100),
    "CIFAR-10, v1, 0 workers": (cifar, "torch", 0, ("v1",), 60),
    "CIFAR-10, v1, 2 workers": (cifar, "torch", 2, ("v1",), 100),
    "MNIST, 0 workers": (mnist, "torch", 0, (), 100), "MNIST, 2 workers": (mnist, "torch", 2, (), 150),
    "TensorDataset, 0 workers": (tensors, "torch", 0, (), 1000),
    "texts in dicts, 0 workers": (dicts, "torch", 0, (), 150),
    "texts in dicts, 2 workers": (dicts, "torch", 2, (), 200),
    "Pillow in a data set, 0 workers": (pillow, "torch", 0, (), 8),
    "Pillow in a data set, 2 workers": (pillow, "torch", 2, (), 16),
    "tf.data slices, shuffle, map, batch": (slices, "tensorflow", 2, (), 600),
    "image_dataset_from_directory": (directory, "tensorflow", 2, (), 14),
    "image_dataset_from_directory, fit": (fit, "tensorflow", 2, (), 3),
}


def turn(name, side, folder):
    """Print samples per second of one program on one side."""
    function, framework, workers, options, steps = PROGRAMS[name]
    if side == "dragon":
        import dragon.vm
        dragon.vm.install()
    elif framework == "torch":
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))
        from harness import genuine_torchvision
        genuine_torchvision.load()
    made = function(folder, workers, *options)
    for _ in range(max(2, steps // 10)):
        next(made)
    begin, count = time.perf_counter(), 0
    for _ in range(steps):
        count += next(made)
    print(json.dumps(count / (time.perf_counter() - begin)))


def run_turn(name, side, folder, pythons):
    """Return what `turn` finds, in a process of its own; None where a framework is not there."""
    python = sys.executable if side == "dragon" else pythons.get(PROGRAMS[name][1], sys.executable)
    # As installed packages have it, which also a checkout's first turn makes.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([python, os.path.abspath(__file__), "--turn", name, side, folder], capture_output=True,
                          text=True, timeout=600, env=environment)
    if done.returncode:
        print(f"{name}, {side}: left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="a word of the programs' names")
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    parser.add_argument("--turn", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn:
        turn(*options.turn)
        return
    pythons = dict(pair.split("=", 1) for pair in options.python)
    print("| program | genuine, samples/s | Dragon, samples/s | Dragon's time / genuine's |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for name in (name for name in PROGRAMS if options.only in name):
            pairs = [[run_turn(name, side, folder, pythons) for side in ("genuine", "dragon")]
                     for _ in range(options.rounds)]
            if any(None in pair for pair in pairs):
                continue
            genuine, dragon = (statistics.median(column) for column in zip(*pairs))
            ratio = statistics.median(left / right for left, right in pairs)
            print(f"| {name} | {genuine:.0f} | {dragon:.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
