// Putting the words of a message together.
#include "core/base/error.h"

namespace dragon {

void Error::WriteText(std::ostream& out, const void* what) { out << static_cast<const char*>(what); }

void Error::Append(std::initializer_list<Word> words) {
  std::ostringstream out;
  out << std::boolalpha;
  for (const Word& word : words) word.write(out, word.what);
  message_ += out.str();
}

}  // namespace dragon
