# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Makes the archive of the sources, and looks at what it has: all that git knows, and nothing else. With
# -Dcompiler=... builds it, as one does who has no git and no CUDA: libraries, helpers and tunedb have to
# compile without a warning. -Dsource_dir=... -Dlibtune_build_dir=... -Dcpack=... -Dversion=... -Dgenerator=...
cmake_minimum_required(VERSION 3.25)

function(step)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE "\\[[0-9]+/[0-9]+\\] [^\n]*\n" "" output "${output}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${status}:\n${output}")
  endif()
endfunction()

execute_process(COMMAND mktemp -d -t libtune_sources.XXXXXX OUTPUT_VARIABLE work_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
step("${cpack}" --config "${libtune_build_dir}/CPackSourceConfig.cmake" -G TGZ -B "${work_dir}")
file(ARCHIVE_EXTRACT INPUT "${work_dir}/libtune-${version}.tar.gz" DESTINATION "${work_dir}")
set(sources "${work_dir}/libtune-${version}")

find_program(git git)
if(git AND EXISTS "${source_dir}/.git")
  execute_process(COMMAND "${git}" -C "${source_dir}" -c "safe.directory=*" -c core.quotePath=off ls-files
      --cached --others --exclude-standard
    OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(status EQUAL 0)
    string(REPLACE "\n" ";" known "${known}")
    file(GLOB_RECURSE packed LIST_DIRECTORIES OFF RELATIVE "${sources}" "${sources}/*")
    foreach(file IN LISTS known)
      if(NOT file IN_LIST packed AND EXISTS "${source_dir}/${file}")
        message(FATAL_ERROR "the archive does not have ${file}")
      endif()
    endforeach()
    list(REMOVE_ITEM packed ${known})
    if(packed)
      list(GET packed 0 first)
      message(FATAL_ERROR "the archive has ${first}, which git ignores")
    endif()
  endif()
endif()

if(compiler)
  step("${CMAKE_COMMAND}" -S "${sources}" -B "${work_dir}/build" -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
    -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON -DLIBTUNE_WARNINGS_AS_ERRORS=ON -DLIBTUNE_CUDA=OFF
    -DLIBTUNE_BUILD_TESTS=OFF -DLIBTUNE_BUILD_EXAMPLES=OFF -DLIBTUNE_BUILD_BENCH=OFF)
  step("${CMAKE_COMMAND}" --build "${work_dir}/build" --parallel)
  step("${work_dir}/build/libtune/tunedb/tunedb" env)
endif()
file(REMOVE_RECURSE "${work_dir}")
