"""`tensorflow`, `keras` and `tensorflow.keras` are Dragon's modules, the same objects, with and without the alias."""
import os

import pytest

from dragon.command import check
from harness import interpreter

PROGRAMS = {
    "unaliased": "from dragon.vm import tensorflow as tf\nimport dragon.vm.tensorflow.keras as a\n"
                 "import dragon.vm.keras as b\nassert a is b and tf.keras is a\n"
                 "from dragon.vm.tensorflow.keras.layers import Layer as c\n"
                 "from dragon.vm.keras.layers import Layer as d\n"
                 "assert c is d\n",
    "aliased": "import dragon.vm\ndragon.vm.install()\nimport tensorflow as tf\nimport keras\n"
               "import tensorflow.keras as b\n"
               "assert keras is b and tf.keras is b and 'dragon' in keras.__file__\n"
               "from tensorflow.keras.layers import Layer as c\nfrom keras.layers import Layer as d\n"
               "from dragon.vm.keras.layers import Layer as e\nassert c is d is e\n"
               "import tensorflow.keras.layers as m, keras.layers as n\nassert m is n\n",
    "one of them": "import dragon.vm\ndragon.vm.install('tensorflow')\nimport keras, tensorflow\n"
                   "assert tensorflow.keras is keras and 'dragon' in keras.__file__\n",
    "after an import": "import dragon.vm.keras.layers as before\nimport dragon.vm\ndragon.vm.install('tensorflow')\n"
                       "import keras.layers\nimport tensorflow.keras.layers as after\n"
                       "assert keras.layers is before is after\n",
    "versions": "import dragon.vm\ndragon.vm.install()\nfrom importlib.metadata import version\n"
                "import keras, tensorflow\nassert version('keras') == keras.__version__ == '3.15.1'\n"
                "assert version('tensorflow') == tensorflow.__version__ == '2.21.0'\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    done = interpreter.run(["-c", PROGRAMS[name]], tmp_path, env={**os.environ, "PYTHONPATH": find_root()},
                           preload="import numpy, dragon.vm")
    assert done.returncode == 0, done.stderr


def find_root():
    """Return the folder that the package under test is imported from."""
    import dragon
    return os.path.dirname(os.path.dirname(dragon.__file__))


LINES = {
    "import keras\nkeras.layers.NoSuchLayer()": ["keras.layers.NoSuchLayer"],
    "from tensorflow.keras.layers import Dense, NoSuchLayer": ["tensorflow.keras.layers.NoSuchLayer"],
    "import tensorflow as tf\ntf.no_such(1)\ntf.constant(1).no_such_method()": ["tensorflow.no_such"],
    "import tensorflow as tf\nx = tf.keras.layers.Dense(3, unitss=2)": [],
    "import keras\nmodel = keras.Sequential()\nmodel.compile()\nmodel.size()": [],
}


@pytest.mark.parametrize("source", LINES)
def test_check(source, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(source)
    assert [entry["name"] for entry in check.check([str(path)])["missing"]] == LINES[source]
