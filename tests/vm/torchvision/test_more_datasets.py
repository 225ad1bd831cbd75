"""Data sets of faces, streets, species, patches and movements, made small, beside genuine torchvision's."""
import genuine
import numpy
import pytest

tv = genuine.load()
import torch  # noqa: E402
from made_files import deep_picture, floats, matlab, movement, numbers, picture, same_items, write  # noqa: E402
from PIL import Image  # noqa: E402

from dragon.vm.torchvision import datasets  # noqa: E402

BOTH = (datasets, tv.datasets)


def unchecked(monkeypatch, name, field, value):
    """Have both sides ask for no sum of a file."""
    for module in BOTH:
        monkeypatch.setattr(getattr(module, name), field, value)


def people(root, monkeypatch):
    write(root / "lfw-py/people.txt", "2\n1\nAnn\t2\n2\nBob\t1\nAnn\t1\n")
    write(root / "lfw-py/lfw-names.txt", "Ann\t2\nBob\t1\n")
    for name in ("Ann_0001", "Ann_0002", "Bob_0001"):
        picture(root / f"lfw-py/lfw_funneled/{name[:3]}/{name}.jpg")
    write(root / "lfw-py/lfw-funneled.tgz", "")
    unknown_faces(monkeypatch, "LFWPeople")
    return "LFWPeople", {}


def unknown_faces(monkeypatch, name):
    unchecked(monkeypatch, name, "checksums", dict.fromkeys(tv.datasets.LFWPeople.checksums))
    unchecked(monkeypatch, name, "file_dict", {
        key: (*found[:2], None) for key, found in tv.datasets.LFWPeople.file_dict.items()})


def pairs(root, monkeypatch):
    write(root / "lfw-py/pairsDevTest.txt", "1\nAnn\t1\t2\nAnn\t1\tBob\t1\n")
    for name in ("Ann_0001", "Ann_0002", "Bob_0001"):
        picture(root / f"lfw-py/lfw/{name[:3]}/{name}.jpg")
    write(root / "lfw-py/lfw.tgz", "")
    unknown_faces(monkeypatch, "LFWPairs")
    return "LFWPairs", {"split": "test", "image_set": "original"}


def many_pairs(root, monkeypatch):
    pairs(root, monkeypatch)
    write(root / "lfw-py/pairs.txt", "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nAnn\t2\t1\nBob\t1\tAnn\t2\n")
    return "LFWPairs", {"image_set": "original"}


def streets(root, monkeypatch):
    folder = root / "Kitti/raw/training"
    picture(folder / "image_2/000001.png")
    line = "Car 0.5 2 -1.57 1.0 2.0 3.0 4.0 1.5 1.6 3.7 0.1 1.2 9.3 -1.59\n"
    write(folder / "label_2/000001.txt", line + line.replace("Car", "Cyclist"))
    return "Kitti", {}


def streets_of_test(root, monkeypatch):
    picture(root / "Kitti/raw/testing/image_2/1.png")
    return "Kitti", {"train": False}


def captions(root, monkeypatch):
    folder = root / "dataset"
    write(root / "SBUCaptionedPhotoDataset.tar.gz", "")
    write(folder / "SBU_captioned_photo_dataset_urls.txt", "http://a/1.jpg\nhttp://a/gone.jpg\nhttp://a/2.jpg\n")
    write(folder / "SBU_captioned_photo_dataset_captions.txt", "a dog \nnothing\na cat\n")
    for name in "12":
        picture(folder / f"{name}.jpg")
    unchecked(monkeypatch, "SBU", "md5_checksum", None)
    return "SBU", {"download": False}


def outlines(root, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    planes = numpy.empty((20, 1), dtype=object)
    for place in range(20):
        planes[place, 0] = sparse.csc_matrix(numbers.integers(0, 2, (5, 6)).astype("uint8"))
    write(root / "val.txt", "a\n")
    picture(root / "img/a.jpg")
    matlab(root / "cls/a.mat", GTcls={"Boundaries": planes, "Segmentation": numbers.integers(0, 20, (5, 6), "uint8")})
    return "SBDataset", {"image_set": "val"}


def areas(root, monkeypatch):
    outlines(root, monkeypatch)
    return "SBDataset", {"image_set": "val", "mode": "segmentation"}


def crowds(root, monkeypatch):
    folder = root / "widerface"
    for name in ("WIDER_train", "WIDER_val", "WIDER_test"):
        (folder / name).mkdir(parents=True)
    write(folder / "wider_face_split/wider_face_val_bbx_gt.txt",
          "p/1.jpg\n2\n1 2 3 4 0 1 0 1 2 0 \n5 6 7 8 1 0 1 0 0 1 \np/2.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n")
    write(folder / "wider_face_split/wider_face_test_filelist.txt", "p/3.jpg\n")
    for split, name in (("val", "1"), ("val", "2"), ("test", "3")):
        picture(folder / f"WIDER_{split}/images/p/{name}.jpg")
    return "WIDERFace", {"split": "val"}


def crowds_of_test(root, monkeypatch):
    crowds(root, monkeypatch)
    return "WIDERFace", {"split": "test"}


def places(root, monkeypatch):
    write(root / "categories_places365.txt", "/b/bar 1\n/a/abbey 0\n")
    write(root / "places365_train_standard.txt", "/a/abbey/1.jpg 0\n/b/bar/2.jpg 1\n")
    for name in ("a/abbey/1", "b/bar/2"):
        picture(root / f"data_256_standard/{name}.jpg")
    unchecked(monkeypatch, "Places365", "_CATEGORIES_META", ("categories_places365.txt", None))
    unchecked(monkeypatch, "Places365", "_FILE_LIST_META", {
        key: (name, None) for key, (name, _) in tv.datasets.Places365._FILE_LIST_META.items()})
    return "Places365", {"small": True}


def places_of_test(root, monkeypatch):
    places(root, monkeypatch)
    write(root / "places365_test.txt", "1.jpg\n")
    picture(root / "test_large/1.jpg")
    return "Places365", {"split": "test"}


def patches(root, monkeypatch):
    folder = root / "liberty"
    for name in ("0", "1"):
        folder.mkdir(exist_ok=True)
        Image.fromarray(numbers.integers(0, 255, (128, 192), "uint8")).save(folder / f"{name}.bmp")
    write(folder / "info.txt", "".join(f"{place // 2} 0\n" for place in range(7)))
    write(folder / "m50_100000_100000_0.txt", "0 0 0 1 0 0 0\n1 0 0 2 1 0 0\n")
    unchecked(monkeypatch, "PhotoTour", "lens", {"liberty": 7})
    return "PhotoTour", {"name": "liberty"}


def pairs_of_patches(root, monkeypatch):
    patches(root, monkeypatch)
    return "PhotoTour", {"name": "liberty", "train": False}


def scans(root, monkeypatch):
    h5py = pytest.importorskip("h5py")
    (root / "pcam").mkdir()
    for letter, values in (("x", numbers.integers(0, 255, (3, 6, 6, 3), "uint8")),
                           ("y", numbers.integers(0, 2, (3, 1, 1, 1), "uint8"))):
        with h5py.File(root / f"pcam/camelyonpatch_level_2_split_valid_{letter}.h5", "w") as file:
            file[letter] = values
    return "PCAM", {"split": "val"}


def letters(root, monkeypatch):
    folder = root / "omniglot-py"
    for name in ("Greek/character01/1", "Greek/character02/1", "Latin/character01/2"):
        picture(folder / f"images_evaluation/{name}.png", "L")
    write(folder / "images_evaluation.zip", "")
    unchecked(monkeypatch, "Omniglot", "zips_md5", dict.fromkeys(tv.datasets.Omniglot.zips_md5))
    return "Omniglot", {"background": False}


def moving(root, monkeypatch):
    (root / "MovingMNIST").mkdir()
    numpy.save(root / "MovingMNIST/mnist_test_seq.npy", numbers.integers(0, 255, (20, 3, 4, 4), "uint8"))
    return "MovingMNIST", {}


def early_frames(root, monkeypatch):
    moving(root, monkeypatch)
    return "MovingMNIST", {"split": "train", "split_ratio": 4}


def late_frames(root, monkeypatch):
    moving(root, monkeypatch)
    return "MovingMNIST", {"split": "test", "split_ratio": 19}


def species(root, monkeypatch):
    for number, name in enumerate(("A_B_C_D_E_F_one", "A_B_C_G_H_I_two", "J_K_C_D_E_F_three")):
        picture(root / f"2021_valid/{number:05d}_{name}/1.jpg")
    return "INaturalist", {"version": "2021_valid", "target_type": ["full", "kingdom", "class", "genus"]}


def old_species(root, monkeypatch):
    for name in ("Birds/1", "Plants/0", "Plants/2"):
        picture(root / f"2018/{name}/1.jpg")
    return "INaturalist", {"version": "2018", "target_type": ["super", "full"]}


def oldest_species(root, monkeypatch):
    for name in ("Birds/owl", "Plants/oak", "Plants/rose"):
        picture(root / f"2017/{name}/1.jpg")
    return "INaturalist", {"version": "2017"}


def page_of_sentences(root, monkeypatch):
    picture(root / "12_a.jpg")
    rows = "<td><a href='x'>http://f/u/12/</a></td><td><ul><li>a dog </li><li>it runs</li></ul></td>"
    write(root / "page.html", f"<html><p>who</p><table><tr>{rows}</tr><td>Image Not Found</td><li>gone</li></table>")
    return "Flickr8k", {"ann_file": str(root / "page.html")}


def lines_of_sentences(root, monkeypatch):
    picture(root / "12.jpg")
    write(root / "lines.token", "12.jpg#0\ta dog\n12.jpg#1\tit runs\n")
    return "Flickr30k", {"ann_file": str(root / "lines.token")}


def film(root, monkeypatch):
    for place in range(3):
        for kind in ("clean", "final"):
            picture(root / f"Sintel/training/{kind}/alley/{place}.png")
    for place in range(2):
        movement(root / f"Sintel/training/flow/alley/{place}.flo")
    return "Sintel", {"pass_name": "both"}


def film_of_test(root, monkeypatch):
    for place in range(3):
        picture(root / f"Sintel/test/clean/alley/{place}.png")
    return "Sintel", {"split": "test"}


def known_pixels(monkeypatch, pixels):
    """Tell genuine torchvision what images hold: the library that it reads them with may not fit its PyTorch."""
    monkeypatch.setattr(tv.datasets._optical_flow, "read_file", lambda path: path)
    monkeypatch.setattr(tv.datasets._optical_flow, "decode_png",
                        lambda path: torch.from_numpy(pixels[path].transpose(2, 0, 1)))


def car(root, monkeypatch):
    for place in (10, 11):
        picture(root / f"KittiFlow/training/image_2/0_{place}.png")
    path = root / "KittiFlow/training/flow_occ/0_10.png"
    known_pixels(monkeypatch, {str(path): deep_picture(path)})
    return "KittiFlow", {}


def chairs(root, monkeypatch):
    for place in range(3):
        for side in (1, 2):
            picture(root / f"FlyingChairs/data/{place}_img{side}.ppm")
        movement(root / f"FlyingChairs/data/{place}_flow.flo")
    write(root / "FlyingChairs/FlyingChairs_train_val.txt", "1\n2\n1\n")
    return "FlyingChairs", {}


def things(root, monkeypatch):
    folder = root / "FlyingThings3D"
    for place in range(3):
        picture(folder / f"frames_cleanpass/TRAIN/A/0/right/{place}.png")
        for direction in ("into_future", "into_past"):
            floats(folder / f"optical_flow/TRAIN/A/0/{direction}/right/{place}.pfm", 3)
    return "FlyingThings3D", {"camera": "right"}


def road(root, monkeypatch):
    paths = [root / f"hd1k/hd1k_flow_gt/flow_occ/000004_{place}.png" for place in range(3)]
    for path in paths:
        picture(root / f"hd1k/hd1k_input/image_2/{path.name}")
    known_pixels(monkeypatch, {str(path): deep_picture(path) for path in paths})
    return "HD1K", {}


MADE = (people, pairs, many_pairs, streets, streets_of_test, captions, outlines, areas, crowds, crowds_of_test, places,
        places_of_test, patches, pairs_of_patches, scans, letters, moving, early_frames, late_frames, species,
        old_species, oldest_species, page_of_sentences, lines_of_sentences, film, film_of_test, car, chairs, things,
        road)
FIELDS = ("classes", "class_to_idx", "targets", "all_categories", "categories_index", "categories_map", "pair_names",
          "variant", "mean", "std", "captions")


@pytest.mark.parametrize("make", MADE, ids=[make.__name__ for make in MADE])
def test_beside_genuine(make, tmp_path, monkeypatch):
    name, options = make(tmp_path, monkeypatch)
    mine, theirs = (getattr(module, name)(str(tmp_path), **options) for module in BOTH)
    for field in FIELDS:
        found, wanted = getattr(mine, field, None), getattr(theirs, field, None)
        assert (found == wanted if isinstance(wanted, (list, dict, str, float, type(None))) else True), field
    same_items(mine, theirs)


WRONG = {"LFWPeople": {"image_set": "x"}, "LFWPairs": {"split": "x"}, "SBDataset": {"mode": "x"},
         "WIDERFace": {"split": "x"}, "Places365": {"split": "x"}, "PCAM": {"split": "x"}, "Sintel": {"pass_name": "x"},
         "MovingMNIST": {"split": "x"}, "INaturalist": {"version": "x"}, "KittiFlow": {"split": "x"},
         "FlyingThings3D": {"camera": "x"}, "HD1K": {"split": "x"}, "FlyingChairs": {"split": "x"}}


@pytest.mark.parametrize("name", [*WRONG, "Kitti", "Omniglot"])
def test_what_is_not_there(name, tmp_path):
    for module in BOTH:
        with pytest.raises((RuntimeError, FileNotFoundError)):
            getattr(module, name)(str(tmp_path))
        if name in WRONG:
            with pytest.raises(ValueError):
                getattr(module, name)(str(tmp_path), **WRONG[name])


def test_lists_of_faces_that_end_early(tmp_path, monkeypatch):
    crowds(tmp_path, monkeypatch)
    path = tmp_path / "widerface/wider_face_split/wider_face_val_bbx_gt.txt"
    text = path.read_text()
    path.write_text(text + "\n")
    assert len(datasets.WIDERFace(str(tmp_path), "val")) == 2
    for more in ("p/3.jpg\n", "p/3.jpg\n2\n1 2 3 4 0 1 0 1 2 0\n"):
        path.write_text(text + more)
        with pytest.raises(RuntimeError, match="p/3.jpg"):
            datasets.WIDERFace(str(tmp_path), "val")


@pytest.mark.parametrize("split_ratio, kind", [(0, ValueError), (20, ValueError), (2.5, TypeError)])
def test_ratios_of_frames(split_ratio, kind, tmp_path):
    for module in BOTH:
        with pytest.raises(kind, match="split_ratio"):
            module.MovingMNIST(str(tmp_path), split_ratio=split_ratio)


@pytest.mark.parametrize("classes, match", [("x", "Unknown value"), (3, "str or Iterable"), ([3], "elements"),
                                            (["bedroom_x"], "postfix"), (["x_train"], "LSUN class")])
def test_classes_of_scenes(classes, match, tmp_path):
    with pytest.raises(ValueError, match=match):
        datasets.LSUN(str(tmp_path), classes)


def test_scenes_in_a_database(tmp_path, monkeypatch):
    lmdb = pytest.importorskip("lmdb")
    scenes, made = ["bridge_val", "tower_val"], []
    for scene in scenes:
        picture(tmp_path / f"{scene}.webp")
    for place, module in enumerate(BOTH):  # a process opens a database once, so each side has its own
        (tmp_path / str(place)).mkdir()
        monkeypatch.chdir(tmp_path / str(place))
        for scene in scenes:
            with lmdb.open(f"{scene}_lmdb") as database, database.begin(write=True) as writing:
                writing.put(b"key", (tmp_path / f"{scene}.webp").read_bytes())
        made.append(module.LSUN(".", scenes))
    same_items(*made)


def test_scenes_that_are_not_there():
    scenes = object.__new__(datasets.LSUN)
    scenes.target_transform, scenes.dbs, scenes.indices, scenes.length = None, [[("a", None)], [("b", None)]], [1, 2], 2
    assert scenes[1] == ("b", 1)
    with pytest.raises(IndexError, match="below 2"):
        scenes[2]
