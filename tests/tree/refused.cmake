# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Compiles each source in refused/ by the standard that it states. The compiler has to say what the
# source expects, as its one error (a second one may say that it stops); without an expectation it
# has to compile.
file(GLOB sources "${CMAKE_CURRENT_LIST_DIR}/refused/*.cpp")
if(NOT sources)
  message(FATAL_ERROR "there is nothing in refused/")
endif()
foreach(source IN LISTS sources)
  file(STRINGS "${source}" standard REGEX "^// standard: ")
  string(REPLACE "// standard: " "" standard "${standard}")
  file(STRINGS "${source}" expected REGEX "^// says: ")
  string(REPLACE "// says: " "" expected "${expected}")
  execute_process(COMMAND "${compiler}" "-std=c++${standard}" -fsyntax-only "-I${include_dir}" "${source}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(expected STREQUAL "")
    if(NOT status EQUAL 0)
      message(SEND_ERROR "${source} does not compile:\n${output}")
    endif()
    continue()
  endif()
  string(REGEX MATCHALL "[^\n]*: error: [^\n]*" errors "${output}")
  list(LENGTH errors count)
  if(status EQUAL 0)
    message(SEND_ERROR "${source} compiles")
  elseif(NOT errors MATCHES "${expected}")
    message(SEND_ERROR "${source} is refused, but not by '${expected}':\n${output}")
  elseif(count GREATER 1)
    message(SEND_ERROR "${source} is refused by ${count} errors:\n${output}")
  endif()
endforeach()
