"""Datasets, samplers and the loader that makes batches of them: `torch.utils.data`."""
from dragon.vm.torch.utils.data.dataloader import (DataLoader, _DatasetKind, default_collate, default_convert,
                                                   get_worker_info)
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from dragon.vm.torch.utils.data.dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset,
                                                Subset, TensorDataset, random_split)
from dragon.vm.torch.utils.data.distributed import DistributedSampler
from dragon.vm.torch.utils.data.sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler,
                                                SubsetRandomSampler, WeightedRandomSampler)
