"""Nodes by what they do, and rows as a table of plain text."""


def draw_table(rows, heads):
    """Return rows as text, a line each below their heads.

    Parameters
    ----------
    rows : List[List[Any]]
        The rows.
    heads : List[str]
        What stands above.

    Returns
    -------
    str
        The text.

    """
    words = [[str(item) for item in row] for row in rows]
    widths = [max(len(heads[place]) + 2, *(len(row[place]) for row in words)) for place in range(len(heads))]
    lines = [heads, ["-" * width for width in widths], *words]
    return "\n".join("  ".join(item.ljust(width) for item, width in zip(line, widths)).rstrip() for line in lines)


class NodesByTarget:
    """The nodes of a graph by what they do."""

    def __init__(self):
        self.table = {}

    @staticmethod
    def _key(node):
        return node.op, node.target if node.op == "call_function" else None

    def contains(self, node):
        """Return whether a node is listed."""
        return node in self.table.get(self._key(node), ())

    def insert(self, node):
        """List a node."""
        self.table.setdefault(self._key(node), {})[node] = None

    def remove(self, node):
        """Strike a node out."""
        self.table.get(self._key(node), {}).pop(node, None)

    def find_nodes(self, *, op, target=None):
        """Return the nodes of an operation, of all targets or of one."""
        if op == "call_function":
            if target is None:
                return [node for (kind, _), nodes in self.table.items() if kind == op for node in nodes]
            return list(self.table.get((op, target), ()))
        return [node for node in self.table.get((op, None), ()) if target is None or node.target == target]
