"""Training whose processes are killed goes on as if nothing had been; `make hunt-ranks` plays many more rounds."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rank_kills import play_rounds, shared_files  # noqa: E402


@pytest.mark.parametrize("kind, size", [("ddp", 2), ("fsdp", 3), ("fully_shard", 2)])
def test_a_death_is_told_by_all_and_changes_no_loss(tmp_path, kind, size):
    before, told = shared_files(), []
    assert play_rounds(kind, size, 3, 7, tmp_path, told.append) == 0, told
    assert shared_files() <= before
