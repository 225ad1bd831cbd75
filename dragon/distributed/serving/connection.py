"""Connections between processes of one owner: whoever is at the other end has shown that it knows the key."""
import contextlib
import os
import pathlib
import secrets
import socket
import stat
import struct
import sys
import tempfile
from multiprocessing.connection import AuthenticationError, Connection, answer_challenge, deliver_challenge

from dragon.distributed.errors import DistributedError

GREETING = f"dragon cluster 1, Python {sys.version_info[0]}.{sys.version_info[1]}\n".encode().ljust(64)
KEY = "DRAGON_CLUSTER_KEY"
PATIENCE_SECONDS = 10.0  # with who connects, and does not say who it is


def cluster_key():
    """Return the secret of this owner's clusters, as bytes.

    The environment variable `DRAGON_CLUSTER_KEY` tells it, and must where processes are on several machines. Those of
    one machine find it in a file that nobody else can read, which the first of them writes.
    """
    told = os.environ.get(KEY)
    if told:
        return told.encode()
    folder = pathlib.Path(tempfile.gettempdir(), f"dragon-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    facts = os.lstat(folder)
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        raise DistributedError(f"cluster: got {str(folder)!r}, expected a folder of this user that nobody else can "
                               f"read; {KEY} in the environment would tell the key, too")
    path = folder / "cluster.key"
    if not path.exists():
        own = folder / f"key.{os.getpid()}.{secrets.token_hex(4)}"
        own.write_bytes(secrets.token_hex(32).encode())
        with contextlib.suppress(FileExistsError):
            os.link(own, path)  # the first one's is everybody's
        own.unlink()
    return path.read_bytes()


def split_address(address, who):
    """Return the host and the port of "host:port"."""
    host, colon, port = str(address).rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{who}: got the address {address!r}, expected a host and a port, such as 'localhost:2222'")
    return host.strip("[]") or "localhost", int(port)


def _shake_hands(found, asks_first):
    """Have both ends of a socket show that they know the key; return the connection."""
    found.settimeout(None)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    patience = struct.pack("ll", int(PATIENCE_SECONDS), 0)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        found.setsockopt(socket.SOL_SOCKET, option, patience)
    found.sendall(GREETING)
    said = found.recv(len(GREETING), socket.MSG_WAITALL)
    if said != GREETING:
        found.close()
        raise DistributedError(f"cluster: got the greeting {bytes(said)!r}, expected {GREETING.strip().decode()!r}")
    key = cluster_key()
    connection = Connection(os.dup(found.fileno()))
    try:
        steps = [deliver_challenge, answer_challenge]
        for step in steps if asks_first else reversed(steps):
            step(connection, key)
    except (AuthenticationError, EOFError, OSError) as error:
        connection.close()
        found.close()
        raise DistributedError(f"cluster: got another key at the other end ({error}), expected that of "
                               f"{KEY} in the environments of both, or of one user's processes") from None
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        found.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", 0, 0))
    found.close()
    return connection


def accept(found):
    """Return the connection of a socket that a server has accepted."""
    return _shake_hands(found, True)


def connect(address, seconds, who="cluster"):
    """Return a connection to an address; an OSError says that nobody answers there.

    Parameters
    ----------
    address : str
        A host and a port.
    seconds : float
        How long to try.

    """
    found = socket.create_connection(split_address(address, who), timeout=seconds)
    return _shake_hands(found, False)


def end(connection):
    """End a connection, whoever waits for something of it; it is closed by who waits."""
    with contextlib.suppress(OSError):
        found = socket.socket(fileno=os.dup(connection.fileno()))
        with found:
            found.shutdown(socket.SHUT_RDWR)
