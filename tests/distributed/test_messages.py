"""Messages between two processes: of any size, with tags, early and late, of anybody."""
from harness.ranks import in_group, run_ranks


def test_messages_find_who_asks_for_them():
    run_ranks('''
    rng = np.random.default_rng(5)
    for step in range(100):
        count = int(rng.choice([0, 1, 100, 16384, 70_000]))
        data = [rng.integers(0, 99, count).astype("float32") for _ in range(size)]
        to, source = (rank + 1) % size, (rank - 1) % size
        out, other = dragon.tensor(data[rank]), dragon.tensor(data[rank][:count // 2] * 2)
        sent = [_C.post_message(out, g, to, 1, True), _C.post_message(other, g, to, 2, True)]
        if rng.random() < 0.5:
            _C.group_barrier(g)  # messages are on their way while all wait here
        first, second = dragon.tensor(np.zeros(count, "float32")), dragon.tensor(np.zeros(count // 2, "float32"))
        late = [_C.post_message(second, g, source, 2, False), _C.post_message(first, g, source, 1, False)]
        for message in late + sent:
            message.wait(20.0)
            assert message.is_done()
        assert (np.asarray(first) == data[source]).all() and (np.asarray(second) == data[source][:count // 2] * 2).all()
        assert late[0].rank == source
    ''', 3, in_group())


def test_messages_of_anybody_and_of_oneself():
    run_ranks('''
    x = dragon.tensor(np.float32([rank, 7.0]))
    if rank:
        _C.post_message(x, g, 0, 0, True).wait(20.0)
    else:
        seen = set()
        for _ in range(size - 1):
            into = dragon.tensor(np.zeros(2, "float32"))
            message = _C.post_message(into, g, -1, 0, False)
            message.wait(20.0)
            assert np.asarray(into).tolist() == [message.rank, 7.0]
            seen.add(message.rank)
        assert seen == {1, 2}
    into = dragon.tensor(np.zeros(2, "float32"))
    own = _C.post_message(x, g, rank, 3, True)
    _C.post_message(into, g, rank, 3, False).wait(20.0)
    own.wait(20.0)
    assert np.asarray(into).tolist() == [rank, 7.0]
    _C.group_barrier(g)
    ''', 3, in_group())


def test_what_goes_wrong_is_told():
    run_ranks('''
    def refused(call, *words):
        try:
            call()
        except Exception as error:
            assert all(word in str(error) for word in words), error
        else:
            raise SystemExit(f"no error, expected one with {words}")
    x, small = dragon.tensor(np.zeros(3, "float32")), dragon.tensor(np.zeros(2, "float32"))
    turned = dragon.tensor(np.zeros((3, 4), "float32")).T
    refused(lambda: _C.post_message(x, g, 2, 0, True), "rank 2")
    refused(lambda: _C.post_message(x, g, -2, 0, False), "rank -2")
    refused(lambda: _C.post_message(turned, g, 1 - rank, 0, True), "row-major")
    refused(lambda: _C.post_message(x, 99, 0, 0, True), "group 99")
    if rank == 0:
        _C.post_message(x, g, 1, 4, True).wait(20.0)
    else:
        refused(lambda: _C.post_message(small, g, 0, 4, False).wait(20.0), "of 12 bytes", "of 8")
        refused(lambda: _C.post_message(small, g, 0, 9, False).wait(0.2), "tag 9", "0.2 seconds")
    _C.group_barrier(g)
    # One that was given up is no trap for those that come later.
    if rank == 0:
        _C.post_message(small, g, 1, 9, True).wait(20.0)
    else:
        _C.post_message(small, g, 0, 9, False).wait(20.0)
    _C.group_barrier(g)
    ''', 2, in_group())
