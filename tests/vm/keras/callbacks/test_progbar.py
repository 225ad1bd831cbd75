"""The progress bar's text is the genuine one's, to the character."""
import io
import sys

import pytest

from dragon.vm.keras.utils.progbar import Progbar
from harness import genuine

ROWS = [
    dict(target=7),
    dict(target=120, width=30, unit_name="sample"),
    dict(target=None),
    dict(target=7, verbose=2),
    dict(target=7, verbose=0),
    dict(target=7, interval=0.5),
    dict(target=7, stateful_metrics=["loss"]),
    dict(target=7, stateless_metrics=["loss"]),
    dict(target=5000, step_seconds=3.0, interval=60),
    dict(target=100, step_seconds=7.0),
]


class Clock:
    """Seconds that go on by the same amount at each question."""

    def __init__(self, step):
        self.step, self.now = step, 1000.0

    def time(self):
        self.now += self.step
        return self.now


def write(kind, module, monkeypatch, step_seconds=0.013, **options):
    """Return what a bar prints."""
    clock, out = Clock(step_seconds), io.StringIO()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(sys, "stdout", out)
    bar = kind(**options)
    for step in range(1, min(options["target"] or 7, 40) + 1):
        values = [("loss", 5.0 / step), ("small", 1e-5 * step), ("negative", -2.0)]
        bar.update(step, values, finalize=False if options["target"] is None else None)
    bar.update(options["target"] or 7, [("loss", 0.25), ("val_loss", 0.5)], finalize=True)
    bar.add(1, [("loss", 2.0)])
    monkeypatch.undo()
    return out.getvalue()


@pytest.mark.parametrize("options", ROWS, ids=str)
def test_text_is_the_genuine_one(options, monkeypatch):
    genuine_kind = genuine.keras.utils.Progbar
    expected = write(genuine_kind, sys.modules[genuine_kind.__module__], monkeypatch, **options)
    got = write(Progbar, sys.modules[Progbar.__module__], monkeypatch, **options)
    assert got == expected


def test_both_kinds_of_metrics_are_refused():
    with pytest.raises(ValueError, match="Received: stateful_metrics="):
        Progbar(3, stateful_metrics=["a"], stateless_metrics=["b"])
