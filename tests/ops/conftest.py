"""Which walks over the operator table are run."""
import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out a row's short walk where its long one is chosen as well, which tries all that the short one does."""
    walks = [(item, item.callspec.params) for item in items if getattr(item, "originalname", "") == "test_row"
             and item.path.parent.name == "ops"]
    whole = {id(given["row"]) for item, given in walks if given["long"] and given["dtype"] == given["row"].dtypes[0]}
    short = {id(item) for item, given in walks if not given["long"] and id(given["row"]) in whole}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in short])
    items[:] = [item for item in items if id(item) not in short]
