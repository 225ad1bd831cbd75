"""What a program's objects are made of, and what a checkpoint says of the objects that were saved."""
from dragon.vm.tensorflow.core.checkpoint import trackable
from dragon.vm.tensorflow.core.checkpoint.bundle import Bundle


class TrackableView:
    """An object, and all that it is made of.

    Parameters
    ----------
    root : Any
        A module, a model, a checkpoint.

    Examples
    --------
    >>> module = tf.Module()
    >>> module.one = tf.Variable(1.0)
    >>> list(tf.train.TrackableView.children(module)), len(tf.train.TrackableView(module).descendants())
    (['one'], 2)

    """

    def __init__(self, root):
        if not trackable.is_trackable(root):
            raise ValueError(f"Expected a Trackable, got {root} of type {type(root)}.")
        self._root = root

    root = property(lambda self: self._root, doc="Any: the object.")

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """Return the trackable parts of an object by their names.

        Parameters
        ----------
        obj : Any
            The object.
        save_type : str, optional, default="checkpoint"
            Must be that.
        **kwargs : Any
            For objects that make their parts.

        Returns
        -------
        Dict[str, Any]
            The parts.

        """
        if save_type != "checkpoint":
            raise NotImplementedError(f"TrackableView.children: got save_type={save_type!r}, expected 'checkpoint'")
        return trackable.parts_of(obj)

    def descendants(self):
        """Return the object and all that it is made of, those near it first."""
        return [value for value, _, _ in trackable.walk(self._root)]


class CheckpointView:
    """What a checkpoint says of the objects that were saved, by their numbers.

    Parameters
    ----------
    save_path : str
        What the names of the files begin with.

    """

    def __init__(self, save_path):
        bundle = Bundle(save_path)
        if trackable.GRAPH not in bundle:
            raise ValueError(f"CheckpointView: {save_path} describes no objects")
        self._nodes = trackable.read_nodes(bundle.read(trackable.GRAPH)[()])
        self._numbers = {id(node): number for number, node in enumerate(self._nodes)}

    def children(self, node_id):
        """Return the numbers of an object's parts by their names."""
        return {name: self._numbers[id(part)] for name, part in self._nodes[node_id].children.items()}

    def descendants(self):
        """Return the numbers of the root and of all that it is made of, those near it first."""
        order, known = [0], {0}
        for number in order:
            new = [part for part in self.children(number).values() if part not in known]
            known.update(new)
            order += dict.fromkeys(new)
        return order

    def match(self, obj):
        """Return which of a program's objects each number means.

        Parameters
        ----------
        obj : Any
            What the root would be.

        Returns
        -------
        Dict[int, Any]
            Objects by their numbers.

        """
        if not trackable.is_trackable(obj):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        found, order = {0: obj}, [0]
        for number in order:
            mine = trackable.parts_of(found[number])
            for name, part in self.children(number).items():
                if name in mine and part not in found:
                    found[part] = mine[name]
                    order.append(part)
        return found

    def diff(self, obj):
        """Return what `match` does, the numbers that mean no object, and the objects that no number means.

        Parameters
        ----------
        obj : Any
            What the root would be.

        Returns
        -------
        Tuple[Dict[int, Any], List[int], List[Any]]
            All three.

        """
        found = self.match(obj)
        left = [number for number in self.descendants() if number not in found]
        known = {id(value) for value in found.values()}
        return found, left, [value for value, _, _ in trackable.walk(obj) if id(value) not in known]
