"""Sequence to sequence with attention: learn to reverse a string of digits."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

START, LENGTH, SYMBOLS, HIDDEN = 10, 6, 11, 48


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * HIDDEN, HIDDEN)

    def forward(self, x):
        output, hidden = self.gru(self.embedding(x))
        hidden = torch.tanh(self.bridge(torch.cat((hidden[0], hidden[1]), dim=1)))
        return self.bridge(output), hidden.unsqueeze(0)


class AttentionDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, HIDDEN)
        self.score = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.gru = nn.GRU(2 * HIDDEN, HIDDEN, batch_first=True)
        self.out = nn.Linear(2 * HIDDEN, SYMBOLS)

    def forward(self, token, hidden, memory):
        scores = torch.bmm(memory, self.score(hidden[-1]).unsqueeze(2)).squeeze(2)
        weights = F.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory)
        output, hidden = self.gru(torch.cat((self.embedding(token), context), dim=2), hidden)
        return self.out(torch.cat((output, context), dim=2).squeeze(1)), hidden, weights


torch.manual_seed(0)
random.seed(0)
encoder, decoder = Encoder(), AttentionDecoder()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
for step in range(25):
    source = torch.randint(0, 10, (32, LENGTH))
    target = source.flip(1)
    memory, hidden = encoder(source)
    token, loss = torch.full((32, 1), START, dtype=torch.long), 0
    forcing = random.random() < 0.7
    for place in range(LENGTH):
        logits, hidden, _ = decoder(token, hidden, memory)
        loss = loss + F.cross_entropy(logits, target[:, place])
        token = target[:, place:place + 1] if forcing else logits.topk(1)[1].detach()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item() / LENGTH:.4f}")
