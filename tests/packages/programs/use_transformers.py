"""transformers: tiny models with random weights, forward and backward."""
from report import finish, train  # first: it readies torchvision

import torch
import transformers

tokens = torch.arange(2 * 12).reshape(2, 12) % 50
mask = torch.ones(2, 12, dtype=torch.long)
mask[1, 8:] = 0
image = torch.linspace(-1, 1, 2 * 3 * 32 * 32, dtype=torch.float64).reshape(2, 3, 32, 32).sin()
SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "max_position_embeddings": 32}
text = {"input_ids": tokens, "attention_mask": mask, "labels": tokens}
MODELS = {
    "bert": (lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SMALL)), text),
    "gpt2": (lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32)), text),
    "llama": (lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=2)), text),
    "vit": (lambda: transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8,
        num_labels=5)), {"pixel_values": image, "labels": torch.tensor([1, 3])}),
    "t5": (lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=50, d_model=32, d_ff=64, d_kv=8, num_layers=2, num_heads=4, decoder_start_token_id=0)),
        {"input_ids": tokens, "labels": tokens}),
    "mistral": (lambda: transformers.MistralForCausalLM(transformers.MistralConfig(
        **SMALL, num_key_value_heads=2)), text),
    "roberta": (lambda: transformers.RobertaForMaskedLM(transformers.RobertaConfig(**{
        **SMALL, "max_position_embeddings": 64})), text),
    "distilbert": (lambda: transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(
        vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=32)), text),
}
for name, (make, inputs) in MODELS.items():
    for attention in ("eager", "sdpa"):
        def build():
            model = make().eval()
            if name != "t5":
                model.set_attn_implementation(attention)
            return model
        train(f"{name} {attention}", build, lambda model, dtype: model(**{
            key: value.to(dtype) if value.is_floating_point() else value for key, value in inputs.items()}).loss)
finish()
