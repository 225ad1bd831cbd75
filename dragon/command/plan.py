"""`dragon plan`: what the optimizer makes of a saved graph, and its memory; what many processes make of a program."""
import collections
import json

from dragon.command.parser import Mistake, add_json, nearest, number
from dragon.core import files
from dragon.core.units import count_bytes

EXAMPLES = (
    ("dragon plan model.dragon", "the graph that runs, and its memory"),
    ("dragon plan model.dragon --at batch=32", "with a number for a size that the graph leaves open"),
    ("dragon plan model.dragon --level 0 --svg model.svg", "a drawing of the calls as they were captured"),
    ("dragon plan train.py --world 1x2,1x4 -- --epochs 1", "a program's step in several processes of this machine; "
                                                           "behind -- are its own words"),
    ("dragon plan train.py --world 8x4 --device-memory 80G --flops 312T --memory-speed 2T --bandwidth 300G "
     "--network 50G", "the same on devices that are told in figures"),
)
WORDS = {"usage": "dragon plan [options] model.dragon\n"
                  "       dragon plan --world MxP [options] train.py [-- arguments ...]"}
OF_GRAPHS = ("level", "skip", "at", "svg", "measure")


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("graph", metavar="model.dragon",
                        help="a saved graph, or a program that trains with PyTorch's API")
    graphs = parser.add_argument_group("of saved graphs")
    programs = parser.add_argument_group("of programs")
    graphs.add_argument("--level", type=int, choices=range(4), help="optimisation, 0 to 3 (default 3)")
    graphs.add_argument("--skip", action="append", default=[], metavar="PASS", help="a pass to leave out; may be "
                                                                                    "repeated")
    graphs.add_argument("--at", action="append", default=[], metavar="NAME=SIZE", help="a size that the graph leaves "
                                                                                       "open; may be repeated")
    graphs.add_argument("--svg", metavar="FILE", help="write a drawing instead of printing the calls; - is the "
                                                      "standard output")
    graphs.add_argument("--measure", type=number(1), metavar="N", help="run N times on random inputs, and tell the "
                                                                       "time and the peak of memory")
    from dragon.command.planning import command
    command.describe(programs)
    add_json(parser)


def split(words):
    """Return (our words, the program's own, which stand behind --)."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1:]


def main(options, rest=()):
    """Print the plan of a graph, or of a program."""
    if options.graph.endswith(".py"):
        from dragon.command.planning import command
        refuse(options, OF_GRAPHS, "a saved graph")
        return command.main(options, rest)
    refuse(options, [name for name in ("world", "costs", "save_costs", "time", "flops")], "a program that ends in .py")
    if rest:
        raise Mistake(f"got {rest[0]!r} behind --, expected nothing: a graph has no words of its own")
    options.level = 3 if options.level is None else options.level
    if options.json and options.svg == "-":
        raise Mistake("got --json and --svg -, expected one of them on the standard output")
    graph = load_graph(options.graph, options.at)
    plan = compile_graph(graph, options.level, options.skip)
    if options.svg:
        write_svg(plan.graph, options.svg)
        if options.svg == "-":
            return 0
    report = tell(options, graph, plan)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(([] if options.svg else [str(plan.graph), ""]) + as_lines(report)))
    return 0


def refuse(options, names, what):
    """Refuse options that belong to something else."""
    for name in names:
        if getattr(options, name) not in (None, []):
            raise Mistake(f"got --{name.replace('_', '-')} with {options.graph!r}, expected it with {what}")


def load_graph(path, sizes=()):
    """Return a saved graph, with numbers in the place of sizes that it leaves open.

    Parameters
    ----------
    path : str
        The file.
    sizes : Sequence[str], optional
        NAME=SIZE.

    Returns
    -------
    dragon.Graph
        The graph.

    """
    from dragon.core.graph import Graph
    with open(path, "rb"):  # says what is wrong with the file itself
        pass
    try:
        graph = Graph.load(path)
    except (RuntimeError, ValueError) as error:
        raise Mistake(f"got {path!r}, expected a graph that `graph.save` wrote: {error}") from None
    given = {}
    for text in sizes:
        name, equals, size = text.partition("=")
        if not (equals and size.isdecimal() and int(size)):
            raise Mistake(f"got --at {text}, expected NAME=SIZE with a size from 1")
        if name not in graph.symbols:
            known = f"one of {', '.join(graph.symbols)}" if graph.symbols else "none: this graph leaves no size open"
            raise Mistake(f"got --at {name}, expected {known}{nearest(name, graph.symbols)}")
        given[name] = int(size)
    if given and set(given) != set(graph.symbols):
        raise Mistake(f"got --at for {', '.join(given)}, expected it for {', '.join(graph.symbols)}")
    return graph.at(**given) if given else graph


def compile_graph(graph, level, skip):
    """Return the plan of a graph."""
    from dragon.core.passes import passes
    known = [entry.name if hasattr(entry, "name") else str(entry) for entry in passes()]
    for name in skip:
        if name not in known:
            raise Mistake(f"got --skip {name}, expected one of {', '.join(known)}{nearest(name, known)}")
    return graph.compile(level=level, skip=skip)


def write_svg(graph, path):
    """Write the drawing of a graph."""
    from dragon.core.graph import Graph
    if path == "-":
        print(Graph(graph).svg())
        return
    files.write(path, Graph(graph).svg())


def tell(options, graph, plan):
    """Return the report on a plan, as a dict that JSON can hold."""
    counts = collections.Counter(call.op for call in plan.graph.calls)
    report = {"graph": options.graph, "level": options.level, "calls before": len(graph.calls),
              "calls": len(plan.graph.calls), "operators": dict(counts.most_common()),
              "sizes left open": list(graph.symbols), "bounds": graph.bounds, "memory": dict(plan.memory)}
    if options.measure:
        report.update(measure(graph, plan, options.measure))
    return report


def measure(graph, plan, times):
    """Return {"memory": bytes, "seconds": the best of some runs} on random inputs."""
    import time
    if graph.symbols:
        raise Mistake(f"got --measure, expected --at for the sizes that are open: {', '.join(graph.symbols)}")
    inputs = [example(graph.values[position]) for position in graph.inputs]
    memory = plan.measure(inputs)
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        plan.run(inputs)
        seconds.append(time.perf_counter() - start)
    return {"memory": dict(memory), "seconds": min(seconds)}


def example(value):
    """Return a tensor that an input takes: random where numbers are real, zeros otherwise."""
    import dragon
    kind = str(value.dtype).rpartition(".")[2]
    if kind.startswith(("float", "bfloat", "complex")):
        return dragon.random.randn(tuple(value.shape), dtype=kind)
    return dragon.zeros(value.shape, dtype=kind)


def as_lines(report):
    """Return a report as lines."""
    memory = report["memory"]
    lines = [f"{report['graph']} at level {report['level']}: {report['calls']} calls of {report['calls before']}",
             f"memory: {count_bytes(memory['planned'])} in {memory['buffers']} buffers; "
             f"{count_bytes(memory['naive'])} if each value had its own place"]
    if report["sizes left open"]:
        lines.append(f"open sizes: {', '.join(report['sizes left open'])} (--at gives them numbers)")
    for symbol, (low, high, multiple) in report["bounds"].items():
        lines.append(f"  {symbol}: {low} {'and more' if high is None else f'to {high}'}"
                     + (f", multiples of {multiple}" if multiple > 1 else ""))
    if "seconds" in report:
        lines.append(f"measured: {report['seconds'] * 1e3:.3f} ms a run, peak {count_bytes(memory['measured'])}")
    return lines
