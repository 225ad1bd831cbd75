"""Batches in page-locked memory, for devices that copy from it; without a device nothing calls this."""
import queue
from collections.abc import Mapping, Sequence

from dragon.vm import torch
from dragon.vm.torch.core.failures import ExceptionWrapper
from dragon.vm.torch.utils.data._utils.structure import is_namedtuple, map_mapping, rebuild_sequence

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between two looks at whether all is over; those a worker has to end when asked


def pin_memory(data, device=None):
    """Return data with every part that has a method `pin_memory` pinned."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return map_mapping(lambda part: pin_memory(part, device), data)
    if isinstance(data, tuple):
        parts = [pin_memory(part, device) for part in data]
        return type(data)(*parts) if is_namedtuple(data) else type(data)(parts)
    if isinstance(data, Sequence):
        return rebuild_sequence(data, [pin_memory(part, device) for part in data])
    return data


def _pin_memory_loop(in_queue, out_queue, device_id, done_event, device):
    """Pin the batches of (number, batch) pairs on their way from one queue to another; what runs in a thread."""
    torch.multiprocessing._set_thread_name("pt_data_pin")
    torch.accelerator.set_device_index(device_id)
    while not done_event.is_set():
        try:
            number, data = in_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Empty:
            continue
        if not isinstance(data, ExceptionWrapper):
            try:
                data = pin_memory(data, device)
            except Exception:
                data = ExceptionWrapper(where=f"in pin memory thread for device {device_id}")
        _put(out_queue, (number, data), done_event)
        del data  # nobody but the user holds it


def _put(out_queue, pair, done_event):
    while not done_event.is_set():
        try:
            return out_queue.put(pair, timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Full:
            pass
