# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Which headers a user gets: libtune_public_headers, absolute. That is all of them, except what a
# backend keeps to itself and the programs.
file(GLOB_RECURSE libtune_public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/libtune/*.hpp")
set(libtune_backend_headers ${libtune_public_headers})
list(FILTER libtune_backend_headers INCLUDE REGEX "/libtune/(opencl|cuda)/(backend|interop)\\.hpp$")
list(FILTER libtune_public_headers EXCLUDE
     REGEX "/libtune/((opencl|cuda|worker|cli)/|search/strategy_factories|simulate/recording_json|report/to_json|store/(exchange_json|plain_json|t4_trial))")
# Of the isolation of searches, what applications call.
list(FILTER libtune_public_headers EXCLUDE
     REGEX "/libtune/isolation/(device|field|greet|isolated|lost|message|process_state|remote_search|search|tuner_(child|link|message|service)|watchdog)")
list(FILTER libtune_public_headers EXCLUDE
     REGEX "/libtune/pretune/(device_group|division|group_work|key_tuning|pretune_with|search_pace|shared_search|work_board)")
list(APPEND libtune_public_headers ${libtune_backend_headers})

# And those of the built-in operations; what lies beside their folders they share among themselves.
file(GLOB libtune_operations_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operations/*/*.hpp")
