"""safetensors through its torch face: files and bytes, both ways."""
import os

import torch
from report import FOLDER, ROLE, finish, note
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

torch.manual_seed(0)
tensors = {name: torch.randn(3, 4).to(getattr(torch, name)) for name in
           ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")}
tensors["empty"] = torch.empty(0, 2)
path = os.path.join(FOLDER, ROLE + ".safetensors")
save_file(tensors, path, metadata={"format": "pt"})
theirs = os.path.join(FOLDER, "write.safetensors")
read = load_file(theirs)
note("file", [read[name] for name in sorted(read)])
note("dtypes", [str(read[name].dtype) == "torch." + name for name in sorted(read) if name != "empty"])
note("bytes", [value for _, value in sorted(load(save(tensors)).items())])
note("same bytes", [open(path, "rb").read() == open(theirs, "rb").read()])
with safe_open(theirs, framework="pt") as file:
    note("open", [file.get_tensor("float32"), file.get_slice("float32")[1:, ::2], len(list(file.keys()))])
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
model[1].weight = model[0].weight
save_model(model, os.path.join(FOLDER, ROLE + ".model.safetensors"))
load_model(model, os.path.join(FOLDER, "write.model.safetensors"))
note("model", model(torch.ones(1, 3)))
finish()
