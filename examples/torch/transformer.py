"""A transformer encoder that learns to count: which symbol of a sequence is the most frequent."""
import math

import torch
from torch import nn, optim


class PositionalEncoding(nn.Module):
    def __init__(self, width, length=64):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(1, length, width)
        table[0, :, 0::2] = torch.sin(position * rates)
        table[0, :, 1::2] = torch.cos(position * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, :x.size(1)]


class Counter(nn.Module):
    def __init__(self, symbols=5, width=32):
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.position = PositionalEncoding(width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(width, symbols)

    def forward(self, x, mask=None):
        hidden = self.encoder(self.position(self.embedding(x)), src_key_padding_mask=mask)
        return self.head(hidden.mean(dim=1))


torch.manual_seed(42)
model = Counter()
optimizer = optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=30)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for step in range(30):
    x = torch.randint(0, 5, (32, 12))
    y = nn.functional.one_hot(x, 5).sum(dim=1).argmax(dim=1)
    mask = torch.zeros(32, 12, dtype=torch.bool)
    mask[:, 10:] = step % 2 == 1
    loss = criterion(model(x, mask), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f} rate {scheduler.get_last_lr()[0]:.6f}")
model.eval()
with torch.inference_mode():
    print(f"final {criterion(model(x), y).item():.4f}")
