"""What is new in DALI: operators that run at once, and pipelines by their older path."""
from dragon.vm.dali.pipeline import pipeline_def
