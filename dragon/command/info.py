"""`dragon info`: what this build is and what it runs on, for reports of faults."""
import json
import os
import platform

from dragon.command.parser import Mistake, add_json


def collect():
    """Return a dict of facts about the build, the machine and the guests."""
    import dragon
    from dragon import _C
    from dragon.core import config
    from dragon.vm.alias import VERSIONS
    libraries = sorted(name for name in os.listdir(config.library_folder()) if ".so" in name)
    return {
        "dragon": dragon.__version__,
        "folder": os.path.dirname(dragon.__file__),
        "libraries": libraries,
        "operators": len(_C.op_names()),
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cpu": cpu_name(),
        "cpu level": config.cpu_level(),
        "cores": os.cpu_count(),
        "threads": config.get_num_threads(),
        "devices": {kind: config.device_count(kind) for kind in ("cpu", "cuda")},
        "guests": VERSIONS,
        "numpy": version_of("numpy"),
    }


def cpu_name():
    """Return what the processor calls itself, or an empty string."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()


def version_of(package):
    """Return an installed package's version, or None."""
    import importlib.metadata
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


EXAMPLES = (("dragon info", "the facts, a line each: for reports of faults"),
            ("dragon info --json", "the same for programs"),
            ("cmake -S . -B build -Ddragon_DIR=$(dragon info --cmake-dir)", "a program in C++ finds the engine"))


def describe(parser):
    """Tell the parser the command's words."""
    add_json(parser)
    parser.add_argument("--cmake-dir", action="store_true", help="print the folder that find_package(dragon) reads")


def main(options):
    """Print the facts, as lines or as JSON, or where CMake finds the engine."""
    if options.cmake_dir:
        from dragon.core.distribution import find_cmake
        try:
            print(find_cmake())
        except FileNotFoundError as error:
            raise Mistake(str(error).removeprefix("dragon: ")) from None
        return 0
    facts = collect()
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    width = max(map(len, facts))
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {entry}" for key, entry in value.items())
        elif isinstance(value, list):
            value = ", ".join(value)
        print(f"{name:{width}}  {value}")
    return 0
