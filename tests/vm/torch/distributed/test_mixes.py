"""Processes that mix data, tensor and pipeline parallelism learn what one process learns, and what PyTorch's do."""
import pytest

from harness.mixes import (
    ACCUMULATED, COPIES, DATA_AND_TENSORS, MIXED_MESHES, OTHER_MESHES, PAIRS, PIPELINES, STATES)
from harness.worlds import run_beside, run_here

pytestmark = pytest.mark.long("four processes train, on PyTorch and on Dragon, with as many processors as there are")


def test_parameters_on_a_mesh_are_sharded_over_another_axis():
    run_beside(DATA_AND_TENSORS, 4)


def test_parameters_on_several_meshes_and_other_dtypes():
    run_beside(OTHER_MESHES, 4)


@pytest.mark.parametrize("way", ["cut", "cut_all"])
def test_gradients_on_several_meshes_have_one_norm_and_copies_come_beside(way):
    run_here(MIXED_MESHES.replace("WAY", way), 4)


def test_gradients_on_several_meshes_add_up():
    run_here(ACCUMULATED, 4)


def test_copies_of_modules_whose_parameters_are_on_a_mesh():
    run_beside(COPIES, 4)


@pytest.mark.parametrize("pair", PAIRS, ids=" to ".join)
def test_states_go_from_one_mesh_into_another(pair):
    run_here(STATES.replace("PAIR", repr(pair)), 4)


@pytest.mark.parametrize("second", ["tensor", "data"])
def test_pipelines_of_stages_that_are_cut_or_copied(second):
    run_beside(PIPELINES.replace("SECOND", repr(second)), 4)
