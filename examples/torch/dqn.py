"""Deep Q-learning in a corridor: walk right to the reward, with a replay memory and a target network."""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn

Transition = namedtuple("Transition", "state action next_state reward")
CELLS = 6


class Corridor:
    def reset(self):
        self.cell, self.steps = 0, 0
        return self.state()

    def state(self):
        return torch.eye(CELLS)[self.cell].unsqueeze(0)

    def step(self, action):
        self.cell = max(0, self.cell - 1) if action == 0 else self.cell + 1
        self.steps += 1
        done = self.cell == CELLS - 1
        return None if done else self.state(), 1.0 if done else -0.05, done or self.steps >= 20


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        return self.layers(x)


def optimize(memory, policy, target, optimizer):
    if len(memory) < 32:
        return None
    batch = Transition(*zip(*random.sample(memory, 32)))
    mask = torch.tensor([state is not None for state in batch.next_state], dtype=torch.bool)
    following = torch.cat([state for state in batch.next_state if state is not None])
    values = policy(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    next_values = torch.zeros(32)
    with torch.no_grad():
        next_values[mask] = target(following).max(1).values
    expected = next_values * 0.95 + torch.cat(batch.reward)
    loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    return loss.item()


torch.manual_seed(5)
random.seed(5)
policy, target = DQN(), DQN()
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-3, amsgrad=True)
memory, world = deque(maxlen=500), Corridor()
for episode in range(12):
    state, done, total, loss = world.reset(), False, 0.0, None
    while not done:
        if random.random() < 0.3:
            action = torch.tensor([[random.randrange(2)]])
        else:
            with torch.no_grad():
                action = policy(state).max(1).indices.view(1, 1)
        following, reward, done = world.step(action.item())
        memory.append(Transition(state, action, following, torch.tensor([reward])))
        state, total = following, total + reward
        loss = optimize(memory, policy, target, optimizer)
        weights = target.state_dict()
        for key, value in policy.state_dict().items():
            weights[key] = value * 0.05 + weights[key] * 0.95
        target.load_state_dict(weights)
    print(f"episode {episode} reward {total:.2f} loss {loss if loss is None else round(loss, 4)}")
