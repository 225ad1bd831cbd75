"""torchdiffeq: solutions of differential equations, and gradients through them."""
import torch
from report import finish, note, train
from torchdiffeq import odeint, odeint_adjoint


class Field(torch.nn.Module):
    """The right-hand side."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        """Return the slope."""
        return self.layers(y) * (1 + t)


for method in ("dopri5", "rk4", "euler", "bosh3", "dopri8", "midpoint"):
    for solve in (odeint, odeint_adjoint):
        train(f"{method} {solve.__name__}", Field, lambda model, dtype: solve(
            model, torch.ones(3, 2, dtype=dtype), torch.linspace(0, 1, 5, dtype=dtype), method=method, rtol=1e-6,
            atol=1e-6)[-1])
note("spiral", odeint(lambda t, y: torch.stack([y[1], -y[0]]), torch.tensor([1.0, 0.0], dtype=torch.float64),
                      torch.linspace(0, 3, 7, dtype=torch.float64)))
finish()
