"""The process of one engine: builds the case it is asked for, times it, answers; one JSON line each way."""
import gc
import importlib
import json
import resource
import statistics
import sys
import time

SAMPLE_SECONDS = 0.0005
WARM_SECONDS = 0.05


def take_turn(function, seconds):
    """Return the median time and the mean page faults of a call."""
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < WARM_SECONDS or calls < 3:
        function()
        calls += 1
    each = (time.perf_counter() - start) / calls
    inner = max(1, int(SAMPLE_SECONDS / each))
    samples, start, total = [], time.perf_counter(), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    gc.disable()
    while time.perf_counter() - start < seconds or len(samples) < 5:
        begin = time.perf_counter()
        for _ in range(inner):
            function()
        samples.append((time.perf_counter() - begin) / inner)
        total += inner
    gc.enable()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return {"time": statistics.median(samples), "faults": faults / total}


def answer_questions(engine):
    """Serve until the other end goes away."""
    built = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question.get("forget"):
            built.clear()
            gc.collect()
            answer = {}
        elif question.get("version"):
            answer = {"version": engine.version()}
        else:
            try:
                if question["case"] not in built:
                    cases = importlib.import_module("cases." + question["group"]).CASES
                    case = next(case for case in cases if case.name == question["case"])
                    built[case.name] = case.make(engine)
                answer = take_turn(built[question["case"]], question["seconds"])
            except Exception as error:  # the table shows it; the other cases go on
                answer = {"error": f"{type(error).__name__}: {error}".split("\n")[0][:100]}
        print(json.dumps(answer), file=replies, flush=True)


if __name__ == "__main__":
    # What a library prints must not be taken for an answer.
    replies, sys.stdout = sys.stdout, sys.stderr
    from engines import ENGINES
    from harness import THREADS
    answer_questions(ENGINES[sys.argv[1]](THREADS))
