"""x-transformers: decoders and encoders with many options."""
from report import finish, train

import torch
from x_transformers import Decoder, Encoder, TransformerWrapper, XTransformer

tokens = torch.arange(2 * 16).reshape(2, 16) % 40
OPTIONS = {
    "plain": {}, "rotary": {"rotary_pos_emb": True}, "alibi": {"alibi_pos_bias": True}, "flash": {"attn_flash": True},
    "rms": {"use_rmsnorm": True, "ff_glu": True}, "relative": {"rel_pos_bias": True},
}
for name, options in OPTIONS.items():
    for layers in (Decoder, Encoder):
        train(f"{name} {layers.__name__}", lambda: TransformerWrapper(
            num_tokens=40, max_seq_len=16, attn_layers=layers(dim=32, depth=2, heads=4, **options)).eval(),
            lambda model, dtype: model(tokens))
train("encoder decoder", lambda: XTransformer(
    dim=32, enc_num_tokens=40, enc_depth=1, enc_heads=2, enc_max_seq_len=16, dec_num_tokens=40, dec_depth=1,
    dec_heads=2, dec_max_seq_len=16).eval(), lambda model, dtype: model(tokens, tokens))
finish()
