"""Datasets, samplers and the loader that makes batches of them: `torch.utils.data`."""
from dragon.vm.torch.utils.data.dataloader import (DataLoader, _DatasetKind, default_collate, default_convert,
                                                   get_worker_info)
from dragon.vm.torch.utils.data.datapipes._decorator import (argument_validation, functional_datapipe,
                                                             guaranteed_datapipes_determinism, non_deterministic,
                                                             runtime_validation, runtime_validation_disabled)
from dragon.vm.torch.utils.data.datapipes.datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe
from dragon.vm.torch.utils.data.dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset,
                                                Subset, TensorDataset, random_split)
from dragon.vm.torch.utils.data.distributed import DistributedSampler
from dragon.vm.torch.utils.data.sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler,
                                                SubsetRandomSampler, WeightedRandomSampler)
