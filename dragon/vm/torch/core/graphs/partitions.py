"""Nodes of a graph that are to become one."""


def validate_partition(partition):
    """Return whether nodes can become one: no way leads out of them and in again."""
    inner, seen = set(partition), set()
    waiting = [user for node in partition for user in node.users if user not in inner]
    while waiting:
        node = waiting.pop()
        if node in inner:
            return False
        if node not in seen:
            seen.add(node)
            waiting.extend(node.users)
    return True
