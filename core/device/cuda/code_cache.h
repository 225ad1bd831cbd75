// Machine code that was made while a program ran, kept in files for the next one.
#pragma once

#include <initializer_list>
#include <string>

namespace dragon::cuda {

/// A short name for all of `parts` together.
std::string CodeKey(std::initializer_list<std::string> parts);

/// The code of that name; empty if there is none, or if the file is not what was written. The folder is $DRAGON_CACHE,
/// else `dragon` in $XDG_CACHE_HOME or ~/.cache; an empty $DRAGON_CACHE keeps nothing.
std::string ReadCode(const std::string& key);

/// Keep code. A folder that cannot be written to keeps nothing: it is made again then.
void KeepCode(const std::string& key, const std::string& code);

}  // namespace dragon::cuda
