"""Super-resolution with sub-pixel convolution: double the size of small digits."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.nn import init


class Net(nn.Module):
    def __init__(self, factor=2):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1, self.conv2 = nn.Conv2d(1, 24, 5, 1, 2), nn.Conv2d(24, 16, 3, 1, 1)
        self.conv3 = nn.Conv2d(16, factor ** 2, 3, 1, 1)
        self.shuffle = nn.PixelShuffle(factor)
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight)

    def forward(self, x):
        x = self.relu(self.conv1(x))
        return self.shuffle(self.conv3(self.relu(self.conv2(x))))


torch.manual_seed(123)
large = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
small = F.interpolate(large, scale_factor=0.5, mode="bilinear", align_corners=False, antialias=True)
model, criterion = Net(), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    total = 0.0
    for x, y in zip(small.split(128), large.split(128)):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        total += loss.item()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {total / 15:.5f}")
with torch.no_grad():
    error = criterion(model(small), large)
    plain = criterion(F.interpolate(small, size=8, mode="bicubic", align_corners=False).clamp(0, 1), large)
print(f"signal to noise {10 * torch.log10(1 / error).item():.3f} dB, bicubic {10 * torch.log10(1 / plain).item():.3f}")
