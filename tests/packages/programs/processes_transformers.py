"""transformers: the Trainer in two processes, on a small model of language made here."""
import ready  # noqa: F401: first

import json
import os
import sys

import torch
import transformers

transformers.set_seed(0)
config = transformers.GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2, resid_pdrop=0.0,
                                 embd_pdrop=0.0, attn_pdrop=0.0)
model = transformers.GPT2LMHeadModel(config)
rows = [{"input_ids": row, "labels": row} for row in (torch.arange(48 * 16).reshape(48, 16) * 7 % 64)]
arguments = transformers.TrainingArguments(
    output_dir=sys.argv[1] + "/out", num_train_epochs=2, per_device_train_batch_size=4, learning_rate=1e-3,
    logging_steps=2, use_cpu=True, report_to=[], disable_tqdm=True, save_strategy="epoch",
    eval_strategy="epoch", seed=0)
trainer = transformers.Trainer(model=model, args=arguments, train_dataset=rows, eval_dataset=rows[:10])
trainer.train()
numbers = [entry[key] for entry in trainer.state.log_history for key in ("loss", "grad_norm", "eval_loss")
           if key in entry]
numbers += [parameter.double().sum().item() for parameter in model.parameters()]
torch.distributed.barrier()
words = sorted(name for name in os.listdir(arguments.output_dir) if name.startswith("checkpoint"))
print(json.dumps({"rank": arguments.process_index, "torch": torch.__file__, "numbers": numbers,
                  "words": [*words, str(arguments.parallel_mode)]}), flush=True)
