"""Running an evaluation: both sides in turns, each run in processes of its own."""
import hashlib
import json
import os
import platform
import statistics
import sys
import tempfile

from dragon.command.parser import Mistake
from dragon.command.planning.standard import NETS, ROOT, free_port
from dragon.distributed.errors import DistributedError
from dragon.distributed.launch import Launcher

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "KMP_AFFINITY", "OMP_PROC_BIND", "LD_PRELOAD", "MALLOC_CONF")


def evaluate(options, say):
    """Run all, and return the report.

    Parameters
    ----------
    options : argparse.Namespace
        "nets", "worlds", "genuine", "runs", "steps", "threads", "words".
    say : Callable[[str], None]
        Told what is being run.

    Returns
    -------
    dict
        The report.

    """
    processors = len(os.sched_getaffinity(0))
    sides = {"dragon": [sys.executable, "-m", "dragon", "run", "--as", "torch", PROGRAM]}
    if options.genuine:
        sides["torch"] = [options.genuine, PROGRAM]
    environment = {"OMP_NUM_THREADS": str(options.threads), "MKL_NUM_THREADS": str(options.threads)}
    report = {"sides": list(sides), "hardware": describe_hardware(), "nets": [],
              "versions": {"python": platform.python_version(), "system": platform.platform()},
              "flags": {side: {"environment": {**read_settings(), **environment}, "build": None} for side in sides},
              "recipe": {"command": ["dragon", "evaluate", *options.words], "program": hash_file(PROGRAM),
                         "nets": {}, "steps": options.steps, "seed": 0}}
    for text in options.nets:
        file, name = find_net(text)
        report["recipe"]["nets"][name] = hash_file(file)
        net = {"name": name, "parameters": None, "data": None, "worlds": []}
        report["nets"].append(net)
        for machines, local in options.worlds:
            world = {"machines": machines, "local": local}
            net["worlds"].append(world)
            if machines > 1 or local * options.threads > processors and not options.crowded:
                world["not run"] = (f"it takes {machines} machines, and this is one" if machines > 1 else
                                    f"it takes {local * options.threads} processors, and this host has {processors}")
                continue
            world["sides"] = {side: {"runs": []} for side in sides}
            for turn in range(options.runs):
                for side in list(sides)[::-1 if turn % 2 else 1]:
                    say(f"{name}, 1 x {local}, {side}, run {turn + 1} of {options.runs}")
                    told = run_once(sides[side], (file, name, options.steps), local, environment)
                    note(report, net, world["sides"][side], side, told)
        add_speed_ups(net)
    return report


def run_once(command, words, count, environment):
    """Start the processes of one run, and return what the first one wrote down."""
    with tempfile.TemporaryDirectory(prefix="dragon-evaluate-") as folder:
        path = os.path.join(folder, "told.json")
        given = {**environment, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        if "dragon" in command:
            given["PYTHONPATH"] = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
        else:
            given["PYTHONPATH"] = ""  # the interpreter's own packages, and nothing of Dragon's
        said = os.path.join(folder, "said.txt")
        open(said, "wb").close()

        def output(*_):
            file = open(said, "ab")  # the launcher closes it
            return file, file
        try:
            Launcher([*command, *map(str, words), path], count, environment=given, output=output).run()
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except (DistributedError, OSError, ValueError) as error:
            with open(said, "rb") as file:
                last = (file.read().decode(errors="replace").strip().splitlines() or ["no word"])[-1]
            raise Mistake(f"got {error} ({last}) of {' '.join(command)}, expected a run that ends well") from None


def note(report, net, figures, side, told):
    """Write down what a run has told."""
    figures["runs"].append(told["throughput"])
    figures["median"] = statistics.median(figures["runs"])
    figures.update(parameters=told["parameters"], data=told["data"], losses=told["losses"])
    net["parameters"], net["data"] = net["parameters"] or told["parameters"], net["data"] or told["data"]
    report["versions"][side] = told["version"] if side == "torch" else own_version(told["version"])
    report["flags"][side]["build"] = told["build"]


def own_version(guest):
    """Return Dragon's version, and that of the face that ran."""
    from dragon.core.distribution import VERSION
    return f"{VERSION} as PyTorch {guest}"


def add_speed_ups(net):
    """Add to each world how many times as fast it is as one process of the same side."""
    ran = [world for world in net["worlds"] if "not run" not in world]
    alone = next((world for world in ran if world["local"] == 1), None)
    for world in ran:
        for side, figures in world["sides"].items():
            figures["speed-up"] = figures["median"] / alone["sides"][side]["median"] if alone else None
        sides = world["sides"]
        world["ratio"] = sides["dragon"]["median"] / sides["torch"]["median"] if "torch" in sides else None


def find_net(text):
    """Return (file, name) of a net: one of those that come along, or FILE.py, or FILE.py:NAME."""
    file, colon, name = text.rpartition(":")
    if not colon:
        file, name = (text, os.path.basename(text)[:-3]) if text.endswith(".py") else (NETS, text)
    if file == NETS and name not in ("resnet50", "gpt", "mlp", "convolutions", "attention"):
        raise Mistake(f"got the net {text!r}, expected one of resnet50, gpt, mlp, convolutions, attention, or a file "
                      "with make(name) as FILE.py:NAME")
    with open(file, "rb"):  # says what is wrong with the file itself
        return file, name


def hash_file(path):
    """Return the SHA-256 of a file, as text."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_settings():
    """Return the variables of the environment that change how fast numbers are computed."""
    return {name: os.environ[name] for name in SETTINGS if name in os.environ}


def describe_hardware():
    """Return the processor, how many there are, and memory."""
    from dragon.command.info import cpu_name
    from dragon.command.machine import Machine
    machine = Machine()
    return {"processor": cpu_name() or platform.machine(), "processors": machine.processors(),
            "cores": machine.cores(), "quota": machine.quota(), "memory": machine.memory().get("MemTotal"),
            "load": os.getloadavg()[0]}
