# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# What CPack runs when it has made packages, for what CMake 3.25 cannot say: the field Multi-Arch, no
# scripts that call ldconfig beside the trigger that does, compression by xz, and the same bytes at any place, time and
# umask (packaging/reproducible).
cmake_policy(VERSION 3.25)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

function(step)
  execute_process(COMMAND ${ARGN} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Times are those of the change log, unless another date is given; xz with several threads would depend on these.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND "${CMAKE_CURRENT_LIST_DIR}/../date" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{SOURCE_DATE_EPOCH} ${date})
endif()
set(ENV{DPKG_DEB_THREADS_MAX} 1)

# Checksums in the order of their files, which CPack lists as the file system does.
function(sort_checksums file)
  file(STRINGS "${file}" lines)
  list(TRANSFORM lines REPLACE "^([^ ]+)  (.*)$" "\\2  \\1")
  list(SORT lines)
  list(TRANSFORM lines REPLACE "^(.*)  ([^ ]+)$" "\\2  \\1")
  list(JOIN lines "\n" text)
  file(WRITE "${file}" "${text}\n")
endfunction()

function(repack file package multiarch)
  set(content "${file}.content")
  file(REMOVE_RECURSE "${content}")
  step(dpkg-deb --raw-extract "${file}" "${content}")
  file(REMOVE "${content}/DEBIAN/postinst" "${content}/DEBIAN/postrm")
  file(READ "${content}/DEBIAN/control" control)
  if(NOT control MATCHES "Multi-Arch:" AND NOT multiarch STREQUAL "no")
    string(REGEX REPLACE "\nArchitecture:[^\n]*|^Architecture:[^\n]*" "\\0\nMulti-Arch: ${multiarch}" control "${control}")
    file(WRITE "${content}/DEBIAN/control" "${control}")
  endif()
  sort_checksums("${content}/DEBIAN/md5sums")
  step(chmod --recursive u=rwX,go=rX "${content}")
  step(find "${content}" -exec touch --no-dereference "--date=@$ENV{SOURCE_DATE_EPOCH}" {} +)
  step(dpkg-deb --root-owner-group -Zxz --build "${content}" "${file}")
  file(REMOVE_RECURSE "${content}")
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  foreach(file IN LISTS CPACK_PACKAGE_FILES)
    cmake_path(GET file FILENAME name)
    if(name MATCHES "^${package}_.*[.]deb$")
      repack("${file}" "${package}" "${CPACK_DEBIAN_${upper}_MULTIARCH}")
    endif()
  endforeach()
endforeach()
