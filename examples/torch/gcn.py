"""A graph convolutional network that finds the communities of a random graph."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, source, target, scale):
        messages = (x @ self.weight)[source] * scale.unsqueeze(1)
        return torch.zeros(x.size(0), self.weight.size(1)).index_add(0, target, messages) + self.bias

    def extra_repr(self):
        return f"{self.weight.size(0)}, {self.weight.size(1)}"


class GCN(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.first, self.second = GraphConvolution(inputs, 16), GraphConvolution(16, classes)

    def forward(self, x, *edges):
        x = F.dropout(F.relu(self.first(x, *edges)), 0.3, training=self.training)
        return F.log_softmax(self.second(x, *edges), dim=1)


torch.manual_seed(42)
nodes, classes = 90, 3
labels = torch.arange(nodes) % classes
same = labels.unsqueeze(0) == labels.unsqueeze(1)
adjacency = torch.rand(nodes, nodes) < torch.where(same, 0.3, 0.03)
adjacency = (adjacency | adjacency.t()) | torch.eye(nodes, dtype=torch.bool)
source, target = adjacency.nonzero(as_tuple=True)
degree = adjacency.sum(dim=1).float()
scale = degree[source].rsqrt() * degree[target].rsqrt()
known = torch.zeros(nodes, dtype=torch.bool).index_fill_(0, torch.arange(12), True)
model = GCN(nodes, classes)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
features = torch.eye(nodes)
for epoch in range(30):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(features, source, target, scale)[known], labels[known])
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
model.eval()
accuracy = (model(features, source, target, scale).argmax(1) == labels)[~known].float().mean()
print(f"accuracy {accuracy.item():.3f}")
