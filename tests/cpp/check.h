// The smallest test frame that does: TEST(Name) { CHECK(...); } and a main that runs every test of the file.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace dragon::test {

inline std::vector<std::pair<std::string, std::function<void()>>>& All() {
  static std::vector<std::pair<std::string, std::function<void()>>> tests;
  return tests;
}

struct Entry {
  Entry(const char* name, std::function<void()> body) { All().emplace_back(name, std::move(body)); }
};

[[noreturn]] inline void Fail(const char* file, int line, const std::string& words) {
  std::ostringstream out;
  out << file << ':' << line << ": " << words;
  throw std::runtime_error(out.str());
}

/// Run every test, or those whose name contains an argument; the count of failures is the exit status.
inline int Main(int argc, char** argv) {
  int failed = 0;
  for (const auto& [name, body] : All()) {
    if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
    try {
      body();
      std::printf("ok      %s\n", name.c_str());
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED  %s\n        %s\n", name.c_str(), error.what());
    }
  }
  return failed;
}

/// The signal that ends the process which makes `mistake`; 0 if it survives.
template <typename F>
int SignalOf(F&& mistake) {
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stderr)) _exit(0);
    for (int fatal : {SIGABRT, SIGSEGV, SIGBUS}) signal(fatal, SIG_DFL);
    mistake();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
#ifdef __SANITIZE_ADDRESS__
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return SIGABRT;  // AddressSanitizer's report comes first
#endif
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace dragon::test

#define TEST(name)                                                      \
  static void name##_test();                                            \
  static const ::dragon::test::Entry name##_entry(#name, &name##_test); \
  static void name##_test()

#define CHECK(condition) \
  if (!(condition)) ::dragon::test::Fail(__FILE__, __LINE__, #condition)

/// The statement must throw `error`, and its message must contain `words`.
#define CHECK_THROWS(statement, error, words)                                                     \
  try {                                                                                           \
    statement;                                                                                    \
    ::dragon::test::Fail(__FILE__, __LINE__, #statement " did not throw");                        \
  } catch (const error& caught) {                                                                 \
    if (std::string(caught.what()).find(words) == std::string::npos)                              \
      ::dragon::test::Fail(__FILE__, __LINE__, std::string("the message was: ") + caught.what()); \
  }

#define TEST_MAIN() \
  int main(int argc, char** argv) { return ::dragon::test::Main(argc, argv); }
