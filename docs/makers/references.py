"""References to functions and classes: a name is compared with objects of that name alone, not with all there are."""
from sphinx.domains.python import PythonDomain


class Domain(PythonDomain):
    """Python's names, by their last parts."""

    by_name, count, near = {}, 0, None

    @property
    def objects(self):
        """Return all objects, or while a name is looked for those whose last part it has."""
        return super().objects if self.near is None else self.near

    def find_obj(self, env, modname, classname, name, type, searchmode=0):
        """Return the objects that a name may mean."""
        if self.count != len(self.objects):
            self.by_name, self.count = {}, len(self.objects)
            for full, entry in self.objects.items():
                self.by_name.setdefault(full.rpartition(".")[2], {})[full] = entry
        self.near = self.by_name.get(name.removesuffix("()").rpartition(".")[2], {})
        try:
            return super().find_obj(env, modname, classname, name, type, searchmode)
        finally:
            self.near = None


def setup(app):
    """Take the place of Sphinx's own."""
    app.add_domain(Domain, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
