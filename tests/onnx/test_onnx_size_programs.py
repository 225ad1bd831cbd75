"""Random programs exported with every axis dynamic, at sizes far beyond those they were exported at; beside PyTorch."""
import pytest

pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness.exported_programs import RAN, ExportedProgram, check_exported  # noqa: E402

from dragon.vm import torch  # noqa: E402

PER_TEST = 8


@pytest.mark.parametrize("group", [pytest.param(group, marks=[] if group < 2 else [pytest.mark.slow])
                                   for group in range(12)])
def test_models_hold_for_the_sizes_they_tell(group):
    ran = 0
    for seed in range(group * PER_TEST, (group + 1) * PER_TEST):
        wrong, _, became = check_exported(ExportedProgram(seed, torch), torch, genuine, 12)
        assert wrong is None, f"seed {seed} {wrong}"
        ran += became.count(RAN)
    assert ran > 2 * PER_TEST
