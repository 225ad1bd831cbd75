"""What holds for every test of distributions."""
import pytest


@pytest.fixture(autouse=True)
def both_sides_check_arguments(genuine_checks_arguments):
    """Have wrong arguments refused on both sides, whatever ran before in this process."""
