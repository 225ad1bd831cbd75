"""Siamese network: are two digits the same? Trained with a contrastive loss on pairs."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.partner = torch.randperm(len(images))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        other = self.partner[index].item()
        same = float(self.labels[index] == self.labels[other])
        return self.images[index], self.images[other], same


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 12, 3), nn.PReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                      nn.Linear(12 * 9, 16))

    def forward(self, first, second):
        return F.pairwise_distance(self.features(first), self.features(second))


def contrastive(distance, same, margin=1.0):
    return torch.mean(same * distance.pow(2) + (1 - same) * F.relu(margin - distance).pow(2))


torch.manual_seed(11)
digits = load_digits()
images = torch.as_tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
loader = DataLoader(Pairs(images, digits.target), batch_size=64, shuffle=True)
model = Siamese()
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
for epoch in range(2):
    for step, (first, second, same) in enumerate(loader):
        loss = contrastive(model(first, second), same.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
