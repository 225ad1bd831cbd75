"""At which sizes a program is the same: what probes find is what the program decides."""
import types


from dragon.core.capture.probes import Bounds, Probes, phantoms_at
from dragon.core.capture.procedure import write_down
from dragon.vm import torch
from harness.subresults import each

AXES = {"batch": {(0, 0)}, "n": {(0, 1)}}


def probe(function, size):
    """Return the probes of a function of a tensor of shape (2, size)."""
    inputs = [torch.rand(2, size)]
    recording = types.SimpleNamespace(function=function, args=tuple(inputs), kwargs={}, inputs=inputs, met=None)
    procedure, _ = write_down(recording, [(0, 0), (0, 1)], is_trace=True)

    def refusal(sizes):
        return procedure.refusal(phantoms_at(inputs, {place: sizes[name] for name, places in AXES.items()
                                                      for place in places}))
    return Probes(refusal, {"batch": 2, "n": size}, procedure.conditions)


@each("decides, size, low, high, multiple", [
    (lambda n: True, 8, 0, None, 1), (lambda n: n > 20, 8, 0, 20, 1), (lambda n: n > 20, 21, 21, None, 1),
    (lambda n: n > 777, 8, 0, 777, 1), (lambda n: n > 40000, 8, 0, 40000, 1), (lambda n: 5 < n <= 300, 64, 6, 300, 1),
    (lambda n: n % 32 == 0, 64, 0, None, 32), (lambda n: n % 7 == 3, 10, 3, None, 7),
    (lambda n: n % 4 == 0, 7, 5, 7, 1),
    (lambda n: n % 4 == 0 and n < 90, 8, 0, 88, 4), (lambda n: n == 8, 8, 8, 8, 1), (lambda n: n == 1000, 8, 0, 999, 1),
    (lambda n: n > 1, 8, 2, None, 1), (lambda n: n // 3 == 5, 16, 15, 17, 1)])
def test_bounds_are_those_of_the_decision(decides, size, low, high, multiple):
    probes = probe(lambda x: x * 2 if decides(x.shape[1]) else x, size)
    found = probes.bounds["n"]
    assert (found.low, found.high, found.multiple) == (low, high, multiple)
    for other in range(120):  # what is within is decided alike
        assert other not in found or decides(other) == decides(size)
    assert probes.bounds["batch"].is_open
    if found.high is not None:
        assert "test_probes.py" in found.reasons[-1]


def test_operators_that_refuse_sizes_bound_them():
    assert str(probe(lambda x: x.reshape(-1, 4, 4), 16).bounds["n"]) == "8 and more, multiples of 8"
    assert probe(lambda x: torch.nn.functional.max_pool1d(x, 5), 16).bounds["n"].low == 5


def test_sizes_that_go_together_are_told():
    probes = probe(lambda x: x if x.shape[0] * x.shape[1] < 600 else -x, 8)
    assert probes.joint and "600" in probes.joint[0]


def test_long_programs_are_asked_less():
    asked = []
    probes = Probes(lambda sizes: asked.append(sizes) or ("large" if sizes["n"] > 50 else ""), {"n": 8}, calls=15_000)
    assert len(asked) < 40 and 8 in probes.bounds["n"] and probes.bounds["n"].high == 50


def test_bounds_speak():
    assert [str(Bounds(*sizes, [])) for sizes in ((0, 49, 1), (2, None, 1), (8, 8, 1), (3, 80, 7), (32, None, 32))] == [
        "1 to 49", "2 and more", "8", "3 to 80, multiples of 7 and 3", "32 and more, multiples of 32"]
    bounds = Bounds(3, 80, 7, [])
    assert 10 in bounds and 80 in bounds and 9 not in bounds and 87 not in bounds and bounds.snapped(50) == 45
