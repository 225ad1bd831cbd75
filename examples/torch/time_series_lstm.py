"""Predict sine waves with stacked LSTM cells, as a time series."""
import torch
from torch import nn


class Sequence(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm1, self.lstm2 = nn.LSTMCell(1, hidden), nn.LSTMCell(hidden, hidden)
        self.linear = nn.Linear(hidden, 1)
        self.hidden = hidden

    def forward(self, series, future=0):
        outputs = []
        h1, c1, h2, c2 = (torch.zeros(series.size(0), self.hidden, dtype=series.dtype) for _ in range(4))
        for value in series.split(1, dim=1):
            h1, c1 = self.lstm1(value, (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            outputs.append(self.linear(h2))
        for _ in range(future):
            h1, c1 = self.lstm1(outputs[-1], (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            outputs.append(self.linear(h2))
        return torch.cat(outputs, dim=1)


torch.manual_seed(0)
phase = torch.randint(-80, 80, (16, 1)).double()
waves = torch.sin((torch.arange(40).double() + phase) / 10)
model = Sequence().double()
criterion, optimizer = nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
for step in range(15):
    optimizer.zero_grad()
    loss = criterion(model(waves[:, :-1]), waves[:, 1:])
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
with torch.no_grad():
    print(f"future {model(waves[:1, :-1], future=5)[0, -5:].sum().item():.5f}")
