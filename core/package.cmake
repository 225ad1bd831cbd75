# What an installed package holds beside the Python files: our libraries, those they need, headers for C++, licences.

# --- libraries, found by $ORIGIN
install(TARGETS _C LIBRARY DESTINATION dragon)
install(FILES proto/dragon.proto DESTINATION dragon/core)  # for protobuf in Python
# beside the package, where Python looks at the start of each process
install(FILES ${PROJECT_SOURCE_DIR}/dragon/start/dragon_guests.py ${PROJECT_SOURCE_DIR}/dragon/start/dragon_guests.pth
        DESTINATION .)
install(TARGETS dragon_run RUNTIME DESTINATION dragon/lib)
install(TARGETS dragon dragon_fake ${DRAGON_CPU_LIBRARIES} LIBRARY DESTINATION dragon/lib)
if(DRAGON_ONEDNN)
  get_target_property(DRAGON_DNNL DNNL::dnnl IMPORTED_LOCATION_RELEASE)
  install(PROGRAMS ${DRAGON_DNNL} DESTINATION dragon/lib RENAME libdnnl.so.3)
endif()
if(DRAGON_OPENBLAS_FOLDER)
  install(PROGRAMS ${DRAGON_OPENBLAS_FOLDER}/libscipy_openblas.so DESTINATION dragon/lib)
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE DRAGON_GOMP
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(DRAGON_OLDEST_GLIBC)
  set(DRAGON_GOMP ${OpenMP_gomp_LIBRARY})
endif()
get_filename_component(DRAGON_GOMP ${DRAGON_GOMP} REALPATH)
install(PROGRAMS ${DRAGON_GOMP} DESTINATION dragon/lib RENAME libgomp.so.1)

# --- headers and find_package(dragon), for programs in C++; `dragon info --cmake-dir` tells where
file(STRINGS ${PROJECT_SOURCE_DIR}/dragon/core/distribution.py DRAGON_VERSION REGEX "^VERSION = ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" DRAGON_VERSION "${DRAGON_VERSION}")
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dragonConfigVersion.cmake VERSION ${DRAGON_VERSION}
                                 COMPATIBILITY SameMinorVersion)
foreach(folder base device framework io ops passes proto runtime)
  install(DIRECTORY ${folder}/ DESTINATION dragon/include/core/${folder} FILES_MATCHING PATTERN "*.h"
          PATTERN "cuda" EXCLUDE PATTERN "fake" EXCLUDE)
endforeach()
file(GLOB DRAGON_KERNEL_HEADERS CONFIGURE_DEPENDS kernels/*.h)  # what operators call; families keep their own to themselves
install(FILES ${DRAGON_KERNEL_HEADERS} DESTINATION dragon/include/core/kernels)
install(FILES dragonConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dragonConfigVersion.cmake DESTINATION dragon/cmake)

# --- licences of what others wrote, as they came with it: nothing of theirs is kept in this repository
if(SKBUILD)
  set(DRAGON_LICENCES ${SKBUILD_METADATA_DIR}/licenses)
  set(DRAGON_NOT_CARRIED "")
  if(NOT DRAGON_ONEDNN)
    set(DRAGON_NOT_CARRIED onednn-cpu-gomp onednn-devel-cpu-gomp)
  endif()
  execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/third_party.py ${CMAKE_CURRENT_BINARY_DIR}/licences
                          ${DRAGON_NOT_CARRIED}
                  COMMAND_ERROR_IS_FATAL ANY)
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/licences/ DESTINATION ${DRAGON_LICENCES})
endif()
