# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# The dynamic symbols of the shared libraries: -Dnm=... -Dsoversion=... -Dlibtune=... -Doperations=...
# -Dothers=...
# Each has the version of the library. Each is in the namespace tune, or one of few others; templates
# of std, fmt, spdlog, nlohmann and SQLite that are instantiated in libtune remain its own.
cmake_minimum_required(VERSION 3.25)

# Of data, virtual tables, type information, thunks, guards and variables of functions, too.
set(in_tune "_Z(T[VTIS]|T[hvc][n0-9_hv]+_|GV|GR)?Z?N[VKRO]*4tune.*")

# symbols_of(<library> <result>): mangled, without the version.
function(symbols_of library result)
  execute_process(COMMAND "${nm}" -D --defined-only --format=posix "${library}"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  set(symbols "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " .*" "" symbol "${line}")
    if(symbol MATCHES "^LIBTUNE_[0-9.]+(@@LIBTUNE_[0-9.]+)?$")
      continue()
    elseif(NOT symbol MATCHES "@@LIBTUNE_${soversion}$")
      message(SEND_ERROR "${library}: ${symbol} has not the version LIBTUNE_${soversion}")
    endif()
    string(REGEX REPLACE "@.*" "" symbol "${symbol}")
    list(APPEND symbols "${symbol}")
  endforeach()
  set(${result} "${symbols}" PARENT_SCOPE)
endfunction()

function(refuse_foreign library symbols)
  list(FILTER symbols EXCLUDE REGEX "^${in_tune}$")
  list(FILTER symbols EXCLUDE REGEX "^libtune_[a-z_]+$")
  foreach(pattern IN LISTS ARGN)
    list(FILTER symbols EXCLUDE REGEX "${pattern}")
  endforeach()
  if(symbols)
    list(JOIN symbols "\n  " symbols)
    message(SEND_ERROR "${library} exports what is not its own (cmake/libtune.symbols.in):\n  ${symbols}")
  endif()
endfunction()

symbols_of("${libtune}" symbols)
refuse_foreign("${libtune}" "${symbols}"
  "^_ZNK?St6vectorI(N4tune11named_value|N4tune17field_description)ESaIS1_EE"
  "^_ZNK?St6vectorISt7variantIJSt9monostateb..dNSt7__cxx1112basic_string.*ESaIS8_EE")
# What programs could not do without: errors and observers of other libraries, helpers, declared templates.
foreach(needed IN ITEMS "_ZTIN4tune5errorE" "_ZTVN4tune8observerE" "_ZTIN4tune8observerE" "_ZNSt6vectorIN4tune11named_valueESaIS1_EED1Ev")
  if(NOT needed IN_LIST symbols)
    message(SEND_ERROR "${libtune} does not export ${needed}")
  endif()
endforeach()

foreach(library IN LISTS others)
  symbols_of("${library}" symbols)
  if(library MATCHES "libtune_child" AND NOT "libtune_serve_worker" IN_LIST symbols)
    message(SEND_ERROR "${library} does not export libtune_serve_worker")
  endif()
  refuse_foreign("${library}" "${symbols}")
endforeach()

symbols_of("${operations}" symbols)
refuse_foreign("${operations}" "${symbols}")
list(FILTER symbols INCLUDE REGEX "^_ZN4tune10operations")
list(LENGTH symbols count)
if(count LESS 100)
  message(SEND_ERROR "${operations} exports only ${count} functions and variables of tune::operations")
endif()
