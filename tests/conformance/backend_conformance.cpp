// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/backend_conformance.hpp"

#include <doctest/doctest.h>

#include "libtune/device/context.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

void says_what_it_is(const device& device) {
  CHECK_FALSE(device.name().empty());
  CHECK_FALSE(device.platform_name().empty());
  CHECK_FALSE(device.driver_version().empty());
  CHECK_FALSE(device.info().backend.empty());
  CHECK(device == tune::device(device));
}

void has_sensible_limits(const device& device) {
  const device_limits& limits = device.limits();
  CHECK(limits.max_work_group_size >= 1);
  for (const std::size_t extent : limits.max_work_group_extent) CHECK(extent >= 1);
  CHECK(limits.max_work_group_size <= limits.max_work_group_extent[0] *
                                          limits.max_work_group_extent[1] *
                                          limits.max_work_group_extent[2]);
  CHECK(limits.local_memory_bytes >= 1024);
  CHECK(limits.max_allocation_bytes >= std::size_t{1} << 20);
  CHECK(limits.max_allocation_bytes <= limits.global_memory_bytes);
  CHECK(limits.buffer_alignment_bytes >= 1);
  CHECK(limits.compute_units >= 1);
  CHECK(limits.simd_group_size >= 1);
}

void hands_out_related_objects(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  CHECK(context.device() == device);
  CHECK(queue.context() == context);
  CHECK(queue.device() == device);
  CHECK_FALSE(context == device.create_context());
  CHECK_FALSE(queue == context.create_command_queue());
}

constexpr requirement device_requirements[] = {
    {"a device says what it is", says_what_it_is},
    {"a device has sensible limits", has_sensible_limits},
    {"contexts and queues know where they belong", hands_out_related_objects},
};

void check_all(std::span<const requirement> requirements, const device& device) {
  for (const requirement& item : requirements) {
    DOCTEST_SUBCASE(item.sentence) { item.check(device); }
  }
}

}  // namespace

void check_backend_conformance(const device& device) {
  check_all(device_requirements, device);
  check_all(buffer_requirements(), device);
  check_all(sub_buffer_requirements(), device);
  check_all(copy_requirements(), device);
  check_all(image_requirements(), device);
  check_all(fill_requirements(), device);
  check_all(memory_requirements(), device);
  check_all(program_requirements(), device);
  check_all(launch_requirements(), device);
  check_all(event_requirements(), device);
  check_all(graph_requirements(), device);
  check_all(lifetime_requirements(), device);
  check_all(thread_requirements(), device);
}

}  // namespace tune::testing
