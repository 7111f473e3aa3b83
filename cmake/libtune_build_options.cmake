# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# What every target of this tree is compiled with. Linked privately and only while building, so
# that none of it reaches a user of the installed package.
add_library(libtune_build_options INTERFACE)
target_compile_features(libtune_build_options INTERFACE cxx_std_20)
target_include_directories(libtune_build_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(libtune_build_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
  # Several sources together would shadow what others of them have for themselves.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>>:-Wshadow>
  # GCC 12, optimising, finds std::string operator+ to copy onto itself, or too much (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>"
  # The stable_sort of libstdc++ 12 calls what is deprecated, and clang 19 warns of that. GCC finds what we call.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # GCC sees uninitialised values where there are none: with -Og, in instrumented code, and with -O3 in options that are
  # made for one call.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${LIBTUNE_WARNINGS_AS_ERRORS}>:-Werror>
  # GCC frees memory from 512 MiB on only: a tenth less time, in up to 1 GB.
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>")

if(LIBTUNE_SANITIZE)
  target_compile_options(libtune_build_options INTERFACE
    -fsanitize=${LIBTUNE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1 -O1)
  target_link_options(libtune_build_options INTERFACE -fsanitize=${LIBTUNE_SANITIZE})
endif()
