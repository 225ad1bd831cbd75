"""`dragon plan` of a program: what it would take in many processes, from one step that is run with shapes only."""
import json
import os
import sys

from dragon.command.parser import Mistake
from dragon.command.planning import dry_run, report, standard, strategies
from dragon.command.planning.costs import Roofline, Table, work_of
from dragon.command.planning.network import Network
from dragon.command.planning.schedule import SCHEDULES
from dragon.command.planning.units import amount, duration, worlds

OF_DEVICES = ("flops", "memory_speed")


def describe(parser):
    """Tell the parser the words of plans of programs."""
    number = whole_number()
    parser.add_argument("--world", type=worlds, metavar="MxP", help="machines and processes on each; several are "
                                                                    "parted by commas")
    parser.add_argument("--device-memory", type=amount, metavar="BYTES", help="what each process has, such as 80G")
    parser.add_argument("--flops", type=amount, metavar="N", help="operations per second of a device, such as 312T")
    parser.add_argument("--memory-speed", type=amount, metavar="BYTES", help="per second, of a device's own memory")
    parser.add_argument("--bandwidth", type=amount, metavar="BYTES", help="per second that a process sends to others "
                                                                          "of its machine")
    parser.add_argument("--network", type=amount, metavar="BYTES", help="per second that a machine sends to others")
    parser.add_argument("--latency", type=duration, metavar="TIME", help="of a message, such as 5us")
    parser.add_argument("--costs", metavar="FILE", help="a table of costs that --save-costs wrote")
    parser.add_argument("--save-costs", metavar="FILE", help="write the table of costs that was used")
    parser.add_argument("--time", type=number(1), metavar="N", help="run N steps for real, and use what they took")
    parser.add_argument("--tensor", type=number(1), metavar="N", help="how many processes share out each product")
    parser.add_argument("--pipeline", type=number(1), metavar="N", help="how many stages")
    parser.add_argument("--parts", type=number(1), metavar="N", help="into how many parts pipelines cut a batch "
                                                                     "(default: four for each stage)")
    parser.add_argument("--schedule", choices=SCHEDULES, default="1f1b", help="of pipelines (default 1f1b)")
    parser.add_argument("--timeout", type=number(1, float), default=300.0, metavar="SECONDS",
                        help="how long the program may take (default 300)")


def whole_number():
    """Return the maker of types of numbers."""
    from dragon.command.parser import number
    return number


def main(options, rest):
    """Print what a program would take in many processes; return 1 if it fits in none of the ways."""
    check(options)
    with open(options.graph, "rb"):  # says what is wrong with the file itself
        pass
    told, = dry_run.run(options.graph, rest, options.timeout)
    costs, about, net, cores = choose_costs(options, rest)
    found = {"script": options.graph, "asked": told["asked"], "costs": about, "device memory": options.device_memory,
             "worlds": []}
    for machines, local in options.world:
        setting = strategies.Setting(told["step"], costs, net, machines, local, options.parts, options.schedule, cores)
        plans = [strategies.plan(setting, layout) for layout in
                 strategies.layouts(machines, local, len(setting.units), options.tensor, options.pipeline)]
        if not plans:
            asked = " and ".join(f"--{name} {getattr(options, name)}" for name in ("tensor", "pipeline")
                                 if getattr(options, name))
            raise Mistake(f"got --world {machines}x{local} with {asked}, expected numbers that divide "
                          f"{machines * local}, and no more stages than the model has units ({len(setting.units)})")
        fitting = [plan for plan in plans if report.fits(plan, options.device_memory)]
        best = max(fitting, key=lambda plan: plan["speed-up"], default=None)
        found["worlds"].append({"machines": machines, "local": local, "plans": plans,
                                "best": best and best["layout"]})
    alone = strategies.Setting(told["step"], costs, net, 1, 1)
    found["program"] = tell_program(told["step"], alone)
    if options.save_costs:
        if not isinstance(costs, Table):
            raise Mistake("got --save-costs with --flops, expected costs that were measured")
        costs.save(options.save_costs)
    print(json.dumps(found, indent=2) if options.json else "\n".join(report.as_lines(found)))
    return 0 if all(world["best"] for world in found["worlds"]) else 1


def tell_program(step, alone):
    """Return what one process takes."""
    plan = strategies.plan(alone, strategies.Layout())
    return {"parameters": sum(count_numbers(shape) for _, shape, *_ in step["parameters"]), "units": len(alone.units),
            "calls": len(step["calls"]), "multiply-adds": sum(work_of(call)[0] or 0 for call in step["calls"]),
            "memory": plan["memory"], "seconds": plan["seconds"], "modules": [unit.name for unit in alone.units]}


def count_numbers(shape):
    """Return how many numbers a tensor of a shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def check(options):
    """Refuse options that do not go together."""
    given = [name for name in OF_DEVICES if getattr(options, name) is not None]
    if options.world is None:
        raise Mistake("got a program and no --world, expected one, such as 2x4")
    if len(given) == 1:
        raise Mistake(f"got --{given[0].replace('_', '-')} alone, expected --flops and --memory-speed")
    if given and (options.costs or options.time):
        raise Mistake(f"got --flops and --{'costs' if options.costs else 'time'}, expected one of them")
    largest = max(local for _, local in options.world)
    if given and largest > 1 and options.bandwidth is None:
        raise Mistake("got --flops without --bandwidth, expected both: what was measured here says nothing of devices")
    if options.network is None and any(machines > 1 for machines, _ in options.world):
        raise Mistake("got a world of several machines without --network, expected the bytes per second between them")


def choose_costs(options, rest):
    """Return (the costs, what they are in words, the network, how many processes a machine runs at once)."""
    def say(text):
        print(f"dragon plan: {text}", file=sys.stderr)
    latency = options.latency
    if options.flops:
        net = Network(options.bandwidth or options.network or 1e9, options.network or 1e9, latency or 5e-6)
        return (Roofline(options.flops, options.memory_speed),
                f"a device of {options.flops:.3g} operations and {options.memory_speed:.3g} bytes per second, of which "
                "half is reached", net, None)
    try:
        costs = Table.load(options.costs) if options.costs else standard.load(say)
    except (ValueError, KeyError, TypeError) as error:
        raise Mistake(str(error) if isinstance(error, ValueError) else f"got {options.costs!r}, expected a table of "
                      "costs that `dragon plan --save-costs` wrote") from None
    words = f"measured in processes of {costs.about.get('threads', 1)} thread on {costs.about.get('processor')}"
    if options.time:
        copies = min(max(local for _, local in options.world), costs.about["processors"])
        costs = costs.merge(standard.measure(options.graph, rest, options.time, options.timeout, copies, {}))
        words += f", and in {options.time} steps of {os.path.basename(options.graph)}"
    send = costs.about["send"]
    net = Network(options.bandwidth or send["bandwidth"], options.network or 1e9, latency or send["latency"],
                  shared=options.bandwidth is None)
    return costs, words, net, costs.about["processors"]
