"""einops: rearrangements, reductions and layers."""
import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange, Reduce
from report import finish, note, train

x = torch.arange(2 * 3 * 4 * 6, dtype=torch.float32).reshape(2, 3, 4, 6)
note("rearrange", rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=3))
note("reduce", [reduce(x, "b c h w -> b c", how) for how in ("mean", "max", "min", "sum", "prod")])
note("repeat", repeat(x, "b c h w -> b (r c) h w", r=2))
note("einsum", einsum(x, x, "b c h w, b d h w -> b c d"))
packed, shapes = pack([x, x[:, 0]], "b * w")
note("pack", [packed, *unpack(packed, shapes, "b * w")])


def make():
    """Return a network with layers of einops."""
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), Rearrange("b c h w -> b (h w) c"),
                               torch.nn.Linear(4, 5), Reduce("b n c -> b c", "mean"))


train("network", make, lambda model, dtype: model(x.to(dtype) / 100))
finish()
