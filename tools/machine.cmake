# What this machine has for compiling: who lacks something reads a letter, and no more compilers start than memory holds.

# A compiler; CMake's own words do not say where one comes from.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(FATAL_ERROR "dragon: got no C++ compiler, expected g++ 12 or later.\n"
                      "  Debian, Ubuntu:  sudo apt install g++\n"
                      "  Fedora, RHEL:    sudo dnf install gcc-c++\n"
                      "  another one:     CXX=/path/to/g++ in the environment")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/memory.cmake)

# Ninja starts as many as there are processors, or CMAKE_BUILD_PARALLEL_LEVEL; a pool holds it to what fits.
dragon_read_memory(DRAGON_MEMORY)
dragon_count_compilers(${DRAGON_MEMORY} DRAGON_COMPILERS)
set(DRAGON_COMPILE_JOBS ${DRAGON_COMPILERS} CACHE STRING "Compilers that run at a time, at most: by the memory free when first configured")
set_property(GLOBAL PROPERTY JOB_POOLS dragon_compile=${DRAGON_COMPILE_JOBS})
set(CMAKE_JOB_POOL_COMPILE dragon_compile)
if(DRAGON_MEMORY LESS 1536)
  message(WARNING "dragon: got ${DRAGON_MEMORY} MiB of memory, expected 1536 for one compiler; should it be ended before its time, "
                  "swap space helps, and -DDRAGON_UNITY=OFF needs less")
endif()
