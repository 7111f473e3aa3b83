# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Whether the Python module can be built, for which the headers of Python and of pybind11 are enough: sets
# LIBTUNE_HAS_PYTHON with Python_EXECUTABLE and LIBTUNE_PYBIND11_INCLUDE_DIR, or LIBTUNE_PYTHON_ABSENCE.
option(LIBTUNE_BUILD_PYTHON "Build the Python module, where Python and pybind11 are" ON)
set(LIBTUNE_HAS_PYTHON OFF)
set(LIBTUNE_PYTHON_ABSENCE "LIBTUNE_BUILD_PYTHON is off")
if(LIBTUNE_BUILD_PYTHON)
  # That of the system rather than another one that has no numpy.
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    execute_process(COMMAND python3 -c "import numpy" RESULT_VARIABLE libtune_numpy_status
      OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND /usr/bin/python3 -c "import numpy" RESULT_VARIABLE libtune_system_status
      OUTPUT_QUIET ERROR_QUIET)
    if(libtune_system_status EQUAL 0 AND NOT libtune_numpy_status EQUAL 0)
      set(Python_EXECUTABLE /usr/bin/python3)
    endif()
  endif()
  set(Python_FIND_VIRTUALENV FIRST)
  find_package(Python 3.9 COMPONENTS Interpreter Development.Module QUIET)
  if(Python_Interpreter_FOUND)
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c "import pybind11; print(pybind11.get_include())"
      OUTPUT_VARIABLE libtune_pybind11_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  find_path(LIBTUNE_PYBIND11_INCLUDE_DIR pybind11/pybind11.h HINTS ${libtune_pybind11_hint}
    DOC "The folder of pybind11/pybind11.h, of pybind11-dev")
  mark_as_advanced(LIBTUNE_PYBIND11_INCLUDE_DIR)
  if(NOT Python_Interpreter_FOUND OR NOT Python_Development.Module_FOUND)
    set(LIBTUNE_PYTHON_ABSENCE "the headers of python3-dev were not found")
  elseif(NOT LIBTUNE_PYBIND11_INCLUDE_DIR)
    set(LIBTUNE_PYTHON_ABSENCE "pybind11.h of pybind11-dev was not found")
  else()
    set(LIBTUNE_HAS_PYTHON ON)
    set(LIBTUNE_PYTHON_ABSENCE "")
  endif()
endif()
