# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Installs a built libtune as packages are made, or makes packages of it and unpacks these (-Dpackages=ON),
# moves it, then configures, builds and runs the project beside this script against it. All that happens
# in a folder outside of the build tree, where helper programs would be found without any package. Stops
# at the first step that fails.
cmake_minimum_required(VERSION 3.25)

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# tune(<result> <program> <argument>...): its output; stops this script where there is no device.
macro(tune result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE ${result} ERROR_VARIABLE ${result}
    RESULT_VARIABLE status)
  if(status EQUAL 77)
    message(STATUS "what tunes is skipped: there is no device")
    file(REMOVE_RECURSE "${work_dir}")
    return()
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${${result}}")
  endif()
endmacro()

function(require_helpers what output)
  if(NOT output MATCHES "helpers compiled [1-9]" OR
     output MATCHES "helpers compiled 0|compiled in this process|was not found")
    message(FATAL_ERROR "${what}: helpers did not compile:\n${output}")
  endif()
endfunction()

execute_process(COMMAND mktemp -d -t libtune_consumer.XXXXXX OUTPUT_VARIABLE work_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LIBTUNE_DB} "${work_dir}/tuning.db")

set(prefix "${work_dir}/prefix")
if(packages)
  include("${CMAKE_CURRENT_LIST_DIR}/packages.cmake")
  file(RENAME "${work_dir}/root/usr" "${prefix}")
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}")  # which holds for /usr by itself
else()
  # As packages are made; then it lies elsewhere.
  step("${CMAKE_COMMAND}" -E env "DESTDIR=${work_dir}/stage" "${CMAKE_COMMAND}" --install
       "${libtune_build_dir}" --config "${config}" --prefix /opt/libtune)
  file(RENAME "${work_dir}/stage/opt/libtune" "${prefix}")
endif()

# The program finds the installed library, not the built one, and does its work.
if(tunedb)
  execute_process(COMMAND "${prefix}/${tunedb}" path OUTPUT_VARIABLE path
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT path STREQUAL "${work_dir}/tuning.db")
    message(FATAL_ERROR "the installed tunedb takes '${path}' for its database")
  endif()
  foreach(command list check env)
    execute_process(COMMAND "${prefix}/${tunedb}" ${command} OUTPUT_QUIET
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()

# A project that asks for an older standard is told that this is C++20.
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work_dir}/build"
     -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_BUILD_TYPE=${config}"
     "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_CXX_STANDARD=17
  OUTPUT_VARIABLE configured ERROR_VARIABLE configured COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \n]+" " " configured "${configured}")
if(NOT configured MATCHES "libtune needs C\\+\\+20: what links it is compiled as C\\+\\+20, though CMAKE_CXX_STANDARD is 17")
  message(FATAL_ERROR "find_package does not say that libtune needs C++20:\n${configured}")
endif()
step("${CMAKE_COMMAND}" --build "${work_dir}/build" --config "${config}")
step("${CMAKE_CTEST_COMMAND}" --test-dir "${work_dir}/build" -C "${config}" --output-on-failure
     --no-tests=error)

# A project that asks for a part that is not there is told which.
file(WRITE "${work_dir}/absent/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(absent LANGUAGES CXX)\n"
  "find_package(libtune REQUIRED COMPONENTS operations no_such_part)\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${work_dir}/absent" -B "${work_dir}/absent/build" -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_PREFIX_PATH=${prefix}"
  OUTPUT_VARIABLE configured ERROR_VARIABLE configured RESULT_VARIABLE status)
string(REGEX REPLACE "[ \n]+" " " configured "${configured}")
if(status EQUAL 0 OR NOT configured MATCHES "this libtune has no component no_such_part")
  message(FATAL_ERROR "find_package does not say which component is missing:\n${configured}")
endif()

# The same library for those who do not use CMake.
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig")
  set(static "")
  if(NOT EXISTS "${prefix}/${libdir}/libtune.so")
    set(static --static)
  endif()
  execute_process(COMMAND "${pkg_config}" --cflags --libs ${static} libtune-operations libtune-child
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  step("${compiler}" "${CMAKE_CURRENT_LIST_DIR}/tuner.cpp" -O0 ${flags}
       "-Wl,-rpath,${prefix}/${libdir}" -o "${work_dir}/without_cmake")
  execute_process(COMMAND "${work_dir}/without_cmake" OUTPUT_VARIABLE output
    ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status MATCHES "^(0|77)$")
    message(FATAL_ERROR "a program that pkg-config helped to build ended with ${status}:\n${output}")
  endif()
  find_program(c_compiler NAMES cc gcc clang)
  if(c_compiler)
    execute_process(COMMAND "${pkg_config}" --cflags --libs libtune-c
      OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    step("${c_compiler}" -std=c11 -pedantic-errors "${CMAKE_CURRENT_LIST_DIR}/from_c.c" ${flags}
         "-Wl,-rpath,${prefix}/${libdir}" -o "${work_dir}/from_c")
    step("${work_dir}/from_c" "${work_dir}/none.db")
  endif()
else()
  message(STATUS "there is no pkg-config, so its files are not tried")
endif()

# A program that lies elsewhere has the helpers of the package compile, or itself.
set(ENV{LIBTUNE_WORKERS} 2)
file(GLOB_RECURSE tuner "${work_dir}/build/tuner")
tune(output "${tuner}")
require_helpers("a program at another place" "${output}")
tune(output "${tuner}" serve)
require_helpers("a program that serves" "${output}")

# What the environment asks of neighbours: a program without them says so, each once, and tunes; one with
# them does it, here as far as their first step that fails.
set(ENV{LIBTUNE_REPORT} "${work_dir}/report.html")
set(ENV{LIBTUNE_SHARED_DB} "postgresql://nobody@127.0.0.1:1/none")
set(ENV{LIBTUNE_SHARED_DB_ACCESS} push)
tune(output "${tuner}")
foreach(missing IN ITEMS "speaks to servers" "writes pages")
  string(REGEX MATCHALL "this program has no part of libtune that ${missing}" warnings "${output}")
  list(LENGTH warnings warned)
  if(NOT warned EQUAL 1)
    message(FATAL_ERROR "a program without it says ${warned} times that nothing ${missing}:\n${output}")
  endif()
endforeach()
file(GLOB_RECURSE opened "${work_dir}/build/opened")
tune(output "${opened}")
if(output MATCHES "has no part of libtune")
  message(FATAL_ERROR "a program with neighbours does not have them:\n${output}")
endif()
unset(ENV{LIBTUNE_REPORT})
unset(ENV{LIBTUNE_SHARED_DB})
unset(ENV{LIBTUNE_SHARED_DB_ACCESS})

# Where there are none: one warning with the places and the remedy, and a note on each search.
file(RENAME "${prefix}/${helper_folder}" "${prefix}/away")
tune(output "${tuner}" serve)
require_helpers("a program that serves and has no other helper" "${output}")
if(EXISTS "${installed_helpers}/libtune-worker")
  message(STATUS "there is a libtune in ${installed_helpers}, so no helper is missing")
else()
  set(path "$ENV{PATH}")
  set(ENV{PATH} /usr/bin:/bin)
  tune(output "${tuner}")
  set(ENV{PATH} "${path}")
  string(REPLACE ";" "," output "${output}")
  string(REGEX MATCHALL "libtune-worker was not found [(]looked at: /[^)]*${prefix}/${helper_folder}/libtune-worker, [^)]*[)], let main begin with tune::serve_if_worker" warnings "${output}")
  string(REGEX MATCHALL "\ndoubt: [^\n]*serve_if_worker" doubts "${output}")
  list(LENGTH warnings warned)
  list(LENGTH doubts doubted)
  if(NOT warned EQUAL 1 OR NOT doubted EQUAL 2 OR NOT output MATCHES "helpers compiled 0")
    message(FATAL_ERROR "missing helpers are told ${warned} times, in ${doubted} searches:\n${output}")
  endif()
endif()
file(RENAME "${prefix}/away" "${prefix}/${helper_folder}")

# Library, helpers and programs move together.
file(COPY "${tuner}" DESTINATION "${prefix}/${bindir}")
set(moved "${work_dir}/moved")
file(RENAME "${prefix}" "${moved}")
set(ENV{LD_LIBRARY_PATH} "${moved}/${libdir}")
tune(output "${moved}/${bindir}/tuner")
require_helpers("a program that was moved with the package" "${output}")

# Of a package that moved away from under a program the helpers are found by PATH.
set(ENV{PATH} "${moved}/${bindir}:$ENV{PATH}")
tune(output "${tuner}")
require_helpers("a program that was not moved with the package" "${output}")
file(REMOVE_RECURSE "${work_dir}")
