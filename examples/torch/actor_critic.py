"""Actor and critic that balance a pole; the physics are thirty lines of Python."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class CartPole:
    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, action):
        x, speed, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * spin ** 2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        slide = push - 0.05 * turn * math.cos(angle) / 1.1
        self.state = [x + 0.02 * speed, speed + 0.02 * slide, angle + 0.02 * spin, spin + 0.02 * turn]
        return self.state, 1.0, abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 64)
        self.action_head, self.value_head = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


random.seed(543)
torch.manual_seed(543)
world, model = CartPole(), Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for episode in range(8):
    state, saved, rewards = world.reset(), [], []
    for _ in range(60):
        probabilities, value = model(torch.tensor(state, dtype=torch.float32))
        distribution = Categorical(probabilities)
        action = distribution.sample()
        saved.append((distribution.log_prob(action), value))
        state, reward, done = world.step(action.item())
        rewards.append(reward)
        if done:
            break
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.99 * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    policy_losses = [-log_prob * (value - baseline.item()) for (log_prob, baseline), value in zip(saved, returns)]
    value_losses = [F.smooth_l1_loss(baseline, value.reshape(1)) for (_, baseline), value in zip(saved, returns)]
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"episode {episode} length {len(rewards)} loss {loss.item():.4f}")
