"""transformers: tiny models compiled, at lengths that vary; one graph serves them all."""
from report import finish, note, share_weights  # first: it readies torchvision

import torch
import transformers

SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "max_position_embeddings": 64}
FEW = {**SMALL, "num_key_value_heads": 2, "pad_token_id": 0}


def small(name, head, **options):
    """Return what makes a small model of a family."""
    config = getattr(transformers, name + "Config")
    return lambda: getattr(transformers, name + head)(config(**options))


MODELS = {
    "gpt2": small("GPT2", "LMHeadModel", vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64,
                  bos_token_id=1, eos_token_id=2),
    "llama": small("Llama", "ForCausalLM", **FEW), "mistral": small("Mistral", "ForCausalLM", **FEW),
    "qwen2": small("Qwen2", "ForCausalLM", **FEW), "gemma": small("Gemma", "ForCausalLM", **FEW, head_dim=8),
    "phi3": small("Phi3", "ForCausalLM", **FEW, bos_token_id=1, eos_token_id=2),
    "mixtral": small("Mixtral", "ForCausalLM", **FEW, num_local_experts=4),  # looks at numbers
    "bert": small("Bert", "ForMaskedLM", **SMALL), "roberta": small("Roberta", "ForMaskedLM", **SMALL),
    "deberta": small("DebertaV2", "ForMaskedLM", **SMALL), "electra": small("Electra", "ForMaskedLM", **SMALL),
    "albert": small("Albert", "ForMaskedLM", **SMALL, embedding_size=16),
    "opt": small("OPT", "ForCausalLM", vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                 ffn_dim=64, max_position_embeddings=64, word_embed_proj_dim=32),
}


def compiled(model):
    """Return a function that calls the model, as graphs under Dragon, and the function that tells of them."""
    if "dragon" not in torch.__file__:
        return model, lambda: 1
    import dragon
    captured = dragon.function(model)

    def count():
        assert captured.fallback is None, captured.explain()
        return len(captured.variants)
    return captured, count


for name, make in MODELS.items():
    torch.manual_seed(0)
    model = make().eval()
    share_weights(f"{name}_compiled", model)
    call, count = compiled(model)
    with torch.no_grad():
        for length in (7, 9, 12, 9, 15, 15):
            tokens = torch.arange(2 * length).reshape(2, length) % 47 + 3
            mask = torch.ones(2, length, dtype=torch.int64)
            mask[1, -2:] = 0
            note(f"{name} {length}", call(input_ids=tokens, attention_mask=mask).logits)
    note(f"{name} graphs", torch.tensor(count()))
finish()
