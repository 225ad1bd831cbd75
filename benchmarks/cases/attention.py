"""Scaled dot-product attention, heads of 64."""
import numpy as np

from harness import Case


def _attention(batch, heads, length, grad):
    shape, size = (batch, heads, length, 64), batch * heads * length * 64
    flops = 4 * size * length

    def make(e):
        rng = np.random.default_rng(0)
        q, k, v = (e.array(rng.standard_normal(shape, dtype=np.float32), grad) for _ in range(3))
        if not grad:
            return lambda attention=e.attention: attention(q, k, v)
        dy = e.array(rng.standard_normal(shape, dtype=np.float32))

        def call():
            e.attention(q, k, v).backward(dy)
            q.grad = k.grad = v.grad = None
        return call
    name = f"{batch} × {heads} × {length}" + (", forward and backward" if grad else "")
    return Case(name, make, "≤ 0.67 × PyTorch", flops * 7 // 2 if grad else flops, 4 * size * 4)


CASES = [_attention(batch, 12, length, grad) for batch, length in ((4, 128), (1, 1024)) for grad in (False, True)]
