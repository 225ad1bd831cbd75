// Has one call of the system fail, or all that need room from one on, for files below a folder: LD_PRELOAD of the
// tests.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* folder = 0;
static long countdown = 0, counted = 0;
static int number = 0, is_lasting = 0;

// Calls below a folder are counted from now on; the n-th fails, with `lasting` all that follow, too.
void fail_at(const char* below, long n, int error, int lasting) {
  folder = below, countdown = n, number = error, is_lasting = lasting, counted = 0;
}

long calls_counted(void) { return counted; }

static int fails(const char* path, int needs_room) {
  if (!folder || !path || !strstr(path, folder) || (is_lasting && !needs_room)) return 0;
  ++counted;
  if (countdown <= 0 || (counted != countdown && !(is_lasting && counted > countdown))) return 0;
  errno = number;
  return 1;
}

static int fails_at(int file, int needs_room) {
  char link[64], path[4096];
  if (!folder) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(path, needs_room);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void* data, size_t size) {
  return fails_at(file, 1) ? -1 : REAL(write)(file, data, size);
}
ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return fails_at(file, 1) ? -1 : REAL(pwrite)(file, data, size, at);
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  return fails_at(file, 1) ? -1 : REAL(pwrite64)(file, data, size, at);
}
int ftruncate(int file, off_t size) { return fails_at(file, 1) ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { return fails_at(file, 1) ? -1 : REAL(ftruncate64)(file, size); }
int fsync(int file) { return fails_at(file, 0) ? -1 : REAL(fsync)(file); }
int fchmod(int file, mode_t mode) { return fails_at(file, 0) ? -1 : REAL(fchmod)(file, mode); }
int close(int file) {
  const int failed = fails_at(file, 0);
  const int result = REAL(close)(file);  // a number is free even where closing fails
  if (failed) errno = number;
  return failed ? -1 : result;
}
int rename(const char* from, const char* to) { return fails(to, 0) ? -1 : REAL(rename)(from, to); }
int link(const char* from, const char* to) { return fails(to, 1) ? -1 : REAL(link)(from, to); }
int linkat(int from, const char* a, int to, const char* b, int flags) {
  return fails(b, 1) ? -1 : REAL(linkat)(from, a, to, b, flags);
}
int mkdir(const char* path, mode_t mode) { return fails(path, 1) ? -1 : REAL(mkdir)(path, mode); }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return fails(to, 0) ? -1 : REAL(renameat2)(a, from, b, to, flags);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return flags & O_CREAT && fails(path, 1) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return flags & O_CREAT && fails(path, 1) ? -1 : REAL(open64)(path, flags, mode);
}
