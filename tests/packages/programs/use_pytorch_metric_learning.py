"""pytorch-metric-learning: losses, miners and distances."""
from report import finish, note  # first: it readies torchvision

import torch
from pytorch_metric_learning import losses, miners

torch.manual_seed(0)
base, labels = torch.randn(16, 8, dtype=torch.float64), torch.arange(16) % 4
for name in ("TripletMarginLoss", "ContrastiveLoss", "NTXentLoss", "MultiSimilarityLoss", "CircleLoss", "SupConLoss",
             "LiftedStructureLoss", "AngularLoss", "NPairsLoss", "FastAPLoss", "SignalToNoiseRatioContrastiveLoss"):
    embeddings = base.clone().requires_grad_()
    loss = getattr(losses, name)()(embeddings, labels)
    loss.backward()
    note(name, [loss, embeddings.grad])
for name in ("MultiSimilarityMiner", "BatchHardMiner", "TripletMarginMiner"):
    note(name, list(getattr(miners, name)()(base, labels)))
finish()
