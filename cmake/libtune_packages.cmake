# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# What CPack makes of this tree: archives of its sources, and packages for Debian and Ubuntu, which
# packaging/README.md describes. A package is a component of the installation.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT EXISTS "${PROJECT_SOURCE_DIR}/packaging/debian")
  return()
endif()
set(LIBTUNE_PACKAGE_CONTACT "The libtune authors <libtune@example.org>" CACHE STRING
  "The name and address of the maintainer of packages")
mark_as_advanced(LIBTUNE_PACKAGE_CONTACT)

set(libtune_same_version "(= ${PROJECT_VERSION}-1)")
set(libtune_runtime_package libtune${libtune_soversion})
set(libtune_about "libtune tunes CUDA and OpenCL kernels inside the program that runs them. The
first time that a kernel is needed on a new device, driver or problem, it
measures variants of the kernel, and stores the fastest in an SQLite database.
.")

# libtune_package(<component> <package> SECTION <section> MULTIARCH same|foreign|no
#                 SUMMARY <words> ABOUT <lines> [DEPENDS <packages>] [RECOMMENDS <packages>])
# The package of a component, where that is installed. It depends on this version of the shared libraries,
# on other packages that are given, and on what its programs and libraries need.
get_cmake_property(libtune_components COMPONENTS)
set(libtune_packaged_components "")
macro(libtune_package component package)
  if("${component}" IN_LIST libtune_components)
    cmake_parse_arguments(libtune_package "" "SECTION;MULTIARCH;SUMMARY;ABOUT;RECOMMENDS" "DEPENDS" ${ARGN})
    list(APPEND libtune_packaged_components ${component})
    if(NOT "${package}" STREQUAL libtune_runtime_package)
      list(PREPEND libtune_package_DEPENDS "${libtune_runtime_package} ${libtune_same_version}")
    endif()
    list(JOIN libtune_package_DEPENDS ", " libtune_package_DEPENDS)
    string(TOUPPER ${component} libtune_package_upper)
    set(CPACK_DEBIAN_${libtune_package_upper}_PACKAGE_NAME ${package})
    set(CPACK_DEBIAN_${libtune_package_upper}_PACKAGE_SECTION ${libtune_package_SECTION})
    set(CPACK_DEBIAN_${libtune_package_upper}_PACKAGE_DEPENDS "${libtune_package_DEPENDS}")
    set(CPACK_DEBIAN_${libtune_package_upper}_PACKAGE_RECOMMENDS "${libtune_package_RECOMMENDS}")
    set(CPACK_DEBIAN_${libtune_package_upper}_MULTIARCH ${libtune_package_MULTIARCH})
    set(CPACK_DEBIAN_${libtune_package_upper}_DESCRIPTION
        "embedded autotuner for CUDA and OpenCL - ${libtune_package_SUMMARY}\n${libtune_about}\n${libtune_package_ABOUT}")
  endif()
endmacro()

# libtune_shared_package(<component> <package> <library> <soversion>...)
# Says which package has shared libraries, for those who make packages of programs with them.
macro(libtune_shared_package component package)
  if("${component}" IN_LIST libtune_components)
    set(libtune_shlibs "")
    set(libtune_shared ${ARGN})
    while(libtune_shared)
      list(POP_FRONT libtune_shared libtune_library libtune_library_soversion)
      string(APPEND libtune_shlibs
        "${libtune_library} ${libtune_library_soversion} ${package} (>= ${PROJECT_VERSION})\n")
    endwhile()
    file(CONFIGURE OUTPUT "packaging/${component}/shlibs" CONTENT "${libtune_shlibs}" @ONLY)
    string(TOUPPER ${component} libtune_package_upper)
    set(CPACK_DEBIAN_${libtune_package_upper}_PACKAGE_CONTROL_EXTRA
      "${PROJECT_SOURCE_DIR}/packaging/debian/triggers"
      "${CMAKE_CURRENT_BINARY_DIR}/packaging/${component}/shlibs")
  endif()
endmacro()

libtune_package(libtune_runtime ${libtune_runtime_package} SECTION libs MULTIARCH same
  SUMMARY "shared libraries"
  ABOUT "This package contains the shared libraries, and the helper programs that they
start.")
set(libtune_shared_libraries "")
foreach(library IN LISTS libtune_neighbour_targets ITEMS libtune libtune_operations libtune_telescope)
  list(APPEND libtune_shared_libraries ${library} ${libtune_soversion})
endforeach()
libtune_shared_package(libtune_runtime ${libtune_runtime_package} ${libtune_shared_libraries})
# The C interface, whose SOVERSION is its own; the headers are in libtune-dev, too.
libtune_package(libtune_c libtune-c1 SECTION libs MULTIARCH same
  SUMMARY "C interface"
  ABOUT "This package contains the shared library of the C interface.")
libtune_shared_package(libtune_c libtune-c1 libtune_c 1)
set(libtune_development_depends "libboost-dev (>= 1.74)")
set(libtune_python_depends python3 python3-numpy)
if(libtune_c IN_LIST libtune_components)
  list(APPEND libtune_development_depends "libtune-c1 ${libtune_same_version}")
  list(APPEND libtune_python_depends "libtune-c1 ${libtune_same_version}")
endif()
libtune_package(libtune_development libtune-dev SECTION libdevel MULTIARCH same
  SUMMARY "development files"
  ABOUT "This package contains the headers, the files for CMake and pkg-config, and the
library for tests of operations."
  DEPENDS ${libtune_development_depends}
  RECOMMENDS doctest-dev)
libtune_package(libtune_tools libtune-tools SECTION utils MULTIARCH foreign
  SUMMARY "tuning databases"
  ABOUT "This package contains the program tunedb, which shows, merges, locks and
checks tuning databases, reports on searches, and tunes ahead of use.")
# Parts that are there where their targets are; plug-ins lie beside the helper programs.
libtune_package(python python3-libtune SECTION python MULTIARCH no
  SUMMARY "Python module"
  ABOUT "This package contains the module libtune for Python 3."
  DEPENDS ${libtune_python_depends})
libtune_package(libtune_postgresql ${libtune_runtime_package}-postgresql SECTION libs MULTIARCH same
  SUMMARY "databases on a server"
  ABOUT "This package contains the plug-in for results that machines
share by PostgreSQL.")
libtune_package(libtune_mpi ${libtune_runtime_package}-mpi SECTION libs MULTIARCH same
  SUMMARY "tuning with mpirun"
  ABOUT "This package contains the plug-in by which ranks of MPI share
their tuning.")

set(CPACK_PACKAGE_NAME libtune)
set(CPACK_PACKAGE_VENDOR "The libtune authors")
set(CPACK_PACKAGE_CONTACT "${LIBTUNE_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL ${libtune_packaged_components})
set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  "${PROJECT_BINARY_DIR}/lib")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/packaging/finish.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/repack.cmake")
configure_file("${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake.in"
  "${PROJECT_BINARY_DIR}/packaging/finish.cmake" @ONLY)

# The sources, without anything of git or of builds.
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME libtune-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES
  "^${PROJECT_SOURCE_DIR}/build/" "^${PROJECT_SOURCE_DIR}/compile_commands.json$" "/__pycache__/"
  # Hidden folders other than .ci: .git, .cache and those of editors.
  "^${PROJECT_SOURCE_DIR}/[.][^c/][^/]*/" "^${PROJECT_SOURCE_DIR}/[.]c[^i/][^/]*/" "^${PROJECT_SOURCE_DIR}/[.]git$")
include(CPack)
