"""A small DCGAN that learns to draw 8 x 8 digits."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

LATENT = 16


def weights_init(module):
    name = module.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(module.weight.data, 0.0, 0.05)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(module.weight.data, 1.0, 0.02)
        nn.init.constant_(module.bias.data, 0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(LATENT, 32, 2, 1, 0, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
            nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
            nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(16, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(32, 1, 2, 1, 0, bias=False))

    def forward(self, image):
        return self.main(image).view(-1)


torch.manual_seed(999)
images = torch.tensor(load_digits().images, dtype=torch.float).unsqueeze(1) / 8 - 1
loader = torch.utils.data.DataLoader(images, batch_size=128, shuffle=True, drop_last=True)
generator, discriminator = Generator().apply(weights_init), Discriminator().apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step, real in enumerate(loader):
    labels = torch.ones(len(real))
    discriminator.zero_grad()
    error_real = criterion(discriminator(real), labels)
    error_real.backward()
    fake = generator(torch.randn(len(real), LATENT, 1, 1))
    error_fake = criterion(discriminator(fake.detach()), labels.fill_(0))
    error_fake.backward()
    optimizer_d.step()
    generator.zero_grad()
    error_g = criterion(discriminator(fake), labels.fill_(1))
    error_g.backward()
    optimizer_g.step()
    print(f"step {step} loss_d {(error_real + error_fake).item():.4f} loss_g {error_g.item():.4f}")
