# find_package(dragon): the engine of an installed Dragon, without Python.
#
#   cmake -S . -B build -Ddragon_DIR="$(python -m dragon info --cmake-dir)"
#
#   find_package(dragon REQUIRED)
#   add_executable(program program.cc)
#   target_link_libraries(program PRIVATE dragon::dragon)
#
# What is linked is libdragon.so; kernels for this machine's processor are loaded from beside it when a program starts.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(dragon_ROOT_DIR ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(dragon_INCLUDE_DIRS ${dragon_ROOT_DIR}/include)
set(dragon_RUN ${dragon_ROOT_DIR}/lib/dragon_run)  # the program that runs saved graphs

if(NOT TARGET dragon::dragon)
  add_library(dragon::dragon SHARED IMPORTED)
  set_target_properties(dragon::dragon PROPERTIES
    IMPORTED_LOCATION ${dragon_ROOT_DIR}/lib/libdragon.so
    INTERFACE_INCLUDE_DIRECTORIES ${dragon_INCLUDE_DIRS}
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
