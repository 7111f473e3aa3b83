# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# An overlay port: it builds a checkout, which the variable LIBTUNE_SOURCE names.
if(NOT DEFINED ENV{LIBTUNE_SOURCE})
  message(FATAL_ERROR "LIBTUNE_SOURCE has to name a checkout of libtune (and VCPKG_KEEP_ENV_VARS to list it)")
endif()
set(SOURCE_PATH "$ENV{LIBTUNE_SOURCE}")

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tools LIBTUNE_BUILD_TUNEDB)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features}
    -DCMAKE_UNITY_BUILD=ON  # several sources at once, as the packages for Debian are compiled
    -DLIBTUNE_BUILD_TESTS=OFF
    -DLIBTUNE_BUILD_EXAMPLES=OFF
    -DLIBTUNE_BUILD_BENCH=OFF
    -DLIBTUNE_BUILD_PYTHON=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/libtune)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tunedb AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/debug/libexec")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
