# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Everything comes from the system's packages; nothing is downloaded. What is missing is told at
# once, by the names of the Debian and Ubuntu packages: ./dev reads that line and installs them.

# libtune_require(<debian package> <find_package arguments>...)
macro(libtune_require debian_package name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND libtune_missing_packages ${debian_package})
  endif()
endmacro()

set(libtune_missing_packages "")
libtune_require(libboost-dev Boost 1.74 CONFIG)
libtune_require(ocl-icd-opencl-dev OpenCL)
libtune_require(opencl-headers OpenCLHeaders)
libtune_require(opencl-clhpp-headers OpenCLHeadersCpp)
libtune_require(libsqlite3-dev SQLite3)
libtune_require(libsqlitecpp-dev SQLiteCpp)
libtune_require(libfmt-dev fmt)
libtune_require(libspdlog-dev spdlog)
libtune_require(nlohmann-json3-dev nlohmann_json)
libtune_require(libssl-dev OpenSSL COMPONENTS Crypto)
find_package(Threads REQUIRED)
if(TARGET SQLite::SQLite3 AND NOT TARGET SQLite3::SQLite3)  # before CMake 4.3
  add_library(SQLite3::SQLite3 ALIAS SQLite::SQLite3)
endif()

if(LIBTUNE_BUILD_EXAMPLES OR LIBTUNE_BUILD_TUNEDB)
  libtune_require(libcli11-dev CLI11)
endif()
if(LIBTUNE_BUILD_BENCH)
  libtune_require(libbenchmark-dev benchmark)
endif()
libtune_require(zlib1g-dev ZLIB)
if(LIBTUNE_BUILD_TESTS OR LIBTUNE_BUILD_BENCH)  # both use libtune::testing
  libtune_require(doctest-dev doctest)
else()
  find_package(doctest QUIET)
endif()

# What draws the pages of tunedb report; without it the command says what to install.
if(LIBTUNE_BUILD_TUNEDB)
  find_file(LIBTUNE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH
    DOC "The minified bundle of d3 5, of node-d3")
  mark_as_advanced(LIBTUNE_D3)
endif()

# The plug-in for databases that machines share; left out where libpq is not there.
find_path(LIBTUNE_PQ_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql DOC "The folder of libpq-fe.h, of libpq-dev")
find_library(LIBTUNE_PQ_LIBRARY pq DOC "libpq, of libpq-dev")
mark_as_advanced(LIBTUNE_PQ_INCLUDE_DIR LIBTUNE_PQ_LIBRARY)

# What tunedb pretune meets other ranks with; left out where it is not there.
find_package(MPI QUIET COMPONENTS CXX)

# Transforms on OpenCL; left out where it is not there. Headers of other versions than 1.2, which is
# known, are tried.
find_path(LIBTUNE_VKFFT_INCLUDE_DIR vkFFT.h DOC "The folder of vkFFT.h, of libvkfft-dev")
mark_as_advanced(LIBTUNE_VKFFT_INCLUDE_DIR)
set(LIBTUNE_VKFFT_ABSENCE "vkFFT.h of libvkfft-dev was not found")
if(LIBTUNE_VKFFT_INCLUDE_DIR)
  set(LIBTUNE_VKFFT_ABSENCE "")
  file(STRINGS "${LIBTUNE_VKFFT_INCLUDE_DIR}/vkFFT.h" libtune_vkfft_version REGEX "return 102[0-9][0-9];")
  if(NOT libtune_vkfft_version AND TARGET OpenCL::Headers AND TARGET Boost::headers)
    if(NOT DEFINED LIBTUNE_VKFFT_COMPILES)
      set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
      try_compile(LIBTUNE_VKFFT_COMPILES "${PROJECT_BINARY_DIR}/vkfft"
        SOURCES "${PROJECT_SOURCE_DIR}/operations/fft/backend/vkfft.cpp"
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR};${LIBTUNE_VKFFT_INCLUDE_DIR}"
        LINK_LIBRARIES OpenCL::Headers Boost::headers fmt::fmt
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
      unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    endif()
    if(NOT LIBTUNE_VKFFT_COMPILES)
      set(LIBTUNE_VKFFT_ABSENCE "vkFFT.h in ${LIBTUNE_VKFFT_INCLUDE_DIR} is of a version that does not compile here")
    endif()
  endif()
endif()

if(libtune_missing_packages)
  list(JOIN libtune_missing_packages " " libtune_missing_packages)
  message(FATAL_ERROR "libtune needs packages that were not found. On Debian or Ubuntu:\n"
    "  sudo apt-get install ${libtune_missing_packages}\n"
    "Elsewhere, add where they are to CMAKE_PREFIX_PATH.")
endif()
