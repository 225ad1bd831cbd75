"""Processes that die, are late, are interrupted or are forked: the others say who and where, and nothing is left."""
import os
import signal
import time

import pytest
from harness.ranks import Ranks, in_group, run_ranks

DIE = '''
import os, signal, time
x = dragon.tensor(np.ones(COUNT, "float32"))
ops.all_reduce(x, g)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.monotonic()
try:
    for _ in range(3):
        ops.all_reduce(x, g)
except RuntimeError as error:
    print(f"{time.monotonic() - begin < 60} {error}")
'''


@pytest.mark.parametrize("count", [1, 1_000_000])
def test_a_killed_rank_is_named_by_all_others(count):
    found = Ranks(DIE.replace("COUNT", str(count)), 3, in_group()).finish()
    assert found[1][0] == -signal.SIGKILL
    for rank in (0, 2):
        assert found[rank][0] == 0 and found[rank][1].startswith("True"), found[rank]
        assert "rank 1 (process" in found[rank][1] and "all_reduce(sum)" in found[rank][1]


def test_a_rank_that_waits_for_a_message_of_a_dead_one_says_so():
    found = Ranks('''
    import os
    if rank == 1:
        os._exit(3)
    try:
        _C.post_message(dragon.tensor(np.ones(2)), g, 1, 0, False).wait(20.0)
    except RuntimeError as error:
        print(error)
    ''', 2, in_group()).finish()
    assert "rank 1 (process" in found[0][1] and "has ended" in found[0][1]


def test_a_rank_that_does_not_come_is_named():
    found = Ranks('''
    import time
    if rank == 1:
        time.sleep(3)
    try:
        ops.all_reduce(dragon.tensor(np.ones(2)), g)
    except RuntimeError as error:
        print(error)
    ''', 2, in_group(1.0)).finish()
    for _, output, _ in found:  # the one that comes late hears of it as well
        assert "rank 1 has not come in time" in output and "a new one" in output


def test_an_interrupt_ends_the_wait_everywhere():
    ranks = Ranks('''
    import signal, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which who runs this may have had ignored
    print("ready", flush=True)
    try:
        if rank == 0:
            ops.all_reduce(dragon.tensor(np.ones(2)), g)
        else:
            time.sleep(1.0)
            ops.all_reduce(dragon.tensor(np.ones(2)), g)
    except BaseException as error:
        print(type(error).__name__, error)
    ''', 2, in_group())
    assert ranks.processes[0].has_written("ready\n")
    time.sleep(0.3)
    os.kill(ranks.processes[0].pid, signal.SIGINT)
    found = ranks.finish()
    assert found[0][1].startswith("ready\nKeyboardInterrupt")
    assert "rank 0 was interrupted in all_reduce(sum)" in found[1][1]


def test_a_fork_of_a_member_is_refused_and_harms_nobody():
    run_ranks('''
    import os
    child = os.fork()
    if child == 0:
        try:
            ops.all_reduce(dragon.tensor(np.ones(2)), g)
        except ValueError as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert np.asarray(ops.all_reduce(dragon.tensor(np.ones(2)), g)).tolist() == [2.0, 2.0]
    ''', 2, in_group())


def test_threads_of_a_process_go_on_while_one_waits():
    run_ranks('''
    import threading, time
    ticks = []
    def tick():
        while len(ticks) < 1000 and not done:
            ticks.append(time.monotonic())
            time.sleep(0.01)
    done = []
    thread = threading.Thread(target=tick)
    thread.start()
    if rank == 1:
        time.sleep(0.5)
    ops.all_reduce(dragon.tensor(np.ones(2)), g)
    done.append(True)
    thread.join()
    assert rank == 1 or len(ticks) > 3, len(ticks)
    ''', 2, in_group())


def test_two_processes_of_one_rank_are_refused():
    found = Ranks('''
    import dragon, os
    from dragon import _C
    from dragon.distributed.stores.tcp import TCPStore
    from dragon.distributed.group import ProcessGroup
    store = TCPStore("127.0.0.1", port, rank == 0, 10.0)
    try:
        ProcessGroup(store, min(rank, 1), 2, 5.0)
        print("joined")
    except RuntimeError as error:
        print(error)
    store.set(f"said {rank}", b"")
    if rank == 0:  # stays until the last one, whichever it is, has come
        store.wait(["said 1", "said 2"], 30.0)
    ''', 3).finish()
    outputs = [output for _, output, _ in found if output != "joined\n"]
    assert len(outputs) == 1, found
    # What it hears depends on whether the first one has let go of the memory's file yet, all others being there.
    assert "two processes of rank 1" in outputs[0] or "no shared memory of rank 0" in outputs[0], found


def test_no_shared_memory_is_left():
    before = set(os.listdir("/dev/shm"))
    for _ in range(3):
        Ranks(DIE.replace("COUNT", "100"), 2, in_group()).finish()
    assert set(os.listdir("/dev/shm")) <= before
