"""kornia: filters, colours, geometry and augmentation of images."""
from report import finish, note  # first: it readies torchvision

import kornia
import torch

image = (torch.linspace(0, 9, 2 * 3 * 24 * 24, dtype=torch.float64).sin() * 0.5 + 0.5).reshape(2, 3, 24, 24)
leaf = image.clone().requires_grad_()
AFFINE = torch.tensor([[[1, 0.1, 2], [0, 0.9, 1]]] * 2, dtype=torch.float64)
CALLS = {
    "blur": lambda x: kornia.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
    "sobel": kornia.filters.sobel, "median": lambda x: kornia.filters.median_blur(x, 3),
    "laplacian": lambda x: kornia.filters.laplacian(x, 3), "gray": kornia.color.rgb_to_grayscale,
    "hsv": kornia.color.rgb_to_hsv, "lab": kornia.color.rgb_to_lab, "yuv": kornia.color.rgb_to_yuv,
    "rotate": lambda x: kornia.geometry.rotate(x, torch.tensor([30.0, 10.0], dtype=x.dtype)),
    "warp": lambda x: kornia.geometry.warp_affine(x, AFFINE, (20, 20)),
    "resize": lambda x: kornia.geometry.resize(x, (12, 17)), "pyramid": kornia.geometry.pyrdown,
    "ssim": lambda x: kornia.metrics.ssim(x, x * 0.9, 5),
    "dilate": lambda x: kornia.morphology.dilation(x, torch.ones(3, 3)),
    "harris": lambda x: kornia.feature.harris_response(x), "hue": lambda x: kornia.enhance.adjust_hue(x, 0.5),
}
for name, call in CALLS.items():
    leaf.grad = None
    result = call(leaf)
    (result ** 2).mean().backward()
    note(name, [result, leaf.grad])
finish()
