"""`dragon torchrun`: a program in several processes, as PyTorch's `torchrun` starts them, with Dragon inside."""
import sys

from dragon.command import run, table
from dragon.command.parser import make

EXAMPLES = (
    ("dragon torchrun --standalone --nproc-per-node 2 train.py --epochs 3", "two processes; the program has its own "
                                                                            "words"),
    ("dragon torchrun --standalone --nproc-per-node 2 --max-restarts 3 -m package.train", "all are started anew, three "
                                                                                          "times at most"),
)
WORDS = {"description": "Start a program several times on this machine, tell each process its rank by the environment, "
                        "and end\nall when one ends badly. Options are those of `torchrun`."}


def describe(parser):
    """Tell the parser the command's words, which `torchrun` reads by itself."""
    from dragon.vm.torch.distributed import run as launcher
    launcher.describe(parser)


def main(words):
    """Start the processes of a command line."""
    if words[:1] in (["-h"], ["--help"]):
        make(table.find("torchrun"), sys.modules[__name__]).print_help()
        return 0
    return run.main(["-m", "torch.distributed.run", *words])
