"""A program that trains a net for some steps, alone or with others, and writes down its throughput: on either side."""
import hashlib
import importlib.util
import json
import os
import platform
import sys
import time

import torch
from torch import nn


def main():
    """Train; the words are a file with nets, the name of one, how many steps, and where to write."""
    file, name, steps, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    spec = importlib.util.spec_from_file_location("evaluated_nets", file)
    nets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(nets)
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size > 1:
        torch.distributed.init_process_group("gloo")
    net, inputs, targets = nets.make(name)
    count = sum(param.numel() for param in net.parameters())
    model = nn.parallel.DistributedDataParallel(net) if size > 1 else net
    optimizer = nets.make_optimizer(name, model) if hasattr(nets, "make_optimizer") else torch.optim.SGD(
        model.parameters(), 1e-3)
    losses = [step(model, optimizer, inputs, targets) for _ in range(2)]
    meet(size)
    start = time.perf_counter()
    for _ in range(steps):
        last = step(model, optimizer, inputs, targets)
    meet(size)
    seconds = time.perf_counter() - start
    if os.environ.get("RANK", "0") == "0":
        told = {"throughput": size * len(inputs) * steps / seconds, "parameters": count, "losses": losses + [last],
                "data": hash_of(inputs, targets), "version": torch.__version__, "build": describe_build(),
                "python": platform.python_version()}
        with open(path, "w", encoding="utf-8") as out:
            json.dump(told, out)
    if size > 1:
        torch.distributed.destroy_process_group()
    # What was measured is written down. Threads of a framework that take Python's lock while the interpreter ends abort
    # the process (genuine PyTorch's do, once in many runs), and nothing here is left for an interpreter to end.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def step(model, optimizer, inputs, targets):
    """Take a step; return the loss."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def meet(size):
    """Wait for the others."""
    if size > 1:
        torch.distributed.barrier()


def hash_of(*tensors):
    """Return the SHA-256 of what tensors hold, as text."""
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
        found.update(tensor.contiguous().numpy().tobytes())
    return found.hexdigest()


def describe_build():
    """Return how the side was built, and how many threads it has."""
    lines = [line.strip() for line in torch.__config__.show().splitlines() if line.strip()]
    return [*lines, f"threads: {torch.get_num_threads()}"]


if __name__ == "__main__":
    main()
