// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/queue_interface.hpp"

#include <array>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/fake_device.hpp"

namespace queue_interface_test {

using tune::detail::copy_request;

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

TEST_CASE_FIXTURE(bench, "the work of another library is recorded as one command") {
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  const auto foreign = [&] {
    tuning.impl()->copy(request());  // which is not recorded
    tuning.impl()->copy(request());
  };
  tuning.enqueue_foreign(foreign);
  tuning.start_recording();
  tuning.enqueue_foreign(foreign);
  CHECK(tuning.recorded() == 1);
  CHECK(tuning.stop_recording().size() == 1);
  CHECK(fake.calls(tune::testing::fake_call::copy) == 4);
}

TEST_CASE_FIXTURE(bench, "the failure of another library reaches the caller, and is no command") {
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  CHECK_THROWS_AS(tuning.enqueue_foreign([] { throw tune::argument_error("no plan"); }),
                  tune::argument_error);
  CHECK(tuning.recorded() == 0);
  CHECK_THROWS_AS(queue.enqueue_foreign({}), tune::argument_error);
}

std::vector<copy_request> parts_of(const copy_request& wanted) {
  std::vector<copy_request> parts;
  tune::detail::for_each_part(wanted, [&](const copy_request& part) { parts.push_back(part); });
  return parts;
}

TEST_CASE("a run of bytes is one part, whatever its pitches are") {
  const auto parts = parts_of({.source = {.offset_bytes = 3}, .destination = {}, .row_bytes = 10});
  REQUIRE(parts.size() == 1);
  CHECK(tune::detail::is_linear(parts[0]));
  CHECK(parts[0].source.offset_bytes == 3);
}

TEST_CASE("slices of one row each become rows") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 1, .slice_pitch_bytes = 9},
                               .destination = {.row_pitch_bytes = 2, .slice_pitch_bytes = 8},
                               .row_bytes = 4,
                               .rows = 1,
                               .slices = 5});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].rows == 5);
  CHECK(parts[0].slices == 1);
  CHECK(parts[0].source.row_pitch_bytes == 9);
  CHECK(parts[0].destination.row_pitch_bytes == 8);
}

TEST_CASE("slices a whole number of rows apart on both sides stay together") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 5, .slice_pitch_bytes = 20},
                               .destination = {.row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                               .row_bytes = 4,
                               .rows = 2,
                               .slices = 3});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].slices == 3);
}

TEST_CASE("other slices are copied one by one") {
  const auto parts =
      parts_of({.source = {.offset_bytes = 1, .row_pitch_bytes = 5, .slice_pitch_bytes = 17},
                .destination = {.offset_bytes = 2, .row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                .row_bytes = 4,
                .rows = 2,
                .slices = 3});
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].slices == 1);
    CHECK(parts[i].rows == 2);
    CHECK(parts[i].source.offset_bytes == 1 + 17 * i);
    CHECK(parts[i].destination.offset_bytes == 2 + 14 * i);
  }
}

}  // namespace queue_interface_test
