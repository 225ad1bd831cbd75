"""What holds for every test of distributions."""
import pytest
import torch


@pytest.fixture(autouse=True)
def genuine_checks_arguments():
    """Let genuine PyTorch check arguments, which it leaves off for good in a process that ever compiled something."""
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(True)
    yield
    torch.distributions.Distribution.set_default_validate_args(before)
