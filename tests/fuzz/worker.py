"""Make hostile calls in this process; a crash leaves behind which call it was.

    python worker.py --face torch --seed 0 --count 200 --status FILE name [name ...]
    python worker.py --face torch --seed 0 --only 17 name      # make one call again, telling its arguments

Each line of output is a JSON object: an error of the wrong class, one without words, or memory beyond the limit.
"""
import argparse
import faulthandler
import json
import os
import pathlib
import pickle
import sys
import traceback
import warnings

os.environ.setdefault("DRAGON_ALLOCATOR", "naive")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

import sandbox  # noqa: E402  (the allocator must be chosen, and the path set, before)

DEEPEST = 4


def tell(kit, value, depth=0):
    """Return an argument as text, numbers of tensors left out."""
    text = kit.tell(value)
    if text is not None:
        return text
    if type(value) in (list, tuple) and depth < DEEPEST:
        return f"[{', '.join(tell(kit, item, depth + 1) for item in value[:20])}]"
    try:
        return repr(value)[:200]
    except BaseException as error:
        return f"<{type(value).__name__}, which raises {type(error).__name__} when shown>"


def tell_call(kit, name, args, kwargs):
    """Return a call as text."""
    words = [tell(kit, arg) for arg in args] + [f"{key}={tell(kit, value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(words)})"


def parse():
    """Return the options of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--face", default="operators")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the first index of the first name")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--status", default=os.devnull)
    parser.add_argument("--samples", help="a file of right calls, as samples.py writes it")
    parser.add_argument("--only", type=int, help="make this call alone, and tell it")
    parser.add_argument("--replay", help="a file of [name, index, step]: make these calls, tell how each ends")
    parser.add_argument("--genuine", action="store_true", help="call the genuine guest, for comparison")
    parser.add_argument("--list", action="store_true", help="print the names of the face, one per line")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def open_face(options):
    """Return the object that makes the calls of a face."""
    if options.face in ("operators", "cuda"):
        import operators
        return operators.Operators() if options.face == "operators" else operators.DeviceOperators()
    if options.face == "bindings":
        import bindings
        return bindings.Bindings()
    import guests
    samples = {}
    if options.samples:
        with open(options.samples, "rb") as file:
            samples = pickle.load(file)
    return guests.Guest(options.face, samples, options.genuine)


def replay(face, options, name, index, step, print_line):
    """Make the calls of one attempt up to one of them; tell the class of that one's error, or null.

    An instance that came to be is used on, whatever its earlier calls raised.
    """
    raised = None
    try:
        for place, (_, found, args, kwargs) in enumerate(face.attempt(name, options.seed, index)):
            raised = None
            try:
                with sandbox.timed():
                    face.kit.use(found(*args, **kwargs))
            except BaseException as error:
                raised = type(error).__name__
            if place == step:
                break
    except BaseException as error:
        raised = type(error).__name__
    print_line(json.dumps({"name": name, "index": index, "raised": raised}))
    face.kit.restore()


def attempt(face, options, name, index, print_line):
    """Make the calls of one attempt; tell what is wrong with its error."""
    told, where, step, before = "", name, 0, sandbox.most_memory()

    def report(trouble, error):
        try:
            message = str(error)[:300]
        except BaseException:  # a message that shows an argument that cannot be shown
            message = "?"
        print_line(json.dumps({"name": name, "index": index, "step": step, "trouble": trouble, "where": where,
                               "class": type(error).__name__, "message": message, "call": told[:1500]}))
    try:
        for step, (where, found, args, kwargs) in enumerate(face.attempt(name, options.seed, index)):
            told = tell_call(face.kit, where, args, kwargs)
            if options.only is not None:
                print_line(told)
            with sandbox.timed():
                face.kit.use(found(*args, **kwargs))
    except BaseException as error:
        if options.only is not None:
            print_line(f"raised {type(error).__name__}: {str(error)[:500]}")
            print_line("".join(traceback.format_tb(error.__traceback__)[-6:]))
        trouble = face.judge(where, error)
        if trouble:
            report(trouble, error)
    grown = sandbox.most_memory() - before
    if grown > sandbox.GROWTH:
        report("memory", f"grew by {grown} kB")
    face.kit.restore()


def places(face, options):
    """Yield the name and index of every attempt to make; when replaying, which of its calls is asked about as well."""
    if options.replay:
        yield from options.replay[options.start:]
        return
    start = options.start
    for name in options.names or face.names:
        for index in range(start, options.count) if options.only is None else [options.only]:
            yield name, index
        start = 0


def main():
    """Walk the names of the command line."""
    options = parse()
    if options.replay:
        options.replay = json.loads(pathlib.Path(options.replay).read_text(encoding="utf-8"))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    output = sandbox.private_output()

    def print_line(line):
        print(line, file=output, flush=True)
    face = open_face(options)
    if options.list:
        print_line("\n".join(face.names))
        return
    with open(options.status, "w+b", buffering=0) as status, sandbox.walls():
        for name, index, *step in places(face, options):
            os.pwrite(status.fileno(), f"{name} {index}".ljust(200).encode(), 0)
            (replay if options.replay else attempt)(face, options, name, index, *step, print_line)


if __name__ == "__main__":
    main()
