"""The functions that torchvision has by tracing graphs, which Dragon does not trace."""


def _missing(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"{name}: Dragon traces no graphs of modules; take what is within by forward hooks, "
                                  "or by torchvision.models._utils.IntermediateLayerGetter")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse by name: this needs a traced graph."
    return refuse


create_feature_extractor = _missing("create_feature_extractor")
get_graph_node_names = _missing("get_graph_node_names")
