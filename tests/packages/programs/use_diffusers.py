"""diffusers: a small U-Net, an autoencoder and schedules of noise."""
from report import finish, note, train  # first: it readies torchvision

import diffusers
import torch

image = torch.linspace(-1, 1, 2 * 3 * 16 * 16, dtype=torch.float64).reshape(2, 3, 16, 16).sin()
time = torch.tensor([3, 700])
train("unet", lambda: diffusers.UNet2DModel(
    sample_size=16, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D")).eval(),
    lambda model, dtype: model(image.to(dtype), time).sample)
train("autoencoder", lambda: diffusers.AutoencoderKL(
    block_out_channels=(32,), layers_per_block=1, norm_num_groups=8, latent_channels=2).eval(),
    lambda model, dtype: model(image.to(dtype)).sample)
for name in ("DDIMScheduler", "EulerDiscreteScheduler", "DPMSolverMultistepScheduler", "PNDMScheduler"):
    scheduler = getattr(diffusers, name)()
    scheduler.set_timesteps(5)
    sample = image
    for step in scheduler.timesteps:
        sample = scheduler.step(torch.sin(sample), step, sample).prev_sample
    note(name, sample)
finish()
