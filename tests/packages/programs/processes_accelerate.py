"""accelerate: a loop of training in two processes, whose metrics are gathered from both."""
import json
import sys

import accelerate
import torch

accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
accelerate.utils.set_seed(0)
x = torch.randn(60, 8)
data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, 8, True),
                                                         schedule)
numbers = []
for epoch in range(2):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                numbers.append(float(accelerator.clip_grad_norm_(model.parameters(), 1.0)))
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    predictions = accelerator.gather_for_metrics(model(inputs))
    numbers += [len(predictions), predictions.double().sum().item(), accelerator.reduce(loss.detach(), "mean").item()]
words = accelerate.utils.gather_object([f"rank {accelerator.process_index}"])
accelerator.wait_for_everyone()
accelerator.save_state(sys.argv[1] + "/state")
accelerator.wait_for_everyone()  # the main one saves what all have alike
accelerator.load_state(sys.argv[1] + "/state")
numbers += [parameter.double().sum().item() for parameter in accelerator.unwrap_model(model).parameters()]
print(json.dumps({"rank": accelerator.process_index, "torch": torch.__file__, "numbers": numbers,
                  "words": [*words, str(accelerator.distributed_type)]}), flush=True)
accelerator.end_training()
