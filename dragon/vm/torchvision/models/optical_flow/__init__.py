"""Models that tell how pixels move from one image to the next."""
from dragon.vm.torchvision.models.optical_flow.raft import (RAFT, raft_large, Raft_Large_Weights,  # noqa: F401
                                                            raft_small, Raft_Small_Weights)
