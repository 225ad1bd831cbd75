"""Low-rank adaptation: a layer's big weight stays as it is, and the product of two thin ones is added to it."""
from dragon.vm.keras import initializers
from dragon.vm.shared.tensors.tensor import ops


class LowRank:
    """The parts that layers with a `lora_rank` share.

    A layer names its big weight in `lora_target`; the weight itself is the attribute of that name with an underscore.
    """

    lora_target = "kernel"

    def prepare_lora(self, lora_rank, lora_alpha):
        """Take the arguments; nothing is added before `enable_lora`."""
        self.lora_rank = lora_rank
        self.lora_alpha = lora_rank if lora_alpha is None else lora_alpha
        self.lora_enabled = False

    def adapted(self):
        """Return the big weight with the low-rank product added, if there is one."""
        target = self.lora_target
        if not self.built:
            raise AttributeError(f"You must build the layer before accessing `{target}`.")
        weight = getattr(self, "_" + target)
        if not self.lora_enabled:
            return weight
        first, second = (getattr(self, self._lora_name(part)) for part in "ab")
        product = ops.mul(ops.matmul(first.value, second.value), self.lora_alpha / self.lora_rank)
        return ops.cast(ops.add(weight.value, product), self.compute_dtype)

    def adapted_shape(self):
        """Return the shape of the big weight as the low-rank product has it."""
        return tuple(getattr(self, "_" + self.lora_target).shape)

    def _lora_name(self, part):
        return f"lora_{self.lora_target}_{part}"

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        """Freeze the big weight and train two thin ones, whose product is added to it.

        Parameters
        ----------
        rank : int
            The inner size of the product.
        lora_alpha : float, optional
            The product is scaled by `lora_alpha / rank`; the rank if None.
        a_initializer, b_initializer : Union[str, Initializer], optional
            What the two weights start from.

        """
        target = self.lora_target
        regularizer = getattr(self, f"{target}_regularizer")
        if getattr(self, f"{target}_constraint"):
            plain = "embedding" if target == "embeddings" else target
            raise ValueError(f"Lora is incompatible with {plain} constraints. In order to enable lora on this layer, "
                             f"remove the `{target}_constraint` argument.")
        if not self.built:
            raise ValueError("Cannot enable lora on a layer that isn't yet built.")
        if self.lora_enabled:
            raise ValueError("lora is already enabled. This can only be done once per layer.")
        weight = getattr(self, "_" + target)
        shape = self.adapted_shape()
        shapes = {"a": shape[:-1] + (rank,), "b": (rank, shape[-1])}
        self._tracker.unlock()
        for part, initializer in (("a", a_initializer), ("b", b_initializer)):
            name = self._lora_name(part)
            made = self.add_weight(name=name, shape=shapes[part], initializer=initializers.get(initializer),
                                   dtype="float32", regularizer=regularizer)
            setattr(self, name, made)
        weight.trainable = False
        self._tracker.lock()
        self.lora_enabled = True
        self.lora_rank = rank
        self.lora_alpha = rank if lora_alpha is None else lora_alpha

    def saved_weights(self):
        """Return the names of the attributes that a file holds, in its order."""
        bias = [] if getattr(self, "bias", None) is None else ["bias"]
        return ["_" + self.lora_target, *bias]

    def save_own_variables(self, store):
        """Write the weights, the low-rank product merged into the big one."""
        if not self.built:
            return
        changed = self.merged()
        for position, name in enumerate(self.saved_weights()):
            weight = changed[name] if name in changed else getattr(self, name)
            store[str(position)] = weight.numpy()

    def merged(self):
        """Return {attribute: value} of what a low-rank product changes in files."""
        return {"_" + self.lora_target: self.adapted()} if self.lora_enabled else {}

    def load_own_variables(self, store):
        """Read the weights; a low-rank product begins again at zero."""
        if not self.lora_enabled:
            self._check_load_own_variables(store)
        if not self.built:
            return
        for position, name in enumerate(self.saved_weights()):
            getattr(self, name).assign(store[str(position)])
        if self.lora_enabled:
            for part in "ab":
                weight = getattr(self, self._lora_name(part))
                weight.assign(ops.zeros_like(weight))

    # What configurations say: nothing of a product that there is not.
    _told_rank = property(lambda self: self.lora_rank or None)
    _told_alpha = property(lambda self: self.lora_alpha if self.lora_rank else None)
