// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/interface.hpp"

#include <array>
#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/fake_device.hpp"

namespace interface_test {

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer buffer = context.create_buffer(64);
  std::array<std::byte, 64> host{};

  tune::detail::copy_request request() {
    return {.source = {.host = host.data(), .row_pitch_bytes = 8, .slice_pitch_bytes = 32},
            .destination = {.buffer = buffer.impl().get(),
                            .row_pitch_bytes = 8,
                            .slice_pitch_bytes = 32},
            .row_bytes = 8,
            .rows = 4,
            .slices = 2};
  }
};

TEST_CASE_FIXTURE(bench, "a copy may end with its buffer and no further") {
  tune::detail::copy_request copy = request();
  CHECK_NOTHROW(queue.impl()->copy(copy));
  copy.destination.offset_bytes = 1;
  CHECK_THROWS_WITH_AS(queue.impl()->copy(copy), doctest::Contains("leaves the buffer of 64 bytes"),
                       tune::argument_error);
  copy = request();
  copy.destination.slice_pitch_bytes = 33;
  CHECK_THROWS_AS(queue.impl()->copy(copy), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a copy of nothing does not reach the device") {
  tune::detail::copy_request copy = request();
  copy.row_bytes = 0;
  CHECK_NOTHROW(queue.impl()->copy(copy));
  CHECK(fake.calls(tune::testing::fake_call::copy) == 0);
}

TEST_CASE_FIXTURE(bench, "a fill of nothing does not reach the device") {
  CHECK_NOTHROW(queue.zero(buffer, 0, 64));
  CHECK(fake.calls(tune::testing::fake_call::fill) == 0);
}

TEST_CASE_FIXTURE(bench, "a queue without profiling knows that it has none") {
  CHECK_FALSE(queue.impl()->profiling());
  CHECK(context.create_command_queue({.profiling = true}).impl()->profiling());
  CHECK(context.create_tuning_command_queue().impl()->profiling());
}

}  // namespace interface_test
