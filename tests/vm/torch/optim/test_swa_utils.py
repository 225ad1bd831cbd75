"""Averaged models beside genuine PyTorch."""
import importlib

import pytest
import torch

from dragon.vm import torch as dt


def averaged(T, **options):
    T.manual_seed(0)
    model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3))
    with T.no_grad():
        for index, param in enumerate(model.parameters()):
            param.fill_(index + 1.0)
    utils = importlib.import_module(f"{T.__name__}.optim.swa_utils")
    options = {key: getattr(utils, value)() if isinstance(value, str) else value for key, value in options.items()}
    average = utils.AveragedModel(model, **options)
    for step in range(3):
        with T.no_grad():
            for param in model.parameters():
                param.add_(step + 0.5)
        average.update_parameters(model)
    utils.update_bn([T.ones(4, 2) * index for index in range(3)], average)
    return {key: value.tolist() for key, value in average.state_dict().items()}


@pytest.mark.parametrize("options", [{}, {"avg_fn": "get_ema_avg_fn"}, {"multi_avg_fn": "get_ema_multi_avg_fn"},
                                     {"avg_fn": "get_swa_avg_fn", "use_buffers": True},
                                     {"multi_avg_fn": "get_swa_multi_avg_fn"}], ids=str)
def test_averaged_models(options):
    found, expected = averaged(dt, **options), averaged(torch, **options)
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert torch.allclose(torch.tensor(found[key], dtype=torch.float64), torch.tensor(value, dtype=torch.float64))
