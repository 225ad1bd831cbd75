"""The devices and processes that there are."""
import os
from dragon.vm.shared.letters import expect


def list_devices(device_type=None):
    """Return the devices of a kind, by names such as "cpu:0" and "gpu:0". ..."""
    from dragon.vm.shared.tensors.devices import list_logical_devices
    kind = None if device_type is None else expect(device_type, str, "list_devices", "device_type").upper()
    found = list_logical_devices(kind or None)
    others = [device for device in found if device.device_type != "CPU"]
    return [f"{device.device_type.lower()}:{device.name.rsplit(':', 1)[-1]}" for device in others or found]


def get_device_count(device_type=None):
    """Return how many devices of a kind there are. ..."""
    return len(list_devices(device_type))


def initialize(job_addresses=None, num_processes=None, process_id=None):
    """Begin work in several processes; one process is what there is.

    Parameters
    ----------
    job_addresses : str, optional
        The processes' addresses, separated by commas; `KERAS_DISTRIBUTION_JOB_ADDRESSES` without it.
    num_processes : int, optional
        How many processes there are; `KERAS_DISTRIBUTION_NUM_PROCESSES` without it.
    process_id : int, optional
        This process's number; `KERAS_DISTRIBUTION_PROCESS_ID` without it.

    """
    def setting(value, name, kind):
        text = os.environ.get(f"KERAS_DISTRIBUTION_{name}")
        return kind(text) if value is None and text is not None else value
    addresses = setting(job_addresses, "JOB_ADDRESSES", str)
    count = setting(num_processes, "NUM_PROCESSES", int)
    number = setting(process_id, "PROCESS_ID", int)
    if count is None:
        count = len(expect(addresses, str, "initialize", "job_addresses").split(",")) if addresses else 1
    if count != 1:
        raise NotImplementedError("distribution.initialize: one process is what there is. "
                                  f"Received: job_addresses={addresses!r}, num_processes={count}")
    if number not in (None, 0):
        raise ValueError(f"process_id should be between 0 and num_processes - 1. Received: process_id={number}")
