# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# What is built, what is left out, and why.
set(libtune_parts "OpenCL ${OpenCL_VERSION_STRING}")
set(libtune_left_out "CUDA (not part of this version yet)")
if(NOT TARGET libtune_testing)
  list(APPEND libtune_left_out "libtune::testing (doctest was not found)")
endif()
foreach(part tests examples bench)
  string(TOUPPER ${part} upper)
  if(LIBTUNE_BUILD_${upper})
    list(APPEND libtune_parts ${part})
  else()
    list(APPEND libtune_left_out "${part} (LIBTUNE_BUILD_${upper} is off)")
  endif()
endforeach()
list(JOIN libtune_parts ", " libtune_parts)
list(JOIN libtune_left_out ", " libtune_left_out)
message(STATUS "libtune ${PROJECT_VERSION}: ${libtune_parts}; left out: ${libtune_left_out}")
