"""Files of errors."""
import faulthandler
import json
import os
import time
import traceback

from dragon.core import files, warnings


class ErrorHandler:
    """Writes errors to the file that the environment names; nowhere if it names none."""

    def _get_error_file_path(self):
        return os.environ.get("TORCHELASTIC_ERROR_FILE")

    def initialize(self):
        """Have crashes of the interpreter print where they were."""
        try:
            faulthandler.enable(all_threads=True)
        except Exception as error:  # standard error may be no file
            warnings.warn(f"Unable to enable fault handler. {type(error).__name__}: {error}")

    def record_exception(self, e):
        """Write an exception."""
        path = self._get_error_file_path()
        if path:
            more = {"py_callstack": "".join(traceback.format_exception(e)), "timestamp": str(int(time.time()))}
            files.write(path, json.dumps({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": more}}))

    def override_error_code_in_rootcause_data(self, rootcause_error_file, rootcause_error, error_code=0):
        """Put an exit code into what a file holds."""
        if isinstance(rootcause_error.get("message"), dict):
            rootcause_error["message"]["errorCode"] = error_code

    def dump_error_file(self, rootcause_error_file, error_code=0):
        """Write what another process's file holds, with its exit code."""
        with open(rootcause_error_file, encoding="utf-8") as file:
            found = json.load(file)
        if error_code:
            self.override_error_code_in_rootcause_data(rootcause_error_file, found, error_code)
        path = self._get_error_file_path()
        if path:
            files.write(path, json.dumps(found))
