# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Installs a built libtune into an empty folder, then configures, builds and runs the project beside
# this script against it. Stops at the first step that fails.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${work_dir}")
step("${CMAKE_COMMAND}" --install "${libtune_build_dir}" --config "${config}"
     --prefix "${work_dir}/prefix")

# The program finds the installed library, not the built one, and does its work.
if(tunedb)
  set(ENV{LIBTUNE_DB} "${work_dir}/tuning.db")
  execute_process(COMMAND "${work_dir}/prefix/${tunedb}" path OUTPUT_VARIABLE path
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT path STREQUAL "${work_dir}/tuning.db")
    message(FATAL_ERROR "the installed tunedb takes '${path}' for its database")
  endif()
  foreach(command list check env)
    execute_process(COMMAND "${work_dir}/prefix/${tunedb}" ${command} OUTPUT_QUIET
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()

step("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work_dir}/build" -G "${generator}"
     "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_BUILD_TYPE=${config}"
     "-DCMAKE_PREFIX_PATH=${work_dir}/prefix")
step("${CMAKE_COMMAND}" --build "${work_dir}/build" --config "${config}")
step("${CMAKE_CTEST_COMMAND}" --test-dir "${work_dir}/build" -C "${config}" --output-on-failure
     --no-tests=error)
