"""Shared memory in blocks that are used again and again, so that a batch costs neither a file nor page faults.

A block is an anonymous file in memory (memfd) that two processes map. It has no name, hence nothing is left behind
when processes die. Its first bytes count how often it was lent out, by the owner, and how often it came back, by
the borrower; each counter has one writer, so there is no lock. Equal counters mean that it may be filled anew.
"""
import ctypes
import mmap
import os
import weakref
from collections import deque

HEADER_BYTES = 64
SENT, RETURNED, MAPPED = 0, 1, 2  # the places of the counters, and of the borrower's word that it has mapped the block
ALIGNMENT = 64
FAILED = ctypes.c_void_p(-1).value
_current, _mapped = None, {}  # {address: bytes} of all that is mapped now
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def align(count):
    """Return a count of bytes rounded up to what vector instructions like."""
    return -(-count // ALIGNMENT) * ALIGNMENT


def map_file(descriptor, size):
    """Return a file's bytes, mapped as long as anything looks at them.

    The module `mmap` would keep a descriptor for each mapping, and a process may have only so many.
    """
    address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address == FAILED:
        code = ctypes.get_errno()
        raise OSError(code, f"map_file: got '{os.strerror(code)}' for {size} bytes, expected shared memory")
    memory = (ctypes.c_ubyte * size).from_address(address)
    _mapped[address] = size
    # Tensors may outlive the interpreter's last steps, so nothing is unmapped there.
    weakref.finalize(memory, _unmap, address, size).atexit = False
    return memory


def _unmap(address, size):
    _mapped.pop(address, None)
    _libc.munmap(address, size)


def is_mapped(address):
    """Return whether an address lies in memory that another process sees too."""
    return any(start <= address < start + size for start, size in list(_mapped.items()))


def open_view(memory, start, nbytes):
    """Return a view of mapped memory, and the object that lives as long as anything made of the view does.

    A view of a view would outlive the first one, hence an object of its own stands between: every view keeps that.
    """
    holder = (ctypes.c_ubyte * nbytes).from_buffer(memory, start)
    return memoryview(holder).cast("B"), holder


def counters_of(memory):
    """Return the counters at the head of a block."""
    return open_view(memory, 0, HEADER_BYTES)[0].cast("Q")


class Block:
    """Memory that this process owns and lends.

    Parameters
    ----------
    number : int
        Its name within the arena.
    nbytes : int
        How many bytes of data it must hold.

    """

    def __init__(self, number, nbytes):
        self.number = number
        # A little more than was asked for, so that the next batch of nearly this size fits too.
        size = -(-(HEADER_BYTES + nbytes + nbytes // 8) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.descriptor = os.memfd_create("dragon", os.MFD_CLOEXEC)
        try:
            # Where memory is short, it says so here; a file that is only made long says it by SIGBUS, later.
            os.posix_fallocate(self.descriptor, 0, size)
        except OSError as error:
            os.close(self.descriptor)
            raise MemoryError(f"Block: got '{error.strerror}' for {size} bytes of shared memory, expected room for a "
                              "batch; smaller batches, fewer workers or a smaller prefetch take less") from None
        self.memory = map_file(self.descriptor, size)
        self.capacity = size - HEADER_BYTES
        self.counters = counters_of(self.memory)
        self.data = open_view(self.memory, HEADER_BYTES, self.capacity)[0]
        self.address = ctypes.addressof(self.memory) + HEADER_BYTES
        self.holders = []

    def is_held(self):
        """Return whether this process looks at the data."""
        self.holders = [holder for holder in self.holders if holder() is not None]
        return bool(self.holders)

    def is_idle(self):
        """Return whether neither this process nor the borrower looks at the data."""
        return self.counters[SENT] == self.counters[RETURNED] and not self.is_held()

    def hold(self, nbytes):
        """Return a view of the first bytes that keeps the block busy while it lives."""
        view, holder = open_view(self.memory, HEADER_BYTES, nbytes)
        self.holders.append(weakref.ref(holder))
        return view

    def close(self):
        """Let go of the file, which the borrower has mapped or never will; the memory stays."""
        os.close(self.descriptor)


class Arena:
    """The blocks of one process: what it sends to another one lies in them."""

    LOOKED_AT = 32  # blocks that are looked through for an idle one: who keeps all batches shall not wait ever longer

    def __init__(self):
        self.blocks, self.retired = deque(), []
        self._open, self._held = [], []  # blocks whose files are open, and those that may be looked at here
        self._count = 0
        weakref.finalize(self, _close_all, self._open, os.getpid())

    def take(self, nbytes):
        """Return an idle block that holds so many bytes, a new one if there is none."""
        for block in [block for block in self._open if block.counters[MAPPED]]:
            block.close()
            self._open.remove(block)
        self.blocks.rotate(-self.LOOKED_AT)
        last = [self.blocks[-place - 1] for place in range(min(self.LOOKED_AT, len(self.blocks)))]
        idle = [block for block in last if block.is_idle()]
        fitting = [block for block in idle if block.capacity >= nbytes]
        if fitting:
            return min(fitting, key=lambda block: block.capacity)
        # What is too small now has been outgrown: batches of one loader are about equally large.
        if len(idle) > 2:
            self._retire(max(idle, key=lambda block: block.capacity))
        self._count += 1
        block = Block(self._count, nbytes)
        self.blocks.append(block)
        self._open.append(block)
        return block

    def _retire(self, block):
        self.blocks.remove(block)
        if block in self._open:
            self._open.remove(block)
            block.close()
        self.retired.append(block.number)

    def allocate(self, nbytes):
        """Return writable memory that can be sent without a copy."""
        block = self.take(nbytes)
        self._held.append(block)
        return block.hold(nbytes)

    def find(self, address, nbytes):
        """Return the block that an address range lies in, and where; None for other memory."""
        self._held = [block for block in self._held if block.is_held()]
        for block in self._held:
            if block.address <= address and address + nbytes <= block.address + block.capacity:
                return block, address - block.address
        return None


def _close_all(blocks, owner):
    if os.getpid() == owner:
        for block in blocks:
            block.close()


class Mailbox:
    """The blocks of another process that this one looks at."""

    def __init__(self):
        self.mapped = {}
        self._returned = deque()
        self._views = {}

    def view(self, process, number, descriptor, offset, nbytes):
        """Return borrowed memory; it goes back to its owner when nothing looks at it any more."""
        key = process, number
        if key not in self.mapped:
            self.mapped[key] = map_descriptor(process, descriptor)
        memory, counters = self.mapped[key]
        counters[MAPPED] = 1
        view, holder = open_view(memory, HEADER_BYTES + offset, nbytes)
        # A collector may call back in the middle of anything: it only takes a note, `settle` writes the counters. No
        # line of Python runs for that: an interrupt would come there, and be lost as all errors of callbacks are.
        note = weakref.ref(holder, self._returned.append)
        self._views[id(note)] = note, counters
        return view

    def settle(self):
        """Tell the owners which of their blocks came back."""
        while self._returned:
            _, counters = self._views.pop(id(self._returned.popleft()))
            counters[RETURNED] += 1

    def forget(self, process, numbers):
        """Unmap blocks that their owner has given up, as soon as nothing looks at them."""
        for number in numbers:
            self.mapped.pop((process, number), None)


def map_descriptor(process, descriptor):
    """Map a file that another process of this user has open; return the memory and the counters at its head."""
    opened = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
    try:
        memory = map_file(opened, os.fstat(opened).st_size)
    finally:
        os.close(opened)
    return memory, counters_of(memory)


def current_arena():
    """Return the arena whose memory a worker's results may be made in; None outside workers."""
    return _current


def set_current_arena(arena):
    """Name the arena of this worker."""
    global _current
    _current = arena
