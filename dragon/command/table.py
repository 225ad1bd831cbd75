"""The table of commands: all that is told of one in help, in completion and when it is started comes from its row."""
import importlib
from collections import namedtuple


class Command(namedtuple("Command", "group name sentence example module whole", defaults=(False,))):
    """A command: its group in the help, its name, a sentence, one example, and how it takes its words.

    `whole`: the module gets the words as they are, since most of them belong to another program.
    """

    __slots__ = ()


TABLE = [Command(*row) for row in (
    ("programs", "run", "run a program that imports torch, tensorflow or keras, unmodified, on Dragon",
     "dragon run train.py --epochs 3", "run", True),
    ("programs", "check", "tell whether a program runs, runs slower, or where it fails", "dragon check train.py",
     "check"),
    ("programs", "verify", "run a script on the genuine framework and on Dragon, and tell where they part",
     "dragon verify train.py", "verify"),
    ("programs", "torchrun", "run a program in several processes of this machine, each told its rank, on Dragon",
     "dragon torchrun --standalone --nproc-per-node 2 train.py", "torchrun", True),
    ("programs", "evaluate", "measure nets on Dragon and on genuine PyTorch, in one process and in several, by rules",
     "dragon evaluate --genuine python", "evaluate"),
    ("programs", "stubs", "write stubs that show Dragon's API to editors where a program says import torch",
     "dragon stubs", "stubs"),
    ("programs", "guest", "make torch, keras and tensorflow of this environment Dragon's, for pip and plain python",
     "dragon guest install torch", "guest"),
    ("graphs", "plan", "show the plan of a saved graph, or what a program's step would take in many processes",
     "dragon plan model.dragon", "plan"),
    ("graphs", "run-graph", "run, time and compare a saved graph, without Python",
     "dragon run-graph model.dragon --repeat 10", "run_graph", True),
    ("graphs", "onnx", "export a saved graph to ONNX; inspect and run ONNX files",
     "dragon onnx export model.dragon model.onnx", "onnx_files"),
    ("data", "data", "pack, show, check and convert files of samples: KPLRecord, TFRecord, archives, tables, folders",
     "dragon data pack photos/ photos.kpl", "data"),
    ("this machine", "info", "tell about the build, devices, threads and versions", "dragon info", "info"),
    ("this machine", "doctor", "tell what is slow or missing on this machine and how to mend it", "dragon doctor",
     "doctor"),
    ("the shell", "completion", "print a script that completes commands and options",
     "dragon completion bash > dragon.bash", "completion"),
)]
# 128 + the number of the signal, as shells have it.
STATUS_OF_INTERRUPT, STATUS_OF_PIPE = 128 + 2, 128 + 13
STATUSES = ((0, "all is well"), (1, "something was found: a gap, a difference, an ailment"),
            (2, "the command line or a file is wrong"), (130, "interrupted (128 + the signal's number)"))


def find(name):
    """Return the row of a command, or None."""
    return next((command for command in TABLE if command.name == name), None)


def load(command):
    """Return the module of a command."""
    return importlib.import_module("dragon.command." + command.module)
