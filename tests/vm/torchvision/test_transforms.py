"""The first version of the transforms beside genuine torchvision: results, draws, reprs, errors."""
import genuine
import pytest
import torch
from compare import mine, same, seeded

tv = genuine.load()
from PIL import Image  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import transforms as T  # noqa: E402
from dragon.vm.torchvision.transforms import functional as F  # noqa: E402
from harness.subresults import each  # noqa: E402

G = tv.transforms
FG = tv.transforms.functional
generator = torch.Generator().manual_seed(3)
BYTES = torch.randint(0, 256, (3, 20, 24), dtype=torch.uint8, generator=generator)
BYTES[:, 4:9, 6:12] = 130
FLOATS = torch.rand(3, 20, 24, generator=generator)
BATCH = torch.rand(2, 3, 12, 14, generator=generator)
PILLOW = FG.to_pil_image(BYTES)
GREY = PILLOW.convert("L")
INPUTS = {"bytes": BYTES, "floats": FLOATS, "batch": BATCH, "pillow": PILLOW, "grey": GREY}


def mode(module, name):
    return getattr(module.InterpolationMode, name)


# a function of (the module of transforms) -> transform; and which inputs it takes
ALL, PIXELS, TENSORS = "bytes floats batch pillow grey", "bytes floats pillow", "floats batch"
CLASSES = {
    "Resize": (lambda T: T.Resize(10), ALL),
    "Resize pair": (lambda T: T.Resize((9, 31), mode(T, "NEAREST")), ALL),
    "Resize max": (lambda T: T.Resize(10, max_size=11), ALL),
    "Resize plain": (lambda T: T.Resize((9, 31), antialias=False), "floats batch"),
    "Resize cubic": (lambda T: T.Resize((9, 31), mode(T, "BICUBIC")), ALL),
    "CenterCrop": (lambda T: T.CenterCrop(11), ALL),
    "CenterCrop over": (lambda T: T.CenterCrop((22, 9)), ALL),
    "Pad": (lambda T: T.Pad((1, 2, 3, 4), fill=3), ALL),
    "Pad reflect": (lambda T: T.Pad((2, 1), padding_mode="reflect"), ALL),
    "Pad edge": (lambda T: T.Pad(2, padding_mode="edge"), ALL),
    "Pad symmetric": (lambda T: T.Pad([3], padding_mode="symmetric"), ALL),
    "RandomCrop": (lambda T: T.RandomCrop(10), ALL),
    "RandomCrop padded": (lambda T: T.RandomCrop((22, 30), padding=2, pad_if_needed=True), ALL),
    "RandomHorizontalFlip": (lambda T: T.RandomHorizontalFlip(), ALL),
    "RandomVerticalFlip": (lambda T: T.RandomVerticalFlip(0.7), ALL),
    "RandomResizedCrop": (lambda T: T.RandomResizedCrop(9), ALL),
    "RandomResizedCrop none": (lambda T: T.RandomResizedCrop(9, scale=(5, 6)), ALL),
    "FiveCrop": (lambda T: T.FiveCrop(9), ALL),
    "TenCrop": (lambda T: T.TenCrop((9, 8), vertical_flip=True), ALL),
    "ColorJitter": (lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.3), "bytes floats batch pillow"),
    "ColorJitter part": (lambda T: T.ColorJitter(contrast=(0.2, 0.4)), ALL),
    "RandomRotation": (lambda T: T.RandomRotation(40), ALL),
    "RandomRotation all": (lambda T: T.RandomRotation((10, 40), mode(T, "BILINEAR"), expand=True, fill=2), ALL),
    "RandomRotation centre": (lambda T: T.RandomRotation(40, center=(3, 4)), ALL),
    "RandomAffine": (lambda T: T.RandomAffine(30, (0.1, 0.2), (0.7, 1.3), (-9, 9, -4, 4), fill=1), ALL),
    "RandomAffine shear": (lambda T: T.RandomAffine(0, shear=12, interpolation=mode(T, "BILINEAR"),
                                                    center=(2, 3)), ALL),
    "Grayscale": (lambda T: T.Grayscale(), "bytes floats batch pillow"),
    "Grayscale 3": (lambda T: T.Grayscale(3), "bytes floats batch pillow"),
    "RandomGrayscale": (lambda T: T.RandomGrayscale(0.6), "bytes floats batch pillow"),
    "RandomPerspective": (lambda T: T.RandomPerspective(0.6, 0.8), ALL),
    "RandomErasing": (lambda T: T.RandomErasing(0.9), TENSORS),
    "RandomErasing colour": (lambda T: T.RandomErasing(1.0, value=(0.1, 0.2, 0.3)), TENSORS),
    "GaussianBlur": (lambda T: T.GaussianBlur(5), ALL),
    "GaussianBlur pair": (lambda T: T.GaussianBlur((3, 7), 1.5), ALL),
    "RandomInvert": (lambda T: T.RandomInvert(), ALL),
    "RandomPosterize": (lambda T: T.RandomPosterize(2, p=0.8), "bytes pillow"),
    "RandomSolarize": (lambda T: T.RandomSolarize(100, p=0.8), "bytes pillow grey"),
    "RandomAdjustSharpness": (lambda T: T.RandomAdjustSharpness(2.5, p=0.8), ALL),
    "RandomAutocontrast": (lambda T: T.RandomAutocontrast(0.8), ALL),
    "RandomEqualize": (lambda T: T.RandomEqualize(0.8), "bytes pillow grey"),
    "ElasticTransform": (lambda T: T.ElasticTransform(40.0, 3.0), "bytes floats pillow"),
    "Normalize": (lambda T: T.Normalize((0.4, 0.5, 0.6), (0.1, 0.2, 0.3)), TENSORS),
    "ToTensor": (lambda T: T.ToTensor(), "pillow grey"),
    "PILToTensor": (lambda T: T.PILToTensor(), "pillow grey"),
    "ToPILImage": (lambda T: T.ToPILImage(), "bytes floats"),
    "Compose": (lambda T: T.Compose([T.RandomCrop(12), T.RandomHorizontalFlip(), T.ToTensor()]), "pillow grey"),
    "RandomApply": (lambda T: T.RandomApply([T.CenterCrop(9), T.RandomVerticalFlip()], 0.6), ALL),
    "RandomChoice": (lambda T: T.RandomChoice([T.CenterCrop(9), T.CenterCrop(7)], [0.3, 0.7]), ALL),
    "RandomOrder": (lambda T: T.RandomOrder([T.CenterCrop(9), T.RandomVerticalFlip(), T.RandomInvert()]), ALL),
    "AutoAugment": (lambda T: T.AutoAugment(), "bytes pillow"),
    "AutoAugment cifar": (lambda T: T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, fill=3), "bytes pillow"),
    "AutoAugment svhn": (lambda T: T.AutoAugment(T.AutoAugmentPolicy.SVHN), "bytes pillow"),
    "RandAugment": (lambda T: T.RandAugment(3), "bytes pillow"),
    "TrivialAugmentWide": (lambda T: T.TrivialAugmentWide(), "bytes pillow"),
}


@each("name", CLASSES)
def test_class(name):
    make, inputs = CLASSES[name]
    wanted, found = make(G), make(T)
    if name != "Lambda":
        assert repr(found) == repr(wanted)
    for kind in inputs.split():
        for seed in range(4 if "Augment" not in name else 10):
            right = seeded(seed, wanted, INPUTS[kind])
            state = torch.get_rng_state()
            result = seeded(seed, found, mine(INPUTS[kind]))
            # A step of linspace may differ by a bit, and with it a rounded pixel.
            loose = any(word in name for word in ("Blur", "Elastic", "Augment"))
            whole = isinstance(right, torch.Tensor) and not right.is_floating_point()
            if hasattr(right, "getbands"):
                same(result, right, 0, 1.0 if loose else 0)
            elif isinstance(right, tuple) and hasattr(right[0], "getbands"):
                same(result, right)
            else:
                same(result, right, 1e-5, 1.0 if whole else 2e-5)
            assert bytes(dt.get_rng_state().numpy()) == bytes(state.numpy())  # as many numbers were drawn


def test_exact_where_it_can_be():
    for make in (lambda T: T.RandomCrop(9), lambda T: T.Pad(2, 4), lambda T: T.Normalize((0.1,) * 3, (0.7,) * 3),
                 lambda T: T.RandomErasing(1.0, value="random") if False else T.CenterCrop(5),
                 lambda T: T.ConvertImageDtype(dt.uint8 if T is not G else torch.uint8)):
        same(seeded(1, make(T), mine(FLOATS)), seeded(1, make(G), FLOATS))
    same(seeded(1, T.RandomErasing(1.0, value="random"), mine(FLOATS)),
         seeded(1, G.RandomErasing(1.0, value="random"), FLOATS), 1e-5, 1e-6)


FUNCTIONS = {
    "adjust_brightness": (0.6,), "adjust_contrast": (1.7,), "adjust_saturation": (0.3,), "adjust_hue": (0.2,),
    "adjust_gamma": (1.4, 0.9), "adjust_sharpness": (0.4,), "hflip": (), "vflip": (), "invert": (), "autocontrast": (),
    "crop": (-2, 5, 12, 30), "get_dimensions": (), "get_image_size": (), "get_image_num_channels": (),
    "rotate": (33.0,), "affine": (12.0, [1, 2], 0.9, [3.0, 1.0]), "rgb_to_grayscale": (3,),
    "perspective": ([[0, 0], [23, 0], [23, 19], [0, 19]], [[1, 2], [20, 1], [22, 18], [2, 17]]),
    "resized_crop": (2, 3, 10, 9, [7, 8]), "center_crop": (6,), "five_crop": (6,), "gaussian_blur": ([3, 5],),
    "solarize": (0.5,), "resize": ([7],),
}


@each("name", FUNCTIONS)
@each("kind", ("bytes", "floats", "pillow"))
def test_function(name, kind):
    args = FUNCTIONS[name]
    wanted = getattr(FG, name)(INPUTS[kind], *args)
    whole = isinstance(wanted, torch.Tensor) and not wanted.is_floating_point()
    same(getattr(F, name)(mine(INPUTS[kind]), *args), wanted, 1e-5,
         1.0 if whole or (kind == "pillow" and name == "gaussian_blur") else 2e-5)


@pytest.mark.parametrize("pillow_mode", ("L", "RGB", "RGBA", "1", "I", "F", "LA", "CMYK"))
def test_modes_of_pillow(pillow_mode):
    image = PILLOW.convert(pillow_mode)
    same(F.pil_to_tensor(image), FG.pil_to_tensor(image))
    same(F.to_tensor(image), FG.to_tensor(image))
    if pillow_mode != "1":
        tensor = FG.pil_to_tensor(image)
        same(F.to_pil_image(mine(tensor), pillow_mode), FG.to_pil_image(tensor, pillow_mode))


@each("before", ("uint8", "int16", "int32", "float32", "float64", "bool"))
@each("after", ("uint8", "int16", "int32", "int64", "float32", "float64"))
def test_convert_image_dtype(before, after):
    source = (FLOATS * 120).to(getattr(torch, before)) if before[0] in "iu" else FLOATS.to(getattr(torch, before))
    try:
        wanted = FG.convert_image_dtype(source, getattr(torch, after))
    except RuntimeError:
        with pytest.raises(RuntimeError):
            F.convert_image_dtype(mine(source), getattr(dt, after))
        return
    same(F.convert_image_dtype(mine(source), getattr(dt, after)), wanted, 1e-12)


ERRORS = [lambda T: T.Resize((1, 2, 3)), lambda T: T.Pad("a"), lambda T: T.Pad((1, 2, 3)),
          lambda T: T.Pad(1, padding_mode="x"), lambda T: T.CenterCrop((1, 2, 3)), lambda T: T.Lambda(3),
          lambda T: T.RandomErasing(value="a"), lambda T: T.RandomErasing(p=2), lambda T: T.GaussianBlur(2),
          lambda T: T.GaussianBlur(3, -1), lambda T: T.ColorJitter(-1), lambda T: T.ColorJitter(hue=0.7),
          lambda T: T.RandomRotation(-3), lambda T: T.RandomAffine(3, translate=(2, 0)), lambda T: T.AugMix(11),
          lambda T: T.RandomAffine(3, scale=(0, 1)), lambda T: T.RandomResizedCrop(3, scale=3),
          lambda T: T.ToTensor()(3), lambda T: T.ToPILImage()(3), lambda T: T.RandomCrop(50)(PILLOW),
          lambda T: T.RandomChoice(3), lambda T: T.functional.posterize(PILLOW, 9),
          lambda T: T.functional.adjust_hue(PILLOW, 3), lambda T: T.functional.resize(PILLOW, [1, 2, 3]),
          lambda T: T.FiveCrop(50)(PILLOW), lambda T: T.ElasticTransform(1)]


@each("call", ERRORS, ids=range(len(ERRORS)))
def test_errors(call):
    with pytest.raises(Exception) as wanted:
        call(G)
    with pytest.raises(wanted.type):
        call(T)


def test_missing_names_say_so():
    with pytest.raises(AttributeError, match="RandomCrop"):
        T.RandomCropp
    assert isinstance(Image.new("L", (2, 2)), Image.Image)


def test_augmix():
    for seed in range(3):
        transform = T.AugMix()
        same(seeded(seed, transform, PILLOW).size, PILLOW.size)
    assert repr(T.AugMix()) == repr(G.AugMix())


@pytest.mark.parametrize("name", ["brightness", "contrast", "saturation", "sharpness", "hue"])
def test_factors_of_pillow_go_by_their_names(name):
    from torchvision.transforms import _functional_pil as theirs

    from dragon.vm.torchvision.transforms import _functional_pil as ours
    image = Image.new("RGB", (3, 4), (20, 90, 200))
    made = [getattr(module, f"adjust_{name}")(image, **{f"{name}_factor": 0.25}) for module in (ours, theirs)]
    assert made[0].tobytes() == made[1].tobytes()
    assert ours.get_image_size(image) == theirs.get_image_size(image) == [3, 4]
    assert ours.get_image_num_channels(image) == theirs.get_image_num_channels(image) == 3
