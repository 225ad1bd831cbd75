"""Save everything in the middle of training, go on elsewhere, and arrive at the same place."""
import os
import tempfile

import torch
import torch.nn as nn


def make():
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)


def train(model, optimizer, scheduler, steps):
    losses = []
    for _ in range(steps):
        x = torch.randn(32, 8)
        loss = nn.functional.mse_loss(model(x), x.sum(dim=1, keepdim=True).sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


torch.manual_seed(2)
model, optimizer, scheduler = make()
first = train(model, optimizer, scheduler, 10)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
                "rng": torch.get_rng_state(), "losses": first, "step": 10}, path)
    straight = train(model, optimizer, scheduler, 10)
    torch.manual_seed(777)
    model, optimizer, scheduler = make()
    checkpoint = torch.load(path, weights_only=True)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
torch.set_rng_state(checkpoint["rng"])
resumed = train(model, optimizer, scheduler, 20 - checkpoint["step"])
for step, (a, b) in enumerate(zip(straight, resumed)):
    print(f"step {step + 10} straight {a:.5f} resumed {b:.5f}")
assert straight == resumed
