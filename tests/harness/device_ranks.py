"""Processes with a CUDA device each: GPUs, or devices of the machine that stands for them with its library of NCCL."""
import os
import pathlib
import sys

import pytest
from harness.ranks import HEAD, Ranks, run_ranks

SIMT = '''
import os
import dragon
if os.environ.get("DRAGON_SIMT"):
    dragon.load_library(os.environ["DRAGON_SIMT"])
'''
ENTER = HEAD + SIMT + '''
import os
import numpy as np
from dragon.vm import torch
from dragon.vm.torch import distributed as dist
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)

def refused(call, *words, kind=Exception):
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
    else:
        raise AssertionError("no error")
'''
GENUINE = HEAD + '''
import os
import numpy as np
import torch
from torch import distributed as dist
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
device = torch.device("cpu")
'''


def environment(count=2):
    """Return the words that give processes so many devices; skip the test where there are fewer GPUs."""
    machine = os.environ.get("DRAGON_SIMT")
    if not machine:
        import dragon
        if dragon._C.device_count("cuda") < count:
            pytest.skip(f"needs {count} CUDA devices")
        return {}
    library = pathlib.Path(machine).parent / "nccl"
    if not library.exists():
        pytest.skip("needs the machine's library of NCCL: make simt builds it")
    return {"DRAGON_SIMT_DEVICES": str(count), "DRAGON_CUDA_LIBRARIES": str(library)}


def needs_mpich():
    """Skip the test where nothing carries bytes between machines."""
    pytest.importorskip("mpi4py")
    if not (pathlib.Path(sys.executable).parent.parent / "lib" / "libmpi.so.12").exists():
        pytest.skip("needs the wheel of MPICH")


MACHINES = "os.environ['DRAGON_MACHINE'] = f'machine {rank}'\n"  # each process as if on one of its own


def on_devices(code, size=2, begin="nccl", seconds=120, **words):
    """Run a program in processes with a device each, in a group of a backend; return what each has printed."""
    enter = f"dist.init_process_group({begin!r})\n" if begin else ""
    return run_ranks(code, size, ENTER + enter, seconds, {**environment(max(size, 2)), **words}, preload="")


def begin_on_devices(code, size=2, begin="nccl", **words):
    """Begin the same; return the processes."""
    enter = f"dist.init_process_group({begin})\n" if begin else ""
    return Ranks(code, size, ENTER + enter, {**environment(max(size, 2)), **words}, preload="")


def genuine(code, size=2):
    """Run a program with genuine PyTorch's gloo on the host; return what each process has printed."""
    return run_ranks(code, size, GENUINE + "dist.init_process_group('gloo')\n")


def beside_genuine(code, size=2, begin="nccl"):
    """Run a program on devices, and with genuine PyTorch on the host; raise unless both print the same."""
    mine = on_devices(code, size, begin)
    assert mine == genuine(code, size)
    return mine


def alone(code, count=2):
    """Run a program in one process with several devices."""
    return run_ranks(code, 1, HEAD + SIMT + '''
import numpy as np
from dragon.vm import torch

def refused(call, *words, kind=Exception):
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
    else:
        raise AssertionError("no error")
''', environment=environment(count), preload="")[0]
