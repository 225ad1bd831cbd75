"""Ports of this machine."""
import socket


def get_socket_with_port():
    """Return a socket that is bound to a free port."""
    found = socket.socket()
    found.bind(("localhost", 0))
    found.listen(0)
    return found


def get_free_port():
    """Return a port that nobody listens on."""
    with get_socket_with_port() as found:
        return found.getsockname()[1]
