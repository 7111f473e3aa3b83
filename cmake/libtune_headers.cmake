# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# The headers that a user gets: what those who write programs, operations and tests include, and what
# these include. All others are private and not installed (tests/tree/headers_test.cpp).
set(libtune_public_headers "${PROJECT_SOURCE_DIR}/libtune/libtune.hpp")

# libtune_public(<module> <header without .hpp>...)
function(libtune_public module)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/libtune/${module}/")
  list(TRANSFORM ARGN REPLACE "/[.]/" "/")
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
libtune_public(kernel compile defines kernel_source)
libtune_public(kernel/pool worker_program)
libtune_public(measure measure peaks work)
libtune_public(measure/timing samples settings)
libtune_public(operation dimension input_set operation parameter_list remaking sequence slot workload)
libtune_public(search/model coverage)
libtune_public(search/space neighbours random_source search_space space)
libtune_public(search/strategy learning_strategy strategy)
libtune_public(store/database function_identity match)
libtune_public(store/files lock_holder)
libtune_public(tune autotuner error goal metric_sources observer opened_door options search_defaults search_problem
               session test_mode trial tuned_by tuning_budget)
libtune_public(verify accuracy answer comparison)

# Those of the neighbours: one umbrella header each, and what it includes.
libtune_public(. child console)
libtune_public(child serve_if_worker)
libtune_public(console drawing event_log progress reports result_text)
libtune_public(extra ahead bare behind capture deadline formats live metrics pipeline ranged ready sensors sequence shared simulate)
libtune_public(extra/ahead communicator pretuning recheck)
libtune_public(extra/bare bare_kernel bare_operation configuration expression kernel_argument)
libtune_public(extra/behind gate_page heartbeat interval_tally quiet_moments tuning_behind)
libtune_public(extra/capture capture capture_reader captured_frame captured_keys replay replay_child)
libtune_public(extra/formats t1)
libtune_public(extra/live live)
libtune_public(extra/metrics capture_metrics frame_clock frame_histogram metric_page metrics_exporter)
libtune_public(extra/simulate random_baseline read_recording recorded_space scoring simulation strategy_score)
libtune_public(extra/pipeline event_loop event_waiter future job_queue resource task)
libtune_public(extra/ranged cost_corrections cost_model portfolio portfolio_builder portfolio_fit ranged_autotuner
               size_range size_times size_tree)
libtune_public(extra/sensors device_probes energy_meter energy_sensor supported_settings)
libtune_public(extra/sequence sequence_tuner)
libtune_public(extra/deadline background_load frame_record live_knobs pipeline_contest pipeline_space pipeline_tuner)
libtune_public(extra/ready get_ready readiness_report)
libtune_public(testing allocation_counter captured_frames device_requirement devices fake_device fake_kernel
               fixtures run_tests strategy_conformance temporary_directory)

# And those of the built-in operations; what lies beside their folders they share among themselves.
file(GLOB libtune_operations_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operations/*/*.hpp")
file(GLOB libtune_telescope_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operations/telescope/*/*.hpp")
