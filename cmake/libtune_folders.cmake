# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libtune_development)

# The folder of the helper programs, in the installation. Where libraries lie in a folder for each
# architecture, as in Debian's /usr/lib/x86_64-linux-gnu, helpers of several architectures and versions
# must have room beside each other, too.
set(libtune_soversion ${PROJECT_VERSION_MAJOR})
set(libtune_helper_folder "${CMAKE_INSTALL_LIBEXECDIR}/libtune")
if(CMAKE_LIBRARY_ARCHITECTURE AND CMAKE_INSTALL_LIBDIR STREQUAL "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  set(libtune_helper_folder "${CMAKE_INSTALL_LIBDIR}/libtune${libtune_soversion}")
endif()
# From the folder of a file to the libraries, for programs and libraries that may be moved together.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${libtune_helper_folder}"
           OUTPUT_VARIABLE libtune_libraries_from_helpers)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_BINDIR}"
           OUTPUT_VARIABLE libtune_libraries_from_programs)
