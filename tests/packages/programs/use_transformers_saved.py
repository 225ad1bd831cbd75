"""transformers: models that Dragon has saved at one size, loaded and called at others, beside PyTorch's calls."""
from report import finish, note, share_weights  # first: it readies torchvision

import pathlib
import tempfile

import torch
import transformers

SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "pad_token_id": 0}
LONG = {**SMALL, "max_position_embeddings": 2048, "bos_token_id": 1, "eos_token_id": 2}


def small(name, kind, **options):
    """Return what makes a small model of a family."""
    return lambda: getattr(transformers, name + kind)(getattr(transformers, name + "Config")(**options))


MODELS = {
    "bert": small("Bert", "Model", **LONG), "roberta": small("Roberta", "Model", **LONG),
    "electra": small("Electra", "Model", **LONG), "albert": small("Albert", "Model", **LONG, embedding_size=16),
    "gpt2": small("GPT2", "Model", vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=2048),
    "gptj": small("GPTJ", "Model", vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=2048, rotary_dim=4),
    "llama": small("Llama", "Model", **LONG), "qwen2": small("Qwen2", "Model", **LONG, num_key_value_heads=2),
    "mistral": small("Mistral", "Model", **LONG, num_key_value_heads=2),
}


class Caller(torch.nn.Module):
    """A model of one tensor that returns one."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, words):
        return self.model(words, **options).last_hidden_state


def words_of(batch, length):
    """Return words to read."""
    return torch.arange(batch * length).reshape(batch, length) % 47 + 3


def saved(model):
    """Return the model as it comes back from a file, or itself under PyTorch, whose traces are for one size."""
    if "dragon" not in torch.__file__:
        return model
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.dragon"
        torch.jit.save(torch.jit.trace(model, (words_of(2, 7),), check_trace=False), str(path))
        return torch.jit.load(str(path))


for name, make in MODELS.items():
    torch.manual_seed(0)
    model = make().eval()
    share_weights(f"{name}_saved", model)
    options = {"use_cache": False} if name in ("gpt2", "gptj", "llama", "qwen2", "mistral") else {}
    with torch.no_grad():
        call = saved(Caller(model).eval())
        for batch, length in ((2, 7), (3, 5), (5, 33), (2, 61), (40, 900)):
            note(f"{name} {batch}x{length}", call(words_of(batch, length)).flatten()[:5000])
finish()
