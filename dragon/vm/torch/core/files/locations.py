"""The places of storages when a file is read: where they were, or where `map_location` says."""
from dragon.core.refusals import refusing
from dragon.vm.torch.core.device import FOREIGN, device, device_count
from dragon.vm.torch.storage import TypedStorage, UntypedStorage

# What `register_package` was given: (priority, function from storages to locations, function that places storages).
PACKAGES = []


def location_tag(storage):
    """Return where a storage is, as files say it."""
    from dragon.vm.torch.core.files.pickler import location_of
    for _, tagger, _ in PACKAGES:
        tag = tagger(storage)
        if tag:
            return tag
    return location_of(storage.untyped())


def validate_cuda_device(location):
    """Return the index of a CUDA location, or raise if there is no such device."""
    index = device(location).index or 0
    count = device_count("cuda")
    if index >= count:
        raise RuntimeError(f"load: got a storage that was on {location} and {count} CUDA devices here: Attempting "
                           "to deserialize object on a CUDA device but torch.cuda.is_available() is "
                           f"{count > 0}; expected "
                           "map_location, as in torch.load(..., map_location=torch.device('cpu'))")
    return index


def validate_hpu_device(location):
    """Raise: there is no device of Habana's."""
    if device(location).type != "hpu":
        raise RuntimeError(f"validate_hpu_device: got {location!r}, expected a location on an HPU")
    raise RuntimeError(f"load: got a storage that was on {location}: The HPU device module is not registered; expected "
                       "map_location, as in torch.load(..., map_location=torch.device('cpu'))")


@refusing
def default_restore_location(storage, location):
    """Return a storage that was read, at a location."""
    for _, _, place in PACKAGES:
        placed = place(storage, location)
        if placed is not None:
            return placed
    kind = location.partition(":")[0]
    if kind == "cpu" or kind == "meta":
        return storage if kind == "cpu" else storage.to(device="meta")
    if kind == "cuda":
        validate_cuda_device(location)
        return storage.cuda(location)
    if kind in FOREIGN:
        raise RuntimeError(f"load: got a storage that was on {location}, a kind of device that Dragon does not have, "
                           "expected map_location, as in torch.load(..., map_location='cpu')")
    raise RuntimeError(f"load: don't know how to restore a storage at the location {location!r}, expected cpu or cuda")


def make_restore(map_location):
    """Return a function (storage, location) -> storage from any form of `map_location`."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes)):
        name = map_location if isinstance(map_location, str) else map_location.decode("ascii")
        return lambda storage, location: default_restore_location(storage, name)
    if isinstance(map_location, device):
        return lambda storage, location: default_restore_location(storage, str(map_location))
    if not callable(map_location):
        raise TypeError(f"load: got map_location={map_location!r}, expected a device, its name, a dict or a function")

    def restore(storage, location):
        placed = map_location(storage, location)
        return default_restore_location(storage, location) if placed is None else placed
    return restore


def place(memory, location, restore):
    """Return bytes that were read, as an untyped storage where it belongs."""
    placed = restore(UntypedStorage._over(memory), location)
    if not isinstance(placed, (UntypedStorage, TypedStorage)):
        raise TypeError(f"load: got {type(placed).__name__} from map_location, expected a storage")
    return placed.untyped()
