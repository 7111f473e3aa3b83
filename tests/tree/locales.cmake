# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Runs tests once more in a locale that writes numbers otherwise: with a decimal sign of two bytes
# (ps_AF), or with a comma (de_DE). The locale is made here, from what the C library has, and not
# installed.
#   localedef, folder   the program that makes locales, and where to
#   locale              ps_AF or de_DE
#   programs            name=path of test programs
set(cases
  "base"
  "kernel|*/compile_scope_test.cpp,*/defines_test.cpp"
  "search|*/space_test.cpp"
  "store|*/connection_test.cpp,*/trial_log_test.cpp,*/tuning_database_test.cpp"
  "maintenance|*/database_reader_test.cpp,*/merge_test.cpp,*/prune_test.cpp"
  "tune|*/autotuner_test.cpp,*/goal_test.cpp,*/lookup_test.cpp"
  "bare|*/bare_kernel_test.cpp,*/expression_test.cpp,*/remembered_kernel_test.cpp"
  "formats|*/t1_test.cpp,*/t4_test.cpp,*/winners_test.cpp")
set(ENV{LOCPATH} "${folder}")
file(MAKE_DIRECTORY "${folder}")
execute_process(COMMAND "${localedef}" -i ${locale} -f UTF-8 "${folder}/${locale}.UTF-8"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT EXISTS "${folder}/${locale}.UTF-8/LC_NUMERIC")
  message("skipped: the locale ${locale} cannot be made here: ${output}")
  return()
endif()
set(ENV{LC_ALL} ${locale}.UTF-8)
foreach(case IN LISTS cases)
  string(REPLACE "|" ";" case "${case}")
  list(POP_FRONT case name)
  set(program "${programs}")
  list(FILTER program INCLUDE REGEX "^${name}=")
  string(REGEX REPLACE "^[^=]*=" "" program "${program}")
  if(case)
    list(TRANSFORM case PREPEND "--source-file=")
  endif()
  execute_process(COMMAND "${program}" ${case} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${name} in ${locale}:\n${output}")
  endif()
endforeach()
