# For which kind of processor is compiled, and for which of its levels; functions only.

# A kind: "x86-64" or "aarch64", from what the compiler calls its machine ("aarch64-linux-gnu", "arm64-apple-darwin23").
# The kernel's word would not do: below a 64-bit kernel may lie a system of 32 bits, and a cross compiler means another machine.
function(dragon_name_processor triple result)
  if(triple MATCHES "^(x86_64|amd64)-" AND NOT triple MATCHES "x32$")
    set(${result} "x86-64" PARENT_SCOPE)
  elseif(triple MATCHES "^(aarch64|arm64)-" AND NOT triple MATCHES "ilp32$")
    set(${result} "aarch64" PARENT_SCOPE)
  else()
    message(FATAL_ERROR "dragon: got a compiler for '${triple}', expected one for x86-64 or aarch64 (64-bit ARM, little-endian): "
                        "there are kernels for no other processor.\n"
                        "  a Raspberry Pi with a 32-bit system:  install the 64-bit one, or build in a container of it\n"
                        "  another compiler:                     CXX=/path/to/g++ in the environment")
  endif()
endfunction()

# What the compiler calls its machine. A compiler for many machines is told by CMake for which one it works.
function(dragon_read_triple result)
  set(triple "${CMAKE_CXX_COMPILER_TARGET}")
  if(NOT triple)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1} -dumpmachine OUTPUT_VARIABLE triple
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${result} "${triple}" PARENT_SCOPE)
endfunction()

# The levels to compile: the wish, or for "all" those that the kind of processor has. None at all is a wish too.
function(dragon_choose_levels processor wish result)
  if(processor STREQUAL "x86-64")
    set(levels v2 v3 v4)
  else()
    set(levels generic)  # NEON and fused multiply-add are in all of them
  endif()
  if(NOT wish STREQUAL "all")
    foreach(level ${wish})
      if(NOT level IN_LIST levels)
        list(JOIN levels ", " known)
        message(FATAL_ERROR "dragon: got DRAGON_CPU_LEVELS=${wish}, expected 'all' or levels of ${processor}, which has ${known}")
      endif()
    endforeach()
    set(levels ${wish})
  endif()
  set(${result} "${levels}" PARENT_SCOPE)
endfunction()

# The flags of a level.
function(dragon_level_flags level result)
  if(level STREQUAL "generic")
    set(${result} -march=armv8-a PARENT_SCOPE)
  else()
    set(${result} -march=x86-64-${level} PARENT_SCOPE)
  endif()
endfunction()
