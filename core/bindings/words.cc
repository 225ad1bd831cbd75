// What the engine says about an operator, said again with the argument names of the guest who called it.
#include "core/bindings/words.h"

#include <functional>

namespace dragon::python {

namespace {

bool IsLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool StartsWithVowel(const std::string& word) { return word.find_first_of("aeiou") == 0; }

bool EndsWithAn(const std::string& text) {
  return text.ends_with("an ") && (text.size() == 3 || !IsLetter(text[text.size() - 4]));
}

/// What a word becomes; `is_named` where the text says that it is an argument's name: argument 'x'.
using Replace = std::function<std::string(const std::string& word, bool is_named)>;

/// Replace whole words. Other words between quotes came from the user, or are values, and stay.
std::string ReplaceWords(const std::string& text, const Replace& replace) {
  std::string result;
  char quote = 0;
  bool is_named = false;
  for (size_t i = 0; i < text.size();) {
    if (!IsLetter(text[i])) {
      const bool is_quote = text[i] == '\'' || text[i] == '"';
      if (quote == text[i]) {
        quote = 0;
      } else if (is_quote && !quote && (i == 0 || !IsLetter(text[i - 1]))) {
        quote = text[i];
        is_named = result.ends_with("argument ");
      }
      result += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsLetter(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    const std::string guest = quote && !is_named ? word : replace(word, quote && is_named);
    if (StartsWithVowel(word) && !StartsWithVowel(guest) && EndsWithAn(result)) {
      result.replace(result.size() - 2, 2, " ");  // "an axis", "a dim"
    }
    result += guest;
    i = end;
  }
  return result;
}

/// The guest's general word for one of the engine's, or nullptr.
PyObject* GeneralName(const Frontend* frontend, const std::string& word) {
  PyObject* found = frontend->names ? PyDict_GetItemString(frontend->names, word.c_str()) : nullptr;
  return found && PyUnicode_Check(found) ? found : nullptr;  // the table is a dict that others may write to
}

/// No word of English: a letter that is no article, or a name with a digit or an underscore.
bool IsSymbol(const std::string& word) {
  if (word.size() <= 2) return word != "a";
  return word.find_first_of("0123456789_") != std::string::npos;
}

}  // namespace

GuestNames NamesFor(const Operator& op, const Frontend* frontend) {
  GuestNames names;
  for (const Argument& argument : op.schema.arguments()) {
    PyObject* guest = nullptr;
    if (frontend->names) {
      guest = GeneralName(frontend, op.name() + "." + argument.name);
      if (!guest) guest = GeneralName(frontend, argument.name);
    }
    PyObject* text = guest ? Py_NewRef(guest) : PyUnicode_FromString(argument.name.c_str());
    PyUnicode_InternInPlace(&text);
    names.push_back(text);
  }
  return names;
}

std::string InWordsOf(const Frontend* frontend, const Operator* op, const GuestNames& names, const std::string& text) {
  if (!frontend->names) return text;
  return ReplaceWords(text, [&](const std::string& word, bool is_named) -> std::string {
    const int at = op && (is_named || IsSymbol(word)) ? op->schema.Find(word) : -1;
    if (is_named && at >= 0) return TextIn(names[at]);
    // The notions of the house: an axis is a dim wherever it is spoken of.
    for (const char* notion : {"axis", "axes", "keepdims"}) {
      PyObject* guest = word == notion ? GeneralName(frontend, word) : nullptr;
      if (guest) return TextIn(guest);
    }
    return at < 0 ? word : TextIn(names[at]);
  });
}

std::string LineFor(const Operator& op, const GuestNames& names) {
  const size_t open = op.schema.line().find('(');
  return op.schema.line().substr(0, open) +
         ReplaceWords(op.schema.line().substr(open), [&](const std::string& word, bool) -> std::string {
           const int at = op.schema.Find(word);
           return at < 0 ? word : TextIn(names[at]);
         });
}

namespace {

/// A default as Python source, or "" if there is none that could be written.
std::string DefaultFor(const Argument& argument) {
  if (!argument.has_default) return argument.optional ? "None" : "";
  if (argument.type == ArgumentType::kTensor || argument.type == ArgumentType::kTensorList) return "None";
  py::object value = py::reinterpret_steal<py::object>(WrapValue(argument.default_value));
  if (PyFloat_Check(value.ptr()) && std::isinf(PyFloat_AS_DOUBLE(value.ptr()))) {
    return PyFloat_AS_DOUBLE(value.ptr()) > 0 ? "1e999" : "-1e999";
  }
  return py::cast<std::string>(py::repr(value));
}

/// `from` is a name that no Python signature can hold: it is shown as one that goes by its place alone.
bool IsPythonWord(const std::string& name) {
  return py::cast<bool>(py::module_::import("keyword").attr("iskeyword")(name));
}

}  // namespace

std::string SignatureFor(const Operator& op, const GuestNames& names, bool takes_out) {
  const auto& arguments = op.schema.arguments();
  const int count = static_cast<int>(arguments.size());
  int by_place = 0, first_default = count;
  for (int i = 0; i < count; ++i) {
    if (IsPythonWord(TextIn(names[i]))) by_place = i + 1;
  }
  // Python shows a default only where all that follow by place have one.
  for (int i = count - 1; i >= 0; --i) {
    if (!arguments[i].keyword_only && DefaultFor(arguments[i]).empty()) break;
    first_default = i;
  }
  std::string text = "(";
  bool is_starred = false;
  const auto add = [&](const std::string& part) { text += (text.size() > 1 ? ", " : "") + part; };
  for (int i = 0; i < count; ++i) {
    if (arguments[i].keyword_only && !is_starred) add("*"), is_starred = true;
    const std::string written = i >= first_default ? DefaultFor(arguments[i]) : "";
    const std::string name = TextIn(names[i]);
    add(name + (IsPythonWord(name) ? "_" : "") + (written.empty() ? "" : "=" + written));
    if (i + 1 == by_place) add("/");
  }
  if (takes_out) {
    if (!is_starred) add("*");
    add("out=None");
  }
  return text + ")";
}

}  // namespace dragon::python
