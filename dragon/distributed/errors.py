"""What goes wrong among processes."""


class DistributedError(RuntimeError):
    """Something went wrong among processes."""


class StoreError(DistributedError):
    """Something went wrong in a store."""


class StoreTimeout(StoreError, TimeoutError):
    """A value did not come in time."""
