"""Items of plans for values of states: tensors, parts of tensors, objects."""
import io
from collections.abc import Mapping

from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint._sharded import chunk_of, is_sharded, local_of
from dragon.vm.torch.distributed.checkpoint.metadata import (BytesStorageMetadata, ChunkStorageMetadata, MetadataIndex,
                                                             TensorProperties)
from dragon.vm.torch.distributed.checkpoint.planner import (LoadItemType, ReadItem, TensorWriteData, WriteItem,
                                                            WriteItemType)
from dragon.vm.torch.distributed.checkpoint.resharding import find_overlap, overlaps


def _create_chunk_from_tensor(tensor):
    """Return the part that a tensor is of itself: all."""
    return ChunkStorageMetadata(torch.Size([0] * tensor.dim()), tensor.size())


def _create_write_items(fqn, value):
    """Return what is written for a value; sharded tensors tell it themselves."""
    if hasattr(value, "__create_write_items__"):
        return value.__create_write_items__(fqn, value)
    if not isinstance(value, torch.Tensor):
        return [WriteItem(MetadataIndex(fqn), WriteItemType.BYTE_IO)]
    sharded = is_sharded(value)
    chunk = chunk_of(value) if sharded else _create_chunk_from_tensor(value)
    properties = TensorProperties.create_from_tensor(local_of(value) if sharded else value)
    kind = WriteItemType.SHARD if sharded else WriteItemType.TENSOR
    return [WriteItem(MetadataIndex(fqn, chunk.offsets), kind,
                      tensor_data=TensorWriteData(chunk, properties, value.size()))]


def _create_chunk_list(value):
    """Return the parts of a tensor that this process has."""
    if hasattr(value, "__create_chunk_list__"):
        return value.__create_chunk_list__()
    if is_sharded(value):
        return [chunk_of(value)]
    if isinstance(value, torch.Tensor):
        return [_create_chunk_from_tensor(value)]
    raise ValueError(f"Unsupported Type, expecting one of [Tensor, DTensor, ShardedTensor] ,but got {type(value)}")


def create_read_items_for_chunk_list(fqn, checkpoint_md, local_chunks):
    """Return what is to be read to fill parts of a tensor, of the parts that were saved.

    Parameters
    ----------
    fqn : str
        The tensor's name.
    checkpoint_md : TensorStorageMetadata
        What was saved of it.
    local_chunks : List[ChunkStorageMetadata]
        What is wanted.

    Returns
    -------
    List[ReadItem]
        The items.

    """
    items = []
    for number, wanted in enumerate(local_chunks):
        for place, saved in enumerate(checkpoint_md.chunks):
            if overlaps(saved, wanted):
                source, target, lengths = find_overlap(saved, wanted)
                items.append(ReadItem(LoadItemType.TENSOR, MetadataIndex(fqn, wanted.offsets, number),
                                      torch.Size(target), MetadataIndex(fqn, saved.offsets, place), torch.Size(source),
                                      torch.Size(lengths)))
    return items


def _create_read_items(fqn, md, value):
    """Return what is to be read for a value."""
    if isinstance(md, BytesStorageMetadata):
        nothing = torch.Size([0])
        return [ReadItem(LoadItemType.BYTE_IO, MetadataIndex(fqn), nothing, MetadataIndex(fqn), nothing, nothing)]
    try:
        chunks = _create_chunk_list(value)
    except ValueError as error:
        raise ValueError(f"Invalid checkpoint metadata for {fqn}, expected BytesStorageMetadata but found {type(md)}: "
                         f"the checkpoint has a tensor, the state to be filled has {type(value)}") from error
    return create_read_items_for_chunk_list(fqn, md, chunks)


def _init_state_dict(state_dict):
    """Give tensors of a state that have no memory yet some, in place."""
    for key, value in state_dict.items():
        state_dict[key] = _with_memory(value)


def _with_memory(value):
    if isinstance(value, torch.Tensor):
        return torch.empty_like(value, device="cpu") if value.is_meta else value
    if isinstance(value, Mapping) and not isinstance(value, io.IOBase):
        for key, inner in value.items():
            value[key] = _with_memory(inner)
        return value
    if type(value) in (list, tuple):
        return type(value)(map(_with_memory, value))
    return value
