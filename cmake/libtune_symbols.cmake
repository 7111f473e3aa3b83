# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# libtune_limit_symbols(<target> [<pattern>...])
# A shared library exports what lies in the namespace tune, the functions libtune_*() and what has one of
# these mangled names, with the version LIBTUNE_<soversion>, and no copy of other people's templates.
# Names in tune::detail are among these, for inline functions of public headers and tests need them.
function(libtune_limit_symbols target)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY")
    return()
  endif()
  list(TRANSFORM ARGN APPEND "\\;" OUTPUT_VARIABLE patterns)
  list(JOIN patterns " " patterns)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.symbols")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/libtune.symbols.in" "${script}" @ONLY)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
endfunction()
