"""Operators beside DALI 2.4: a line of recorded.txt is a call, and what came of it there."""
import pathlib

import numpy as np
import pytest

from harness.subresults import each
from vm.dali.inputs import make_inputs
from vm.dali.run_call import run_text

INPUTS = make_inputs()
ROWS = [line.split("\t") for line in
        pathlib.Path(__file__).with_name("recorded.txt").read_text(encoding="utf-8").splitlines()]


@each("name, given, layout, tolerance, expression, told", ROWS, ids=[row[0] for row in ROWS])
def test_as_recorded(name, given, layout, tolerance, expression, told):
    value, layout = INPUTS[given], layout.strip("-")
    if tolerance == "-":
        with pytest.raises(Exception) as caught:
            run_text(expression, value, layout)
        assert type(caught.value).__name__ == told
        return
    facts, _, numbers = told.partition(" : ")
    kind, laid, shape = facts.split()
    made = run_text(expression, value, layout)
    array = np.asarray(made.at(0))
    assert (made.dtype.name, made.layout() or "-", "x".join(map(str, array.shape)) or "()") == (kind, laid, shape)
    wanted = np.array(numbers.split(), float)
    flat = array.ravel().astype(float)
    places = np.unique(np.linspace(0, max(flat.size - 1, 0), 16).astype(int)) if flat.size else []
    np.testing.assert_allclose(flat[places], wanted, rtol=2e-5, atol=float(tolerance))


def test_there_are_rows_for_each_family():
    assert len(ROWS) > 300
    assert {name.split("_")[0] for name, *_ in ROWS} >= {"resize", "crop", "cmn", "slice", "rotate", "col", "spec"}
