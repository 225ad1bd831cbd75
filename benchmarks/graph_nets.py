"""Nets over graphs of nodes and edges for `torch_training.py`: by sparse products, and by gathering and scattering."""

NODES, EDGES, FEATURES, HIDDEN, CLASSES, HEADS = 10_000, 100_000, 64, 64, 16, 4
NETS = ("gcn-coo", "gcn-csr", "gcn-scatter", "gat")


def make_net(name, torch, nn):
    """Return (model, (features, labels)) of a net over a random graph."""
    source, target = torch.randint(0, NODES, (EDGES,)), torch.randint(0, NODES, (EDGES,)).sort().values
    degree = torch.bincount(target, minlength=NODES).clamp(min=1).float()
    norm = (degree[source] * degree[target]).rsqrt()
    data = torch.randn(NODES, FEATURES), torch.randint(0, CLASSES, (NODES,))
    if name in ("gcn-coo", "gcn-csr"):
        adjacency = torch.sparse_coo_tensor(torch.stack([target, source]), norm, (NODES, NODES)).coalesce()
        adjacency = adjacency.to_sparse_csr() if name == "gcn-csr" else adjacency

    class Convolution(nn.Module):
        """A graph convolution: the neighbours' features, weighted and added up."""

        def __init__(self, width, out):
            super().__init__()
            self.linear = nn.Linear(width, out)

        def forward(self, x):
            """Return one row for each node."""
            x = self.linear(x)
            if name != "gcn-scatter":
                return adjacency @ x
            return x.new_zeros(NODES, x.shape[1]).index_add_(0, target, x[source] * norm[:, None])

    class Attention(nn.Module):
        """A graph attention: neighbours weighted by a softmax over each node's edges."""

        def __init__(self, width, out, heads):
            super().__init__()
            self.heads, self.out = heads, out
            self.linear = nn.Linear(width, heads * out, bias=False)
            self.come = nn.Parameter(torch.randn(heads, out) * 0.1)
            self.go = nn.Parameter(torch.randn(heads, out) * 0.1)

        def forward(self, x):
            """Return one row for each node."""
            x = self.linear(x).view(NODES, self.heads, self.out)
            score = (x * self.come).sum(-1)[source] + (x * self.go).sum(-1)[target]
            score = nn.functional.leaky_relu(score, 0.2)
            place = target[:, None].expand_as(score)
            most = score.new_zeros(NODES, self.heads).scatter_reduce(0, place, score, "amax", include_self=False)
            weight = (score - most[target]).exp()
            total = weight.new_zeros(NODES, self.heads).scatter_add(0, place, weight)
            weight = weight / (total[target] + 1e-16)
            made = x.new_zeros(NODES, self.heads, self.out).index_add(0, target, x[source] * weight[..., None])
            return made.view(NODES, -1)

    if name == "gat":
        return nn.Sequential(Attention(FEATURES, HIDDEN // HEADS, HEADS), nn.ELU(), Attention(HIDDEN, CLASSES, 1)), data
    return nn.Sequential(Convolution(FEATURES, HIDDEN), nn.ReLU(), Convolution(HIDDEN, CLASSES)), data
