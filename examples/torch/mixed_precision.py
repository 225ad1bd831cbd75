"""Mixed precision: the forward pass in bfloat16 under autocast, weights and optimizer in float32."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", enabled=False)
truth = torch.randn(32, 4)
for step in range(30):
    x = torch.randn(64, 32)
    y = (x @ truth).argmax(dim=1)
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        output = model(x)
        loss = nn.functional.cross_entropy(output, y)
    assert output.dtype is torch.bfloat16 and loss.dtype is torch.float32
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.2f}")
