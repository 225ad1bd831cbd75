"""Images per second through a DataLoader, Dragon beside PyTorch: interleaved, each turn in a process of its own.

    python benchmarks/loading.py [--rounds 5]

A sample is a fake photograph of 3 x 224 x 224 bytes that is cropped, flipped and normalized to floats; the consumer
looks at one number of each batch.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy as np

LIBRARIES = ("torch", "dragon")
WORKERS = (0, 1, 2)
IMAGES, BATCH, SIDE = 512, 32, 224


class Photographs:
    """A dataset of either library: a little NumPy and a little tensor work for each sample."""

    def __init__(self, torch):
        self.torch = torch
        self.pixels = np.random.default_rng(0).integers(0, 256, (3, SIDE + 16, SIDE + 16), np.uint8)
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
        self.deviation = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)

    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        top, left = index % 16, index * 7 % 16
        crop = self.pixels[:, top:top + SIDE, left:left + SIDE]
        crop = np.ascontiguousarray(crop[:, :, ::-1] if index % 2 else crop)
        image = self.torch.from_numpy(crop).to(self.torch.float32).div_(255)
        return image.sub_(self.mean).div_(self.deviation), index % 1000


def measure(library, workers):
    """Return images per second over two epochs of persistent workers, after one that warms up."""
    if library == "torch":
        import torch
    else:
        from dragon.vm import torch
    loader = torch.utils.data.DataLoader(Photographs(torch), batch_size=BATCH, num_workers=workers, shuffle=True,
                                         persistent_workers=workers > 0)
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        for images, _labels in loader:
            images[0, 0, 0, 0].item()
        rates.append(IMAGES / (time.perf_counter() - start))
    return max(rates[1:])


def main():
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turn", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.turn:
        print(json.dumps(measure(args.turn[0], int(args.turn[1]))))
        return
    found = {(library, workers): [] for library in LIBRARIES for workers in WORKERS}
    for _ in range(args.rounds):
        for library, workers in found:
            answer = subprocess.run([sys.executable, __file__, "--turn", library, str(workers)], check=True,
                                    capture_output=True, text=True).stdout
            found[library, workers].append(json.loads(answer))
    print("| workers | PyTorch, images/s | Dragon, images/s | Dragon / PyTorch |\n| --- | --- | --- | --- |")
    for workers in WORKERS:
        theirs, mine = (statistics.median(found[library, workers]) for library in LIBRARIES)
        print(f"| {workers} | {theirs:.0f} | {mine:.0f} | {mine / theirs:.2f} |")


if __name__ == "__main__":
    main()
