"""torch.quasirandom: the points of Sobol's sequence, as genuine PyTorch gives them."""
import pytest
import torch as gt

from dragon.vm import torch as dt


@pytest.mark.parametrize("dimension", [1, 2, 3, 40, 1111, 21201])
def test_direction_numbers_are_those_of_pytorch(dimension):
    ours, theirs = dt.quasirandom.SobolEngine(dimension), gt.quasirandom.SobolEngine(dimension)
    assert ours.sobolstate.tolist() == theirs.sobolstate.tolist()
    assert ours.draw(3).tolist() == theirs.draw(3).tolist()


@pytest.mark.parametrize("seed", [0, 7])
def test_scrambled_points_are_those_of_pytorch(seed):
    ours = dt.quasirandom.SobolEngine(5, scramble=True, seed=seed)
    theirs = gt.quasirandom.SobolEngine(5, scramble=True, seed=seed)
    assert ours.shift.tolist() == theirs.shift.tolist() and ours.sobolstate.tolist() == theirs.sobolstate.tolist()
    for count in (1, 2, 64):
        assert ours.draw(count).tolist() == theirs.draw(count).tolist()
    assert repr(ours) == repr(theirs)


def test_scrambling_draws_from_the_default_generator():
    gt.manual_seed(3), dt.manual_seed(3)
    theirs, ours = (torch.quasirandom.SobolEngine(3, scramble=True).draw(4).tolist() for torch in (gt, dt))
    assert ours == theirs


def test_points_in_parts_are_the_points_at_once():
    ours, theirs = dt.quasirandom.SobolEngine(4), gt.quasirandom.SobolEngine(4)
    at_once = theirs.draw(40).tolist()
    assert sum((ours.draw(count).tolist() for count in (1, 1, 5, 0, 33)), []) == at_once
    assert ours.reset().draw_base2(3).tolist() == at_once[:8] and ours.num_generated == 8
    assert ours.fast_forward(9).draw(3).tolist() == at_once[17:20]
    assert dt.quasirandom.SobolEngine(4).fast_forward(6).draw(2).tolist() == at_once[6:8]
    with pytest.raises(ValueError, match="power of 2"):
        ours.draw_base2(2)


def test_dtypes_and_destinations():
    ours, theirs = dt.quasirandom.SobolEngine(3), gt.quasirandom.SobolEngine(3)
    assert ours.draw(5, dtype=dt.float64).tolist() == theirs.draw(5, dtype=gt.float64).tolist()
    place = dt.empty(0)
    assert ours.draw(6, out=place) is place and place.tolist() == theirs.draw(6).tolist()


@pytest.mark.parametrize("dimension", [0, -1, 21202])
def test_dimensions_outside_are_refused(dimension):
    with pytest.raises(ValueError, match="Supported range of dimensionality"):
        dt.quasirandom.SobolEngine(dimension)
