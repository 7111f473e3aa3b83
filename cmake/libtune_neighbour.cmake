# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# libtune_name_library(<target> <name>)
# The file name, the name for find_package, and the version of a library that is installed.
function(libtune_name_library target name)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME tune_${name}
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${libtune_soversion}
    POSITION_INDEPENDENT_CODE ON
    INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY" AND NOT LIBTUNE_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
endfunction()

# libtune_neighbour(<name> [NEEDS <neighbour>...] [LINKS <library>...] SOURCES <source>...)
# The library libtune::<name> of a neighbour of the core, from the present folder: its public headers
# are those of libtune_headers.cmake. It is installed with the core; programs link it where they use it.
function(libtune_neighbour name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "NEEDS;LINKS;SOURCES")
  set(target libtune_${name})
  add_library(${target} ${arg_SOURCES})
  add_library(libtune::${name} ALIAS ${target})
  libtune_name_library(${target} ${name})
  list(TRANSFORM arg_NEEDS PREPEND libtune_ OUTPUT_VARIABLE needs)
  target_link_libraries(${target}
    PUBLIC libtune ${needs}
    PRIVATE $<BUILD_INTERFACE:libtune_build_options> fmt::fmt
            $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> ${arg_LINKS})
  libtune_limit_symbols(${target})
  libtune_join_sources(${target} 7)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM libtune_headers)
  endif()
  set_property(GLOBAL APPEND PROPERTY libtune_neighbours ${name})

  # Of the folder, and the umbrella header beside it.
  string(REGEX REPLACE "[.]" "[.]" folder "${CMAKE_CURRENT_SOURCE_DIR}")
  set(headers ${libtune_public_headers})
  list(FILTER headers INCLUDE REGEX "^${folder}(/|[.]hpp$)")
  if(headers)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
  endif()
endfunction()
