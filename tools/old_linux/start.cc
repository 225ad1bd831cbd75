// The start of a program. From glibc 2.34 the library finds a program's constructors by itself, before that each
// program brought a function that runs them: a program that does runs on both.
extern "C" {

using Constructor = void (*)(int, char**, char**);
extern Constructor __preinit_array_start[] __attribute__((visibility("hidden")));
extern Constructor __preinit_array_end[] __attribute__((visibility("hidden")));
extern Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor __init_array_end[] __attribute__((visibility("hidden")));
void _init();

using Main = int (*)(int, char**, char**);
int StartOfSystem(Main main, int count, char** words, Constructor run, void (*end)(), void (*loader)(), void* stack);
__asm__(".symver StartOfSystem, __libc_start_main@GLIBC_2.2.5");

static void RunConstructors(int count, char** words, char** environment) {
  for (Constructor* each = __preinit_array_start; each != __preinit_array_end; ++each)
    (*each)(count, words, environment);
  _init();
  for (Constructor* each = __init_array_start; each != __init_array_end; ++each) (*each)(count, words, environment);
}

/// What the compiler's own start calls, without constructors to run if it is a new one.
int __libc_start_main(Main main, int count, char** words, Constructor run, void (*end)(), void (*loader)(),
                      void* stack) {
  return StartOfSystem(main, count, words, run ? run : RunConstructors, end, loader, stack);
}
}
