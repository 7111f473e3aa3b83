# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)

set(libtune_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/libtune")

# Each file belongs to a component, and each component to one package (libtune_packages.cmake), except
# libtune_documents, which is in none. What names none belongs to libtune_development.

# The core has those headers that no neighbour has (libtune_neighbour.cmake).
get_property(libtune_neighbours GLOBAL PROPERTY libtune_neighbours)
list(TRANSFORM libtune_neighbours PREPEND libtune_ OUTPUT_VARIABLE libtune_neighbour_targets)
set(libtune_core_headers ${libtune_public_headers})
foreach(target IN LISTS libtune_neighbour_targets)
  get_target_property(libtune_headers_of_neighbour ${target} HEADER_SET)
  list(REMOVE_ITEM libtune_core_headers ${libtune_headers_of_neighbour})
endforeach()
target_sources(libtune PUBLIC
  FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${libtune_core_headers})
# In a folder of their own: "operations" says too little among everybody's headers.
foreach(target IN ITEMS operations telescope)
  target_sources(libtune_${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${libtune_${target}_headers})
  install(TARGETS libtune_${target} EXPORT libtuneTargets
    LIBRARY COMPONENT libtune_runtime NAMELINK_COMPONENT libtune_development
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/libtune_operations")
endforeach()
foreach(target IN ITEMS libtune ${libtune_neighbour_targets})
  install(TARGETS ${target} EXPORT libtuneTargets
    LIBRARY COMPONENT libtune_runtime NAMELINK_COMPONENT libtune_development
    FILE_SET HEADERS)
endforeach()
install(EXPORT libtuneTargets NAMESPACE libtune:: DESTINATION "${libtune_cmake_dir}")

# An export of its own, because it alone needs doctest.
if(TARGET libtune_testing)
  install(TARGETS libtune_testing libtune_allocation_counter EXPORT libtuneTestingTargets)
  install(EXPORT libtuneTestingTargets NAMESPACE libtune:: DESTINATION "${libtune_cmake_dir}")
endif()

# Not for people to call. LIBTUNE_WORKER names another one.
set_target_properties(libtune_worker PROPERTIES
  INSTALL_RPATH "$ORIGIN/${libtune_libraries_from_helpers}")
install(TARGETS libtune_worker libtune_tuner DESTINATION "${libtune_helper_folder}"
  COMPONENT libtune_runtime)
# Plug-ins are found as the helpers are, which are files that may be executed.
foreach(plugin IN ITEMS libtune_mpi libtune_postgresql)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} DESTINATION "${libtune_helper_folder}" COMPONENT ${plugin}
      PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()

if(TARGET tunedb)
  set_target_properties(tunedb PROPERTIES
    INSTALL_RPATH "$ORIGIN/${libtune_libraries_from_programs}")
  install(TARGETS tunedb COMPONENT libtune_tools)
  get_target_property(libtune_man_page tunedb LIBTUNE_MAN_PAGE)
  if(libtune_man_page)
    install(FILES "${libtune_man_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
      COMPONENT libtune_tools)
  endif()
endif()

get_target_property(libtune_type libtune TYPE)
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/libtuneConfig.cmake.in" "${PROJECT_BINARY_DIR}/libtuneConfig.cmake"
  INSTALL_DESTINATION "${libtune_cmake_dir}"
  PATH_VARS libtune_helper_folder
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/libtuneConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/libtuneConfig.cmake"
  "${PROJECT_BINARY_DIR}/libtuneConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/libtune_embed.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/helper_folder.cpp.in"
  DESTINATION "${libtune_cmake_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT libtune_documents)

# For builds without CMake.
set(libtune_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH libtune_pc_to_prefix "/${libtune_pc_dir}" "/")
string(REGEX REPLACE "/$" "" libtune_pc_to_prefix "${libtune_pc_to_prefix}")
set(libtune_pc_requires "")
set(libtune_pc_libs "")
if(libtune_type STREQUAL "STATIC_LIBRARY")
  set(libtune_pc_requires "OpenCL, libcrypto, sqlite3, fmt, spdlog")
  set(libtune_pc_libs "-lSQLiteCpp -ldl -pthread")
endif()
set(libtune_pc_files libtune)
configure_file("${CMAKE_CURRENT_LIST_DIR}/libtune.pc.in" "${PROJECT_BINARY_DIR}/libtune.pc" @ONLY)
foreach(libtune_pc_part IN LISTS libtune_neighbours ITEMS operations telescope)
  list(APPEND libtune_pc_files libtune-${libtune_pc_part})
  set(libtune_pc_about "A part of libtune: ${libtune_pc_part}")
  set(libtune_pc_cflags "")
  if(libtune_pc_part MATCHES "^(operations|telescope)$")
    set(libtune_pc_cflags "-I\${includedir}/libtune_operations")
  endif()
  # The libraries that its own names to those who link it.
  get_target_property(libtune_pc_needs libtune_${libtune_pc_part} INTERFACE_LINK_LIBRARIES)
  list(FILTER libtune_pc_needs INCLUDE REGEX "^libtune(_[a-z]+)?$")
  list(TRANSFORM libtune_pc_needs REPLACE "_" "-")
  list(TRANSFORM libtune_pc_needs APPEND " = ${PROJECT_VERSION}")
  list(JOIN libtune_pc_needs ", " libtune_pc_needs)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/libtune-part.pc.in"
    "${PROJECT_BINARY_DIR}/libtune-${libtune_pc_part}.pc" @ONLY)
endforeach()
foreach(file IN LISTS libtune_pc_files)
  install(FILES "${PROJECT_BINARY_DIR}/${file}.pc" DESTINATION "${libtune_pc_dir}")
endforeach()
