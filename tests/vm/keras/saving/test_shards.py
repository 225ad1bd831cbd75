"""Weights in several files, written and read in both directions with genuine Keras."""
import json

import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras

KIB = 1 / 1024 ** 2  # of a gibibyte


def make(side):
    return side.Sequential([side.Input((30,)), side.layers.Dense(40),
                            side.layers.Dense(7), side.layers.BatchNormalization()])


@pytest.mark.parametrize("size", [5, 6, 100])
def test_both_directions(size, tmp_path):
    for one, other in ((keras, genuine), (genuine, keras), (keras, keras)):
        path = tmp_path / one.__name__ / "model.weights.json"
        path.parent.mkdir(exist_ok=True)
        written, read = make(one), make(other)
        written.save_weights(path, max_shard_size=size * KIB)
        read.load_weights(path)
        for mine, theirs in zip(written.weights, read.weights):
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == sorted(file.name for file in (tmp_path / "keras").iterdir())
    tables = [json.loads((tmp_path / one.__name__ / "model.weights.json").read_text()) for one in (keras, genuine)]
    assert tables[0]["metadata"] == tables[1]["metadata"]
    assert tables[0]["weight_map"].keys() == tables[1]["weight_map"].keys()


def test_what_does_not_fit(tmp_path):
    with pytest.raises(ValueError, match="exceeds the maximum shard size"):
        make(keras).save_weights(tmp_path / "a.weights.json", max_shard_size=KIB)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="must end in `.weights.json`"):
        make(keras).save_weights(tmp_path / "a.json", max_shard_size=1)
    with pytest.warns(UserWarning, match="will be renamed"):
        make(keras).save_weights(tmp_path / "a.weights.h5", max_shard_size=1)
    make(keras).load_weights(tmp_path / "a.weights.json")
    (tmp_path / "b.weights.json").write_text('{"weight_map": {"/layers/dense/vars": "../secret.weights.h5"}}')
    with pytest.raises(ValueError, match="not beside it"):
        make(keras).load_weights(tmp_path / "b.weights.json")
    (tmp_path / "c.weights.json").write_text("[]")
    with pytest.raises(ValueError, match="no table of weights"):
        make(keras).load_weights(tmp_path / "c.weights.json")
