# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)

set(libtune_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/libtune")

target_sources(libtune PUBLIC
  FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${libtune_public_headers})
install(TARGETS libtune EXPORT libtuneTargets FILE_SET HEADERS)
# In a folder of their own: "operations" says too little among everybody's headers.
target_sources(libtune_operations PUBLIC
  FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${libtune_operations_headers})
install(TARGETS libtune_operations EXPORT libtuneTargets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/libtune_operations")
install(EXPORT libtuneTargets NAMESPACE libtune:: DESTINATION "${libtune_cmake_dir}")

# An export of its own, because it alone needs doctest.
if(TARGET libtune_testing)
  set(libtune_testing_targets libtune_testing)
  if(TARGET libtune_allocation_counter)
    list(APPEND libtune_testing_targets libtune_allocation_counter)
  endif()
  set_target_properties(libtune_testing PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${libtune_testing_targets} EXPORT libtuneTestingTargets)
  install(EXPORT libtuneTestingTargets NAMESPACE libtune:: DESTINATION "${libtune_cmake_dir}")
endif()

# Not for people to call. LIBTUNE_WORKER names another one.
set(libtune_helper_folder "${CMAKE_INSTALL_LIBEXECDIR}/libtune")
set_target_properties(libtune_worker PROPERTIES
  INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS libtune_worker libtune_tuner DESTINATION "${libtune_helper_folder}")

if(TARGET tunedb)
  set_target_properties(tunedb PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS tunedb)
endif()

get_target_property(libtune_type libtune TYPE)
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/libtuneConfig.cmake.in" "${PROJECT_BINARY_DIR}/libtuneConfig.cmake"
  INSTALL_DESTINATION "${libtune_cmake_dir}"
  PATH_VARS libtune_helper_folder
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/libtuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/libtuneConfig.cmake"
  "${PROJECT_BINARY_DIR}/libtuneConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/libtune_embed.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/helper_folder.cpp.in"
  DESTINATION "${libtune_cmake_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# For builds without CMake.
set(libtune_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH libtune_pc_to_prefix "/${libtune_pc_dir}" "/")
string(REGEX REPLACE "/$" "" libtune_pc_to_prefix "${libtune_pc_to_prefix}")
set(libtune_pc_requires "OpenCL, libcrypto, sqlite3, fmt, spdlog")
set(libtune_pc_libs "-lSQLiteCpp -ldl -pthread")
foreach(package IN ITEMS libtune libtune-operations)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${libtune_pc_dir}")
endforeach()
