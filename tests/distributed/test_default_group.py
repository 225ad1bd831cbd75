"""`with group.as_default():` has optimizers average gradients over the group."""
from harness.ranks import HEAD, run_ranks

JOIN = HEAD + """
import dragon.vm
dragon.vm.install()
import os
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
import dragon
from dragon import distributed
import torch
world = distributed.join_world(30.0)

def train(make, wrap=None, steps=3):
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(6, 300), torch.nn.Tanh(), torch.nn.Linear(300, 300), torch.nn.Tanh(),
                                torch.nn.Linear(300, 2))
    optimizer, generator = make(model.parameters()), torch.Generator().manual_seed(0)
    for _ in range(steps):
        x = torch.randn(2, 4, 6, generator=generator)  # what all ranks have together
        x = x.reshape(8, 6) if wrap is None else x[rank]
        def closure():
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss
        if wrap is None:
            optimizer.step(closure)
        else:
            with wrap():
                optimizer.step(closure=closure)
    return torch.cat([param.detach().reshape(-1) for param in model.parameters()])
"""


def test_optimizers_average_gradients():
    run_ranks('''
    for make in (lambda params: torch.optim.SGD(params, 0.1, momentum=0.9),
                 lambda params: torch.optim.AdamW(params, 0.01, eps=1e-3),
                 lambda params: torch.optim.LBFGS(params, max_iter=2)):
        alone, together = train(make), train(make, world.as_default)
        assert (alone - together).abs().max() < 1e-4, (make, (alone - together).abs().max())
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.fill_(1.0)
    optimizer = torch.optim.SGD([model.weight], 1.0)
    model(torch.ones(1, 2) * (rank + 1)).sum().backward()
    with world.as_default():
        optimizer.step()
    assert model.weight.tolist() == [[-0.5, -0.5], [-0.5, -0.5]] and model.weight.grad.tolist() == [[1.5, 1.5]] * 2
    optimizer.step()  # outside, each by itself
    assert model.weight.tolist() == [[-2.0, -2.0], [-2.0, -2.0]]
    distributed.barrier()
    ''', 2, JOIN)


def test_keras_averages_gradients():
    run_ranks('''
    import keras
    import numpy as np
    def train(x, y, **options):
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(300), keras.layers.Dense(300),
                                  keras.layers.Dense(2)])
        model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse", **options)
        model.fit(x, y, batch_size=len(x) // 3, epochs=2, shuffle=False, verbose=0)
        return np.concatenate([weight.ravel() for weight in model.get_weights()])
    x = np.random.default_rng(0).normal(size=(3, 2, 4, 6)).astype("float32")  # batches, ranks, samples
    y = x[..., :2].copy()
    for eagerly in (False, True):
        alone = train(x.reshape(24, 6), y.reshape(24, 2), run_eagerly=eagerly)
        with world.as_default():
            together = train(x[:, rank].reshape(12, 6), y[:, rank].reshape(12, 2), run_eagerly=eagerly)
        assert np.abs(alone - together).max() < 1e-5, np.abs(alone - together).max()
    distributed.barrier()
    ''', 2, JOIN)


def test_sparse_gradients_are_answered():
    run_ranks('''
    table = torch.nn.Embedding(5, 2, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), 1.0)
    table(torch.tensor([1])).sum().backward()
    try:
        with world.as_default():
            optimizer.step()
    except NotImplementedError as error:
        assert "SGD.step: got a sparse gradient in a group of 2 processes" in str(error)
    else:
        raise AssertionError("no error")
    distributed.barrier()
    ''', 2, JOIN)
