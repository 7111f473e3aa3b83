// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/operation/dimension.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/search/space/space.hpp"
#include "libtune/tune/session.hpp"
#include "libtune/verify/answer.hpp"

namespace tune::operations {

/// Returns the bytes that a memory-bound operation reads or writes during tuning: more than four
/// times the device's last cache, so that global memory is measured, and at most an eighth of the
/// memory or the limit of one buffer.
std::size_t workload_bytes(const device& device);

/// Returns the bytes for operations that compute much for each byte: at most 8 MiB unless the
/// device is a GPU.
std::size_t computed_workload_bytes(const device& device);

/// Returns the bytes for a tuning: at most an eighth of the memory that it may hold, because the
/// copies and results of an operation, and the compared configurations, need as much again.
/// @throws too_little_memory_error if that is less than a MiB
std::size_t workload_bytes(const tuning_session& session);
std::size_t computed_workload_bytes(const tuning_session& session);

/// Checks that the arrays of a tuning at given sizes fit the memory that it may hold.
/// @param bytes  of all arrays together, copies and results included
/// @throws too_little_memory_error if they do not fit; a ranged autotuner skips those sizes
void require_memory(const tuning_session& session, std::size_t bytes);

/// Returns an array as operations allocate them: with rows padded to whole lines of memory.
device_array allocate_rows(const context& context, element_type type, std::size_t rows,
                           std::size_t columns);

/// Returns the compute capability of a CUDA device, ten times the major number plus the minor one;
/// 0 for other devices.
int cuda_generation(const device& device);

/// Returns the bytes of arrays, for the work of an operation that reads or writes each once.
template <class... Arrays>
double bytes_of(const Arrays&... arrays) {
  return (static_cast<double>(arrays.layout().bytes()) + ...);
}

/// Returns dimensions with these sizes and no padding.
std::vector<dimension> unpadded(const std::vector<std::size_t>& size);

/// A value that is made on first use, and shared by copies: for example cases with a known answer,
/// which most searches at other sizes do not check. Used by one thread.
template <class T>
class on_demand {
 public:
  /// @param make  makes the value
  explicit on_demand(std::function<T()> make) : shared_(std::make_shared<content>()) {
    shared_->make = std::move(make);
  }

  const T& operator*() const {
    if (!shared_->made) shared_->made.emplace(shared_->make());
    return *shared_->made;
  }

 private:
  struct content {
    std::function<T()> make;
    std::optional<T> made;
  };
  std::shared_ptr<content> shared_;
};

/// Returns the measure of an operation that is checked for writes out of bounds, and whose program
/// is checked in cases that the host computes, until one is wrong.
/// @param cases  each has find_wrong(program, tuning), or find_wrong(program, tuning, accuracy) if
///               the trials report the accuracy of their results; or is a vector of these; or makes
///               them on demand
template <class Operation, class Tuning, class... Cases>
measure make_checked_measure(const tuning_command_queue& queue, Operation op, const workload& work,
                             const program& built, const Tuning& tuning, const Cases&... cases) {
  const auto measured = std::make_shared<std::optional<accuracy>>();
  auto made = make_measure(queue, std::move(op), work, answer()).check([=] {
    std::optional<std::string> wrong;
    measured->reset();
    const auto look_at_one = [&](const auto& known) {
      if constexpr (requires(accuracy & of) { known.find_wrong(built, tuning, of); }) {
        if (!*measured) measured->emplace();
        wrong = known.find_wrong(built, tuning, **measured);
      } else {
        wrong = known.find_wrong(built, tuning);
      }
    };
    const auto look_at = [&](const auto& known) {
      if constexpr (requires { known.begin(); }) {
        for (auto each = known.begin(); !wrong && each != known.end(); ++each) look_at_one(*each);
      } else if (!wrong) {
        look_at_one(known);
      }
    };
    const auto make_and_look = [&](const auto& known) {
      if constexpr (requires { *known; }) {
        look_at(*known);
      } else {
        look_at(known);
      }
    };
    (make_and_look(cases), ...);
    return wrong;
  });
  made.report([measured] { return *measured ? (*measured)->metrics() : std::vector<metric>(); });
  return made;
}

/// For operations that quantise: makes an answer read the slots out and saturated to the host, and
/// check them by a function.
/// @param find_wrong  receives the bytes of out and the counts; returns empty if they are right
void expect_quantised(
    answer& expected,
    std::function<std::optional<std::string>(std::span<const std::uint8_t> out,
                                             std::span<const std::uint32_t> saturated)>
        find_wrong);

/// Returns the class of widths for the tuning: the columns rounded up to a power of two from 128 to
/// 65536. So an application tunes once and not for each of its shapes.
std::size_t width_class(std::size_t columns) noexcept;

/// Keeps only these tunings in a space: for ranges of sizes, as many as a portfolio has, so that
/// every compared tuning may be chosen.
template <class Tuning, std::size_t Count>
void keep_only(space<Tuning>& space, const std::array<Tuning, Count>& kept) {
  space.restrict(
      [kept](const Tuning& tuning) { return std::ranges::find(kept, tuning) != kept.end(); },
      "few that serve all shapes well");
}

/// Returns costs for ranges of rows and columns: the bytes of the array, for any tuning. The
/// remaining error is similar at similar shapes.
cost_function costs_of_bytes(std::size_t element_bytes);

/// Returns the next number of a sequence that is the same everywhere. The upper bits are uniformly
/// distributed, the lower ones repeat soon.
inline std::uint32_t next_number(std::uint32_t& state) noexcept {
  return state = state * 1664525U + 1013904223U;
}

/// Repeats the first bytes of an array over all of it, on the device. Does not wait.
void repeat_first(command_queue& queue, const device_array& array, std::size_t bytes);

/// Repeats the bytes to a buffer, from its begin on, until the given number of bytes is written.
void write_again(command_queue& queue, const buffer& to, std::size_t bytes,
                 std::span<const std::byte> part);

/// Sets every float of an array, including padding, to a uniformly distributed number of at least 0
/// and less than 1. The numbers repeat after four million. Waits for the queue.
void set_numbers(command_queue& queue, const device_array& array);

}  // namespace tune::operations
