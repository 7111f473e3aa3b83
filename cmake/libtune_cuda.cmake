# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Whether the CUDA backend can be built, for which the toolkit's headers are enough: sets
# LIBTUNE_HAS_CUDA with LIBTUNE_CUDA_INCLUDE_DIRS and LIBTUNE_CUDA_VERSION, or LIBTUNE_CUDA_ABSENCE.
# Neither nvcc nor any library of CUDA is used.
set(LIBTUNE_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where its headers are), ON, OFF")
set_property(CACHE LIBTUNE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(libtune_cuda_minimum 12.4)

# find_package(CUDAToolkit), whose module of CMake 3.25 ends with an error for the lack of nvToolsExt, which
# CUDA 13 does not have, where a project asks for CMake 3.25 or later.
macro(libtune_find_cuda_toolkit)
  set(libtune_cmake_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit ${ARGN})
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${libtune_cmake_minimum})
endmacro()

set(LIBTUNE_HAS_CUDA OFF)
if(LIBTUNE_CUDA STREQUAL "OFF")
  set(LIBTUNE_CUDA_ABSENCE "LIBTUNE_CUDA is OFF")
else()
  libtune_find_cuda_toolkit(QUIET)
  find_path(LIBTUNE_CUDA_HEADERS cudaTypedefs.h
            HINTS ${CUDAToolkit_INCLUDE_DIRS}
            PATHS /usr/local/cuda/include)
  mark_as_advanced(LIBTUNE_CUDA_HEADERS)
  set(LIBTUNE_CUDA_VERSION "")
  if(LIBTUNE_CUDA_HEADERS AND EXISTS "${LIBTUNE_CUDA_HEADERS}/nvrtc.h")
    file(STRINGS "${LIBTUNE_CUDA_HEADERS}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+")
    string(REGEX REPLACE "[^0-9]" "" number "${line}")
    math(EXPR major "${number} / 1000")
    math(EXPR minor "${number} % 1000 / 10")
    set(LIBTUNE_CUDA_VERSION "${major}.${minor}")
  endif()
  if(LIBTUNE_CUDA_VERSION STREQUAL "")
    set(LIBTUNE_CUDA_ABSENCE "the headers of the CUDA Toolkit were not found")
  elseif(LIBTUNE_CUDA_VERSION VERSION_LESS libtune_cuda_minimum)
    set(LIBTUNE_CUDA_ABSENCE
        "the CUDA Toolkit is ${LIBTUNE_CUDA_VERSION}, at least ${libtune_cuda_minimum} is needed")
  else()
    set(LIBTUNE_HAS_CUDA ON)
    set(LIBTUNE_CUDA_INCLUDE_DIRS "${LIBTUNE_CUDA_HEADERS}")
  endif()
  if(LIBTUNE_CUDA STREQUAL "ON" AND NOT LIBTUNE_HAS_CUDA)
    message(FATAL_ERROR "LIBTUNE_CUDA is ON, but ${LIBTUNE_CUDA_ABSENCE}")
  endif()
endif()
