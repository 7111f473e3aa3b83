# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# What CPack makes of this tree: archives of its sources, and packages for Debian and Ubuntu, which
# packaging/README.md describes. A package is a component of the installation.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(LIBTUNE_PACKAGE_CONTACT "The libtune authors <libtune@example.org>" CACHE STRING
  "The name and address of the maintainer of packages")
mark_as_advanced(LIBTUNE_PACKAGE_CONTACT)

# libtune_package(<component> <package> SECTION <section> MULTIARCH same|foreign
#                 SUMMARY <one line> DESCRIPTION <text> [DEPENDS <packages>] [RECOMMENDS <packages>])
# The package of a component. What its programs and libraries need is added to what it depends on.
set(libtune_packaged_components "")
macro(libtune_package component package)
  cmake_parse_arguments(libtune_package
    "" "SECTION;MULTIARCH;SUMMARY;DESCRIPTION;DEPENDS;RECOMMENDS" "" ${ARGN})
  list(APPEND libtune_packaged_components ${component})
  string(TOUPPER ${component} libtune_package_upper)
  set(libtune_package_prefix CPACK_DEBIAN_${libtune_package_upper})
  set(${libtune_package_prefix}_PACKAGE_NAME ${package})
  set(${libtune_package_prefix}_PACKAGE_SECTION ${libtune_package_SECTION})
  set(${libtune_package_prefix}_PACKAGE_DEPENDS "${libtune_package_DEPENDS}")
  set(${libtune_package_prefix}_PACKAGE_RECOMMENDS "${libtune_package_RECOMMENDS}")
  set(${libtune_package_prefix}_MULTIARCH ${libtune_package_MULTIARCH})
  set(${libtune_package_prefix}_DESCRIPTION
      "${libtune_package_SUMMARY}\n${libtune_package_DESCRIPTION}")
endmacro()

set(libtune_package_release 1)
set(libtune_same_version "(= ${PROJECT_VERSION}-${libtune_package_release})")
set(libtune_runtime_package libtune${libtune_soversion})
set(libtune_about "libtune tunes CUDA and OpenCL kernels inside the program that runs them. The
first time that a kernel is needed on a new device, driver or problem, it
measures variants of the kernel, and stores the fastest in an SQLite database.
.")

libtune_package(libtune_runtime ${libtune_runtime_package} SECTION libs MULTIARCH same
  SUMMARY "embedded autotuner for CUDA and OpenCL - shared libraries"
  DESCRIPTION "${libtune_about}
This package contains the shared libraries, and the helper programs that they
start.")
libtune_package(libtune_development libtune-dev SECTION libdevel MULTIARCH same
  SUMMARY "embedded autotuner for CUDA and OpenCL - development files"
  DESCRIPTION "${libtune_about}
This package contains the headers, the files for CMake and pkg-config, and the
library for tests of operations."
  DEPENDS "${libtune_runtime_package} ${libtune_same_version}, libboost-dev (>= 1.74)"
  RECOMMENDS doctest-dev)
libtune_package(libtune_tools libtune-tools SECTION utils MULTIARCH foreign
  SUMMARY "embedded autotuner for CUDA and OpenCL - tuning databases"
  DESCRIPTION "${libtune_about}
This package contains the program tunedb, which shows, merges, locks and
checks tuning databases, reports on searches, and tunes ahead of use."
  DEPENDS "${libtune_runtime_package} ${libtune_same_version}")

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
set(CPACK_DEBIAN_PACKAGE_RELEASE ${libtune_package_release})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  "${PROJECT_BINARY_DIR}/libtune" "${PROJECT_BINARY_DIR}/operations")
set(CPACK_DEBIAN_LIBTUNE_RUNTIME_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/debian/triggers" "${PROJECT_BINARY_DIR}/packaging/shlibs")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/packaging/finish.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/repack.cmake")
# The libraries keep their interface within a minor version (packaging/abi).
file(CONFIGURE OUTPUT packaging/shlibs @ONLY CONTENT [[libtune @libtune_soversion@ @libtune_runtime_package@ (>= @PROJECT_VERSION@)
libtune_operations @libtune_soversion@ @libtune_runtime_package@ (>= @PROJECT_VERSION@)
]])
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
