# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# The headers that a user gets: what those who write programs, operations and tests include, and what
# these include. All others are private and not installed (tests/tree/headers_test.cpp).
set(libtune_public_headers "${PROJECT_SOURCE_DIR}/libtune/libtune.hpp")

# libtune_public(<module> <header without .hpp>...)
function(libtune_public module)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/libtune/${module}/")
  list(TRANSFORM ARGN APPEND ".hpp")
  set(libtune_public_headers ${libtune_public_headers} ${ARGN} PARENT_SCOPE)
endfunction()

libtune_public(array allocator device_array host_array layout region)
libtune_public(base cxx20 dtype environment error fields library_version log metric
               seal value visit_dtype)
libtune_public(device buffer command_queue context device device_identity device_memory devices image
               kernel)
libtune_public(device/cuda interop tensor_map)
libtune_public(device/opencl interop)
libtune_public(exchange event_log progress reports result_text t1)
libtune_public(kernel compile defines kernel_source)
libtune_public(kernel/pool worker_program)
libtune_public(measure device_settings measure peaks)
libtune_public(measure/sensors energy_meter energy_sensor supported_settings)
libtune_public(measure/timing samples settings)
libtune_public(operation dimension drawing operation parameter_list sequence slot workload)
libtune_public(pipeline event_loop event_waiter future job_queue resource task)
libtune_public(search/model coverage)
libtune_public(search/portfolio cost_corrections cost_model portfolio_builder portfolio_fit size_range size_times size_tree)
libtune_public(search/space expression neighbours random_source search_space space)
libtune_public(search/strategy learning_strategy strategy)
libtune_public(store/database function_identity match)
libtune_public(store/files lock_holder)
libtune_public(testing allocation_counter device_requirement devices fake_device fake_kernel
               fixtures run_tests strategy_conformance temporary_directory)
libtune_public(tune autotuner device_probes error goal observer options search_defaults search_problem sequence_tuner
               session test_mode trial tuning_budget)
libtune_public(tune/ahead communicator pretuning)
libtune_public(tune/behind gate_page heartbeat interval_tally live quiet_moments tuning_behind)
libtune_public(tune/bare bare_kernel bare_operation configuration kernel_argument)
libtune_public(tune/ranged portfolio ranged_autotuner)
libtune_public(tune/remote serve_if_worker)
libtune_public(verify answer comparison)

# And those of the built-in operations; what lies beside their folders they share among themselves.
file(GLOB libtune_operations_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operations/*/*.hpp")
