"""Programs for `torch.distributed`: run with Dragon, beside PyTorch and gloo."""
from harness.ranks import find_imports, run_ranks

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
# What genuine optimizers and collectives import when they are first used, as long as `import torch` takes.
THEIRS = """
import torch._dynamo
import torch.distributed.checkpoint.state_dict
import torch.distributed.fsdp
import torch.distributed.pipelining
import torch.distributed.tensor.parallel
"""
PATIENCE = 600  # seconds, for what hangs: beside busy neighbours four processes may take minutes
TAIL = """
dist.barrier()
dist.destroy_process_group()
"""


def run_here(code, size):
    """Run a program in several processes of Dragon; return what each has printed."""
    head = HEAD.format(ours=True)
    return run_ranks(code + TAIL, size, head, PATIENCE, preload=find_imports(head + code))


def run_beside(code, size):
    """Run a program with Dragon and with gloo, and require that both print the same; return what each has printed."""
    head = HEAD.format(ours=False)
    theirs = run_ranks(code + TAIL, size, head, PATIENCE, preload=find_imports(head + THEIRS))
    ours = run_here(code, size)
    for rank in range(size):
        assert ours[rank] == theirs[rank]
    return ours
