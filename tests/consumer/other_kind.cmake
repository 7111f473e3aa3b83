# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Builds libtune as the other kind of library, shared or static, and tries that package too.
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${source_dir}" -B "${libtune_build_dir}" -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}"
    "-DCMAKE_BUILD_TYPE=${config}" "-DBUILD_SHARED_LIBS=${shared}" "-DCMAKE_INSTALL_PREFIX=${install_prefix}"
    "-DLIBTUNE_BUILD_TUNEDB=${shared}" -DLIBTUNE_BUILD_TESTS=OFF -DLIBTUNE_BUILD_EXAMPLES=OFF
    -DLIBTUNE_BUILD_BENCH=OFF
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${libtune_build_dir}" --config "${config}"
  COMMAND_ERROR_IS_FATAL ANY)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
