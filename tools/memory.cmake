# How many compilers a machine has room for; functions only.

# Megabytes that a program started here may have: what is free, or what a container is held to.
function(dragon_read_memory result)
  cmake_host_system_information(RESULT memory QUERY AVAILABLE_PHYSICAL_MEMORY)
  foreach(path /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes)
    if(EXISTS ${path})
      file(STRINGS ${path} limit LIMIT_COUNT 1)
      if(limit MATCHES "^[0-9]+$")
        string(LENGTH ${limit} digits)
        if(digits LESS 16)  # more is "no limit", and may be beyond CMake's integers
          math(EXPR limit "${limit} / 1048576")
          if(limit LESS memory)
            set(memory ${limit})
          endif()
        endif()
      endif()
    endif()
  endforeach()
  set(${result} ${memory} PARENT_SCOPE)
endfunction()

# The compilers that fit into `memory` megabytes: 1.5 GiB each, and never none.
function(dragon_count_compilers memory result)
  math(EXPR count "${memory} / 1536")
  if(count LESS 1)
    set(count 1)
  endif()
  set(${result} ${count} PARENT_SCOPE)
endfunction()
