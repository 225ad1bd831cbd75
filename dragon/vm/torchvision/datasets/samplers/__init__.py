"""Orders in which clips of videos are taken."""
from dragon.vm.torchvision.datasets.samplers.clip_sampler import (DistributedSampler, RandomClipSampler,
                                                                  UniformClipSampler)
