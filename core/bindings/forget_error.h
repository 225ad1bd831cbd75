// Errors of Python's that are an answer, beside exceptions that end a call.
#pragma once

namespace dragon::python {

/// Forget the error that is set, if there is one of Python's own classes, which attributes and comparisons raise at
/// fault. Throw any other: a signal handler has raised it (KeyboardInterrupt, a timeout's own class), and it ends the
/// call.
void ForgetError();

}  // namespace dragon::python
