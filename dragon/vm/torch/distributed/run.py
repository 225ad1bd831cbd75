"""`torchrun`: a program in several processes of this machine, each told its rank by the environment."""
import argparse
import os
import socket
import sys
import uuid

from dragon.distributed.launch import Launcher, RankFailed

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


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _place(options):
    """Return the address and the port of rank 0."""
    if options.standalone:
        return "127.0.0.1", _free_port()
    if options.rdzv_endpoint:
        host, _, port = options.rdzv_endpoint.rpartition(":")
        return (host, int(port)) if host else (port, _DEFAULT_PORT)
    return options.master_addr, options.master_port


def _outputs(options):
    """Return what opens the files of a process's output and errors; None where they go where the launcher's do."""
    which = int(options.redirects)
    if not options.log_dir or not which:
        return None

    def open_files(local, attempt):
        folder = os.path.join(options.log_dir, options.rdzv_id, f"attempt_{attempt}", str(local))
        os.makedirs(folder, exist_ok=True)
        return tuple(open(os.path.join(folder, name), "w") if which & bit else None
                     for bit, name in ((1, "stdout.log"), (2, "stderr.log")))
    return open_files


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
    environment = {"MASTER_ADDR": host, "MASTER_PORT": str(port), "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1",
                   "ROLE_NAME": args.role, "ROLE_WORLD_SIZE": str(count),
                   "TORCHELASTIC_MAX_RESTARTS": str(args.max_restarts),
                   "TORCHELASTIC_RUN_ID": args.rdzv_id if args.rdzv_id != "none" else uuid.uuid4().hex,
                   "TORCHELASTIC_USE_AGENT_STORE": "False"}
    if "OMP_NUM_THREADS" not in os.environ and count > 1:
        environment["OMP_NUM_THREADS"] = "1"
    launcher = Launcher(command + args.training_script_args, count, environment=environment,
                        restarts=args.max_restarts, output=_outputs(args))
    launcher.restart_name = "TORCHELASTIC_RESTART_COUNT"
    launcher.run()


def main(args=None):
    """Run the program of a command line, and end with status 1 when one of its processes ends badly."""
    try:
        run(parse_args(args))
    except RankFailed as error:
        print(f"torchrun: {error}", file=sys.stderr)
        sys.exit(1)
    except (ValueError, NotImplementedError) as error:
        print(f"torchrun: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
