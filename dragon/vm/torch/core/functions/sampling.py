"""Draws that torch.distributions and libraries ask for by their inner names."""
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.core.dtypes import OBJECTS

# The largest numbers below 1, and the smallest normal ones.
_BELOW_ONE = {"float32": 1 - 2.0 ** -24, "float64": 1 - 2.0 ** -53, "bfloat16": 1 - 2.0 ** -8,
              "float16": 1 - 2.0 ** -11}
_TINY = {"float32": 2.0 ** -126, "float64": 2.0 ** -1022, "bfloat16": 2.0 ** -126, "float16": 2.0 ** -14}


@function
def _sample_dirichlet(self, generator=None):
    """Return a draw from a Dirichlet distribution for each row of concentrations."""
    shares = ops.standard_gamma(ops.cast(self.detach(), OBJECTS["float64"]), generator=generator)
    shares = shares / shares.sum(-1, True)
    kind = self.dtype.name
    return shares.clamp(_TINY[kind], _BELOW_ONE[kind]).to(self.dtype)
