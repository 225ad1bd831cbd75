"""`dragon evaluate`: throughput and speed-up of nets on Dragon and on genuine PyTorch, and how to repeat it."""
import json
import os
import sys

from dragon.command.parser import Mistake, add_json, number
from dragon.command.planning.units import worlds

WORLDS = "1x1,1x4,1x8,2x8,4x8"
EXAMPLES = (
    ("dragon evaluate --genuine ~/torch/bin/python", "ResNet-50 and a GPT, beside the PyTorch of another environment"),
    ("dragon evaluate --nets model.py:small --worlds 1x1,1x2 --genuine python --output report.json",
     "a net of one's own: the file has make(name), which returns a model, inputs and targets"),
    ("dragon evaluate --check report.json", "whether a report tells all that the rules ask for"),
)


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("--nets", default="resnet50,gpt", metavar="NAMES", help="resnet50, gpt, or FILE.py:NAME "
                                                                                "(default resnet50,gpt)")
    parser.add_argument("--worlds", type=worlds, default=worlds(WORLDS), metavar="MxP,...",
                        help=f"machines and processes on each (default {WORLDS}); what this host lacks is not run")
    parser.add_argument("--genuine", metavar="PYTHON", help="an interpreter that has genuine PyTorch")
    parser.add_argument("--runs", type=number(1), default=5, metavar="N", help="of each side, in turns: 5 to 7 "
                                                                               "(default 5)")
    parser.add_argument("--steps", type=number(1), default=10, metavar="N", help="of a run (default 10)")
    parser.add_argument("--threads", type=number(1), default=1, metavar="N", help="of a process (default 1)")
    parser.add_argument("--crowded", action="store_true", help="run worlds that this host has too few processors for")
    parser.add_argument("--output", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--check", metavar="FILE", help="run nothing, and judge a report by the rules")
    add_json(parser)


def main(options):
    """Run an evaluation, or judge one; return 1 if a rule is not kept."""
    from dragon.command.evaluation import rules
    if options.check:
        report = read(options.check)
    else:
        report = run(options)
    broken = rules.judge(report)
    report["rules"] = {rule: broken.get(rule, "kept") for rule in rules.RULES}
    if options.output:
        write(report, options.output)
    print(json.dumps(report, indent=2) if options.json else "\n".join(as_lines(report)))
    return 1 if broken else 0


def run(options):
    """Return the report of a run."""
    from dragon.command.evaluation import running
    if options.genuine and not os.access(options.genuine, os.X_OK):
        import shutil
        found = shutil.which(options.genuine)
        if found is None:
            raise Mistake(f"got --genuine {options.genuine}, expected an interpreter that can be run")
        options.genuine = found
    options.nets = options.nets.split(",")
    options.words = ["--nets", ",".join(options.nets), "--worlds",
                     ",".join(f"{machines}x{local}" for machines, local in options.worlds), "--runs",
                     str(options.runs), "--steps", str(options.steps), "--threads", str(options.threads),
                     *(["--genuine", options.genuine] if options.genuine else []),
                     *(["--crowded"] if options.crowded else [])]
    return running.evaluate(options, lambda text: print(f"dragon evaluate: {text}", file=sys.stderr))


def read(path):
    """Return a report that was written down."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except ValueError as error:
        raise Mistake(f"got {path!r}, expected a report that `dragon evaluate --output` wrote: {error}") from None
    if not isinstance(report, dict):
        raise Mistake(f"got {path!r}, expected a report that `dragon evaluate --output` wrote")
    return report


def write(report, path):
    """Write a report as JSON."""
    from dragon.core import files
    with files.rewriting(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)


def as_lines(report):
    """Return a report as lines; what it lacks is not there."""
    lines = []
    hardware = report.get("hardware") or {}
    lines.append(f"{hardware.get('processor')}, {hardware.get('processors')} processors, load {hardware.get('load')}")
    for net in report.get("nets") or []:
        count = net.get("parameters")
        lines += ["", f"{net.get('name')}: {count / 1e6:.2f} M parameters" if count else f"{net.get('name')}"]
        for world in net.get("worlds") or []:
            name = f"  {world.get('machines')} x {world.get('local')}  "
            if "not run" in world:
                lines.append(f"{name}not run: {world['not run']}")
                continue
            words = [f"{side} {figures['median']:.2f}/s"
                     + (f" ({figures['speed-up']:.2f} times one process)" if figures.get("speed-up") else "")
                     for side, figures in (world.get("sides") or {}).items() if figures.get("median")]
            ratio = world.get("ratio")
            lines.append(name + ", ".join(words) + (f"; {ratio:.2f} of PyTorch's" if ratio else ""))
    return lines + ["", "rules:"] + [f"  {rule}: {said}" for rule, said in report["rules"].items()]
