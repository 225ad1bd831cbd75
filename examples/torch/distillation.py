"""Knowledge distillation: a small student learns from a larger teacher's soft answers, seen through a hook."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def network(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, 10))


def train(model, steps, loss_of, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4)
    for step in range(steps):
        batch = torch.randint(0, len(x), (128,))
        loss = loss_of(x[batch], y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


torch.manual_seed(21)
digits = load_digits()
x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
teacher, student = network(96), network(16)
train(teacher, 30, lambda a, b: F.cross_entropy(teacher(a), b), 0.1)
teacher.eval()
for p in teacher.parameters():
    p.requires_grad = False
seen = []
handle = student[0].register_forward_hook(lambda module, args, output: seen.append(output.detach().mean().item()))


def distill(a, b, temperature=3.0):
    soft = F.kl_div(F.log_softmax(student(a) / temperature, dim=1), F.softmax(teacher(a) / temperature, dim=1),
                    reduction="batchmean") * temperature ** 2
    return 0.7 * soft + 0.3 * F.cross_entropy(student(a), b)


train(student, 30, distill, 0.05)
handle.remove()
print(f"hooked {len(seen)} accuracy {(student.eval()(x).argmax(1) == y).float().mean().item():.3f}")
