# Link for older machines than this one: `tools/old_linux/stubs.py` says how. `make wheel` has it on.
set(DRAGON_OLDEST_GLIBC "" CACHE STRING "The oldest glibc that what is built runs with, such as 2.28; empty: this machine's")
set(DRAGON_OLD_LINUX ${PROJECT_BINARY_DIR}/old_linux)
if(DRAGON_OLDEST_GLIBC)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/old_linux/stubs.py --glibc ${DRAGON_OLDEST_GLIBC}
                          --compiler ${CMAKE_CXX_COMPILER} --to ${DRAGON_OLD_LINUX} RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "dragon: got no libraries to link with for glibc ${DRAGON_OLDEST_GLIBC}; why stands above")
  endif()
  # What archives lend stays inside: another library's is another one.
  add_link_options(-L${DRAGON_OLD_LINUX} -Wl,--exclude-libs,libstdc++.a:libgcc.a:libc_nonshared.a:libold_linux.a)
  set(OpenMP_gomp_LIBRARY ${DRAGON_OLD_LINUX}/libgomp.so CACHE FILEPATH "" FORCE)
elseif(OpenMP_gomp_LIBRARY STREQUAL "${DRAGON_OLD_LINUX}/libgomp.so")
  # Of an earlier build in this folder. It is looked for only where the flags are.
  foreach(found gomp_LIBRARY CXX_FLAGS CXX_LIB_NAMES)
    unset(OpenMP_${found} CACHE)
  endforeach()
endif()
