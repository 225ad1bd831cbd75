"""lightning: a small training run with validation, logging and a checkpoint."""
from report import FOLDER, finish, note  # first: it readies torchvision

import os

import lightning
import torch

lightning.seed_everything(0)


class Regression(lightning.LightningModule):
    """A line through points."""

    def __init__(self, width=4):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Sequential(torch.nn.Linear(2, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))
        self.losses = []

    def forward(self, x):
        """Return the prediction."""
        return self.layer(x)

    def training_step(self, batch, index):
        """Return the loss of a batch."""
        x, y = batch
        loss = torch.nn.functional.mse_loss(self(x), y)
        self.log("train_loss", loss)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        """Log the loss of a batch."""
        x, y = batch
        self.log("val_loss", torch.nn.functional.mse_loss(self(x), y))

    def configure_optimizers(self):
        """Return an optimizer and a schedule."""
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


points = torch.linspace(-1, 1, 64).reshape(32, 2)
data = torch.utils.data.TensorDataset(points, points.sum(1, keepdim=True).sin())
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
model = Regression()
trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False,
                            enable_model_summary=True, default_root_dir=FOLDER, enable_checkpointing=False)
trainer.fit(model, loader, torch.utils.data.DataLoader(data, batch_size=8))
note("losses", model.losses)
note("validation", trainer.callback_metrics["val_loss"])
path = os.path.join(FOLDER, "model.ckpt")
trainer.save_checkpoint(path)
again = Regression.load_from_checkpoint(path)
note("again", again(points[:3]))
finish()
