"""transformers: what ONNX Runtime makes of models exported by Dragon, and compiled ones, beside PyTorch's calls."""
from report import finish, note, share_weights  # first: it readies torchvision

import torch
import transformers

LENGTHS = {"input_ids": "n", "attention_mask": "n", "decoder_input_ids": "m"}
SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "max_position_embeddings": 64, "pad_token_id": 0}
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
          "image_size": 16, "patch_size": 8}
SHARED = {**SMALL, "num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2}
image = torch.linspace(-1, 1, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16).sin()
speech = torch.linspace(-1, 1, 2 * 8 * 20).reshape(2, 8, 20).cos()


def tokens(batch, length):
    """Return words, and a mask that hides the last ones of a row."""
    words = torch.arange(3, 3 + batch * length).reshape(batch, length) % 47 + 3
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[0, length - 2:] = 0
    return {"input_ids": words, "attention_mask": mask}


def pairs(batch, length):
    """Return words to read and words to write."""
    return {**tokens(batch, length), "decoder_input_ids": tokens(batch, length - 2)["input_ids"]}


def clip():
    """Return a model of texts and images."""
    return transformers.CLIPModel(transformers.CLIPConfig(
        text_config={**SMALL, "projection_dim": 16, "eos_token_id": 2}, vision_config={**VISION, "projection_dim": 16},
        projection_dim=16))


MODELS = {
    "bert": (lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SMALL)), tokens),
    "deberta": (lambda: transformers.DebertaV2ForMaskedLM(transformers.DebertaV2Config(
        **SMALL, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], share_att_key=True,
        position_biased_input=False)), tokens),
    "gpt2": (lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64)), tokens),
    "llama": (lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHARED)), tokens),
    "mistral": (lambda: transformers.MistralForCausalLM(transformers.MistralConfig(
        **SHARED, sliding_window=4)), tokens),
    "qwen2": (lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SHARED)), tokens),
    "gemma": (lambda: transformers.GemmaForCausalLM(transformers.GemmaConfig(**SHARED, head_dim=8)), tokens),
    "phi3": (lambda: transformers.Phi3ForCausalLM(transformers.Phi3Config(**SHARED)), tokens),
    "mixtral": (lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(
        **SHARED, num_local_experts=4)), tokens),
    "t5": (lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=50, d_model=32, d_ff=64, d_kv=8, num_layers=2, num_heads=4, decoder_start_token_id=0)), pairs),
    "vit": (lambda: transformers.ViTForImageClassification(transformers.ViTConfig(**VISION)),
            lambda batch, length: {"pixel_values": image[:1].expand(batch, -1, -1, -1).contiguous()}),
    "clip": (clip, lambda batch, length: {**tokens(2, length), "pixel_values": image}),
    "whisper": (lambda: transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=50, num_mel_bins=8, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, d_model=32, max_source_positions=10,
        max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)),
        lambda batch, length: {"input_features": speech[:1].expand(batch, -1, -1).contiguous(),
                               "decoder_input_ids": tokens(batch, length)["input_ids"]}),
}


class Step(torch.nn.Module):
    """A decoder, told what it has read before as keys and values of each layer."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, past):
        cache = transformers.DynamicCache()
        for layer, (keys, values) in enumerate(past):
            cache.update(keys, values, layer)
        made = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        return made.logits, [(layer.keys, layer.values) for layer in made.past_key_values.layers]


def stepwise(model, heads):
    """Return a decoder with its caches as a program of ONNX Runtime, or itself under PyTorch; both take arrays."""
    step = Step(model).eval()
    past = [tuple(torch.ones(2, heads, 5, 8) for _ in range(2)) for _ in range(2)]
    if "dragon" in torch.__file__:
        axes = {0: "batch", 2: "past"}
        step = torch.onnx.export(step, (torch.ones(2, 3, dtype=torch.long), torch.ones(2, 8, dtype=torch.long), past),
                                 dynamic_shapes={"input_ids": {0: "batch", 1: "length"},
                                                 "attention_mask": {0: "batch", 1: "past + length"},
                                                 "past": [(axes, axes)] * 2})
    return step


def generate(step, heads, words, count):
    """Return what a decoder writes, a word at a time."""
    past = [tuple(torch.zeros(len(words), heads, 0, 8) for _ in range(2)) for _ in range(2)]
    read, scores = words, []
    for _ in range(count):
        made = list(step(read, torch.ones(words.shape, dtype=torch.long), past))
        if len(made) > 2:
            tensors = [torch.as_tensor(array) for array in made]
            made = [tensors[0], list(zip(tensors[1::2], tensors[2::2]))]
        scores.append(made[0][:, -1])
        read, past = made[0][:, -1:].argmax(-1), made[1]
        words = torch.cat([words, read], 1)
    return torch.stack(scores, 1)


def exported(model, inputs, **dynamic):
    """Return the model as a program of ONNX Runtime, or itself under PyTorch."""
    if "dragon" not in torch.__file__:
        return lambda **inputs: model(**inputs)[0]
    program = torch.onnx.export(model, (), kwargs=inputs, **dynamic)
    return lambda **inputs: program(**inputs)[0]


for name, (make, inputs) in MODELS.items():
    torch.manual_seed(0)
    model = make().eval()
    if name == "mixtral":
        model.set_experts_implementation("batched_mm")  # the others look at numbers
    share_weights(f"{name}_onnx", model)
    given = inputs(2, 7)
    dynamic = {key: {0: "batch", **({1: LENGTHS[key]} if key in LENGTHS else {})} for key in given}
    if name == "clip":
        dynamic = {key: {1: "n"} for key in tokens(2, 7)}
    with torch.no_grad():
        note(f"{name} fixed", exported(model, given)(**given))
        program = exported(model, given, dynamic_axes=dynamic)
        for batch, length in ((2, 7), (1, 4), (3, 12)):
            note(f"{name} {batch}x{length}", program(**inputs(batch, length)))
        compiled = torch.compile(model, fullgraph=True) if "dragon" in torch.__file__ else model
        for length in (7, 7):
            note(f"{name} compiled", compiled(**given)[0])
        if name in ("gpt2", "llama", "qwen2"):
            heads = 4 if name == "gpt2" else 2
            step = stepwise(model, heads)
            for batch, length in ((1, 4), (3, 6)):
                note(f"{name} by steps {batch}x{length}", generate(step, heads, tokens(batch, length)["input_ids"], 10))
finish()
