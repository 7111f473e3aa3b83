# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

cmake_minimum_required(VERSION 3.25)

# The recipes in packaging/ can be read, name the present version, and know all libraries and dependencies:
# -Dsource_dir=... -Dversion=... -Dlibraries=<name>=<needed>,...;...
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

# What the build asks for (libtune_dependencies.cmake), as Conan and vcpkg call it; tests and benchmarks are not built there.
set(known
  libboost-dev=boost=boost-hana ocl-icd-opencl-dev=opencl-icd-loader=opencl opencl-headers=opencl-clhpp-headers=opencl
  opencl-clhpp-headers=opencl-clhpp-headers=opencl libsqlite3-dev=sqlite3=sqlite3 libsqlitecpp-dev=sqlitecpp=sqlitecpp
  libfmt-dev=fmt=fmt libspdlog-dev=spdlog=spdlog nlohmann-json3-dev=nlohmann_json=nlohmann-json
  libssl-dev=openssl=openssl zlib1g-dev=zlib=zlib libcli11-dev=cli11=cli11)
file(READ "${source_dir}/cmake/libtune_dependencies.cmake" dependencies)
file(READ "${source_dir}/packaging/conan/conanfile.py" recipe)
string(REGEX MATCHALL "libtune_require[(]lib[^ )]+|libtune_require[(][a-z][^ )]+" requirements "${dependencies}")
list(TRANSFORM requirements REPLACE "libtune_require[(]" "")
list(REMOVE_ITEM requirements libbenchmark-dev doctest-dev debian_package)
list(LENGTH requirements count)
if(count LESS 11)
  message(FATAL_ERROR "libtune_dependencies.cmake requires only ${requirements}")
endif()
foreach(package IN LISTS requirements)
  set(names ${known})
  list(FILTER names INCLUDE REGEX "^${package}=")
  if(names STREQUAL "")
    message(FATAL_ERROR "the recipes do not know ${package}: add it here and to them")
  endif()
  string(REPLACE "=" ";" names "${names}")
  list(GET names 1 conan)
  list(GET names 2 vcpkg)
  if(NOT recipe MATCHES "requires[(]\"${conan}/")
    message(FATAL_ERROR "conanfile.py does not require ${conan}, which is ${package}")
  endif()
  if(NOT port MATCHES "\"${vcpkg}\"")
    message(FATAL_ERROR "vcpkg.json does not name ${vcpkg}, which is ${package}")
  endif()
endforeach()

# Both say which neighbours there are.
file(READ "${source_dir}/cmake/libtuneConfig.cmake.in" config)
foreach(library IN LISTS libraries)
  string(REGEX REPLACE "=.*" "" name "${library}")
  if(NOT config MATCHES "[ :]${name}[, \n]")
    message(FATAL_ERROR "libtuneConfig.cmake.in does not name libtune::${name}")
  endif()
endforeach()

find_program(python NAMES python3)
if(python)
  execute_process(COMMAND "${python}" -B "${CMAKE_CURRENT_LIST_DIR}/recipes.py"
    "${source_dir}/packaging/conan/conanfile.py" ${libraries} COMMAND_ERROR_IS_FATAL ANY)
else()
  message(STATUS "there is no python3, so the recipe of Conan is not read")
endif()
