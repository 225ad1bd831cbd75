"""Who stands at the door besides autograd: mixed precision, the profiler; and how saved tensors are kept."""
import threading

import pytest

import dragon
from dragon import _C


@pytest.fixture
def autocast():
    """Switch mixed precision on for the test."""
    previous = _C.set_autocast("bfloat16")
    yield
    _C.set_autocast(previous)


def test_products_run_in_16_bits_and_losses_in_32(autocast):
    x, w = dragon.ones((4, 8)), dragon.ones((8, 8), requires_grad=True)
    y = x @ w
    assert y.dtype.name == "bfloat16"
    assert dragon.ops.relu(y).dtype.name == "bfloat16" and (y + x @ w).dtype.name == "bfloat16"
    assert dragon.ops.mv(x, dragon.ones(8)).dtype.name == "float32"
    loss = dragon.ops.mse_loss(y, dragon.zeros((4, 8)))
    assert loss.dtype.name == "float32"
    loss.backward()
    assert w.grad.dtype.name == "float32" and w.grad.numpy().any()


def test_doubles_and_integers_are_left_alone(autocast):
    x = dragon.ones((2, 2), dtype="float64")
    assert (x @ x).dtype.name == "float64"
    assert dragon.ops.linear(dragon.ones((2, 2)), dragon.ones((2, 2))).dtype.name == "bfloat16"


def test_compositions_are_cast_in_their_parts(autocast):
    x = dragon.ones((2, 2))
    assert dragon.ops.einsum("ij,jk", [x, x]).dtype.name == "bfloat16"
    assert dragon.ops.cdist(x, x).dtype.name == "float32"


def test_casts_of_leaves_are_kept_until_they_are_written(autocast):
    w, x = dragon.ones((2, 2), requires_grad=True), dragon.ones((2, 2))
    _C.start_profile()
    (x @ w), (x @ w)
    casts = [event for event in _C.stop_profile() if event[0] == "cast"]
    assert len(casts) == 3  # x twice, w once
    with dragon.no_grad():
        w *= 2
    assert (x @ w).tolist() == [[4, 4], [4, 4]]


def test_autocast_is_a_threads_own(autocast):
    seen = []
    thread = threading.Thread(target=lambda: seen.append((dragon.ones((2, 2)) @ dragon.ones((2, 2))).dtype.name))
    thread.start()
    thread.join()
    assert seen == ["float32"] and _C.autocast_dtype() == "bfloat16"


def test_autocast_wants_16_bits():
    with pytest.raises(ValueError, match="float64"):
        _C.set_autocast("float64")
    assert _C.autocast_dtype() is None


def test_profiles_show_operators_parts_and_nodes():
    x = dragon.ones((3, 3), requires_grad=True)
    _C.start_profile(with_shapes=True)
    assert _C.is_profiling()
    dragon.ops.mse_loss(x, x * 2).backward()
    events = _C.stop_profile()
    names = [event[0] for event in events]
    assert {"mse_loss", "square", "mean", "mul"} <= set(names)
    assert {event[0] for event in events if event[3]} >= {"square", "mul"}
    whole = events[names.index("mse_loss")]
    part = events[names.index("square")]
    assert whole[1] <= part[1] <= part[2] <= whole[2] and whole[5] == [(3, 3), (3, 3), ()]
    assert not _C.is_profiling()
    with pytest.raises(RuntimeError, match="profile"):
        _C.stop_profile()


def test_saved_tensors_pass_through_hooks():
    packed, unpacked = [], []

    def pack(x):
        packed.append(x.tolist())
        return x.detach().numpy().copy()

    def unpack(array):
        unpacked.append(array.tolist())
        return dragon.tensor(array)

    x = dragon.tensor([2.0, 3.0], requires_grad=True)
    _C.switch_saved_tensor_hooks((pack, unpack, dragon.Tensor))
    try:
        y = (x * x).exp()
    finally:
        _C.switch_saved_tensor_hooks(None)
    z = y * 2
    (first,) = _C.grad(z, [x], dragon.ones(2), retain_graph=True, create_graph=True)
    assert len(packed) == 3 and packed[:2] == [[2.0, 3.0]] * 2 and len(unpacked) == 3
    plain = dragon.tensor([2.0, 3.0], requires_grad=True)
    (expected,) = _C.grad((plain * plain).exp() * 2, [plain], dragon.ones(2), create_graph=True)
    assert first.tolist() == expected.tolist()
    second, = _C.grad(first, [x], dragon.ones(2))
    assert second.tolist() == _C.grad(expected, [plain], dragon.ones(2))[0].tolist()
    with pytest.raises(RuntimeError, match="hooks"):
        _C.switch_saved_tensor_hooks(None)


def test_unpack_hooks_must_give_tensors():
    x = dragon.ones(2, requires_grad=True)
    _C.switch_saved_tensor_hooks((lambda tensor: None, lambda nothing: nothing, dragon.Tensor))
    y = x.exp()
    _C.switch_saved_tensor_hooks(None)
    with pytest.raises(TypeError, match="unpack"):
        y.sum().backward()


def test_failed_factorizations_have_a_class_of_their_own():
    with pytest.raises(_C.LinAlgError, match="singular"):
        dragon.ops.linalg_inv(dragon.zeros((2, 2)))
    with pytest.raises(_C.LinAlgError, match="positive-definite"):
        dragon.ops.linalg_cholesky(-dragon.ones((1, 1)))
    assert issubclass(_C.LinAlgError, RuntimeError)
