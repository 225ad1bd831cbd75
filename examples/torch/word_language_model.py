"""A GRU language model over words, with tied embeddings, truncated backpropagation and learning-rate annealing."""
import math

import torch
import torch.nn as nn

SENTENCES = ["the cat sat on the mat", "the dog sat on the log", "a cat saw a dog", "the dog saw the cat on the mat",
             "a bird sang on the log", "the cat and the dog sat and sang"] * 12


class Corpus:
    def __init__(self):
        words = " <eos> ".join(SENTENCES).split()
        self.vocabulary = {word: place for place, word in enumerate(dict.fromkeys(words))}
        self.ids = torch.tensor([self.vocabulary[word] for word in words], dtype=torch.int64)

    def batches(self, size):
        rows = self.ids.size(0) // size
        return self.ids.narrow(0, 0, rows * size).view(size, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, words, width=32, layers=2, dropout=0.2):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, layers, dropout=dropout)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.layers, self.width = layers, width

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(tokens)), hidden)
        return self.decoder(self.drop(output)).flatten(0, 1), hidden

    def init_hidden(self, size):
        return next(self.parameters()).new_zeros(self.layers, size, self.width)


torch.manual_seed(1111)
corpus = Corpus()
data = corpus.batches(8)
model = RNNModel(len(corpus.vocabulary))
criterion = nn.CrossEntropyLoss()
rate = 5.0
for epoch in range(4):
    model.train()
    hidden, total, count = model.init_hidden(8), 0.0, 0
    for start in range(0, data.size(0) - 1, 10):
        length = min(10, data.size(0) - 1 - start)
        source, target = data[start:start + length], data[start + 1:start + 1 + length].reshape(-1)
        model.zero_grad()
        output, hidden = model(source, hidden.detach())
        loss = criterion(output, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-rate)
        total, count = total + loss.item(), count + 1
    print(f"epoch {epoch} loss {total / count:.4f} perplexity {math.exp(total / count):.3f}")
    rate *= 0.8
