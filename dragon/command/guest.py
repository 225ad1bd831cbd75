"""`dragon guest`: torch, keras and tensorflow of an environment are Dragon's, for pip, editors and all that is run."""
import json
import os
import subprocess
import sys

from dragon.command import guest_files, guest_place
from dragon.command.parser import Mistake, add_json, nearest
from dragon.core.distribution import install_words
from dragon.vm.alias import COMES_WITH, VERSIONS

EXAMPLES = (
    ("dragon guest install torch", "and torchvision; pip finds both, and `python train.py` runs on Dragon"),
    ("dragon guest install tensorflow --target deps", "and keras, into a folder that is in PYTHONPATH"),
    ("dragon guest list", "what is installed, whole or not, and what is genuine"),
    ("dragon guest remove torch keras", "as `pip uninstall` does, and what an install that was killed left"),
)
WORDS = {"description": """Put tiny packages named torch, torchvision, keras or tensorflow into the environment, which
hand over to Dragon: plain `python`, notebooks, editors and pip find them. Where something genuine has the name, nothing
is done."""}
STATES = {"whole": "Dragon's",
          "torn": "not whole: `dragon guest install {guest}` or `dragon guest remove {guest}` mends it",
          "genuine": "genuine", "absent": "not installed"}


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("action", choices=tuple(ACTIONS), help="what is done")
    parser.add_argument("guests", nargs="*", metavar="guest", help=f"install, remove: of {', '.join(VERSIONS)}")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--target", metavar="FOLDER", help="a folder, in the place of the environment's")
    where.add_argument("--user", action="store_true", help="the user's own folder for packages")
    add_json(parser)


def main(options):
    """Install, list or remove, and return the exit status."""
    if options.action == "list" and options.guests:
        raise Mistake(f"got list with {options.guests[0]}, expected it alone")
    if options.action != "list" and not options.guests:
        raise Mistake(f"got {options.action} alone, expected one of {', '.join(VERSIONS)} after it")
    for name in options.guests:
        if name not in VERSIONS:
            raise Mistake(f"got {name!r}, expected one of {', '.join(VERSIONS)}{nearest(name, VERSIONS)}")
    folder = guest_place.choose_folder(options.target, options.user)
    report = {"folder": str(folder), **ACTIONS[options.action](folder, options)}
    lines = report.pop("lines")
    print(json.dumps(report, indent=2) if options.json else "\n".join(lines))
    return 1 if any(entry.get("state") == "torn" for entry in report["guests"]) else 0


def install(folder, options):
    """Install guests, and those that programs expect beside them."""
    guests = widen(options.guests, COMES_WITH)
    for guest in guests:
        place = guest_place.find_genuine(guest, folder, options.target is None)
        if place is not None:
            raise Mistake(f"got {guest}, expected a name that nothing genuine has: {place} is not Dragon's; "
                          f"`pip uninstall {guest}` takes it away, and `dragon run` needs no guest")
    installation = guest_place.Installation(folder, guests)
    installation.run()
    lines = [f"{guest} {VERSIONS[guest]}: Dragon's, in {folder}" for guest in guests]
    lines += [f"note: no stubs for {guest}: this Dragon was built without; editors find no names"
              for guest in guests if not installation.stubs[guest]]
    absent = sorted({need for guest in guests for need in guest_files.OTHERS[guest]
                     if not guest_files.is_installed(need)})
    if absent:
        lines.append(f"note: pip will say that {', '.join(absent)} is missing: `pip install {' '.join(absent)}`")
    if not starts_alone(folder):
        lines.append("note: a plain `python` does not find the package dragon, to which guests hand over: "
                     f"`{install_words()}`, or put its folder into PYTHONPATH")
    return {"guests": [{"guest": guest, "version": VERSIONS[guest], "stubs": installation.stubs[guest]}
                       for guest in guests], "lines": lines}


def widen(guests, table):
    """Return guests and all that a table gives for them, in the order of the versions."""
    found = set(guests)
    while True:
        more = found.union(*(table.get(guest, ()) for guest in found))
        if more == found:
            return [guest for guest in VERSIONS if guest in found]
        found = more


def starts_alone(folder):
    """Return whether the environment's Python finds Dragon without this command's path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    question = f"import importlib.util as u, sys; sys.path.append({str(folder)!r}); sys.exit(not u.find_spec('dragon'))"
    return subprocess.run([sys.executable, "-c", question], cwd="/", env=environment).returncode == 0


def list_guests(folder, options):
    """Tell of each guest what lies under its name."""
    entries, lines = [], []
    for guest in VERSIONS:
        finding = guest_place.survey(folder, guest)
        entries.append({"guest": guest, "state": finding.state, "version": finding.version,
                        "paths": [str(path) for path in finding.paths]})
        text = STATES[finding.state].format(guest=guest)
        if finding.state == "whole" and finding.version != VERSIONS[guest]:
            text += f", of an earlier release: `dragon guest install {guest}` makes it {VERSIONS[guest]}"
        lines.append(f"{guest:<12} {finding.version or '':<10} {text}")
    return {"guests": entries, "lines": lines}


def remove(folder, options):
    """Take guests away, and those that cannot be without them."""
    dependants = {need: tuple(guest for guest in VERSIONS if need in guest_files.NEEDS.get(guest, ()))
                  for need in VERSIONS}
    entries, lines = [], []
    for guest in widen(options.guests, dependants):
        finding = guest_place.survey(folder, guest)
        if guest in options.guests and finding.state in ("genuine", "absent"):
            what = f"{finding.paths[0]}, which is not Dragon's" if finding.paths else f"no {guest} in {folder}"
            raise Mistake(f"got {what}, expected one that `dragon guest install` put there")
        if guest_place.remove(finding):
            entries.append({"guest": guest, "version": finding.version})
            lines.append(f"{guest} {finding.version or ''}: removed".replace(" :", ":"))
    return {"guests": entries, "lines": lines}


ACTIONS = {"install": install, "list": list_guests, "remove": remove}
