"""Write dragon/vm/absent.txt: per module of a guest the genuine names that Dragon lacks, for letters about typos.

Run it where the genuine frameworks are installed: `python tools/absent_names.py`.
"""
import contextlib
import importlib
import json
import operator
import os
import pathlib
import pkgutil
import subprocess
import sys
import types
import typing
import warnings

GUESTS = ("torch", "torchvision", "keras", "tensorflow")
PLACE = pathlib.Path(__file__).resolve().parents[1] / "dragon" / "vm" / "absent.txt"


def names_of(module):
    """Return the public names of a module, its parts that nobody has imported included."""
    parts = {part.name for part in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    return sorted(name for name in {*dir(module), *parts} if not name.startswith("_"))


def list_modules(guest):
    """Return {module: names} of Dragon's modules of a guest, those that it shows."""
    import dragon.vm
    dragon.vm.install()
    root, found = importlib.import_module(guest), {}
    parts = pkgutil.walk_packages(root.__path__, guest + ".", onerror=lambda name: None)
    for name in [guest, *(part.name for part in parts)]:
        if not any(part.startswith("_") or part == "core" for part in name.split(".")[1:]):
            try:
                found[name] = names_of(importlib.import_module(name))
            except Exception as error:  # of a module that cannot be had on this machine
                print(f"left out {name}: {error}", file=sys.stderr)
    return found


def compare(known):
    """Return {module: names that the genuine one has and Dragon lacks} of modules that the genuine framework has."""
    found = {}
    for name, here in known.items():
        try:
            module = importlib.import_module(name)
        except Exception:
            continue  # Dragon's own, or made lazily
        # A folder may have the name of what users see there: `tensorflow.distribute` holds messages, tf.distribute not.
        guest, _, place = name.partition(".")
        with contextlib.suppress(AttributeError):
            seen = operator.attrgetter(place)(sys.modules[guest]) if place else module
            module = seen if type(seen) is types.ModuleType else module
        found[name] = [entry for entry in names_of(module) if entry not in here and not is_passing(module, entry)]
    return found


def is_passing(module, name):
    """Return whether a name is only what the module's own code imports: typing's, or another package's module."""
    value = getattr(module, name, None)
    if isinstance(value, types.ModuleType):
        return getattr(value, "__name__", "").partition(".")[0] not in GUESTS
    return hasattr(typing, name) or getattr(value, "__module__", None) in ("typing", "collections", "collections.abc",
                                                                           "dataclasses", "functools", "contextlib")


def main():
    """Ask Dragon and the genuine framework, each in a process of its own."""
    if len(sys.argv) == 3:
        warnings.simplefilter("ignore")
        print(json.dumps(list_modules(sys.argv[2]) if sys.argv[1] == "dragon" else compare(json.loads(input()))))
        return
    lines = []
    for guest in GUESTS:
        answer = "{}"
        for side in ("dragon", "genuine"):
            answer = subprocess.run([sys.executable, __file__, side, guest], input=answer + "\n", text=True, check=True,
                                    stdout=subprocess.PIPE, cwd="/", env=os.environ).stdout.splitlines()[-1]
        lines += [" ".join([module, *names]) for module, names in json.loads(answer).items()]
    PLACE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
