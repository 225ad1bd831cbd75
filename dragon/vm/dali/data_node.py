"""Handles of results in a pipeline that is being defined."""
from dragon.vm.dali.core.graph import DataNode
