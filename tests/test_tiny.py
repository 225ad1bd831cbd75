"""Does it stand? A few seconds that go once through every floor."""
import numpy as np

import dragon


def test_numbers_come_and_go():
    x = dragon.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.shape == (2, 2) and x.dtype == dragon.float32 and str(x.device) == "cpu"
    assert (x @ x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert x.sum().item() == 10.0 and x[:, 0].tolist() == [1.0, 3.0]
    assert np.asarray(x).sum() == 10.0


def test_views_write_through():
    x = dragon.zeros((3, 3))
    x[1] += 1
    x.transpose(0, 1)[2] = 5
    assert x.tolist() == [[0, 0, 5], [1, 1, 5], [0, 0, 5]]


def test_gradients_of_gradients():
    x = dragon.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (g,) = dragon.grad((x ** 3).sum(), [x], create_graph=True)
    (h,) = dragon.grad(g.sum(), [x])
    assert g.tolist() == [3.0, 12.0, 27.0] and h.tolist() == [6.0, 12.0, 18.0]


def test_a_step_of_training_helps():
    rng = np.random.default_rng(0)
    x = dragon.tensor(rng.standard_normal((32, 4)).astype("f4"))
    wanted = dragon.tensor(rng.standard_normal((32, 1)).astype("f4"))
    weight = dragon.tensor(rng.standard_normal((4, 1)).astype("f4"), requires_grad=True)
    losses = []
    for _ in range(3):
        loss = ((x @ weight - wanted) ** 2).mean()
        weight.grad = None
        loss.backward()
        with dragon.no_grad():
            weight -= 0.1 * weight.grad
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2]


def test_shapes_without_numbers():
    x = dragon.ones((1 << 20, 1 << 20), device="meta")
    assert (x @ x).sum(0).shape == (1 << 20,)


def test_shelves_hold_operators_that_exist():
    known = set(dragon.ops.names())
    for shelf in (dragon.math, dragon.losses, dragon.nn.functional):
        assert dir(shelf) and not set(dir(shelf)) - known
        assert all(callable(getattr(shelf, name)) for name in dir(shelf))
