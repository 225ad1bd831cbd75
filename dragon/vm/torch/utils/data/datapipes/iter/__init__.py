"""Pipes of samples as they come, and what is made of them: `torch.utils.data.datapipes.iter`."""
from dragon.vm.torch.utils.data.datapipes.iter.callable import (CollatorIterDataPipe as Collator,
                                                                MapperIterDataPipe as Mapper)
from dragon.vm.torch.utils.data.datapipes.iter.combinatorics import (SamplerIterDataPipe as Sampler,
                                                                     ShufflerIterDataPipe as Shuffler)
from dragon.vm.torch.utils.data.datapipes.iter.combining import (ConcaterIterDataPipe as Concater,
                                                                 ZipperIterDataPipe as Zipper)
from dragon.vm.torch.utils.data.datapipes.iter.grouping import (BatcherIterDataPipe as Batcher,
                                                                UnBatcherIterDataPipe as UnBatcher)
from dragon.vm.torch.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from dragon.vm.torch.utils.data.datapipes.iter.sharding import ShardingFilterIterDataPipe as ShardingFilter
from dragon.vm.torch.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper
