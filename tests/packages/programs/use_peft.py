"""peft: adapters of low rank on a small language model."""
from report import finish, train  # first: it readies torchvision

import peft
import torch
import transformers

tokens = torch.arange(2 * 12).reshape(2, 12) % 50
CONFIG = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 64, "max_position_embeddings": 32}


def make(kind, **options):
    """Return a language model with adapters."""
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG)).eval()
    return peft.get_peft_model(model, kind(task_type="CAUSAL_LM", **options)).eval()


for name, kind, options in (
        ("lora", peft.LoraConfig, {"r": 4, "init_lora_weights": False, "target_modules": ["q_proj", "v_proj"]}),
        ("ia3", peft.IA3Config, {"target_modules": ["k_proj", "down_proj"], "feedforward_modules": ["down_proj"]}),
        ("prompt", peft.PromptTuningConfig, {"num_virtual_tokens": 3})):
    train(name, lambda: make(kind, **options), lambda model, dtype: model(input_ids=tokens, labels=tokens).loss)
finish()
