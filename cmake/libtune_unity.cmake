# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# libtune_join_sources(<target> <count>)
# Where CMAKE_UNITY_BUILD is on, compiles the sources of each folder of the target about so many at
# a time, instead of in the order of the whole list: a new file disturbs its own folder alone.
function(libtune_join_sources target count)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(folders "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_of_${folder} size)
    math(EXPR parts "(${size} + ${count} - 1) / ${count}")
    set(place 0)
    foreach(source IN LISTS sources_of_${folder})
      math(EXPR part "${place} * ${parts} / ${size}")
      math(EXPR place "${place} + 1")
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target}
        PROPERTIES UNITY_GROUP "${folder}_${part}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# libtune_precompile(<target> [<header>...])
# Where CMAKE_UNITY_BUILD is on, parses what most sources include once, and these headers.
function(libtune_precompile target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <cmath> <filesystem> <functional> <map> <memory> <mutex>
    <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> ${ARGN})
endfunction()
