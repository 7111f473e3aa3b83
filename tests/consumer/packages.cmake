# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Makes the packages for Debian of a built libtune, looks at them, and unpacks them in ${work_dir}/root:
# a part of run.cmake.

set(debs "${work_dir}/debs")
execute_process(COMMAND "${cpack}" --config "${libtune_build_dir}/CPackConfig.cmake" -C "${config}" -G DEB
    -B "${debs}"
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cpack ended with ${status}:\n${output}")
endif()
file(GLOB packages LIST_DIRECTORIES OFF "${debs}/*.deb")

# field(<result> <package> <name>): a field of its control file.
function(field result package name)
  execute_process(COMMAND dpkg-deb --field "${package}" ${name} OUTPUT_VARIABLE value
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

set(names "")
foreach(package IN LISTS packages)
  field(name "${package}" Package)
  field(package_version "${package}" Version)
  field(depends "${package}" Depends)
  field(multiarch "${package}" Multi-Arch)
  list(APPEND names ${name})
  if(NOT package_version STREQUAL "${version}-1" OR (NOT multiarch MATCHES "^(same|foreign)$" AND NOT name MATCHES "^python3-"))
    message(FATAL_ERROR "${package} has version ${package_version} and Multi-Arch '${multiarch}'")
  endif()
  if(name STREQUAL "libtune${soversion}")
    set(needed "libc6 .*libsqlite3-0 ")  # found by dpkg-shlibdeps
  else()
    set(needed "libtune${soversion} [(]= ${version}-1[)]")
  endif()
  if(NOT depends MATCHES "${needed}")
    message(FATAL_ERROR "${package} depends on '${depends}', which has no ${needed}")
  endif()
  step(dpkg-deb --extract "${package}" "${work_dir}/root")
endforeach()
foreach(name IN ITEMS libtune${soversion} libtune-dev libtune-tools)
  if(NOT name IN_LIST names)
    message(FATAL_ERROR "the packages are ${names}, without ${name}")
  endif()
endforeach()

find_program(lintian lintian)
if(lintian)
  execute_process(COMMAND "${lintian}" --allow-root --fail-on error,warning ${packages}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "lintian finds fault with the packages:\n${output}")
  endif()
else()
  message(STATUS "there is no lintian, so the packages are not checked by it")
endif()

# None of their files has a search path, which lintian would allow for folders of the package's own.
set(usr "${work_dir}/root/usr")
file(GLOB libraries RELATIVE "${usr}" "${usr}/${libdir}/libtune*.so.${version}")
list(LENGTH libraries count)
if(count LESS 16)
  message(FATAL_ERROR "the packages have ${count} libraries: ${libraries}")
endif()
foreach(file IN LISTS libraries ITEMS "${helper_folder}/libtune-worker" "${helper_folder}/libtune-tuner" "bin/tunedb")
  execute_process(COMMAND readelf --dynamic "${usr}/${file}" OUTPUT_VARIABLE dynamic
    COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "RUNPATH|RPATH")
    message(FATAL_ERROR "${file} has a search path:\n${dynamic}")
  endif()
endforeach()
step(gzip --test "${usr}/share/man/man1/tunedb.1.gz"
     "${usr}/share/doc/libtune${soversion}/changelog.Debian.gz")
