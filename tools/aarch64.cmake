# For compiling on another machine what runs on 64-bit ARM under Linux, with the compiler that Debian and Ubuntu call
# g++-aarch64-linux-gnu:
#   cmake -S . -B build/aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=tools/aarch64.cmake -DDRAGON_PYTHON=OFF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Programs are those of this machine; libraries and headers come from the compiler's folder, and packages from where they are.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# What has been compiled can be tried at once where QEMU is there: ctest starts programs so.
find_program(DRAGON_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(DRAGON_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DRAGON_QEMU} -L /usr/aarch64-linux-gnu)
endif()
