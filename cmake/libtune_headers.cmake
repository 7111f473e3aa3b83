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

libtune_public(array allocator buffer_allocator device_array host_array host_memory layout
               managed_array pooled_allocator region shape strided_layout typed_array)
libtune_public(base cxx20 dtype element_type environment error fields float16 library_version log
               seal value visit_dtype)
libtune_public(device buffer command_graph command_queue context device device_identity device_info
               devices event fill_region kernel mapped_memory nd_range program program_source select)
libtune_public(device/cuda interop)
libtune_public(device/opencl interop)
libtune_public(exchange event_log files progress table varying_fields)
libtune_public(kernel check_compiles compile defines kernel_library kernel_source resolved_source)
libtune_public(kernel/pool worker_program)
libtune_public(measure measure)
libtune_public(measure/timing confidence_interval measure_settings measurement samples steadiness)
libtune_public(operation captured_operation dimension drawing io_slot operation sequence slot svg
               typed_slot workload)
libtune_public(pipeline event_waiter future job_queue recycled_memory resource task)
libtune_public(search/space resources restriction search_space space space_outline)
libtune_public(search/strategy strategies strategy strategy_options)
libtune_public(store/database function_identity match)
libtune_public(store/files lock_holder)
libtune_public(testing allocation_counter compile_checks devices fake_clock fake_device
               fake_failures fake_kernel fake_launch fake_macros force_autotune run_tests
               scoped_environment scoped_seal skip strategy_conformance temporary_directory
               test_mode_guard)
libtune_public(tune autotuner error observer options search_problem session test_mode trial
               tuning_budget)
libtune_public(tune/ahead pretuning)
libtune_public(tune/remote serve_if_worker tuner_program)
libtune_public(verify answer comparison tolerance verified_measure)

# And those of the built-in operations; what lies beside their folders they share among themselves.
file(GLOB libtune_operations_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operations/*/*.hpp")
