// What the headers and archives of a new system ask for, and older ones lack: linked into what needs it, hidden.
#include <sys/stat.h>

extern "C" {

/// From glibc 2.32: not 0 while a process has one thread. 0 is what is always right: libstdc++ counts references of
/// shared pointers by atomic instructions then.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

/// These were inline functions around numbered ones before glibc 2.33, and 1 is the number of this structure.
int __xstat(int version, const char* path, struct stat* found);
int __lxstat(int version, const char* path, struct stat* found);
int __fxstat(int version, int file, struct stat* found);
int stat(const char* path, struct stat* found) noexcept { return __xstat(1, path, found); }
int lstat(const char* path, struct stat* found) noexcept { return __lxstat(1, path, found); }
int fstat(int file, struct stat* found) noexcept { return __fxstat(1, file, found); }
}
