# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Compares what a library exports with the functions that a header declares: -Dnm, -Dlibrary, -Dheader.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${nm}" -D --defined-only "${library}" OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
file(READ "${header}" text)
string(REGEX MATCHALL "[ *]libtune_[a-z_]+\\(" declared "${text}")
list(TRANSFORM declared REPLACE "^[ *]|\\($" "")
string(REGEX MATCHALL "[0-9a-f]+ [A-Za-z] [^\n]+" lines "${symbols}")
set(exported "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[0-9a-f]+ [A-Za-z] " "" name "${line}")
  if(name MATCHES "^LIBTUNE_C_[0-9]+")
    continue()  # a version
  endif()
  if(NOT name MATCHES "@@LIBTUNE_C_[0-9]+$")
    message(FATAL_ERROR "${library} exports ${name} without a version of the C interface")
  endif()
  string(REGEX REPLACE "@@.*" "" name "${name}")
  list(APPEND exported ${name})
endforeach()
list(LENGTH declared functions)
if(functions LESS 60)
  message(FATAL_ERROR "only ${functions} functions were found in ${header}")
endif()
foreach(name IN LISTS declared)
  if(NOT name IN_LIST exported)
    message(FATAL_ERROR "${header} declares ${name}, and ${library} does not export it")
  endif()
endforeach()
list(REMOVE_ITEM exported ${declared} libtune_serve_worker)  # the entry of libtune-tuner
if(exported)
  message(FATAL_ERROR "${library} exports what no header declares: ${exported}")
endif()
