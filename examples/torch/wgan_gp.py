"""A Wasserstein GAN with gradient penalty: the penalty needs the gradient of a gradient."""
import torch
from torch import autograd, nn


def mlp(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def gradient_penalty(critic, real, fake):
    mix = torch.rand(real.size(0), 1).expand_as(real)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    scores = critic(between)
    gradients, = autograd.grad(outputs=scores, inputs=between, grad_outputs=torch.ones_like(scores),
                               create_graph=True, retain_graph=True)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * 10


torch.manual_seed(1)
generator, critic = mlp(2, 32, 32, 2), mlp(2, 32, 32, 1)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizer_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for step in range(12):
    for _ in range(3):
        angle = torch.rand(64) * 6.2831853
        real = torch.stack((angle.cos(), angle.sin()), dim=1) * 2 + torch.randn(64, 2) * 0.02
        fake = generator(torch.randn(64, 2)).detach()
        penalty = gradient_penalty(critic, real, fake)
        loss_c = critic(fake).mean() - critic(real).mean() + penalty
        optimizer_c.zero_grad()
        loss_c.backward()
        optimizer_c.step()
    for p in critic.parameters():
        p.requires_grad_(False)
    loss_g = -critic(generator(torch.randn(64, 2))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
    for p in critic.parameters():
        p.requires_grad_(True)
    print(f"step {step} critic {loss_c.item():.4f} generator {loss_g.item():.4f} penalty {penalty.item():.4f}")
