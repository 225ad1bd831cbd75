// Kernels made of text while a program runs.
#pragma once

#include <string>

#include "core/device/context.h"
#include "core/device/cuda/launch.h"

namespace dragon::cuda {

/// The kernels that a text may have; every text has the first.
enum class Entry { kMain, kFinish };
inline constexpr const char* kEntryNames[] = {"Main", "Finish"};

/// What was made of a text; it is never dropped.
struct Compiled;

/// Whether there is a compiler; where there is none, that is told once.
bool CanCompile();

/// Compile `text`, or find what was made of it before, in this process or in an earlier one. Null where that cannot be
/// done; why is told once.
const Compiled* Compile(const Context& ctx, const std::string& text);

/// Whether `compiled` is for this context's device: another one may be of another kind.
bool IsFor(const Compiled& compiled, const Context& ctx);

/// Run one of a text's kernels, which take one argument of so many bytes, that is copied. A RuntimeError where the
/// device refuses.
void LaunchCompiled(const char* who, const Context& ctx, const Compiled& compiled, Entry entry, const Grid& grid,
                    const void* argument, size_t bytes);

/// Say once in a process why texts are not compiled or run.
void TellWhyNot(const char* why);

}  // namespace dragon::cuda
