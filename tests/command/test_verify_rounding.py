"""`dragon verify` tells rounding that grows from a fault: by how far a second genuine run is from the first."""
import json
import marshal
import struct

import pytest

from dragon.command import compare, outcome, sway
from dragon.command.tracing import digest

FILE = "train.py"


def write(path, events, end={}):
    """Write a file of events, and return it as a stream."""
    with open(path, "wb") as file:
        for event in (*events, ("end", json.dumps(end) if end is not None else None)):
            data = marshal.dumps(event, 4)
            file.write(struct.pack("<I", len(data)) + data)
    return compare.Stream(path, lambda: False)


def run_of(values, name="loss"):
    """Return the events of a program that binds a name at one line, again and again."""
    return [("call", FILE, "<module>", 1, True),
            *(("line", FILE, 3, [(name, digest.digest(value))]) for value in values), ("return",)]


@pytest.fixture
def judge(tmp_path):
    """Return a function that compares a genuine run, Dragon's and a second genuine one, each as values of a name."""
    def call(genuine, mine, other):
        files = iter(range(9))

        def stream(values):
            events = values if values and isinstance(values[0], tuple) else run_of(values)
            return write(tmp_path / str(next(files)), events)
        known = sway.Sway(sway.Recorder(stream(genuine), stream(other), False))
        comparison = compare.Comparison(stream(genuine), stream(mine), compare.tolerances(), False, known)
        try:
            comparison.run()
        except compare.Part as part:
            return part.report, comparison, known
        return None, comparison, known
    return call


GROWING = [1.0 + place / 7 for place in range(20)]


def test_rounding_that_grows_is_no_fault(judge):
    mine = [value * (1 + 1e-8 * 2 ** place) for place, value in enumerate(GROWING)]
    other = [value * (1 - 4e-9 * 2 ** place) for place, value in enumerate(GROWING)]
    part, comparison, _ = judge(GROWING, mine, other)
    assert part is None and comparison.swaying > 0
    assert comparison.furthest["name"] == "loss" and comparison.furthest["own"] < comparison.furthest["distance"]


def test_a_fault_is_found_where_the_genuine_framework_is_sure(judge):
    other = [value * (1 + 1e-8) for value in GROWING]
    mine = [*GROWING[:7], *(value * 1.001 for value in GROWING[7:])]
    part, comparison, _ = judge(GROWING, mine, other)
    assert part["why"] == "value" and part["genuine"]["value"] == GROWING[7]
    assert comparison.apart["distance"] == pytest.approx(1e-3, rel=1e-3)
    assert comparison.apart["own"] == pytest.approx(1e-8, rel=1e-3)


def test_what_is_far_later_excuses_nothing_early(judge):
    other = [*GROWING[:15], *(value * 2 for value in GROWING[15:])]
    part, _, _ = judge(GROWING, [value * 1.01 for value in GROWING], other)
    assert part["genuine"]["value"] == GROWING[0]


def test_counts_may_leap_as_they_do_by_themselves(judge):
    genuine, other = [3, 5, 8, 9, 12], [3, 5, 8, 10, 12]
    assert judge(genuine, [3, 6, 8, 9, 12], other)[0] is None
    assert judge(genuine, [3, 60, 8, 9, 12], other)[0]["name"] == "loss"
    assert judge(genuine, [3, 6, 8, 9, 12], genuine)[0]["name"] == "loss"


def test_where_the_genuine_framework_takes_another_way_nothing_is_judged_after(judge):
    ways = {name: [*run_of([1.0])[:-1], ("line", FILE, line, []), ("line", FILE, 9, []), ("return",)]
            for name, line in (("genuine", 4), ("dragon", 5), ("other", 6))}
    part, comparison, known = judge(*ways.values())
    assert part["why"] == "flow" and known.is_beyond(comparison.parted) and known.is_beyond(None)
    part, comparison, known = judge(ways["genuine"], ways["dragon"], ways["genuine"])
    assert part["why"] == "flow" and not known.is_beyond(comparison.parted)


def test_a_second_run_that_dies_excuses_nothing(tmp_path, judge):
    part, comparison, known = judge(GROWING, [value * 1.01 for value in GROWING], run_of(GROWING[:1])[:-1])
    assert part["why"] == "value" and not known.is_beyond(comparison.parted)


@pytest.mark.parametrize("first, second, far", [
    (1.0, 1.5, 0.5), (2, 5, 3.0), (None, 1.0, None), (1, 1.0, 0.0), (1, 2.0, None), (float("nan"), float("nan"), 0.0),
    (1.0, float("inf"), float("inf")), (True, False, 1.0), (None, None, 0.0),
])
def test_distance_of_numbers(first, second, far):
    assert sway.distance(digest.digest(first), digest.digest(second)) == far


def test_distance_of_tensors():
    numpy = pytest.importorskip("numpy")
    x = numpy.arange(1.0, 5.0)
    y = x.copy()
    y[3] += 1
    rms = numpy.sqrt((x * x).mean())
    assert sway.distance(digest.digest(x), digest.digest(y)) == pytest.approx(1 / rms)
    assert sway.distance(digest.digest(x), digest.digest(x[:2])) is None
    assert sway.distance(digest.digest(x), digest.digest(x.astype("float32"))) is None
    assert sway.distance(digest.digest(x), digest.digest(x)) == 0
    assert sway.distance(digest.digest(x), digest.digest(x * numpy.inf)) == float("inf")
    assert sway.distance(digest.digest(x.astype("int64")), digest.digest(y.astype("int64"))) == 0.25
    assert sway.distance(digest.digest(x), digest.digest(1.0)) is None


def test_printed_numbers_may_differ_as_two_genuine_runs_do():
    printed = ["step 1 loss 0.5\nstep 2 loss 0.40", "step 1 loss 0.5\nstep 2 loss 0.43", "step 1 loss 0.5\n"]
    assert "differ" not in outcome.compare_printed([*printed[:2], printed[2] + "step 2 loss 0.42"], None)
    told = outcome.compare_printed([*printed[:2], printed[2] + "step 2 loss 0.40001"], None)
    assert told["differ"]["printed line"] == 2
    assert "differ" in outcome.compare_printed([printed[0], printed[2] + "step 2 lost 0.43", printed[1]], None)
    assert "differ" in outcome.compare_printed([printed[0], printed[2] + "step 3 loss 0.43", printed[1]], None)


CHAOS = """
import torch
x = torch.linspace(0.1, 0.9, 1000).reshape(10, 100)
mix = torch.rand(100, 100)
mix = mix / mix.sum(0)
for step in range(60):
    x = (x @ mix + x) / 2
    x = 3.9 * x * (1 - x)
print(f"mean {x.mean().item():.6f}")
"""


@pytest.mark.slow
@pytest.mark.long("PyTorch and Dragon start several times in processes of their own, which import them")
def test_a_chaotic_program_is_not_blamed_on_dragon(execute, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "chaos.py").write_text(CHAOS)
    told = json.loads(execute("verify", "--json", "chaos.py").stdout)
    assert told["verdict"] == "equal" and told["sway"]["values"] > 0 and told["sway"]["largest"]["name"] == "x"
    execute("verify", "--rtol", "1e-5", "chaos.py", status=1)  # who gives a tolerance is taken at his word


FORKS = """
import os
import sys
import torch

def work(n):
    total = torch.zeros(())
    for place in range(n):
        total = total + place
    return total

if os.fork() == 0:
    work(300)
    sys.stdout.flush()
    os._exit(0)
os.wait()
print(work(4))
"""


@pytest.mark.slow
def test_what_a_forked_process_does_is_not_taken_for_the_program(execute, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "forks.py").write_text(FORKS)
    done = execute("verify", "forks.py")
    assert done.stdout.startswith("equal on ") and "printed: all 1 lines" in done.stdout
