"""`torchrun`: a program in several processes of a machine, or of many, each told its rank by the environment."""
import argparse
import os
import sys
import uuid

from dragon.distributed.errors import DistributedError
from dragon.distributed.launch import Launcher
from dragon.vm.torch.distributed.elastic.multiprocessing.api import LogsSpecs, Std
from dragon.vm.torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from dragon.vm.torch.distributed.elastic.utils.distributed import get_free_port
from dragon.vm.torch.distributed.launcher.api import DEFAULT_PORT, join_nodes, run_watched, worker_environment


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
    options = [("nnodes", str, "1:1", "how many machines: a number, or the least and the most as 1:4"),
               ("nproc-per-node", str, "1",
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
               ("master-port", int, DEFAULT_PORT, "its port"), ("local-addr", str, None, "the name of this machine")]
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


def _nodes(text):
    """Return the least and the greatest number of machines."""
    try:
        least, _, most = text.partition(":")
        nodes = int(least), int(most or least)
    except ValueError:
        nodes = 0, 0
    if not 1 <= nodes[0] <= nodes[1]:
        raise ValueError(f"got nnodes={text}, expected a number of machines, or the least and the most: 1:4")
    return nodes


def _configs(text):
    """Return what `--rdzv-conf` says, by word."""
    words = [part.partition("=") for part in text.split(",") if part]
    for key, mark, _ in words:
        if not mark:
            raise ValueError(f"got rdzv_conf={text!r}, expected key=value,...: nothing follows {key!r}")
    return {key.strip(): value.strip() for key, _, value in words}


def _place(options):
    """Return the address and the port of rank 0."""
    if options.standalone:
        return "127.0.0.1", get_free_port()
    if options.rdzv_endpoint:
        host, _, port = options.rdzv_endpoint.rpartition(":")
        return (host, int(port)) if host else (port, DEFAULT_PORT)
    return options.master_addr, options.master_port


def run(args):
    """Run the program of a command line; raise when one of its processes ends badly."""
    nodes = _nodes(args.nnodes)
    count, (host, port) = _count(args.nproc_per_node), _place(args)
    if args.no_python:
        command = [args.training_script]
    else:
        # The processes import what this one would.
        command = [sys.executable, "-u", "-m", "dragon", "run", *(["-m"] if args.module else []), args.training_script]
    name = args.rdzv_id if args.rdzv_id != "none" or nodes[1] > 1 else uuid.uuid4().hex
    logs = LogsSpecs(args.log_dir, Std.from_str(args.redirects) if args.log_dir else Std.NONE)
    launcher = Launcher(command + args.training_script_args, count, restarts=args.max_restarts,
                        environment=worker_environment(args.role, count, host, port, args.max_restarts, name),
                        output=lambda local, attempt: logs.open(name, attempt, local))
    if nodes[1] > 1:
        if args.standalone:
            raise ValueError(f"got --standalone and nnodes={args.nnodes}, expected one machine: it is alone")
        is_static = args.rdzv_backend == "static" or not args.rdzv_endpoint
        join_nodes(launcher, nodes, args.node_rank if is_static else None, (host, port), _configs(args.rdzv_conf),
                   name, args.local_addr)
    run_watched(launcher, args.training_script)


def main(args=None):
    """Run the program of a command line, and end with status 1 when one of its processes ends badly."""
    try:
        run(parse_args(args))
    except ChildFailedError as error:
        print(f"torchrun: {error.__cause__}\n{error}", file=sys.stderr)
        sys.exit(1)
    except (ValueError, DistributedError) as error:
        print(f"torchrun: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
