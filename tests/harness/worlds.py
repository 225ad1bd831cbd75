"""Programs for `torch.distributed`: run with Dragon, beside PyTorch and gloo."""
from harness.ranks import run_ranks

HEAD = """
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
if {ours}:
    import dragon.vm
    dragon.vm.install()
import warnings
warnings.filterwarnings("ignore")
from datetime import timedelta
import torch
import torch.distributed as dist
from torch import nn
torch.manual_seed(0)
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=size,
                        timeout=timedelta(seconds=60))

def told(*values, digits=4):
    words = []
    for value in values:
        if isinstance(value, torch.Tensor):
            value = value.detach().flatten().tolist()
        value = value if isinstance(value, list) else [value]
        words += [f"{{each + 0.0:.{{digits}}f}}".replace("-0." + "0" * digits, "0." + "0" * digits)
                  if isinstance(each, float) else str(each) for each in value]
    print(*words)
"""
TAIL = """
dist.barrier()
dist.destroy_process_group()
"""


def run_here(code, size):
    """Run a program in several processes of Dragon; return what each has printed."""
    return run_ranks(code + TAIL, size, HEAD.format(ours=True))


def run_beside(code, size):
    """Run a program with Dragon and with gloo, and require that both print the same; return what each has printed."""
    theirs = run_ranks(code + TAIL, size, HEAD.format(ours=False), 300)  # their import takes its time
    ours = run_here(code, size)
    for rank in range(size):
        assert ours[rank] == theirs[rank]
    return ours
