"""Run the examples of docstrings, under whatever `torch`, `keras` and `tensorflow` are here; say which do not hold.

`python examples.py file.json` reads {name: docstring}; the same program is run by `dragon run`. An example knows its
door's modules by the names that programs give them, and starts from a seed. What failed is printed as a list in JSON.
"""
import doctest
import importlib
import json
import sys

# What examples know, and how a door's streams of random numbers start anew, by the first word of a name.
DOORS = {
    "torch": ({"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}, "torch.manual_seed(0)"),
    "keras": ({"keras": "keras", "np": "numpy"}, "keras.utils.set_random_seed(0)"),
    "tensorflow": ({"tf": "tensorflow", "np": "numpy"}, "tf.random.set_seed(0)"),
    "dragon": ({"dragon": "dragon", "nn": "dragon.nn", "np": "numpy"}, "dragon.manual_seed(0)"),
}


class Failures(doctest.DocTestRunner):
    """A runner that keeps what fails."""

    def __init__(self):
        super().__init__(verbose=False)
        self.found = []

    def report_failure(self, out, test, example, got):
        """Keep what came in the place of what was expected."""
        self.found.append(f"{test.name}: {example.source.strip()}\nexpected {example.want}got {got}")

    def report_unexpected_exception(self, out, test, example, exc_info):
        """Keep an error."""
        self.found.append(f"{test.name}: {example.source.strip()}\nraised {exc_info[0].__name__}: {exc_info[1]}")


def run(docstrings):
    """Return what failed.

    Parameters
    ----------
    docstrings : Dict[str, str]
        By the names of what they describe.

    Returns
    -------
    List[str]
        A text for each line that gave something else.

    """
    runner, parser = Failures(), doctest.DocTestParser()
    for name, docstring in docstrings.items():
        modules, seed = DOORS[name.partition(".")[0]]
        known = {short: importlib.import_module(module) for short, module in modules.items()}
        known["__name__"] = "__main__"  # whoever reads sources asks for a function's module
        exec(seed, known)
        runner.run(parser.get_doctest(docstring, known, name, None, None), out=lambda text: None)
    return runner.found


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(run(json.load(file))))
