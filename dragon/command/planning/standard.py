"""The costs of this machine: a few nets are trained for some steps, once, and what calls took is kept in a file."""
import json
import os
import socket
import statistics
import sys
import tempfile

from dragon.command.planning import dry_run
from dragon.command.planning.costs import Table
from dragon.distributed.launch import Launcher

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
NETS = os.path.join(HERE, "nets.py")
SIZES = (4, 1 << 16, 1 << 20, 16 << 20)  # bytes of what is summed between two processes


def cache_path():
    """Return where this machine's table is kept."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(folder, "dragon", "costs.json")


def about_this_machine():
    """Return what tells for which machine a table is."""
    from dragon.command.info import cpu_name
    from dragon.core import config
    return {"processor": cpu_name(), "processors": len(os.sched_getaffinity(0)), "level": config.cpu_level(),
            "threads": int(os.environ.get("OMP_NUM_THREADS") or 1)}


def load(say):
    """Return this machine's table: from its file, or measured now and kept there.

    Parameters
    ----------
    say : Callable[[str], None]
        Told when it is measured, which takes a while.

    Returns
    -------
    Table
        The table.

    """
    path, about = cache_path(), about_this_machine()
    try:
        found = Table.load(path)
        if {key: found.about.get(key) for key in about} == about:
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    say("measuring what calls take on this machine, once; this takes some seconds")
    found = measure_standard(about)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        found.save(path)
    except OSError:  # it is measured anew the next time
        pass
    return found


def measure_standard(about):
    """Return the table of this machine."""
    table = Table(about={**about, "send": measure_sums()})
    for net in ("mlp", "convolutions", "attention"):
        table = table.merge(measure(NETS, [net], 5, 120.0, about["processors"], {}))
    return table


def measure(script, words, steps, timeout, copies, about):
    """Return the table of a program's own calls, run for real, as often at once as there are processors."""
    told = dry_run.run(script, words, timeout, copies=max(min(copies, 4), 1), steps=steps, real=True,
                       environment={"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or "1"})
    steps = [one["step"] for one in told]
    together = {"calls": [call for step in steps for call in step["calls"]],
                "repeats": sum(step["repeats"] for step in steps),
                "seconds": statistics.median(time for step in steps for time in step["times"])}
    return Table.of_steps(together, about)


def measure_sums():
    """Return {"latency": seconds, "bandwidth": bytes per second} of sums over two processes of this machine."""
    with tempfile.TemporaryDirectory(prefix="dragon-plan-") as folder:
        path = os.path.join(folder, "sums.json")
        Launcher([sys.executable, os.path.join(HERE, "sums.py"), path, *map(str, SIZES)], 2, environment={
            "PYTHONPATH": os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH")))), "OMP_NUM_THREADS": "1",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}).run()
        with open(path, encoding="utf-8") as file:
            seconds = json.load(file)
    return {"latency": seconds[0] / 2, "bandwidth": SIZES[-1] / max(seconds[-1] - seconds[0], 1e-9)}


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
