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
SENT, RETURNED = 0, 1
ALIGNMENT = 64
_current = None


def align(count):
    """Return a count of bytes rounded up to what vector instructions like."""
    return -(-count // ALIGNMENT) * ALIGNMENT


def address_of(view):
    """Return the address of a writable view's first byte."""
    return ctypes.addressof(ctypes.c_ubyte.from_buffer(view))


def open_view(memory, start, nbytes):
    """Return a view of mapped memory, and the object that lives as long as anything made of the view does.

    A view of a view would outlive the first one, hence an object of its own stands between: every view keeps that.
    """
    holder = (ctypes.c_ubyte * nbytes).from_buffer(memory, start)
    return memoryview(holder).cast("B"), holder


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
        os.ftruncate(self.descriptor, size)
        memory = mmap.mmap(self.descriptor, size)
        self.capacity = size - HEADER_BYTES
        self.memory = memory
        self.counters = memoryview(memory)[:HEADER_BYTES].cast("Q")
        self.data = memoryview(memory)[HEADER_BYTES:]
        self.address = address_of(self.data)
        self.holders = []

    def is_idle(self):
        """Return whether neither this process nor a borrower looks at the data."""
        self.holders = [holder for holder in self.holders if holder() is not None]
        return not self.holders and self.counters[SENT] == self.counters[RETURNED]

    def hold(self, nbytes):
        """Return a view of the first bytes that keeps the block busy while it lives."""
        view, holder = open_view(self.memory, HEADER_BYTES, nbytes)
        self.holders.append(weakref.ref(holder))
        return view

    def close(self):
        """Let go of the file; memory that is still looked at stays."""
        os.close(self.descriptor)


class Arena:
    """The blocks of one process: what it sends lies in them."""

    def __init__(self):
        self.blocks = {}
        self.retired = []
        self._count = 0
        self._owner = os.getpid()
        weakref.finalize(self, _close_all, self.blocks, self._owner)

    def take(self, nbytes):
        """Return an idle block that holds so many bytes, a new one if there is none."""
        idle = [block for block in self.blocks.values() if block.is_idle()]
        fitting = [block for block in idle if block.capacity >= nbytes]
        if fitting:
            return min(fitting, key=lambda block: block.capacity)
        # What is too small now has been outgrown: batches of one loader are about equally large.
        if len(idle) > 2:
            self._retire(max(idle, key=lambda block: block.capacity))
        self._count += 1
        block = self.blocks[self._count] = Block(self._count, nbytes)
        return block

    def _retire(self, block):
        del self.blocks[block.number]
        block.close()
        self.retired.append(block.number)

    def allocate(self, nbytes):
        """Return writable memory that can be sent without a copy."""
        return self.take(nbytes).hold(nbytes)

    def find(self, address, nbytes):
        """Return the block that an address range lies in, and where; None for other memory."""
        for block in self.blocks.values():
            if block.address <= address and address + nbytes <= block.address + block.capacity:
                return block, address - block.address
        return None


def _close_all(blocks, owner):
    for block in blocks.values():
        if os.getpid() == owner:
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
        view, holder = open_view(memory, HEADER_BYTES + offset, nbytes)
        # A collector may call back in the middle of anything: it only takes a note, `settle` writes the counters.
        note = weakref.ref(holder, self._note)
        self._views[id(note)] = note, counters
        return view

    def _note(self, reference):
        self._returned.append(id(reference))

    def settle(self):
        """Tell the owners which of their blocks came back."""
        while self._returned:
            _, counters = self._views.pop(self._returned.popleft())
            counters[RETURNED] += 1

    def forget(self, process, numbers):
        """Unmap blocks that their owner has given up, as soon as nothing looks at them."""
        for number in numbers:
            self.mapped.pop((process, number), None)


def map_descriptor(process, descriptor):
    """Map a file that another process of this user has open; return the memory and the counters at its head."""
    opened = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
    try:
        memory = mmap.mmap(opened, os.fstat(opened).st_size)
    finally:
        os.close(opened)
    return memory, memoryview(memory)[:HEADER_BYTES].cast("Q")


def current_arena():
    """Return the arena whose memory a worker's results may be made in; None outside workers."""
    return _current


def set_current_arena(arena):
    """Name the arena of this worker."""
    global _current
    _current = arena
