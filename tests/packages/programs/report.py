"""What the programs beside this file share: the same weights for both runs, and numbers written down to be compared."""
import json
import os
import sys

import ready  # noqa: F401: first
import torch

FOLDER, ROLE = sys.argv[1], sys.argv[2]  # "write" makes the weights and hands them on, "read" takes them
RESULTS = {}


def numbers(value, limit=40):
    """Return the first numbers of whatever a model gives."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().to(torch.float64).reshape(-1)
        return [*flat[:limit].tolist(), flat.abs().sum().item()]
    if isinstance(value, dict):
        return [number for entry in value.values() for number in numbers(entry, limit)]
    if isinstance(value, (list, tuple)):
        return [number for entry in value for number in numbers(entry, limit)]
    return [] if value is None else [float(value)]


def share_weights(name, model):
    """Give the model the weights of the other run, or keep them for it."""
    path = os.path.join(FOLDER, name + ".pt")
    if ROLE == "write":
        torch.save(model.state_dict(), path)
    else:
        model.load_state_dict(torch.load(path))


def train(name, make, call):
    """Note a model's outputs and gradients in double precision, and its outputs in single.

    Parameters
    ----------
    name : str
        Under which the numbers are compared.
    make : Callable[[], Module]
        Makes the model.
    call : Callable[[Module, dtype], Tensor]
        Calls it and returns what is differentiated.

    """
    torch.manual_seed(0)
    model = make()
    share_weights(name, model)
    with torch.no_grad():
        was_training = model.training
        single = call(model.eval(), torch.float32)
    model.train(was_training).double()
    torch.manual_seed(1)
    result = call(model, torch.float64)
    loss = result if result.dim() == 0 else (result ** 2).mean()
    loss.backward()
    gradients = [number for _, parameter in sorted(model.named_parameters()) if parameter.grad is not None
                 for number in numbers(parameter.grad, 4)]
    # Some models compute their loss in single precision whatever they are given.
    kinds = ("double", "gradients") if result.dtype == torch.float64 else ("rounded", "rounded gradients")
    RESULTS[name] = {"single": numbers(single), kinds[0]: numbers(result), kinds[1]: gradients}


def note(name, value):
    """Note numbers."""
    RESULTS[name] = {"numbers": numbers(value)}


def finish():
    """Write all numbers down, and which torch made them."""
    with open(os.path.join(FOLDER, ROLE + ".json"), "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__file__, "results": RESULTS}, file)
