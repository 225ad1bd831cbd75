"""A character-level LSTM that learns a nursery rhyme and then sings."""
import torch
import torch.nn as nn

TEXT = ("twinkle twinkle little star how i wonder what you are up above the world so high "
        "like a diamond in the sky twinkle twinkle little star how i wonder what you are ") * 4
VOCABULARY = sorted(set(TEXT))


class CharRNN(nn.Module):
    def __init__(self, size, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(size, 16)
        self.lstm = nn.LSTM(16, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, size)

    def forward(self, x, state=None):
        output, state = self.lstm(self.embedding(x), state)
        return self.head(output), state


def sample(model, index, start="t", length=40):
    with torch.no_grad():
        x, state, text = torch.tensor([[index[start]]]), None, start
        for _ in range(length):
            logits, state = model(x, state)
            x = torch.multinomial(torch.softmax(logits[:, -1], dim=-1), 1)
            text += VOCABULARY[x.item()]
    return text


torch.manual_seed(3)
index = {character: place for place, character in enumerate(VOCABULARY)}
data = torch.tensor([index[character] for character in TEXT])
model = CharRNN(len(VOCABULARY))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for step in range(30):
    starts = torch.randint(0, len(data) - 33, (16,))
    batch = torch.stack([data[start:start + 33] for start in starts])
    logits, _ = model(batch[:, :-1])
    loss = criterion(logits.reshape(-1, len(VOCABULARY)), batch[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print("sample", len(sample(model, index)))
