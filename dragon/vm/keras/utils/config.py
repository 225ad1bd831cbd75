"""Named values as attributes and as items, which can be frozen."""
import difflib
import json


class Config:
    """A container of named values.

    Parameters
    ----------
    **kwargs : Any
        The first values.

    Examples
    --------
    >>> config = Config(learning_rate=0.1)
    >>> config.seed = 123
    >>> config["seed"]
    123

    """

    def __init__(self, **kwargs):
        object.__setattr__(self, "_config", dict(kwargs))
        object.__setattr__(self, "_frozen", False)

    frozen = property(lambda self: self._frozen, doc="Whether values can no longer be changed.")

    def freeze(self):
        """Let no value be changed from now on."""
        object.__setattr__(self, "_frozen", True)

    def unfreeze(self):
        """Let values be changed again."""
        object.__setattr__(self, "_frozen", False)

    def _writable(self):
        if self._frozen:
            raise ValueError(f"Cannot mutate attribute(s) because the config is frozen. Received: {self!r}")
        return self._config

    def as_dict(self):
        """Return the values as a dict of their own."""
        return dict(self._config)

    def to_json(self):
        """Return the values as JSON."""
        return json.dumps(self._config)

    def keys(self):
        """Return the names."""
        return self._config.keys()

    def values(self):
        """Return the values."""
        return self._config.values()

    def items(self):
        """Return pairs of names and values."""
        return self._config.items()

    def pop(self, *args):
        """Remove a value and return it."""
        return self._writable().pop(*args)

    def update(self, *args, **kwargs):
        """Take over values."""
        return self._writable().update(*args, **kwargs)

    def get(self, keyname, value=None):
        """Return a value, or another if there is none."""
        return self._config.get(keyname, value)

    def __setattr__(self, name, value):
        if name in type(self).__dict__:
            object.__setattr__(self, name, value)
        else:
            self._writable()[name] = value

    def __getattr__(self, name):
        if name.startswith("__") or name == "_config" or name not in self._config:
            if name == "_config":
                raise AttributeError(name)  # asked for before it is there, when a copy is made
            near = difflib.get_close_matches(name, self._config, n=1, cutoff=0.7)
            raise AttributeError(f"Unknown attribute: '{name}'." + (f" Did you mean '{near[0]}'?" if near else ""))
        return self._config[name]

    def __setitem__(self, key, item):
        self._writable()[key] = item

    def __getitem__(self, key):
        return self._config[key]

    def __delitem__(self, key):
        del self._writable()[key]

    def __repr__(self):
        return f"<Config {self._config}>"

    def __iter__(self):
        return iter(sorted(self._config))

    def __len__(self):
        return len(self._config)

    def __contains__(self, item):
        return item in self._config
