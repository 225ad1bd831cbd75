"""How writing ends that nobody wanted to end: killed in the middle, or without room on the disk."""
import os
import resource
import signal
import subprocess
import sys

import pytest

from dragon.io.records import KPLRecord, KPLRecordWriter, verify, write_parallel
from harness.waiting import is_gone, wait_for

PARALLEL = """
import sys, time
from dragon.io.records import write_parallel

def encode(number):
    if number % 500 == 499:
        print(number, flush=True)
    return {"number": number, "x": bytes(5000)}

write_parallel(range(10_000_000), sys.argv[1], workers=2, shards=2, encode=encode)
"""
FULL = """
import resource, sys
from dragon.io.records import KPLRecordWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
writer, flushed = KPLRecordWriter(sys.argv[1]), 0
try:
    while True:
        writer.write({"number": len(writer), "x": bytes(10_000)})
        if len(writer) % 40 == 0:
            writer.flush()
            flushed = len(writer)
except OSError as error:
    print(error.errno, flushed)
    writer.close()
"""


def list_children(pid):
    """Return the processes that a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def test_a_parallel_writer_that_is_killed_leaves_its_records_and_no_process(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", PARALLEL, tmp_path / "a.kpl"], stdout=subprocess.PIPE, text=True,
                               cwd=tmp_path)
    for _ in range(6):
        assert process.stdout.readline()
    workers = list_children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.stdout.read()  # until the last worker is gone as well
    process.wait()
    assert workers and wait_for(lambda: all(map(is_gone, workers)))
    parts = sorted(tmp_path.iterdir())
    assert [part.name for part in parts] == [f"a-0000{number}-of-00002.kpl.part" for number in range(2)]
    for first, part in zip((0, 5_000_000), parts):
        source = KPLRecord(part)
        assert len(source) > 100 and [sample["number"] for sample in source] == list(range(first, first + len(source)))
        assert verify(part).records == len(source)


def test_a_parallel_writer_whose_worker_is_killed_says_so_and_leaves_what_was_there(tmp_path):
    names = write_parallel(range(10), tmp_path / "a.kpl", 2)

    def encode(number):
        return os.kill(os.getpid(), signal.SIGKILL) if number == 7 else number
    with pytest.raises(RuntimeError, match="got a worker that was killed"):
        write_parallel(range(10), tmp_path / "a.kpl", 2, encode=encode)
    assert list(KPLRecord(names)) == list(range(10)) and len(list(tmp_path.iterdir())) == 2


def test_a_disk_without_room_is_an_error_and_takes_nothing(tmp_path):
    path = tmp_path / "a.kpl"
    said = subprocess.run([sys.executable, "-c", FULL, path], stdout=subprocess.PIPE, text=True, check=True,
                          cwd=tmp_path).stdout
    errno, flushed = map(int, said.split())
    source = KPLRecord(path)
    assert errno in (27, 28) and flushed >= 200 and len(source) >= flushed
    assert [sample["number"] for sample in source] == list(range(len(source)))
    with KPLRecordWriter(path, append=True) as writer:
        writer.write({"number": -1})
    assert KPLRecord(path)[-1] == {"number": -1} and len(KPLRecord(path)) == len(source) + 1


def test_a_disk_without_room_ends_a_parallel_writer_and_leaves_what_was_there(tmp_path):
    names = write_parallel(range(10), tmp_path / "a.kpl", 2)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large|No space left"):
            write_parallel(range(1000), tmp_path / "a.kpl", 2, encode=lambda number: bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(KPLRecord(names)) == list(range(10)) and len(list(tmp_path.iterdir())) == 2
