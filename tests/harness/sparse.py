"""Sparse tensors made alike in genuine PyTorch and here, and results compared."""
import numpy as np


def numbers(seed, shape, dtype):
    """Return an array of a dtype's numbers."""
    draw = np.random.RandomState(seed)
    if dtype == "bool":
        return draw.rand(*shape) > 0.5
    if dtype.startswith("complex"):
        return (draw.randn(*shape) + 1j * draw.randn(*shape)).astype(dtype)
    return draw.randn(*shape).astype(dtype) if dtype.startswith("float") else draw.randint(-5, 6, shape).astype(dtype)


def coordinates(t, seed, shape, count, dense=0, dtype="float64"):
    """Return a tensor of coordinates of which some come twice."""
    draw, sparse = np.random.RandomState(seed), len(shape) - dense
    count = 0 if 0 in shape[:sparse] else count
    indices = np.array([draw.randint(0, max(size, 1), count) for size in shape[:sparse]]).reshape(sparse, count)
    return t.sparse_coo_tensor(t.tensor(indices), t.tensor(numbers(seed + 1, (count, *shape[sparse:]), dtype)), shape)


def strided(t, seed, shape, dtype="float64"):
    """Return a strided tensor."""
    return t.tensor(numbers(seed, shape, dtype))


def told(result):
    """Return a result as layout, dtype, shape and numbers."""
    if isinstance(result, (tuple, list)) and not hasattr(result, "numel"):
        return [told(item) for item in result]
    if not hasattr(result, "layout"):
        return result
    held = result if str(result.layout) == "torch.strided" else result.to_dense()
    return str(result.layout), str(result.dtype), tuple(result.shape), held.detach().numpy()


def same(mine, genuine):
    """Return whether two told results agree."""
    if isinstance(genuine, list):
        return isinstance(mine, list) and len(mine) == len(genuine) and all(map(same, mine, genuine))
    if not isinstance(genuine, tuple) or len(genuine) != 4:
        return mine == genuine
    loose = 1e-4 if "32" in genuine[1] else 1e-9
    return mine[:3] == genuine[:3] and np.allclose(mine[3], genuine[3], rtol=loose, atol=loose / 10, equal_nan=True)


def outcome(compute):
    """Return what a call comes to: its result, or that it raised."""
    try:
        return told(compute())
    except (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError):
        return "refused"
