# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

cmake_minimum_required(VERSION 3.25)

# The recipes in packaging/ can be read, and name the present version: -Dsource_dir=... -Dversion=...
file(READ "${source_dir}/packaging/vcpkg/libtune/vcpkg.json" port)
string(JSON port_version GET "${port}" version-semver)
if(NOT port_version STREQUAL version)
  message(FATAL_ERROR "vcpkg.json has version ${port_version}, and the project ${version}")
endif()

# The port with vcpkg's own functions left out: each call has to name one of them.
foreach(function IN ITEMS check_features cmake_configure cmake_install cmake_config_fixup
                          fixup_pkgconfig copy_tools install_copyright)
  cmake_language(EVAL CODE "
    function(vcpkg_${function})
      set_property(GLOBAL APPEND PROPERTY called ${function})
    endfunction()")
endforeach()
set(ENV{LIBTUNE_SOURCE} "${source_dir}")
set(FEATURES core tools)
set(CURRENT_PACKAGES_DIR "${CMAKE_CURRENT_BINARY_DIR}/no_such_packages")
include("${source_dir}/packaging/vcpkg/libtune/portfile.cmake")
get_property(called GLOBAL PROPERTY called)
list(LENGTH called calls)
if(NOT calls EQUAL 7)
  message(FATAL_ERROR "the port calls only ${called}")
endif()

find_program(python NAMES python3)
if(python)
  execute_process(COMMAND "${python}" -c "import ast, sys; ast.parse(open(sys.argv[1]).read())"
    "${source_dir}/packaging/conan/conanfile.py" COMMAND_ERROR_IS_FATAL ANY)
else()
  message(STATUS "there is no python3, so the recipe of Conan is not read")
endif()
