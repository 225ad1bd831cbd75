"""Random right programs of TensorFlow's functions: values, dtypes and gradients beside genuine TensorFlow's, and
beside the same program as a `tf.function`.

    python tests/fuzz/tensorflow_numbers.py 0 1000 [--only PATTERN] [--report FILE]

"differs" and "refused" are beside genuine TensorFlow, "compiled" is beside Dragon's eager calls.
"""
import argparse
import collections
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import paired  # noqa: E402  (stands beside this file)
import pairs  # noqa: E402
import tensorflow_programs  # noqa: E402
import tensorflow_rows  # noqa: E402

SECONDS = 20
KNOWN = pathlib.Path(__file__).with_name("known_numbers.txt")
WITHIN = {"float16": 4e-3, "half": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}
ONE_GRAPH = ("plain", "sizes", "jit")  # the ways of a `tf.function`


def run(side, program, function, inputs):
    """Return the leaves of each statement's results, and of the gradients, or the errors in their places."""
    tf = side.tensors
    sources = [x for x in inputs if x.dtype.is_floating or x.dtype.is_complex]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        results = function(*inputs)
    answer = {"results": [side.read(result) for result in results]}
    targets = [leaf for leaf in flat(results, tf) if leaf.dtype.is_floating or leaf.dtype.is_complex]
    try:
        grads = tape.gradient(targets, sources, [cotangent(tf, target) for target in targets]) if targets else []
        answer["gradients"] = side.read([None if grad is None else tf.convert_to_tensor(grad) for grad in grads])
    except Exception as error:
        answer["gradients"] = type(error).__name__, paired.words_of(error)
    return answer


def flat(value, tf):
    """Return the tensors within results."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item, tf)]
    if isinstance(value, tf.RaggedTensor):
        return [value.flat_values]
    if isinstance(value, tf.SparseTensor):
        return [value.values]
    return [value] if isinstance(value, tf.Tensor) else []


def cotangent(tf, target):
    """Return the gradient that comes in at a result."""
    count = int(numpy.prod(target.shape))
    return tf.cast(tf.reshape(tf.constant(numpy.cos(numpy.arange(count) * 0.7)), target.shape), target.dtype)


def answer_of(side, program, way=None):
    """Return what a program gives on a side: eagerly, or as a function in one of its ways."""
    tf = side.tensors
    inputs = [tensorflow_programs.tensor(tf, dtype, array) for _, dtype, array in program["inputs"]]
    function = tensorflow_programs.function_of(program, tf)
    if way == "sizes":
        spec = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in inputs]
        function = tf.function(function, input_signature=spec, autograph=False)
    elif way:
        function = tf.function(function, jit_compile=way == "jit" or None, autograph=False)
    answer = run(side, program, function, inputs)
    if way == "plain":  # the second call runs what the first one wrote down
        answer = run(side, program, function, inputs)
    return answer


def guarded(call, *args):
    """Return what a call returns, or ("error", class, words)."""
    signal.signal(signal.SIGALRM, paired.stop)
    signal.alarm(SECONDS)
    try:
        return call(*args)
    except BaseException as error:
        return "error", type(error).__name__, paired.words_of(error)
    finally:
        signal.alarm(0)


def work(options):
    """Write down the answers of one side; the genuine one grows the programs."""
    warnings.simplefilter("ignore")
    side = paired.Side("tensorflow", options.side == "genuine")
    rows = [row for row in tensorflow_rows.templates() if re.search(options.only, row[1])]
    programs = {}
    if options.programs:
        programs = {seed: program for seed, program, _ in read(options.programs) if program}
    with open(options.answers, "ab", buffering=0) as file:
        for seed in range(options.first, options.first + options.count):
            file.write(pickle.dumps((seed, None, None)))
            if options.side == "genuine":
                program = tensorflow_programs.Grower(seed, side.tensors, rows).program()
                answers = {"eager": guarded(answer_of, side, program)}
            elif seed in programs:
                program = programs[seed]
                answers = {"eager": guarded(answer_of, side, program)}
                if answers["eager"].__class__ is dict:
                    ways = ONE_GRAPH if options.ways is None else options.ways.split(",")
                    answers.update((way, guarded(answer_of, side, program, way)) for way in ways if way)
            else:
                continue
            file.write(pickle.dumps((seed, program, answers)))
    os._exit(0) if threading.active_count() > 1 else None


def read(path):
    """Yield (seed, program, answers) of a file; the two latter are None where the process ended."""
    pending = None
    with open(path, "rb") as file:
        while True:
            try:
                seed, program, answers = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                break
            if program is None:
                if pending is not None:
                    yield pending, None, None
                pending = seed
            else:
                pending = None
                yield seed, program, answers
    if pending is not None:
        yield pending, None, None


def run_side(side, first, count, folder, more):
    """Run one side in processes of its own, begun anew behind a crash; return the file, and {seed: how it ended}."""
    path, ended, last = pathlib.Path(folder) / side, {}, first + count
    path.unlink(missing_ok=True)
    while first < last:
        command = [sys.executable, __file__, str(first), str(last - first), "--side", side, "--answers", str(path),
                   *more]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder,
                              env={**os.environ, **pairs.ENVIRONMENT})
        if done.returncode == 0:
            break
        seeds = [seed for seed, _, _ in read(path)] if path.exists() else []
        if not seeds or done.returncode == 1:
            raise RuntimeError(f"tensorflow_numbers: a process did not end well:\n{done.stderr[-3000:]}")
        ended[seeds[-1]] = f"{done.returncode}: {done.stderr[-300:]}"
        first = seeds[-1] + 1
    return path, ended


def leaves_differ(theirs, mine, within, scale):
    """Return what differs between two lists of leaves, or None."""
    if len(theirs) != len(mine):
        return f"{len(mine)} results, other {len(theirs)}"
    for place, (one, other) in enumerate(zip(theirs, mine)):
        words = pairs.leaf_differs(one, other, False, within, scale)
        if words:
            return f"result {place}: {words}"
    return None


def tolerance(name):
    """Return the relative difference that is rounding, of sums of some products."""
    return WITHIN.get(name, 1e-9)


def exact(name):
    """Return the relative difference that a graph's own order of work makes."""
    return tolerance(name) / 4


def compare(theirs, mine, program, within):
    """Return (the statement or "gradients", words) of where two answers part, or None."""
    if theirs.__class__ is not dict:
        return None
    if mine.__class__ is not dict:
        return "whole", f"{mine[1]}: {mine[2]}"
    scale = max([1e-3, *(abs(array).max(initial=0) for _, _, array in program["inputs"] if array.dtype.kind in "fc"
                         and not program["extreme"])])
    for line, one, other in zip(program["lines"], theirs["results"], mine["results"]):
        words = leaves_differ(one, other, within, float(scale))
        if words:
            return line, words
    one, other = theirs["gradients"], mine["gradients"]
    if isinstance(one, tuple):
        return None
    if isinstance(other, tuple):
        return "gradients", f"{other[0]}: {other[1]}"
    if len(one) != len(other):
        return "gradients", f"{len(other)}, other {len(one)}"
    names = [name for name, dtype, _ in program["inputs"] if "float" in dtype or "complex" in dtype]
    for name, leaf, found in zip(names, one, other):
        words = leaves_differ([leaf], [found], within, float(scale))
        if words:
            return "gradients", f"of {name}: {words}"
    return None


def told(program, line):
    """Return the text of a program up to a statement, with its inputs."""
    lines = program["lines"]
    lines = lines[:lines.index(line) + 1] if line in lines else lines
    used = set(re.findall(r"\bx\d+\b", " ".join(lines)))
    inputs = [f"{name}={dtype} {array.tolist() if array.size < 13 else array.shape}"
              for name, dtype, array in program["inputs"] if name in used]
    return " ; ".join(inputs) + " :: " + " ; ".join(lines)


def findings(genuine, mine, crashed):
    """Yield (seed, kind, line, words, text), and count what was compared."""
    theirs = {seed: (program, answers) for seed, program, answers in read(genuine) if program}
    for seed, program, answers in read(mine):
        wanted = theirs.get(seed)
        if wanted is None:
            continue
        if program is None:
            yield seed, "crash", "whole", crashed.get(seed, "?"), told(wanted[0], "")
            continue
        parted = compare(wanted[1]["eager"], answers["eager"], program, tolerance)
        if parted:
            kind = "refused" if "Error" in parted[1][:40] else "differs"
            yield seed, kind, parted[0], parted[1], told(program, parted[0])
        for way in ONE_GRAPH:
            parted = way in answers and compare(answers["eager"], answers[way], program, exact)
            if parted:
                yield seed, f"compiled {way}", parted[0], parted[1], told(program, parted[0])


def known_differences():
    """Return [(kind, pattern of a statement or text, pattern of words)] of the table of known differences."""
    rows = [line.split(" | ") for line in KNOWN.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]
    return [(kind.strip(), re.compile(text.strip()), re.compile(words.strip())) for kind, text, words in rows]


def is_known(finding, known):
    """Return whether a finding stands in the table."""
    _, kind, line, words, text = finding
    return any(re.fullmatch(one, kind) and pattern.search(f"{line} :: {text}") and says.search(words)
               for one, pattern, says in known)


def hunt(first, count, folder, only="", ways=None):
    """Return (findings that no table tells, programs compared, statements, those with gradients)."""
    genuine, _ = run_side("genuine", first, count, folder, ["--only", only])
    more = [] if ways is None else ["--ways", ways]
    mine, crashed = run_side("mine", first, count, folder, ["--programs", str(genuine), *more])
    known = known_differences()
    found = [finding for finding in findings(genuine, mine, crashed) if not is_known(finding, known)]
    whole = [(program, answers["eager"]) for _, program, answers in read(genuine)
             if program and answers["eager"].__class__ is dict]
    return (found, len(whole), sum(len(program["lines"]) for program, _ in whole),
            sum(isinstance(answer["gradients"], list) and bool(answer["gradients"]) for _, answer in whole))


def main():
    """Hunt among a range of seeds; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", default="", help="a pattern of templates")
    parser.add_argument("--report", help="a file that findings are added to, one JSON object per line")
    parser.add_argument("--ways", help="how the programs become functions: some of " + ",".join(ONE_GRAPH))
    parser.add_argument("--side", choices=("genuine", "mine"), help=argparse.SUPPRESS)
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    parser.add_argument("--programs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return work(options)
    with tempfile.TemporaryDirectory() as folder:
        found, programs, statements, learned = hunt(options.first, options.count, folder, options.only, options.ways)
    for seed, kind, line, words, text in found:
        print(f"seed {seed} {kind} [{line}] {words}\n    {text}", flush=True)
        if options.report:
            with open(options.report, "a", encoding="utf-8") as file:
                file.write(json.dumps([seed, kind, line, words, text]) + "\n")
    kinds = collections.Counter(finding[1] for finding in found)
    print(f"{programs} programs, {statements} statements, {learned} with gradients; {dict(kinds)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
