"""PyTorch Geometric: convolutions on a graph, pooling and batches of graphs."""
import torch
import torch_geometric.nn as pyg
from report import finish, note, train
from torch_geometric.data import Batch, Data

torch.manual_seed(0)
edges = torch.stack([torch.randint(0, 12, (40,)), torch.randint(0, 12, (40,))])
nodes = torch.randn(12, 6, dtype=torch.float64)
batch = torch.arange(12) // 4
LAYERS = {
    "GCNConv": {}, "SAGEConv": {}, "GATConv": {"heads": 2}, "GATv2Conv": {"heads": 2}, "TransformerConv": {"heads": 2},
    "GraphConv": {}, "ChebConv": {"K": 3}, "TAGConv": {}, "ARMAConv": {}, "LEConv": {}, "ClusterGCNConv": {},
}
for name, options in LAYERS.items():
    train(name, lambda: getattr(pyg, name)(6, 5, **options), lambda model, dtype: model(nodes.to(dtype), edges))
train("GINConv", lambda: pyg.GINConv(torch.nn.Linear(6, 5)), lambda model, dtype: model(nodes.to(dtype), edges))
train("GCN", lambda: pyg.GCN(6, 8, 2, 3).eval(), lambda model, dtype: model(nodes.to(dtype), edges))
note("pooling", [pool(nodes, batch) for pool in (pyg.global_mean_pool, pyg.global_max_pool, pyg.global_add_pool)])
graphs = Batch.from_data_list([Data(x=nodes[:4], edge_index=edges % 4), Data(x=nodes[4:9], edge_index=edges % 5)])
note("batch", [graphs.x, graphs.edge_index, graphs.batch, graphs[1].edge_index])
finish()
