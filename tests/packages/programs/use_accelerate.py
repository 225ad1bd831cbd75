"""accelerate: a training loop with accumulation and clipping."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from report import finish, note

set_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
points = torch.linspace(-1, 1, 64).reshape(32, 2)
data = torch.utils.data.TensorDataset(points, points.sum(1, keepdim=True).sin())
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=6)
model, optimizer, loader, schedule = accelerator.prepare(
    model, optimizer, torch.utils.data.DataLoader(data, batch_size=8, shuffle=True), schedule)
losses = []
for _ in range(3):
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach()))
note("losses", losses)
note("weights", list(accelerator.unwrap_model(model).parameters()))
finish()
