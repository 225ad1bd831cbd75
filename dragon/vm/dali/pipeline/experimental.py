"""Where the decorator was found when values of a pipeline first could decide."""
from dragon.vm.dali.pipeline import pipeline_def
