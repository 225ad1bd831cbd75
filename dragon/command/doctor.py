"""`dragon doctor`: what is slow or missing on this machine, why, and how to mend it."""
import json
import sys

from dragon.command import probes
from dragon.command.machine import Machine
from dragon.command.parser import add_json
from dragon.core.distribution import VERSION

EXAMPLES = (
    ("dragon doctor", "look at everything, and measure products of matrices and memory"),
    ("dragon doctor --quick", "look, and measure nothing"),
    ("dragon doctor --json", "the same for programs"),
)
COLOURS = {probes.FINE: "32", probes.SLOW: "33", probes.MISSING: "31"}
REPAIR = "in a checkout `make install` or `make build` makes it; otherwise install Dragon again"


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("--quick", action="store_true", help="measure nothing")
    add_json(parser)


def main(options, machine=None):
    """Look, measure, and tell; return 1 if something is slow, or missing and needed."""
    machine = machine or Machine()
    config, findings = find_engine()
    findings += look(machine, config)
    if config is not None and not options.quick:
        from dragon.command import stopwatch
        findings += stopwatch.measure(machine)
    if options.json:
        told = [finding._asdict() for finding in findings]
        print(json.dumps({"findings": told, "ailing": count(findings)}, indent=2))
    else:
        print("\n".join(as_lines(findings, is_colourful(sys.stdout, machine.environment))))
    return 1 if count(findings) else 0


def find_engine():
    """Return (the engine's settings, or None where it cannot be loaded; findings about it)."""
    try:
        from dragon.core import config
        config.cpu_level()  # loads the kernels
    except Exception as error:  # whatever it is, the patient is ill and the other probes go on
        return None, [probes.Finding("engine", probes.MISSING, f"it does not load: {error}", REPAIR)]
    return config, [probes.Finding("engine", probes.FINE, f"Dragon {VERSION}")]


def look(machine, config):
    """Return what all probes find; one that fails says so and stops no other."""
    findings = []
    for probe in probes.PROBES:
        try:
            findings += list(probe(machine, config))
        except Exception as error:
            findings.append(probes.Finding(probe.__name__.replace("_", " "), probes.MISSING,
                                           f"it could not be looked at: {type(error).__name__}: {error}", "", True))
    return findings


def count(findings):
    """Return how many findings are slow, or missing and needed."""
    return sum(finding.state != probes.FINE and not finding.optional for finding in findings)


def is_colourful(stream, environment):
    """Return whether colours are wanted: on a terminal that has them, unless NO_COLOR is set."""
    return bool(stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM", "") != "dumb")


def as_lines(findings, colours=False):
    """Return the findings as lines."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        state = f"{finding.state:7}"
        state = f"\x1b[{COLOURS[finding.state]}m{state}\x1b[0m" if colours else state
        lines.append(f"{state}  {finding.name:{width}}  {finding.reason}")
        if finding.mend:
            lines.append(" " * (9 + width + 2) + "mend: " + finding.mend)
    ailing, optional = count(findings), sum(finding.optional and finding.state != probes.FINE for finding in findings)
    lines.append("" if ailing else "nothing is slow and nothing needed is missing")
    if ailing:
        lines[-1] = f"{ailing} of {len(findings)} are slow or missing"
    if optional:
        lines[-1] += f"; {optional} that can be done without"
    return lines
