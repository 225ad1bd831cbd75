"""Names in files that lead elsewhere."""
import types

import pytest

from dragon.vm.torch.distributed import checkpoint as dcp


@pytest.mark.parametrize("name", ["../a.distcp", "a/../../b", "/etc/passwd", "a\0b", "", 3])
def test_a_checkpoint_names_files_of_its_folder_only(name, tmp_path):
    reader = dcp.FileSystemReader(tmp_path / "folder")
    reader.storage_data = {0: types.SimpleNamespace(relative_path=name, offset=0, length=9)}
    with pytest.raises(ValueError, match="files of its folder"):
        reader.read_data(types.SimpleNamespace(items=[types.SimpleNamespace(storage_index=0)]), None)
