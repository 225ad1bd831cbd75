"""A vision transformer on 8 x 8 digits, with its own attention, warm-up and averaged weights."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class ViT(nn.Module):
    def __init__(self, width=32, heads=4, depth=2, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(1, width, kernel_size=2, stride=2)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.empty(1, 17, width))
        nn.init.trunc_normal_(self.position, std=0.02)
        self.blocks = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "attention": nn.MultiheadAttention(width, heads, batch_first=True),
            "norm2": nn.LayerNorm(width), "mlp": nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width)),
        }) for _ in range(depth))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.position
        for block in self.blocks:
            y = block["norm1"](x)
            x = x + block["attention"](y, y, y, need_weights=False)[0]
            x = x + block["mlp"](block["norm2"](x))
        return self.head(x[:, 0])


torch.manual_seed(9)
digits = load_digits()
images = torch.from_numpy(digits.images).to(torch.float32).div_(16).unsqueeze(1)
labels = torch.from_numpy(digits.target).to(torch.int64)
model = ViT()
averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
for step in range(24):
    batch = torch.randint(0, 1500, (64,))
    loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    averaged.update_parameters(model)
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f}")
averaged.eval()
with torch.no_grad():
    print(f"test loss {nn.functional.cross_entropy(averaged(images[1500:]), labels[1500:]).item():.4f}")
