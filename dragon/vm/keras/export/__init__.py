"""Models for other programs that run models."""
from dragon.vm.keras.export.archive import ExportArchive
from dragon.vm.keras.export.onnx import export_onnx
