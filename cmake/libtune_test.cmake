# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Tests see a home of their own inside the build tree, so that none can reach the tuning database
# of whoever runs them; PoCL's kernel cache is kept there between runs, for compiling is slow.
# LIBTUNE_DEVICE and PYOPENCL_CTX stay as they are: they choose what to test on.
set(libtune_test_home "${PROJECT_BINARY_DIR}/test_home")
file(MAKE_DIRECTORY "${libtune_test_home}/pocl")

# libtune_label(<test>...)
# Labels tests with the part of the project that they are about, by the module before the dot.
function(libtune_label)
  set(extra "ahead|bare|behind|capture|child|console|deadline|deadline_unlocked|live|maintenance|metrics|metrics_unlocked|pipeline|ranged|ready|report|sensors|sequence|shared|testing")
  set(tools "c_api|consumer|formats|fuzz|python|simulate|sources|tunedb")
  set(of_telescope "flagging|receiver")
  foreach(test IN LISTS ARGN)
    set(label core)
    if(test MATCHES "^telescope\\.|^examples\\.(${of_telescope})")
      set(label telescope)
    elseif(test MATCHES "^(operations|examples)\\.")
      set(label operations)
    elseif(test MATCHES "^(${extra})\\.")
      set(label extra)
    elseif(test MATCHES "^(${tools})(\\.|$)")
      set(label tools)
    endif()
    set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
  endforeach()
endfunction()

# libtune_test_environment(<test>...)
# Gives tests made by add_test the same environment and labels as those of libtune_test.
function(libtune_test_environment)
  set(environment
    "HOME=set:${libtune_test_home}"
    "XDG_CACHE_HOME=set:${libtune_test_home}/cache"
    "POCL_CACHE_DIR=set:${libtune_test_home}/pocl"
    "LIBTUNE_CACHE=set:off")
  foreach(variable IN ITEMS
      DB DB_ACCESS SYSTEM_DB SHARED_DB SHARED_DB_ACCESS REPORT MATCH CAPTURE MISSED MODE BUDGET READY WAIT WORKER WORKERS LOG ISOLATION TRIAL_TIME METRICS METRICS_FILE NVML)
    list(APPEND environment "LIBTUNE_${variable}=unset:")
  endforeach()
  if(LIBTUNE_SANITIZE)
    # Many tests fork, also while threads run, whose remains in the child are no leaks. And a process
    # that ends must not sleep first, for its time is limited.
    string(JOIN ":" thread_options
      atexit_sleep_ms=0 die_after_fork=0 report_thread_leaks=0
      "suppressions=${PROJECT_SOURCE_DIR}/cmake/thread_sanitizer.supp")
    list(APPEND environment "UBSAN_OPTIONS=set:print_stacktrace=1" "TSAN_OPTIONS=set:${thread_options}"
      # GCC 12's reports an overflow where a thread with a stack for signals ends. To GCC 13 and clang 16 it takes some
      # blocks of threads' variables for those of an older libc, and its search for leaks crashes ("Tracer caught
      # signal 11"), unless it does not follow these blocks.
      "ASAN_OPTIONS=set:use_sigaltstack=0:intercept_tls_get_addr=0" "LSAN_OPTIONS=set:print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/cmake/leak_sanitizer.supp")
  endif()
  set_tests_properties(${ARGN} PROPERTIES ENVIRONMENT_MODIFICATION "${environment}")
  libtune_label(${ARGN})
  # A fresh tree has no times of tests: those that take longest begin first.
  set(longest "behind\\.background_kill|child\\.(kill|lost_children|nested)|consumer|device\\.conformance|examples\\.(guide"
    "multiply|poison|receiver|sequence|tutorial_correctness|verification)|kernel\\.included_memory|operations\\.(hreduce"
    "ranges|transpose)|python\\.tuning|ranged\\.portfolio|tree\\.locales|tunedb\\.(mpirun|pretune)"
    "verify\\.(array_comparer|device_comparison|verified_measure)")
  list(JOIN longest "|" longest)
  # PoCL leaves the kernels of these as they are, which takes it half of the time or less: they are many and do
  # little. Long tests have its optimiser. So have all with a PoCL later than 3, which without it crashes on some
  # kernels and miscompiles others.
  set(unoptimised "device\\.conformance|examples\\.(behind_guide|diffusion|flagging_guide|receiver.*|side_by_side_python|sonar"
    "tutorial_correctness|tutorial_python|verification)|kernel\\.work_group_reduce"
    "operations\\.(fft_operation|fill|gemm|hreduce|maskedsum|percentile5|ranges|transpose)"
    "python\\.(kernel_tuner|kernel_tuner_search|module|operations|scripts)"
    "telescope\\.(beamform|correlate|pfb|quantise|rfi2d_device|rfi_device)|tunedb\\.pretune")
  list(JOIN unoptimised "|" unoptimised)
  libtune_find_pocl()
  foreach(test IN LISTS ARGN)
    if(test MATCHES "^(${unoptimised})$" AND libtune_pocl_major LESS_EQUAL 3)
      set_property(TEST ${test} APPEND PROPERTY
        ENVIRONMENT_MODIFICATION POCL_EXTRA_BUILD_FLAGS=set:-cl-opt-disable)
    endif()
    if(test MATCHES "^(${longest})$")
      set_tests_properties(${test} PROPERTIES COST 20)
    endif()
  endforeach()
endfunction()

# What tests compile with. A check is a call instead of a try block in each place.
add_library(libtune_test_options INTERFACE)
target_link_libraries(libtune_test_options INTERFACE libtune_build_options libtune::testing libtune_all)
target_compile_definitions(libtune_test_options INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
if(CMAKE_UNITY_BUILD)
  # What they test is optimised all the same.
  target_compile_options(libtune_test_options INTERFACE $<$<CONFIG:Release>:-O0>)
  # What all of them include is parsed once.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_headers.cpp" CONTENT "")
  add_library(libtune_test_headers OBJECT "${PROJECT_BINARY_DIR}/test_headers.cpp")
  target_link_libraries(libtune_test_headers PRIVATE libtune_test_options)
  libtune_precompile(libtune_test_headers <doctest/doctest.h>)
endif()

# All doors are open in tests, as in a program that includes the umbrella headers.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_doors.cpp" CONTENT [[
#include "libtune/console.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/sensors.hpp"
#include "libtune/extra/shared.hpp"
]])
add_library(libtune_test_doors OBJECT "${PROJECT_BINARY_DIR}/test_doors.cpp")
target_link_libraries(libtune_test_doors PRIVATE libtune_build_options libtune_all)
set_target_properties(libtune_test_doors PROPERTIES UNITY_BUILD OFF)

set(LIBTUNE_TEST_DEVICES "first-per-api" CACHE STRING
  "What tests of devices run on: first-per-api, all, or none (docs/testing.md)")

# libtune_test(<module> <file>...)
# One program for the module, <module>_tests, with libtune's test main, and one ctest entry for
# each file, <module>.<stem>. Such an entry is reported as skipped if all its test cases needed a
# device and none was there. Those that take longer than some seconds are named to
# libtune_label_long.
function(libtune_test module)
  add_executable(${module}_tests ${ARGN})
  target_link_libraries(${module}_tests PRIVATE libtune_test_options libtune_test_doors)
  libtune_join_sources(${module}_tests 6)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${module}_tests REUSE_FROM libtune_test_headers)
  endif()
  foreach(file IN LISTS ARGN)
    cmake_path(GET file FILENAME filename)
    if(NOT filename MATCHES "_test\\.cpp$")
      continue()
    endif()
    string(REGEX REPLACE "_test\\.cpp$" "" stem "${filename}")
    add_test(NAME ${module}.${stem} COMMAND ${module}_tests
      "--source-file=*/${filename}" --devices=${LIBTUNE_TEST_DEVICES})
    set_tests_properties(${module}.${stem} PROPERTIES SKIP_RETURN_CODE 77)
    libtune_test_environment(${module}.${stem})
  endforeach()
endfunction()

# Keeps libtune_pocl_major, the first number of PoCL's version, 0 without PoCL.
function(libtune_find_pocl)
  if(DEFINED libtune_pocl_major OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  try_run(libtune_pocl_major libtune_pocl_compiles SOURCE_FROM_CONTENT pocl.cpp [[
    #define CL_TARGET_OPENCL_VERSION 120
    #include <CL/cl.h>
    #include <cstdlib>
    #include <cstring>
    int main() {
      cl_platform_id platforms[16];
      cl_uint count = 0;
      if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return 0;
      for (cl_uint i = 0; i < count && i < 16; ++i) {
        char version[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof(version) - 1, version, nullptr);
        // As in "OpenCL 3.0 PoCL 5.0+debian  Linux, ...".
        if (const char* pocl = std::strstr(version, "PoCL ")) return std::atoi(pocl + 5);
        if (const char* pocl = std::strstr(version, "pocl ")) return std::atoi(pocl + 5);
      }
      return 0;
    }]] LINK_LIBRARIES OpenCL::OpenCL)
endfunction()

# libtune_ignore_leaks(<test>...)
# Under the address sanitizer, leaks of these tests are no failures.
function(libtune_ignore_leaks)
  if(LIBTUNE_SANITIZE)
    set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION "ASAN_OPTIONS=string_append::detect_leaks=0")
  endif()
endfunction()

# libtune_label_long(<test>...)
# Leaves tests that take minutes out of the quick suite, and gives them two hours each.
function(libtune_label_long)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS long)
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT 7200)
endfunction()

# libtune_long_test(<module>.<name> <filter>)
# A long test of the module's program: the cases that the filter of doctest selects, also those that
# the quick suite skips.
function(libtune_long_test test filter)
  string(REGEX REPLACE "\\..*" "_tests" program "${test}")
  add_test(NAME ${test} COMMAND ${program}
    "${filter}" --no-skip --devices=${LIBTUNE_TEST_DEVICES})
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
  libtune_test_environment(${test})
  libtune_label_long(${test})
endfunction()
