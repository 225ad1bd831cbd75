"""Losses and distances: rows of PyTorch's names."""
ROWS = """
binary_cross_entropy(y=target)
binary_cross_entropy_with_logits(y=target)
cdist                                                torch
cosine_embedding_loss(x1=input1 x2=input2 y=target)  torch
cosine_similarity                                    torch
cross_entropy ~ NllLossBackward0
gaussian_nll_loss(y=target)
hinge_embedding_loss(y=target)                       torch
huber_loss(y=target)
kl_div(y=target)                                     torch
l1_loss(y=target)
margin_ranking_loss(x1=input1 x2=input2 y=target)    torch
mse_loss(y=target)
multi_margin_loss(y=target)
multilabel_margin_loss(y=target)
multilabel_soft_margin_loss(y=target)
nll_loss ~ NllLossBackward0
pairwise_distance                                    torch functional
pdist                                                torch functional
poisson_nll_loss(y=target)                           torch
smooth_l1_loss(y=target)
soft_margin_loss(y=target)
triplet_margin_loss                                  torch
"""
