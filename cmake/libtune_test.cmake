# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# libtune_test(<module> <file>...)
# One program for the module, <module>_tests, with libtune's test main, and one ctest entry for
# each file, <module>.<stem>. Such an entry is reported as skipped if all its test cases needed a
# device and none was there.
function(libtune_test module)
  add_executable(${module}_tests ${ARGN})
  target_link_libraries(${module}_tests PRIVATE libtune_build_options libtune::testing)
  foreach(file IN LISTS ARGN)
    cmake_path(GET file FILENAME filename)
    if(NOT filename MATCHES "_test\\.cpp$")
      continue()
    endif()
    string(REGEX REPLACE "_test\\.cpp$" "" stem "${filename}")
    add_test(NAME ${module}.${stem} COMMAND ${module}_tests "--source-file=*/${filename}")
    set_tests_properties(${module}.${stem} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endfunction()
