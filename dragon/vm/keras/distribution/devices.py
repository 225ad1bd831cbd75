"""The devices and processes that there are."""
import os

from dragon.vm.keras.core import global_state
from dragon.vm.shared.letters import expect


def _workers():
    return global_state.get_global_attribute("distribution_workers")


def local_devices(device_type=None):
    """Return the devices of this process of a kind, by names such as "cpu:0"; without one, GPUs if there are any."""
    from dragon.vm.shared.tensors.devices import list_logical_devices
    kind = None if device_type is None else expect(device_type, str, "list_devices", "device_type").upper()
    found = list_logical_devices(kind or None)
    others = [device for device in found if device.device_type != "CPU"]
    return [f"{device.device_type.lower()}:{device.name.rsplit(':', 1)[-1]}" for device in others or found]


def list_devices(device_type=None):
    """Return the devices of all processes, by names such as "cpu:0" and "gpu:1"; those of the first process come first.

    Parameters
    ----------
    device_type : str, optional
        Their kind; without it, GPUs if there are any, else CPUs.

    """
    own, workers = local_devices(device_type), _workers()
    if workers is None or not own:
        return own
    kind = own[0].split(":")[0]
    return [f"{kind}:{number}" for number in range(len(own) * workers.size)]


def process_of(device):
    """Return (the number of the process that has a device, the device's name there)."""
    kind, _, number = str(device).partition(":")
    own = local_devices(kind)
    if not own or not number.isdigit() or device not in list_devices(kind):
        return None
    process, place = divmod(int(number), len(own))
    return process, own[place]


def get_device_count(device_type=None):
    """Return how many devices of a kind there are. ..."""
    return len(list_devices(device_type))


def initialize(job_addresses=None, num_processes=None, process_id=None):
    """Begin work in several processes of this machine; returns when all are there.

    Parameters
    ----------
    job_addresses : str, optional
        The processes' addresses, separated by commas, or that of the first one alone, where they meet;
        `KERAS_DISTRIBUTION_JOB_ADDRESSES` without it.
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
    told = expect(addresses, str, "initialize", "job_addresses").split(",") if addresses else []
    count = max(len(told), 1) if count is None else count
    if count < 1 or len(told) > 1 and len(told) != count:
        raise ValueError(f"distribution.initialize: got {len(told)} addresses and num_processes={count}, expected as "
                         f"many addresses as processes, or the first one's. Received: job_addresses={addresses!r}")
    if number is not None and not 0 <= number < count:
        raise ValueError(f"process_id should be between 0 and num_processes - 1. Received: process_id={number}")
    if count == 1:
        return
    if number is None or not told:
        raise ValueError(f"distribution.initialize: got {count} processes, job_addresses={addresses!r} and "
                         f"process_id={number}, expected the address of the first process and the number of this one")
    if not told[0].rpartition(":")[2].isdigit():
        raise ValueError(f"distribution.initialize: got the address {told[0]!r}, expected a host and a port")
    if _workers() is not None:
        raise RuntimeError("distribution.initialize: got a second call, expected one: processes meet once")
    from dragon.vm.keras.distribution.processes import join
    join([told[0], *[str(other) for other in range(1, count)]], number)
