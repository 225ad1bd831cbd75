"""Data sets of photographs in local files, made small, beside genuine torchvision's."""
import bz2

import genuine
import pytest
from compare import same

tv = genuine.load()
from made_files import matlab, picture, write  # noqa: E402

from dragon.vm.torchvision import datasets  # noqa: E402

BOTH = (datasets, tv.datasets)


def food(root, monkeypatch):
    names = {"pie": ["pie/1", "pie/2"], "apple": ["apple/7"]}
    write(root / "food-101/meta/train.json", names)
    for path in sum(names.values(), []):
        picture(root / f"food-101/images/{path}.jpg")
    return "Food101", {}


def textures(root, monkeypatch):
    write(root / "dtd/dtd/labels/val3.txt", "grid/a.jpg\nband/b.jpg\n")
    for path in ("grid/a.jpg", "band/b.jpg"):
        picture(root / f"dtd/dtd/images/{path}")
    return "DTD", {"split": "val", "partition": 3}


def aircraft(root, monkeypatch):
    data = root / "fgvc-aircraft-2013b/data"
    write(data / "families.txt", "Boeing 1\nAirbus 2\n")
    write(data / "images_family_test.txt", "001 Airbus 2\n002 Boeing 1\n")
    for name in ("001", "002"):
        picture(data / f"images/{name}.jpg")
    return "FGVCAircraft", {"split": "test", "annotation_level": "family"}


def flowers(root, monkeypatch):
    folder = root / "flowers-102"
    matlab(folder / "imagelabels.mat", labels=[[5, 3, 9, 1]])
    matlab(folder / "setid.mat", trnid=[[1, 3]], valid=[[2]], tstid=[[4]])
    for number in range(1, 5):
        picture(folder / f"jpg/image_{number:05d}.jpg")
    for module in BOTH:
        monkeypatch.setattr(module.Flowers102, "_file_dict", {
            key: (name, None) for key, (name, _) in module.Flowers102._file_dict.items()})
    return "Flowers102", {}


def scenes(root, monkeypatch):
    write(root / "SUN397/ClassName.txt", "/a/abbey\n/b/bar/indoor\n")
    picture(root / "SUN397/a/abbey/sun_1.jpg")
    picture(root / "SUN397/b/bar/indoor/sun_2.jpg")
    return "SUN397", {}


def clevr(root, monkeypatch):
    folder = root / "clevr/CLEVR_v1.0"
    found = [{"image_filename": f"{number}.png", "objects": [0] * number} for number in (1, 2)]
    write(folder / "scenes/CLEVR_train_scenes.json", {"scenes": found})
    for number in (1, 2):
        picture(folder / f"images/train/{number}.png")
    return "CLEVRClassification", {}


def signs(root, monkeypatch):
    for kind in ("00000", "00001"):
        picture(root / f"gtsrb/GTSRB/Training/{kind}/1.ppm")
    return "GTSRB", {}


def signs_of_test(root, monkeypatch):
    picture(root / "gtsrb/GTSRB/Final_Test/Images/1.ppm")
    write(root / "gtsrb/GT-final_test.csv", "Filename;Width;ClassId\n1.ppm;5;11\n")
    return "GTSRB", {"split": "test"}


def land(root, monkeypatch):
    for kind in ("Forest", "River"):
        picture(root / f"eurosat/2750/{kind}/1.jpg")
    return "EuroSAT", {}


def countries(root, monkeypatch):
    for kind in ("AD", "ZW"):
        picture(root / f"country211/valid/{kind}/1.jpg")
    return "Country211", {"split": "valid"}


def sentences(root, monkeypatch):
    for kind in ("negative", "positive"):
        picture(root / f"rendered-sst2/valid/{kind}/1.png")
    return "RenderedSST2", {"split": "val"}


def few_classes(root, monkeypatch):
    for kind in ("n01440764", "n03888257"):
        picture(root / f"imagenette2-160/val/{kind}/1.JPEG")
    return "Imagenette", {"split": "val", "size": "160px"}


def pets(root, monkeypatch):
    folder = root / "oxford-iiit-pet"
    write(folder / "annotations/trainval.txt", "Abyssinian_1 1 1 1\nyorkshire_terrier_3 2 2 25\n")
    for name in ("Abyssinian_1", "yorkshire_terrier_3"):
        picture(folder / f"images/{name}.jpg")
        picture(folder / f"annotations/trimaps/{name}.png", "L")
    return "OxfordIIITPet", {"target_types": ["category", "binary-category", "segmentation"]}


def objects(root, monkeypatch):
    for name, number in (("BACKGROUND_Google", 1), ("Faces", 2), ("ant", 1)):
        for index in range(number):
            picture(root / f"caltech101/101_ObjectCategories/{name}/image_{index + 1:04d}.jpg")
    for name, number in (("Faces_2", 2), ("ant", 1)):
        for index in range(number):
            matlab(root / f"caltech101/Annotations/{name}/annotation_{index + 1:04d}.mat", obj_contour=[[1.0, 2.0]])
    return "Caltech101", {"target_type": ["category", "annotation"]}


def more_objects(root, monkeypatch):
    for name in ("001.ak47", "002.flag"):
        picture(root / f"caltech256/256_ObjectCategories/{name}/{name[:3]}_0001.jpg")
        write(root / f"caltech256/256_ObjectCategories/{name}/RENAME2", "")
    return "Caltech256", {}


def streets(root, monkeypatch):
    picture(root / "leftImg8bit/val/ulm/ulm_0_1_leftImg8bit.png")
    stem = "gtFine/val/ulm/ulm_0_1_gtFine"
    for kind in ("instanceIds", "labelIds", "color"):
        picture(root / f"{stem}_{kind}.png", "L")
    write(root / f"{stem}_polygons.json", {"objects": [1]})
    return "Cityscapes", {"split": "val", "target_type": ["instance", "semantic", "color", "polygon"]}


def faces(root, monkeypatch):
    folder = root / "celeba"
    rows = ("1.jpg", "2.jpg", "3.jpg")
    for name in rows:
        picture(folder / f"img_align_celeba/{name}")
    write(folder / "list_eval_partition.txt", "1.jpg 0\n2.jpg 1\n3.jpg 0\n")
    write(folder / "identity_CelebA.txt", "1.jpg 70\n2.jpg 80\n3.jpg 90\n")
    write(folder / "list_bbox_celeba.txt", "3\nimage_id x_1 y_1\n" + "".join(f"{name}   1  22\n" for name in rows))
    write(folder / "list_landmarks_align_celeba.txt", "3\nx y\n" + "".join(f"{name} 5 6\n" for name in rows))
    write(folder / "list_attr_celeba.txt", "3\nBald Young\n" + "".join(f"{name} -1  1\n" for name in rows))
    for module in BOTH:
        monkeypatch.setattr(module.CelebA, "file_list",
                            [(key, None, name) for key, _, name in module.CelebA.file_list])
    return "CelebA", {"target_type": ["attr", "identity", "bbox", "landmarks"]}


def digits(root, monkeypatch):
    rows = "".join(f"{digit} " + " ".join(f"{place}:{(place % 9) / 4 - 1}" for place in range(1, 257)) + "\n"
                   for digit in (7, 1))
    (root / "usps.bz2").write_bytes(bz2.compress(rows.encode()))
    return "USPS", {}


def black_digits(root, monkeypatch):
    rows = [[index % 2 for index in range(256)] + [int(digit == place) for place in range(10)] for digit in (3, 8)]
    write(root / "semeion.data", "\n".join(" ".join(map(str, row)) for row in rows))
    for module in BOTH:
        monkeypatch.setattr(module.SEMEION, "md5_checksum", None)
    return "SEMEION", {"download": False}


def expressions(root, monkeypatch):
    pixels = " ".join(str(index % 256) for index in range(48 * 48))
    write(root / "fer2013/icml_face_data.csv",
          f"emotion, Usage, pixels\n3,Training,{pixels}\n4,PrivateTest,{pixels}\n")
    for module in BOTH:
        monkeypatch.setattr(module.FER2013, "_RESOURCES", {
            key: (name, None) for key, (name, _) in module.FER2013._RESOURCES.items()})
    return "FER2013", {"split": "test"}


def boxes(root, monkeypatch):
    folder = root / "VOCdevkit/VOC2012"
    write(folder / "ImageSets/Main/train.txt", "a\nb\n")
    one = "<object><name>dog</name><bndbox><xmin>1</xmin></bndbox></object>"
    for name, found in (("a", one), ("b", one + one)):
        picture(folder / f"JPEGImages/{name}.jpg")
        write(folder / f"Annotations/{name}.xml", f"<annotation>\n<size><width>6</width></size>{found}</annotation>")
    return "VOCDetection", {}


def pixels(root, monkeypatch):
    folder = root / "VOCdevkit/VOC2007"
    write(folder / "ImageSets/Segmentation/test.txt", "a\n")
    picture(folder / "JPEGImages/a.jpg")
    picture(folder / "SegmentationClass/a.png", "L")
    return "VOCSegmentation", {"year": "2007", "image_set": "test"}


MADE = (food, textures, aircraft, flowers, scenes, clevr, signs, signs_of_test, land, countries, sentences, few_classes,
        pets, objects, more_objects, streets, faces, digits, black_digits, expressions, boxes, pixels)


@pytest.mark.parametrize("make", MADE, ids=[make.__name__ for make in MADE])
def test_beside_genuine(make, tmp_path, monkeypatch):
    name, options = make(tmp_path, monkeypatch)
    mine, theirs = (getattr(module, name)(str(tmp_path), **options) for module in BOTH)
    assert len(mine) == len(theirs) > 0 and repr(mine) == repr(theirs)
    for field in ("classes", "class_to_idx", "bin_classes", "categories"):
        assert getattr(mine, field, None) == getattr(theirs, field, None)
    for index in range(len(theirs)):
        (image, target), (wanted, wanted_target) = mine[index], theirs[index]
        same(image, wanted)
        pairs = (value if isinstance(value, tuple) else (value,) for value in (target, wanted_target))
        for found, right in zip(*pairs):
            if isinstance(right, (dict, list, int, type(None))):
                assert found == right
            else:
                same(found, right)


# An argument that no data set has.
WRONG = {"DTD": {"partition": 0.5}, "Caltech101": {"target_type": "x"}, "OxfordIIITPet": {"target_types": "x"},
         "VOCDetection": {"image_set": "x"}, "Cityscapes": {"mode": "x"}, "FGVCAircraft": {"annotation_level": "x"},
         **dict.fromkeys(("Food101", "Flowers102", "GTSRB", "Country211", "RenderedSST2", "StanfordCars", "ImageNet",
                          "Imagenette", "CLEVRClassification", "FER2013"), {"split": "x"})}
MISSING = (*WRONG, "SUN397", "EuroSAT", "CelebA", "Caltech256", "VOCSegmentation")


@pytest.mark.parametrize("name", MISSING)
def test_what_is_not_there(name, tmp_path):
    for module in BOTH:
        with pytest.raises(RuntimeError, match="ot found|not present"):
            getattr(module, name)(str(tmp_path))
        if name in WRONG:
            with pytest.raises(ValueError):
                getattr(module, name)(str(tmp_path), **WRONG[name])


def test_coco(tmp_path):
    images = [{"id": 5, "file_name": "5.jpg"}, {"id": 2, "file_name": "2.jpg"}]
    items = [{"id": number, "image_id": image, "category_id": kind, "area": area, "iscrowd": 0, "caption": f"c{number}"}
             for number, image, kind, area in ((1, 5, 3, 10.0), (2, 5, 4, 20.0), (3, 2, 3, 30.0))]
    kinds = [{"id": 3, "name": "cat", "supercategory": "animal"}, {"id": 4, "name": "car", "supercategory": "thing"}]
    write(tmp_path / "a.json", {"images": images, "annotations": items, "categories": kinds})
    for image in images:
        picture(tmp_path / image["file_name"])
    found = datasets.CocoDetection(tmp_path, tmp_path / "a.json")
    assert found.ids == [2, 5] and len(found) == 2
    assert found[1][1] == items[:2] and found[0][0].size == (6, 5)
    assert datasets.CocoCaptions(tmp_path, tmp_path / "a.json")[1][1] == ["c1", "c2"]
    coco = found.coco
    assert coco.getAnnIds(catIds=[3]) == [1, 3] and coco.getAnnIds(imgIds=5, areaRng=[15, 25]) == [2]
    assert coco.getCatIds(catNms=["car"]) == [4] and coco.getCatIds(supNms="animal") == [3]
    assert sorted(coco.getImgIds(catIds=[3])) == [2, 5] and coco.getImgIds(catIds=[3, 4]) == [5]
    assert coco.loadCats([3])[0]["name"] == "cat"
    with pytest.raises(ValueError, match="integer"):
        found[1.0]
