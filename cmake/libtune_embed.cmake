# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# libtune_embed(<target> <file>...)
# Makes the text of each file available to the target's sources as a string: for dir/scale.kernel,
#   #include "scale.kernel.hpp"   declares   constexpr std::string_view scale_kernel
# in the namespace embedded, with the text following the file. It is not inline, so that two
# libraries in one program may each have a file of the same name.
function(libtune_embed target)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE input)
    cmake_path(GET input FILENAME filename)
    string(MAKE_C_IDENTIFIER "${filename}" identifier)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded_${target}")
    file(READ "${input}" text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
    if(text MATCHES "\\)libtune_text\"")
      message(FATAL_ERROR "${input} contains the delimiter that ends an embedded text")
    endif()
    file(CONFIGURE OUTPUT "${folder}/${filename}.hpp" @ONLY CONTENT [[
// Made from @filename@ by libtune_embed; edit that file instead.
#pragma once

#include <string_view>

namespace embedded {
constexpr std::string_view @identifier@ = R"libtune_text(@text@)libtune_text";
}  // namespace embedded
]])
    target_include_directories(${target} PRIVATE "${folder}")
  endforeach()
endfunction()
