"""Where processes meet: an address says which rank a process has, of how many, and what store they share."""
import numbers
import os
from urllib.parse import parse_qs, urlsplit

from dragon.vm.torch.distributed.files import FileStore
from dragon.vm.torch.distributed.stores import DEFAULT_TIMEOUT, TCPStore

_BUILT_IN = ("env", "tcp", "file")
_handlers = {}


def register_rendezvous_handler(scheme, handler):
    """Have a function answer for addresses of a scheme of one's own.

    Parameters
    ----------
    scheme : str
        The word before "://".
    handler : Callable
        Given the address, yields a store, the rank and the number of processes.

    """
    if scheme in _handlers or scheme in _BUILT_IN:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def _error(scheme, sentence):
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {sentence}")


def _from_environment(name):
    if not os.environ.get(name):
        raise _error("env", f"environment variable {name} expected, but not set")
    return os.environ[name]


def read_place(address, rank, world_size):
    """Return the rank and the number of processes that an address, the caller or the environment tells."""
    url = urlsplit(address)
    told = {name: int(values[0]) for name, values in parse_qs(url.query).items() if name in ("rank", "world_size")}
    found = []
    for name, given in (("rank", rank), ("world_size", world_size)):
        value = told.get(name, given)
        if value == -1 and url.scheme == "env":
            value = int(_from_environment(name.upper()))
        if value == -1:
            raise _error(url.scheme, f"{name.replace('_', ' ')} parameter missing")
        found.append(value)
    return tuple(found)


def meet_by_mpi(timeout):
    """Return a store of all processes that MPI has started, the rank of this one and their number."""
    from dragon.distributed.mpi.meeting import meet, share_port
    rank, size, _ = meet()
    host, port = share_port()
    return TCPStore(host, port, size, rank == 0, timeout), rank, size


def is_custom(address):
    """Return whether a handler of the user's answers for an address; raise if nobody does."""
    scheme = urlsplit(address).scheme
    if scheme not in _handlers and scheme not in _BUILT_IN:
        raise RuntimeError(f"No rendezvous handler for {scheme}://")
    return scheme in _handlers


def rendezvous(url, rank=-1, world_size=-1, **kwargs):
    """Return an iterator of a store, the rank and the number of processes.

    Parameters
    ----------
    url : str
        "env://", "tcp://host:port", "file:///path", or an address with a registered scheme.
    rank, world_size : int, optional, default=-1
        In place of those that the address tells.

    Returns
    -------
    Iterator[Tuple[Store, int, int]]
        One such triple.

    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    for name, value in (("rank", rank), ("world_size", world_size)):
        if not isinstance(value, numbers.Integral):
            raise RuntimeError(f"`{name}` must be an integer. {value}")
    url = url if isinstance(url, str) else url.decode()
    given = [f"{name}={value}" for name, value in (("rank", rank), ("world_size", world_size)) if value != -1]
    if given:
        query = parse_qs(urlsplit(url).query)
        if "rank" in query or "world_size" in query:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        url += ("&" if query else "?") + "&".join(given)
    if is_custom(url):
        return _handlers[urlsplit(url).scheme](url, **kwargs)
    return _meet(url, **kwargs)


def _meet(address, timeout=None):
    """Yield what an address leads to; a second time there is nothing."""
    url = urlsplit(address)
    if url.scheme == "file" and not url.path:
        raise _error("file", "path missing")
    if url.scheme == "tcp" and url.port is None:
        raise _error("tcp", "port number missing")
    rank, world_size = read_place(address, -1, -1)
    if url.scheme == "file":
        store = FileStore(url.path, world_size)
    else:
        host = url.hostname if url.scheme == "tcp" else _from_environment("MASTER_ADDR")
        port = url.port if url.scheme == "tcp" else int(_from_environment("MASTER_PORT"))
        store = TCPStore(host, port, world_size, rank == 0, timeout or DEFAULT_TIMEOUT, multi_tenant=True)
    if timeout is not None:
        store.set_timeout(timeout)
    yield store, rank, world_size
    raise RuntimeError(f"Unable to perform re-rendezvous using {url.scheme}:// method")
