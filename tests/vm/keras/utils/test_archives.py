"""Archives: where they are kept and unpacked, and that nothing comes to lie outside of the folder."""
import importlib
import io
import os
import tarfile
import zipfile

import pytest

from dragon.vm import keras

files = importlib.import_module("dragon.vm.keras.src.utils.file_utils")


def write_zip(path, *names):
    """Write an archive of small texts."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def write_tar(path, *members):
    """Write an archive of small texts, or of links where a member is a pair."""
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            info = tarfile.TarInfo(member if isinstance(member, str) else member[0])
            if isinstance(member, str):
                info.size = len(member)
                archive.addfile(info, io.BytesIO(member.encode()))
            else:
                info.type, info.linkname = tarfile.SYMTYPE, member[1]
                archive.addfile(info)
    return path


# How the file is called, and the folder and the file within the cache: recorded from Keras 3.15.
NAMES = [("data", "data", "data_archive"), ("data.zip", "data_extracted", "data.zip"),
         ("data.v2.zip", "data_extracted", "data.v2.zip"), (None, "pets.zip", "pets.zip_archive")]


@pytest.mark.parametrize("name, folder, kept", NAMES)
def test_places_of_archives(tmp_path, name, folder, kept):
    origin = write_zip(tmp_path / "pets.zip", "cats/a.txt").as_uri()
    made = keras.utils.get_file(name, origin, extract=True, cache_dir=str(tmp_path / "cache"))
    cache = tmp_path / "cache" / "datasets"
    assert made == str(cache / folder) and sorted(os.listdir(cache)) == sorted([folder, kept])
    assert (cache / folder / "cats" / "a.txt").read_text() == "cats/a.txt"


def test_untar_is_for_tar_alone(tmp_path):
    origin = write_tar(tmp_path / "pets.tar.gz", "a.txt").as_uri()
    made = keras.utils.get_file("pets", origin, untar=True, cache_dir=str(tmp_path / "cache"))
    assert os.listdir(made) == ["a.txt"]
    with pytest.warns(UserWarning, match="Could not extract archive"):
        keras.utils.get_file("zipped", write_zip(tmp_path / "z.zip", "a").as_uri(), untar=True,
                             cache_dir=str(tmp_path / "cache"))


def test_names_of_files(tmp_path):
    with pytest.raises(ValueError, match="Paths are no longer accepted"):
        keras.utils.get_file("a/b.txt", "file:///a/b.txt", cache_dir=str(tmp_path))
    for origin in ("file:///", "file:///a/.", "file:///a/.."):
        with pytest.raises(ValueError, match="Can't parse the file name"):
            keras.utils.get_file(origin=origin, cache_dir=str(tmp_path))


@pytest.mark.parametrize("write, name", [(write_zip, "../out.txt"), (write_tar, "../out.txt"),
                                         (write_tar, ("link", "../../out")),
                                         (write_tar, ("link", "/etc/passwd"))],
                         ids=["zip", "tar", "link", "absolute link"])
def test_what_leads_out_is_left_out(tmp_path, write, name):
    path = write(tmp_path / "archive", "in.txt", name)
    with pytest.warns(UserWarning, match="Skipping invalid path during archive extraction"):
        assert files.extract_archive(path, tmp_path / "folder")
    assert sorted(os.listdir(tmp_path / "folder")) == ["in.txt"] and not (tmp_path / "out.txt").exists()


def test_what_leads_out_by_a_link_that_was_there_is_left_out(tmp_path):
    os.symlink(".", tmp_path / "link")
    with tarfile.open(write_tar(tmp_path / "archive", "link/../out.txt")) as archive:
        with pytest.warns(UserWarning, match="Skipping invalid path"):
            assert list(files.filter_safe_tarinfos(archive.getmembers(), tmp_path)) == []


def write_device(path):
    """Write an archive with a device, which is not unpacked."""
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("device")
        info.type = tarfile.CHRTYPE
        archive.addfile(info)
    return path


def write_broken_zip(path):
    """Write an archive with a letter changed, which the checksum tells."""
    data = bytearray(write_zip(path, "in.txt").read_bytes())
    data[30 + len("in.txt")] ^= 1  # the first letter behind the header
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("write, error", [(write_device, tarfile.TarError), (write_broken_zip, zipfile.BadZipFile)])
def test_what_fails_leaves_no_folder_and_takes_no_file(tmp_path, write, error):
    path, mine = write(tmp_path / "archive"), tmp_path / "mine"
    mine.mkdir()
    (mine / "own.txt").write_text("own")
    for folder in (mine, tmp_path / "new"):
        with pytest.raises(error):
            files.extract_archive(path, folder)
    assert (mine / "own.txt").read_text() == "own" and not (tmp_path / "new").exists()


def test_formats(tmp_path):
    path = write_zip(tmp_path / "archive", "in.txt")
    assert files.extract_archive(path, tmp_path, None) is False
    assert files.extract_archive(path, tmp_path, "tar") is False
    with pytest.raises(NotImplementedError, match="'rar'"):
        files.extract_archive(path, tmp_path, "rar")


def test_paths_of_other_machines_are_refused():
    assert files.is_remote_path("gs://bucket/file") and not files.is_remote_path("./file")
    with pytest.raises(ValueError, match="Handling remote paths requires .* path: gs://bucket/file"):
        files.exists("gs://bucket/file")
