"""Files of weights looked at and changed, object by object, without the model that they are of."""
import contextlib
import json
import os

from dragon.core.files import replacing
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.saving.state import Writer
from dragon.vm.keras.saving.stores import (
    WeightsStore, find_group, open_archive, read_dataset, read_member, read_weights_of)

VARS = "vars"


def _read(file, group, path):
    """Return {name: array or dict} of a group of a file; what is in its "vars" is its own."""
    found = {}
    for name in group.keys():
        place = f"{path}/{name}" if path else name
        kind = group.get(name, getclass=True)
        if kind is None or kind.__name__ == "Dataset":  # links that lead nowhere are refused there
            found[name] = read_dataset(group, name)
        else:
            inner = _read(file, find_group(file, place), place)
            found.update(inner if name == VARS else {name: inner} if inner else {})
    return found


class _Spec:
    """A store that keeps what is written as {name: array or dict}."""

    def __init__(self):
        self.tree = {}

    def make(self, path, name=None):
        """Return an empty mapping for an object's arrays."""
        return _SpecEntry(self.tree, path)


class _SpecEntry:
    def __init__(self, tree, path):
        self._tree, self._path = tree, path

    def __setitem__(self, key, value):
        place = self._tree
        for name in self._path.split("/") if self._path else ():
            place = place.setdefault(name, {})
        place[str(key)] = value


def _require_dict(weights):
    if not isinstance(weights, dict):
        raise ValueError("Argument `weights` should be a dict where keys are weight names (usually '0', '1', etc.) and "
                         f"values are NumPy arrays. Received: type(weights)={type(weights)}")


class KerasFileEditor:
    """Look into a file of weights, change what is in it, and write it anew.

    Parameters
    ----------
    filepath : str
        A `.keras` or `.weights.h5` file.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="first")])
    >>> model.save_weights("model.weights.h5")
    >>> editor = keras.saving.KerasFileEditor("model.weights.h5")
    Keras weights file 'model.weights.h5'
    >>> editor.compare(model)["status"]
    Running comparison
    Comparison successful: saved file is compatible with the reference model
        Found 2 matching weights
    'success'

    """

    def __init__(self, filepath):
        path = self.filepath = os.fspath(filepath)
        self.config = self.metadata = None
        with contextlib.ExitStack() as files:
            if path.endswith(".keras"):
                archive = files.enter_context(open_archive(path))
                self.config = json.loads(read_member(archive, "config.json"))
                self.metadata = json.loads(read_member(archive, "metadata.json"))
                store = read_weights_of(archive)
            elif path.endswith(".weights.h5"):
                store = WeightsStore(path, "r")
            else:
                raise ValueError("Invalid filename: expected a `.keras` `.weights.h5` extension. Received: "
                                 f"filepath={path}")
            files.enter_context(contextlib.closing(store))
            self.weights_dict = _read(store.file, store.file, "")
        print_msg(f"Keras {'model' if self.config else 'weights'} file '{path}'")
        if self.metadata is not None:
            print_msg(f"Saved with Keras {self.metadata.get('keras_version')} - date: "
                      f"{self.metadata.get('date_saved')}")

    def summary(self):
        """Print which weights there are."""
        print_msg("Weights structure")
        self._print(self.weights_dict, 1)

    def _print(self, tree, level):
        for name, value in tree.items():
            if isinstance(value, dict):
                print_msg(f"{'    ' * level}{name}/")
                self._print(value, level + 1)
            else:
                print_msg(f"{'    ' * level}{name}: shape={tuple(value.shape)}, dtype={value.dtype}")

    def compare(self, reference_model):
        """Print what a model has that the file lacks, and the other way round.

        Parameters
        ----------
        reference_model : Model
            The model.

        Returns
        -------
        Dict[str, Union[str, int]]
            "status" ("success" or "error"), "error_count" and "match_count".

        """
        print_msg("Running comparison")
        spec = _Spec()
        Writer(spec).write(reference_model)
        seen = set()
        errors, matches = self._compare(self.weights_dict, spec.tree, ("saved file", "reference model"), "", seen)
        errors += self._compare(spec.tree, self.weights_dict, ("reference model", "saved file"), "", seen)[0]
        if errors:
            print_msg(f"Found {errors} error{'s' * (errors != 1)}: saved file is not compatible with the reference "
                      "model")
        else:
            print_msg("Comparison successful: saved file is compatible with the reference model")
            print_msg(f"    Found {matches} matching weight{'s' * (matches != 1)}")
        return {"status": "error" if errors else "success", "error_count": errors, "match_count": matches}

    def _compare(self, target, reference, names, path, seen):
        errors = matches = 0
        for key, value in reference.items():
            place = f"{path}/{key}"
            if place in seen:
                continue
            if key not in target:
                what = "Object" if isinstance(value, dict) else "Weight"
                print_msg(f"...{what} {place} present in {names[1]}, missing from {names[0]}")
                problem = True
            elif isinstance(value, dict) and isinstance(target[key], dict):
                inner = self._compare(target[key], value, names, place, seen)
                errors, matches = errors + inner[0], matches + inner[1]
                continue
            else:
                shapes = [tuple(getattr(one, "shape", ("an object",))) for one in (value, target[key])]
                problem = shapes[0] != shapes[1]
                if problem:
                    print_msg(f"...Weight shape mismatch for {place}: {names[1]} has {shapes[0]}, {names[0]} "
                              f"{shapes[1]}")
            errors, matches = errors + problem, matches + (not problem)
            if problem:
                seen.add(place)
        return errors, matches

    def _holder(self, name):
        """Return the dict that holds an object, and the object's name in it; names that occur once need no path."""
        *above, last = name.split("/")
        if above:
            place = self.weights_dict
            for step in above:
                place = place.get(step) if isinstance(place, dict) else None
            if not isinstance(place, dict) or last not in place:
                raise ValueError(f"Path '{name}' not found in model.")
            return place, last
        found = [tree for tree in _dicts(self.weights_dict) if last in tree]
        if len(found) > 1:
            raise ValueError(f"Name '{name}' occurs more than once in the model; try passing a complete path")
        if not found:
            raise ValueError(f"Source name '{name}' does not appear in the model. Use `editor.summary()` to list all "
                             "objects.")
        return found[0], last

    def rename_object(self, object_name, new_name):
        """Give an object another name.

        Parameters
        ----------
        object_name : str
            Its name or path, such as "dense_2" or "layers/dense_2".
        new_name : str
            The name that takes the place of the last one.

        """
        if "/" in new_name:
            raise ValueError("Argument `target_name` should be a leaf name, not a full path name. Received: "
                             f"target_name='{new_name}'")
        place, name = self._holder(object_name)
        place[new_name] = place.pop(name)

    def delete_object(self, object_name):
        """Take an object out."""
        place, name = self._holder(object_name)
        del place[name]

    def add_object(self, object_path, weights):
        """Put an object in.

        Parameters
        ----------
        object_path : str
            Its path, such as "layers/dense_2".
        weights : Dict[str, numpy.ndarray]
            Its weights by name, usually "0", "1" ...

        """
        _require_dict(weights)
        *above, last = object_path.split("/")
        place = self.weights_dict
        for step in above:
            if not isinstance(place.get(step), dict):
                raise ValueError(f"Path '{'/'.join(above)}' not found in model.")
            place = place[step]
        place[last] = dict(weights)

    def delete_weight(self, object_name, weight_name):
        """Take a weight of an object out."""
        place, name = self._holder(object_name)
        if weight_name not in place[name]:
            raise ValueError(f"Weight {weight_name} not found in object {object_name}. Weights found: "
                             f"{list(place[name])}")
        del place[name][weight_name]

    def add_weights(self, object_name, weights):
        """Put weights into an object."""
        _require_dict(weights)
        place, name = self._holder(object_name)
        place[name].update(weights)

    def save(self, filepath):
        """Write what there is now into a `.weights.h5` file. ..."""
        path = str(filepath)
        if not path.endswith(".weights.h5"):
            raise ValueError("Invalid `filepath` argument: expected a `.weights.h5` extension. Received: "
                             f"filepath={path}")
        with replacing(path) as place, contextlib.closing(WeightsStore(place, "w")) as store:
            self._save(self.weights_dict, store, "")

    def _save(self, tree, store, path):
        entry = None
        for name, value in tree.items():
            if isinstance(value, dict):
                self._save(value, store, f"{path}/{name}" if path else name)
            else:
                entry = store.make(path) if entry is None else entry
                entry[name] = value

    def resave_weights(self, filepath):
        """Write what there is now into a `.weights.h5` file. ..."""
        self.save(filepath)


def _dicts(tree):
    """Yield a tree's dicts, itself among them."""
    yield tree
    for value in tree.values():
        if isinstance(value, dict):
            yield from _dicts(value)
