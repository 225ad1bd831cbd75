"""Without the optional packages everything still imports, and what needs one says its name when it is used."""
import json
import os
import subprocess
import sys

PACKAGES = ("onnx", "ml_dtypes", "onnxruntime", "PIL", "h5py", "sklearn", "scipy", "requests", "pydot", "matplotlib",
            "google.protobuf", "tensorboard", "torch", "torchvision", "tensorflow", "keras", "cupy", "safetensors",
            "optree", "rich", "absl", "pandas", "tqdm", "sympy", "pyarrow", "fsspec", "zstandard", "compression.zstd",
            "mpi4py", "ray")
IMPORTS = ("dragon", "dragon.io", "dragon.io.sources", "dragon.io.records", "dragon.onnx", "dragon.core.proto",
           "dragon.vm.torch", "dragon.vm.torch.onnx", "dragon.vm.torch.utils.tensorboard", "dragon.vm.torch.utils.data",
           "dragon.vm.keras", "dragon.vm.keras.wrappers", "dragon.vm.keras.saving", "dragon.vm.keras.utils",
           "dragon.vm.tensorflow", "dragon.command.info", "dragon.command.data", "dragon.ray", "dragon.ray.trainer",
           "dragon.distributed.mpi")
# What is done: the package that the error names.
USES = {
    "from dragon import onnx; onnx.export(lambda x: x + 1, dragon.ones(3))": "onnx",
    "from dragon.vm import torch; torch.onnx.export(torch.nn.ReLU().eval(), torch.ones(2), 'x.onnx')": "onnx",
    "from dragon.vm import torch; torch.onnx.ONNXProgram(None)()": "onnxruntime",
    "from dragon.core import proto; proto.messages()": "protobuf",
    "from dragon.vm import torch, torchvision; torchvision.transforms.ToPILImage()(torch.ones(3, 2, 2))": "Pillow",
    "from dragon.vm import tensorflow as tf; tf.io.decode_png(b'\\x89PNG\\r\\n\\x1a\\n')": "Pillow",
    "from dragon.vm import tensorflow as tf; tf.bfloat16.as_numpy_dtype": "ml_dtypes",
    "from dragon.vm import keras; keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).save_weights("
    "'a.weights.h5')": "h5py",
    "from dragon.vm import keras; keras.wrappers.SKLearnClassifier": "scikit-learn",
    "from dragon.vm import keras; keras.callbacks.RemoteMonitor().on_epoch_end(0)": "requests",
    "from dragon.vm import keras; keras.utils.model_to_dot(keras.Sequential([keras.Input((1,)), "
    "keras.layers.Dense(1)]))": "pydot",
    "from dragon.io.sources import Parquet; Parquet('a.parquet')": "pyarrow",
    "from dragon.io.sources import open_file; open_file('s3://bucket/a.tar')": "fsspec",
    "from dragon.io.records import KPLRecordWriter; KPLRecordWriter('a.kpl', compression='zstd')": "zstandard",
    "from dragon.distributed.mpi import load; load()": "mpi4py",
    "from dragon.ray import Trainer; Trainer(print)": "ray",
    "from dragon.vm import keras; keras.initializers.STFT('real', 'hann')((8, 1, 5))": "scipy",
}
PROGRAM = """
import importlib, json, sys
packages, imports, uses = json.loads(sys.argv[1])

class Absent:
    def find_spec(self, name, path=None, target=None):
        if any(name == package or name.startswith(package + ".") for package in packages):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in imports:
    importlib.import_module(name)
import dragon
answers = {}
for code in uses:
    try:
        exec(code, {"dragon": dragon})
        answers[code] = "no error"
    except Exception as error:
        answers[code] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""


def test_what_needs_an_absent_package_says_so_when_used(tmp_path):
    words = json.dumps([PACKAGES, IMPORTS, list(USES)])
    done = subprocess.run([sys.executable, "-c", PROGRAM, words], capture_output=True, text=True, cwd=tmp_path,
                          env=os.environ)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    kinds = ("ModuleNotFoundError", "ImportError", "NotImplementedError")
    assert not {code: answer for code, answer in answers.items()
                if not answer.startswith(kinds) or USES[code].lower() not in answer.lower() or "install" not in answer}
