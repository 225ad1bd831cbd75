"""Processes that mix data, tensor and pipeline parallelism learn what one process learns, and what PyTorch's do."""
from harness.mixes import COPIES, DATA_AND_TENSORS, MIXED_MESHES, PIPELINES, STATES
from harness.worlds import run_beside, run_here


def test_parameters_on_a_mesh_are_sharded_over_another_axis():
    run_beside(DATA_AND_TENSORS, 4)


def test_gradients_on_several_meshes_have_one_norm_and_copies_come_beside():
    run_here(MIXED_MESHES, 4)


def test_copies_of_modules_whose_parameters_are_on_a_mesh():
    run_beside(COPIES, 4)


def test_states_go_from_one_mesh_into_another():
    run_here(STATES, 4)


def test_pipelines_of_stages_that_are_cut_or_copied():
    run_beside(PIPELINES, 4)
