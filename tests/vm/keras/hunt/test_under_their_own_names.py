"""Programs that say `import keras`: what they save is what genuine Keras reads."""
import json
import os

import dragon
from harness import genuine, interpreter

PROGRAM = """
import json
import keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu", kernel_regularizer="l2"),
                          keras.layers.Dense(2)],
                         name="saved")
model.compile("adam", keras.losses.MeanSquaredError())
print(model.to_json())
print(json.dumps(keras.layers.Dense(3, name="one").get_config()))
"""


def test_configurations_name_public_modules(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    root = os.path.dirname(os.path.dirname(dragon.__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    done = interpreter.run(["-m", "dragon", "run", str(script)], tmp_path, env=environment,
                           preload=f"{interpreter.GUESTS}; import keras")
    assert done.returncode == 0, done.stderr
    model, config = done.stdout.strip().splitlines()
    assert json.loads(config) == json.loads(json.dumps(genuine.keras.layers.Dense(3, name="one").get_config()))
    assert [layer.name for layer in genuine.keras.models.model_from_json(model).layers] == ["dense", "dense_1"]
