"""A variational autoencoder of 8 x 8 digits."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.mean, self.logvar = nn.Linear(48, latent), nn.Linear(48, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 48), nn.ReLU(), nn.Linear(48, 64))

    def reparameterize(self, mean, logvar):
        return mean + torch.randn_like(logvar) * torch.exp(0.5 * logvar)

    def forward(self, x):
        hidden = self.encoder(x)
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        return self.decoder(self.reparameterize(mean, logvar)), mean, logvar


def loss_function(logits, x, mean, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
    return (reconstruction + divergence) / len(x)


torch.manual_seed(7)
data = torch.from_numpy(load_digits().data).float().div(16).clamp_(0, 1)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    order = torch.randperm(len(data))
    total = 0.0
    for batch in order.split(256):
        x = data[batch]
        logits, mean, logvar = model(x)
        loss = loss_function(logits, x, mean, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch} loss {total / len(data):.4f}")
with torch.no_grad():
    sample = torch.sigmoid(model.decoder(torch.randn(2, 4))).view(2, 8, 8)
print(f"sample mean {sample.mean().item():.4f}")
