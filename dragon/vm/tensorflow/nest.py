"""`tf.nest`: lists, tuples and dictionaries as trees."""
from dragon.vm.shared.nest import (  # noqa: F401
    assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as)
