"""Data of programs that are started anew."""
from dragon.vm.torch.distributed.elastic.utils.data.elastic_distributed_sampler import (  # noqa: F401
    ElasticDistributedSampler)
