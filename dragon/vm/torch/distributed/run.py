"""`torchrun`: a program in several processes of this machine, each told its rank by the environment."""
import argparse
import os
import sys
import uuid

from dragon.distributed.launch import Launcher
from dragon.vm.torch.distributed.elastic.multiprocessing.api import LogsSpecs, Std
from dragon.vm.torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from dragon.vm.torch.distributed.elastic.utils.distributed import get_free_port
from dragon.vm.torch.distributed.launcher.api import run_watched, worker_environment

_DEFAULT_PORT = 29500


def _dashed(name):
    """Return both spellings of an option."""
    return [f"--{name}", f"--{name.replace('-', '_')}"] if "-" in name else [f"--{name}"]


def get_args_parser():
    """Return what reads the command line."""
    parser = argparse.ArgumentParser("torchrun", description="Run a program in several processes.")
    describe(parser)
    return parser


def describe(parser):
    """Tell a parser the options."""
    options = [("nnodes", str, "1:1", "how many machines; one"), ("nproc-per-node", str, "1",
               "how many processes: a number, auto or cpu (as many as there are processors)"),
               ("rdzv-backend", str, "static", "how processes meet: static or c10d"),
               ("rdzv-endpoint", str, "", "host[:port] where they meet"),
               ("rdzv-id", str, "none", "the name of this run"),
               ("rdzv-conf", str, "", "more about how they meet: key=value,..."),
               ("max-restarts", int, 0, "how often all are started anew after one has ended badly"),
               ("monitor-interval", float, 0.1, "accepted: ends are noticed at once"),
               ("start-method", str, "spawn", "accepted: a program is started as its own process"),
               ("role", str, "default", "what the processes are called"),
               ("log-dir", str, None, "a folder for outputs"),
               ("redirects", str, "0", "what goes to files: 1 outputs, 2 errors, 3 both"),
               ("node-rank", int, 0, "the number of this machine"),
               ("master-addr", str, "127.0.0.1", "where rank 0 is"),
               ("master-port", int, _DEFAULT_PORT, "its port"), ("local-addr", str, None, "the name of this machine")]
    short = {"redirects": "-r"}
    for name, kind, default, text in options:
        spelt = ([short[name]] if name in short else []) + _dashed(name)
        parser.add_argument(*spelt, type=kind, default=default, help=text)
    parser.add_argument("--standalone", action="store_true", help="meet at a free port of this machine")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("--no-python", "--no_python", action="store_true", help="the program is no Python")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")


def parse_args(args):
    """Return what a command line says."""
    return get_args_parser().parse_args(args)


def _count(text):
    if text in ("auto", "cpu"):
        return len(os.sched_getaffinity(0))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"Unsupported nproc_per_node value: {text}") from None


def _place(options):
    """Return the address and the port of rank 0."""
    if options.standalone:
        return "127.0.0.1", get_free_port()
    if options.rdzv_endpoint:
        host, _, port = options.rdzv_endpoint.rpartition(":")
        return (host, int(port)) if host else (port, _DEFAULT_PORT)
    return options.master_addr, options.master_port


def run(args):
    """Run the program of a command line; raise when one of its processes ends badly."""
    most = int(args.nnodes.split(":")[-1])
    if most != 1:
        raise NotImplementedError(f"got nnodes={args.nnodes}, expected 1: processes share the memory of one machine")
    count, (host, port) = _count(args.nproc_per_node), _place(args)
    if args.no_python:
        command = [args.training_script]
    else:
        # The processes import what this one would.
        command = [sys.executable, "-u", "-m", "dragon", "run", *(["-m"] if args.module else []), args.training_script]
    name = args.rdzv_id if args.rdzv_id != "none" else uuid.uuid4().hex
    logs = LogsSpecs(args.log_dir, Std.from_str(args.redirects) if args.log_dir else Std.NONE)
    launcher = Launcher(command + args.training_script_args, count, restarts=args.max_restarts,
                        environment=worker_environment(args.role, count, host, port, args.max_restarts, name),
                        output=lambda local, attempt: logs.open(name, attempt, local))
    run_watched(launcher, args.training_script)


def main(args=None):
    """Run the program of a command line, and end with status 1 when one of its processes ends badly."""
    try:
        run(parse_args(args))
    except ChildFailedError as error:
        print(f"torchrun: {error.__cause__}\n{error}", file=sys.stderr)
        sys.exit(1)
    except (ValueError, NotImplementedError) as error:
        print(f"torchrun: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
