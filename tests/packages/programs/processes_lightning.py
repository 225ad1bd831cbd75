"""lightning: `ddp` in two processes, of which it starts the second; metrics are means over both."""
import ready  # noqa: F401: first

import json
import os
import sys

import lightning
import torch


class Net(lightning.LightningModule):
    """A small network with what it keeps of batches."""

    def __init__(self):
        super().__init__()
        # A bias before the normalization has no gradient but rounding, of which Adam makes whole steps.
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16, bias=False), torch.nn.BatchNorm1d(16),
                                          torch.nn.ReLU(), torch.nn.Linear(16, 1))

    def training_step(self, batch, index):
        """Return the loss of a batch."""
        loss = torch.nn.functional.mse_loss(self.layers(batch[0]), batch[1])
        self.log("loss", loss, sync_dist=True, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        """Log the loss of a batch."""
        self.log("validation", torch.nn.functional.mse_loss(self.layers(batch[0]), batch[1]), sync_dist=True)

    def configure_optimizers(self):
        """Return an optimizer."""
        return torch.optim.Adam(self.parameters(), 1e-2)


if __name__ == "__main__":
    folder = sys.argv[1]
    lightning.seed_everything(0, verbose=False)
    x = torch.randn(64, 8)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    model = Net()
    trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", devices=2, strategy="ddp", logger=False,
                                enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
    trainer.fit(model, torch.utils.data.DataLoader(data, 8), torch.utils.data.DataLoader(data, 8))
    rank = trainer.global_rank
    numbers = [value.item() for value in trainer.callback_metrics.values()]
    numbers += [parameter.double().sum().item() for parameter in model.state_dict().values()]
    checkpoints = sorted(os.listdir(os.path.join(folder, "checkpoints")))
    print(json.dumps({"rank": rank, "torch": torch.__file__, "numbers": numbers, "words": checkpoints}), flush=True)
