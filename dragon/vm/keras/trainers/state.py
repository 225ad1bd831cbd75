"""All numbers of a training, as nested dictionaries, or in the places of the variables."""

_KINDS = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")


class TrainingState:
    """The state that training changes; a part of `Trainer`."""

    def _variables_of(self, kind):
        if kind == "optimizer_variables":
            return self.optimizer.variables if self.optimizer is not None else []
        return getattr(self, kind)

    def get_state_tree(self, value_format="backend_tensor"):
        """Return the numbers of the weights, the optimizer and the metrics.

        Parameters
        ----------
        value_format : str, optional, default="backend_tensor"
            "backend_tensor" or "numpy_array".

        Returns
        -------
        Dict[str, dict]
            For each kind of variables a dictionary, nested as the variables' paths are.

        """
        if value_format not in ("backend_tensor", "numpy_array"):
            raise ValueError("Invalid `value_format` argument. Expected one of {'numpy_array', 'backend_tensor'}. "
                             f"Received: value_format={value_format}")
        return {kind: _nested(self._variables_of(kind), value_format) for kind in _KINDS}

    def set_state_tree(self, state_tree):
        """Set the numbers that `get_state_tree` has returned.

        Parameters
        ----------
        state_tree : Dict[str, dict]
            All or some of them.

        """
        for kind, tree in state_tree.items():
            if kind not in _KINDS:
                raise ValueError(f"Unknown variable name: expected one of {_KINDS}. Received: {kind}")
            values = dict(_flat(tree))
            for variable in self._variables_of(kind):
                if variable.path in values:
                    variable.assign(values[variable.path])

    def stateless_compute_loss(self, trainable_variables, non_trainable_variables, metrics_variables, x=None, y=None,
                               y_pred=None, sample_weight=None, training=True):
        """Return the loss with values in the variables' places, and change none of them.

        Parameters
        ----------
        trainable_variables, non_trainable_variables, metrics_variables : Sequence[Tensor]
            The values.

        Returns
        -------
        tuple
            The loss, and the three lists with the values that the variables would have now.

        """
        from dragon.vm.keras.core.stateless import StatelessScope
        mapping = [*zip(self.trainable_variables, trainable_variables),
                   *zip(self.non_trainable_variables, non_trainable_variables),
                   *zip(self.metrics_variables, metrics_variables)]
        with StatelessScope(state_mapping=mapping) as scope:
            loss = self._compute_loss(x, y, y_pred, sample_weight=sample_weight, training=training)
        others, metrics = ([scope.get_current_value(variable) for variable in variables]
                           for variables in (self.non_trainable_variables, self.metrics_variables))
        return loss, (trainable_variables, others, metrics)


def _nested(variables, value_format):
    tree, seen = {}, set()
    for variable in variables:
        if variable.path in seen:
            raise ValueError("The following variable path is found twice in the model: give unique names to your "
                             f"layers, by which `get_state_tree()` tells them apart. Received: '{variable.path}'")
        seen.add(variable.path)
        *folders, name = variable.path.split("/")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = variable.numpy() if value_format == "numpy_array" else variable.value
    return tree


def _flat(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value
