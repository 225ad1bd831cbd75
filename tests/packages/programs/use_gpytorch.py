"""gpytorch: an exact Gaussian process, fitted and asked."""
import gpytorch
import torch
from report import finish, note

torch.set_default_dtype(torch.float64)
x = torch.linspace(0, 1, 20)
y = torch.sin(6 * x)


class Process(gpytorch.models.ExactGP):
    """A smooth function."""

    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, inputs):
        """Return the prior."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    loss = -marginal(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
note("losses", losses)
model.eval(), likelihood.eval()
with torch.no_grad():
    prediction = likelihood(model(torch.linspace(0, 1, 7)))
    note("prediction", [prediction.mean, prediction.variance])
finish()
