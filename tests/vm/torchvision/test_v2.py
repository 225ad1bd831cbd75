"""The second version of the transforms beside genuine torchvision: images, masks, boxes and keypoints in structures."""
import io

import genuine
import numpy
import pytest
import torch
from compare import array, mine, seeded

tv = genuine.load()
import torchvision.transforms.v2 as G  # noqa: E402
from harness.subresults import each  # noqa: E402
from torchvision import tv_tensors as GT  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import tv_tensors as MT  # noqa: E402
from dragon.vm.torchvision.transforms import v2 as T  # noqa: E402

generator = torch.Generator().manual_seed(3)
BYTES = torch.randint(0, 256, (3, 20, 24), dtype=torch.uint8, generator=generator)
FLOATS = torch.rand(3, 20, 24, generator=generator)
MASK = torch.randint(0, 2, (2, 20, 24), dtype=torch.uint8, generator=generator)
BOXES = torch.tensor([[2.0, 3.0, 12.0, 14.0], [5.0, 1.0, 20.0, 18.0]])
CENTRED = torch.tensor([[7, 8, 9, 10], [12, 9, 4, 6]])
POINTS = torch.tensor([[1.0, 2.0], [20.0, 15.0]])
PILLOW = tv.transforms.functional.to_pil_image(BYTES)


def sample(kind, module, convert):
    """Return the same sample for either side."""
    size = {"canvas_size": (20, 24)}
    boxes = module.BoundingBoxes(convert(BOXES), format="XYXY", **size)
    if kind == "all":
        return {"image": module.Image(convert(BYTES)), "mask": module.Mask(convert(MASK)), "boxes": boxes,
                "more": (module.BoundingBoxes(convert(CENTRED), format="CXCYWH", **size),
                         module.KeyPoints(convert(POINTS), **size)), "label": convert(torch.tensor([1, 2])),
                "name": "a"}
    if kind == "boxed":
        return convert(FLOATS), boxes
    return {"bytes": convert(BYTES), "floats": convert(FLOATS), "pillow": PILLOW, "batch": convert(FLOATS[None, None]),
            "video": module.Video(convert(torch.stack((BYTES, BYTES.flip(-1)))))}[kind]


def same_tree(found, wanted, atol):
    if isinstance(wanted, (list, tuple, dict)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        pairs = zip(found.values(), wanted.values()) if isinstance(wanted, dict) else zip(found, wanted)
        for pair in pairs:
            same_tree(*pair, atol)
    elif isinstance(wanted, torch.Tensor):
        assert type(found).__name__ == type(wanted).__name__ and str(found.dtype) == str(wanted.dtype)
        for name in ("canvas_size", "clamping_mode"):
            assert getattr(found, name, None) == getattr(wanted, name, None)
        assert str(getattr(found, "format", "")) == str(getattr(wanted, "format", ""))
        found, wanted = (array(value.as_subclass(kind)) for value, kind in ((found, dt.Tensor), (wanted, torch.Tensor)))
        assert found.shape == wanted.shape
        whole = wanted.dtype.kind in "iu"
        numpy.testing.assert_allclose(found.astype("float64"), wanted.astype("float64"), 1e-5, 1 if whole else atol)
        assert not whole or numpy.mean(found != wanted) < 0.3
    elif hasattr(wanted, "getbands"):
        assert found.mode == wanted.mode and found.size == wanted.size
        assert numpy.abs(numpy.asarray(found).astype(int) - numpy.asarray(wanted).astype(int)).max() <= 1
    else:
        assert found == wanted


EVERYTHING, PICTURES, PIXELS = "all boxed bytes floats pillow batch video", "bytes floats pillow video", "bytes pillow"
CLASSES = {
    "Resize": (lambda T: T.Resize(10), EVERYTHING), "Resize max": (lambda T: T.Resize(None, max_size=16), EVERYTHING),
    "Resize nearest": (lambda T: T.Resize((9, 31), "nearest", antialias=False), EVERYTHING),
    "CenterCrop": (lambda T: T.CenterCrop((22, 9)), EVERYTHING), "RandomCrop": (lambda T: T.RandomCrop(10), EVERYTHING),
    "RandomCrop pad": (lambda T: T.RandomCrop((22, 30), padding=(1, 2), pad_if_needed=True, fill=7), EVERYTHING),
    "Pad": (lambda T: T.Pad((1, 2, 3, 4), fill=3), EVERYTHING), "Pad colour": (lambda T: T.Pad(2, (1, 2, 3)), PICTURES),
    "Pad reflect": (lambda T: T.Pad(2, padding_mode="reflect"), PICTURES),
    "RandomHorizontalFlip": (lambda T: T.RandomHorizontalFlip(0.7), EVERYTHING),
    "RandomVerticalFlip": (lambda T: T.RandomVerticalFlip(0.7), EVERYTHING),
    "RandomResizedCrop": (lambda T: T.RandomResizedCrop((9, 11)), EVERYTHING),
    "RandomZoomOut": (lambda T: T.RandomZoomOut(2, (1.0, 2.0), 0.8), EVERYTHING),
    "RandomRotation": (lambda T: T.RandomRotation(40), EVERYTHING),
    "RandomRotation expand": (lambda T: T.RandomRotation((10, 80), "bilinear", True, fill=4), EVERYTHING),
    "RandomRotation right": (lambda T: T.RandomRotation((90, 90), expand=True), EVERYTHING),
    "RandomAffine": (lambda T: T.RandomAffine(30, (0.1, 0.2), (0.7, 1.3), (-9, 9, -4, 4), fill=1), EVERYTHING),
    "RandomPerspective": (lambda T: T.RandomPerspective(0.5, 0.9), EVERYTHING),
    "ElasticTransform": (lambda T: T.ElasticTransform(40.0, 3.0), EVERYTHING),
    "RandomIoUCrop": (lambda T: T.RandomIoUCrop(), "all boxed"),
    "ScaleJitter": (lambda T: T.ScaleJitter((18, 16), (0.5, 1.5)), EVERYTHING),
    "RandomShortestSize": (lambda T: T.RandomShortestSize([8, 12, 16], 17), EVERYTHING),
    "RandomResize": (lambda T: T.RandomResize(8, 15), EVERYTHING),
    "FiveCrop": (lambda T: T.FiveCrop(9), "bytes pillow video"),
    "TenCrop": (lambda T: T.TenCrop((9, 8)), "bytes pillow"),
    "ColorJitter": (lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.3), "all " + PICTURES),
    "RandomPhotometricDistort": (lambda T: T.RandomPhotometricDistort(), "all " + PICTURES),
    "RandomChannelPermutation": (lambda T: T.RandomChannelPermutation(), PICTURES),
    "Grayscale": (lambda T: T.Grayscale(3), "all " + PICTURES), "RGB": (lambda T: T.RGB(), PICTURES),
    "RandomGrayscale": (lambda T: T.RandomGrayscale(0.6), PICTURES),
    "RandomInvert": (lambda T: T.RandomInvert(0.8), "all " + PICTURES),
    "RandomPosterize": (lambda T: T.RandomPosterize(3, 0.8), "all " + PICTURES),
    "RandomSolarize": (lambda T: T.RandomSolarize(0.4, 0.8), PICTURES),
    "RandomAdjustSharpness": (lambda T: T.RandomAdjustSharpness(2.5, 0.8), PICTURES),
    "RandomAutocontrast": (lambda T: T.RandomAutocontrast(0.8), PICTURES),
    "RandomEqualize": (lambda T: T.RandomEqualize(0.8), PICTURES),
    "GaussianBlur": (lambda T: T.GaussianBlur((3, 5)), "all batch " + PICTURES),
    "GaussianNoise": (lambda T: T.GaussianNoise(sigma=0.2), "bytes floats"),
    "RandomErasing": (lambda T: T.RandomErasing(0.8, value=0.3), "bytes floats pillow video"),
    "RandomErasing noise": (lambda T: T.RandomErasing(1.0, value="random"), "floats"),
    "Normalize": (lambda T: T.Normalize((0.4, 0.5, 0.6), (0.1, 0.2, 0.3)), "floats batch"),
    "ToImage": (lambda T: T.ToImage(), "bytes pillow"), "ToPILImage": (lambda T: T.ToPILImage(), "bytes floats"),
    "PILToTensor": (lambda T: T.PILToTensor(), "pillow"), "ToPureTensor": (lambda T: T.ToPureTensor(), "all"),
    "ToDtype": (lambda T: T.ToDtype(lib(T).float32, scale=True), EVERYTHING.replace("pillow ", "")),
    "ToDtype dict": (lambda T: T.ToDtype({tensors(T).Mask: lib(T).int64, "others": None}), "all"),
    "ConvertImageDtype": (lambda T: T.ConvertImageDtype(lib(T).uint8), "floats"),
    "ConvertBoundingBoxFormat": (lambda T: T.ConvertBoundingBoxFormat("XYWH"), "all"),
    "ClampBoundingBoxes": (lambda T: T.ClampBoundingBoxes(), "all"),
    "ClampKeyPoints": (lambda T: T.ClampKeyPoints(), "all"),
    "SetClampingMode": (lambda T: T.SetClampingMode(None), "all"),
    "SanitizeBoundingBoxes": (lambda T: T.SanitizeBoundingBoxes(5, labels_getter=lambda x: x["label"]), "all"),
    "SanitizeKeyPoints": (lambda T: T.SanitizeKeyPoints(), "all"),
    "Compose": (lambda T: T.Compose([T.RandomCrop(12), T.RandomHorizontalFlip()]), EVERYTHING),
    "RandomApply": (lambda T: T.RandomApply([T.CenterCrop(9), T.RandomVerticalFlip()], 0.6), EVERYTHING),
    "RandomChoice": (lambda T: T.RandomChoice([T.CenterCrop(9), T.CenterCrop(7)], [0.3, 0.7]), EVERYTHING),
    "RandomOrder": (lambda T: T.RandomOrder([T.CenterCrop(9), T.RandomVerticalFlip()]), EVERYTHING),
    "Identity": (lambda T: T.Identity(), EVERYTHING), "Lambda": (lambda T: T.Lambda(abs, float), "all"),
    "UniformTemporalSubsample": (lambda T: T.UniformTemporalSubsample(1), "video"),
    "AutoAugment": (lambda T: T.AutoAugment(T.AutoAugmentPolicy.CIFAR10), PIXELS),
    "RandAugment": (lambda T: T.RandAugment(3), PIXELS),
    "TrivialAugmentWide": (lambda T: T.TrivialAugmentWide(), PIXELS),
    "AugMix": (lambda T: T.AugMix(), PIXELS),
}


def lib(T):
    return torch if T is G else dt


def tensors(T):
    return GT if T is G else MT


@each("name", CLASSES, size=20)
def test_class(name):
    make, kinds = CLASSES[name]
    wanted, found = make(G), make(T)
    if name not in ("ConvertImageDtype", "ToDtype dict", "SanitizeBoundingBoxes"):
        assert repr(found) == repr(wanted)
    for kind in kinds.split():
        for seed in range(5 if "Aug" in name else 2):
            right = seeded(seed, wanted, sample(kind, GT, lambda value: value))
            state = torch.get_rng_state()
            result = seeded(seed, found, sample(kind, MT, mine))
            warped = any(word in name for word in ("Rotation", "Affine", "Perspective", "Elastic"))
            same_tree(result, right, 1e-3 if warped else 5e-5)
            if name != "RandomErasing noise":
                assert bytes(dt.get_rng_state().numpy()) == bytes(state.numpy())


def test_mixing():
    pytest.importorskip("dragon.vm.torch.distributions")
    images, labels = torch.rand(4, 3, 8, 9, generator=generator), torch.tensor([0, 2, 1, 2])
    for name in ("MixUp", "CutMix"):
        for seed in range(4):
            wanted = seeded(seed, getattr(G, name)(num_classes=3), images, labels)
            found = seeded(seed, getattr(T, name)(num_classes=3), mine(images), mine(labels))
            same_tree(found, wanted, 1e-6)


def test_tensors_that_say_what_they_are():
    for module, library in ((GT, torch), (MT, dt)):
        image = module.Image(library.zeros(2, 3))
        assert image.shape == (1, 2, 3) and type(image + 1) is library.Tensor and type(image.clone()) is module.Image
        with module.set_return_type("TVTensor"):
            assert type(image + 1) is module.Image
        boxes = module.BoundingBoxes([1, 2, 3, 4], format="xywh", canvas_size=(9, 9))
        assert boxes.to(library.float32).canvas_size == (9, 9) and boxes.format is module.BoundingBoxFormat.XYWH
        for call in (lambda: module.Image(library.zeros(3)), lambda: module.Video(library.zeros(3, 4)),
                     lambda: module.BoundingBoxes(library.zeros(1, 1, 4), format="XYXY", canvas_size=(1, 1)),
                     lambda: module.set_return_type("other")):
            with pytest.raises(ValueError):
                call()
    assert repr(MT.BoundingBoxes([1, 2, 3, 4], format="xywh", canvas_size=(9, 9))) == repr(
        GT.BoundingBoxes([1, 2, 3, 4], format="xywh", canvas_size=(9, 9)))
    assert repr(MT.Image(mine(FLOATS[:, :2, :2]))) == repr(GT.Image(FLOATS[:, :2, :2]))


def test_own_kernels():
    class Own(MT.TVTensor):
        pass

    @T.functional.register_kernel("hflip", Own)
    def flip(inpt):
        return "flipped"
    assert T.functional.hflip(dt.zeros(3, 2, 2).as_subclass(Own)) == "flipped"
    with pytest.raises(TypeError):
        T.functional.vflip(dt.zeros(3, 2, 2).as_subclass(Own))
    with pytest.raises(ValueError):
        T.functional.register_kernel("nothing", Own)
    with pytest.raises(ValueError, match="already"):
        T.functional.register_kernel("hflip", Own)


ERRORS = [lambda T: T.Resize("abc"), lambda T: T.Pad("a"), lambda T: T.RandomCrop(50)(BYTES if T is G else mine(BYTES)),
          lambda T: T.RandomErasing(value="a"), lambda T: T.Compose([]), lambda T: T.RandomChoice([T.RGB()], [1, 2]),
          lambda T: T.RandomHorizontalFlip(2), lambda T: T.JPEG(0), lambda T: T.ToDtype(3),
          lambda T: T.RandomZoomOut(0, (3, 2)),
          lambda T: T.FiveCrop(3)(sample("boxed", tensors(T), mine if T is T_ else lambda x: x)),
          lambda T: T.Normalize([1], [0])(FLOATS if T is G else mine(FLOATS)), lambda T: T.Normalize([1], [1])(PILLOW)]
T_ = T


@each("call", ERRORS, ids=range(len(ERRORS)))
def test_errors(call):
    with pytest.raises(Exception) as wanted:
        call(G)
    with pytest.raises(wanted.type):
        call(T)


@each("size", [[34, 22], [9, 30], [17, 5], [3, 140], 8])
@each("mode, antialias", [("bilinear", True), ("bilinear", False), ("bicubic", True),
                          ("bicubic", False), ("lanczos", True), ("nearest", True)])
@each("shape", [(2, 3, 17, 11), (1, 90, 70), (4, 20, 33)])
def test_sizes_of_bytes(shape, mode, antialias, size):
    """Bytes are weighed by whole numbers, and are bytes between the passes across and down."""
    import torchvision.transforms.v2.functional as GF
    image = torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    if not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        pytest.skip("genuine PyTorch has no kernel for bytes on this processor")
    wanted = GF.resize(image, size, mode, antialias=antialias)
    found = T.functional.resize(mine(image), size, mode, antialias=antialias)
    assert (found.numpy() == wanted.numpy()).all()


def test_sizes_of_little():
    assert T.functional.resize(dt.zeros(0, 9, 8, dtype=dt.uint8), [3, 4]).shape == (0, 3, 4)
    assert T.functional.resize(dt.zeros(3, 1, 1, dtype=dt.uint8), [2, 2]).shape == (3, 2, 2)
    assert T.functional.resize(dt.full((3, 9, 8), 200, dtype=dt.uint8), [1, 1]).flatten().tolist() == [200] * 3
    with pytest.raises(ValueError, match="LANCZOS requires antialias"):
        T.functional.resize(dt.zeros(3, 9, 8), [3, 4], "lanczos", antialias=False)


def test_turns_of_no_image():
    assert T.functional.affine(dt.zeros(0, 3, 5, 4), 10.0, [0, 0], 1.0, [0.0, 0.0]).shape == (0, 3, 5, 4)


def test_what_a_random_part_is():
    made = T.RandomCrop((4, 9), pad_if_needed=True).make_params([dt.zeros(3, 6, 6)])
    assert made == {"needs_crop": True, "top": made["top"], "left": made["left"], "height": 4, "width": 9,
                    "needs_pad": True, "padding": [3, 0, 3, 0]}


def test_names():
    import torchvision.transforms.v2.functional as GF
    missing = {name for name in dir(G) if name[0].isupper()} - set(dir(T))
    assert missing == set()
    theirs = {name for name in dir(GF) if not name.startswith("_") and callable(getattr(GF, name))}
    assert theirs - set(dir(T.functional)) == set()


def test_a_transform_without_one_says_so():
    class Mine(T.Transform):
        def __init__(self):
            super().__init__()
            self._function = None

    with pytest.raises(NotImplementedError, match="Mine: has no transform"):
        Mine()(dt.zeros(3, 4, 4))


def test_functions_of_pillow_have_the_names_that_suites_ask_for():
    wanted = 0
    for room in ("_augment", "_color", "_geometry", "_meta", "_misc"):
        theirs = getattr(G.functional, room)
        for name, function in vars(theirs).items():
            if name.endswith("_image_pil") and function.__module__.endswith(room):
                assert callable(getattr(getattr(T.functional, room), name)), name
                wanted += 1
    assert wanted > 15
    for room, name in (("_meta", "_get_size_image_pil"), ("_meta", "_get_num_channels_image_pil"),
                       ("_meta", "_get_dimensions_image_pil")):
        ours, theirs = (getattr(getattr(module, room), name) for module in (T.functional, G.functional))
        assert ours(PILLOW) == theirs(PILLOW)


@pytest.mark.parametrize("name", ["horizontal_flip", "resize", "resize_image", "rgb_to_grayscale", "erase_image"])
def test_scripts_of_functions_run_their_python_code(name):
    """And what is saved of them says so by name."""
    function = getattr(T.functional, name)
    args = {"resize": ([4, 4],), "resize_image": ([4, 4],), "erase_image": (0, 0, 1, 1, dt.zeros(1, 1, 1))}
    args = args.get(name, ())
    image = dt.arange(75, dtype=dt.uint8).reshape(3, 5, 5)
    script = dt.jit.script(function)
    assert script(image, *args).tolist() == function(image, *args).tolist()
    with pytest.raises(NotImplementedError, match=f"{name}: runs its Python code"):
        dt.jit.save(script, io.BytesIO())


def test_scripts_that_call_functions_of_images_run_too():
    from dragon.vm.torchvision.transforms import functional as F1

    @dt.jit.script
    def brighter(image: dt.Tensor) -> dt.Tensor:
        return F1.adjust_brightness(F1.hflip(image), 1.5)
    image = dt.arange(75, dtype=dt.uint8).reshape(3, 5, 5)
    assert brighter(image).tolist() == F1.adjust_brightness(F1.hflip(image), 1.5).tolist()


@pytest.mark.parametrize("old, new", [("XYXY", "XYWH"), ("XYWH", "CXCYWH"), ("XYWHR", "CXCYWHR"), ("XYXY", "XYXY"),
                                      ("XYWHR", "XYXYXYXY")])
def test_boxes_change_their_format_in_place(old, new):
    for module, framework in ((MT, dt), (GT, torch)):
        functional = (T if module is MT else G).functional
        old_format, new_format = (module.BoundingBoxFormat[name] for name in (old, new))
        boxes = framework.tensor([[2.0, 3.0, 12.0, 14.0, 30.0][:5 if old.endswith("R") else 4]])
        wanted = functional.convert_bounding_box_format(boxes.clone(), old_format, new_format)
        made = functional.convert_bounding_box_format(boxes, old_format, new_format, inplace=True)
        assert (made is boxes) == (new != "XYXYXYXY") and made.tolist() == wanted.tolist()
        held = module.BoundingBoxes(framework.tensor(boxes.tolist()), format=new if made is boxes else old,
                                    canvas_size=(20, 24))
        back = functional.convert_bounding_box_format(held, new_format=old_format, inplace=True)
        assert back.format == old_format and (back.data_ptr() == held.data_ptr())


def test_transforms_that_scripts_know_by_their_first_version():
    from dragon.vm.torchvision import transforms as first
    for transform, kind in ((T.Resize(5), first.Resize), (T.ColorJitter(0.5), first.ColorJitter),
                            (T.RandomCrop(4, padding=(1, 2, 3, 4)), first.RandomCrop), (T.Pad(2), first.Pad),
                            (T.RandomSolarize(100), first.RandomSolarize), (T.AugMix(), first.AugMix),
                            (T.RandomErasing(value="random"), first.RandomErasing),
                            (T.RandomApply([T.Resize(5)]), first.RandomApply)):
        theirs = getattr(G, type(transform).__name__)
        assert transform._v1_transform_cls is kind and theirs._v1_transform_cls.__name__ == kind.__name__
        assert type(transform.__prepare_scriptable__()) is kind
    assert T.RandomCrop(4, padding=(1, 2, 3, 4)).__prepare_scriptable__().padding == [1, 2, 3, 4]
    for transform, said in ((T.ToDtype(dt.float32), "cannot be JIT"), (T.Compose([T.Resize(5)]), "cannot be JIT"),
                            (T.Pad(2, fill=[1, 2, 3]), "scalar `fill`"),
                            (T.AutoAugment(fill={"others": 1}), "dictionary")):
        with pytest.raises((RuntimeError, ValueError), match=said):
            dt.jit.script(transform)


@pytest.mark.parametrize("name", ["get_dimensions", "get_num_channels", "get_image_num_channels"])
def test_masks_and_boxes_have_no_channels(name):
    for module, convert, functional in ((MT, mine, T.functional), (GT, lambda tensor: tensor, G.functional)):
        for held in (module.Mask(convert(MASK)), module.KeyPoints(convert(POINTS), canvas_size=(20, 24)),
                     module.BoundingBoxes(convert(BOXES), format="XYXY", canvas_size=(20, 24))):
            with pytest.raises(TypeError, match=type(held).__name__):
                getattr(functional, name)(held)
        assert getattr(functional, name)(module.Image(convert(BYTES))) in (3, [3, 20, 24])
