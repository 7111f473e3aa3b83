// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compares operations chosen by a portfolio with a trusted one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"

namespace bench {

/// Runs two operations of one size on the same inputs, and compares all their output, on the device
/// and without waiting: so a hundred thousand sizes take seconds.
class size_checker {
 public:
  /// @param on       must outlive it
  /// @param type     float32 or float16, of the results
  /// @param allowed  the absolute and the relative difference of two elements, added
  /// @param inputs   the input slots
  /// @param fill     fills the inputs of an operation; called when they are larger than before
  size_checker(bench_device& on, tune::dtype type, double absolute, double relative,
               std::vector<std::string> inputs, std::function<void(tune::operation&)> fill);
  ~size_checker();
  size_checker(const size_checker&) = delete;
  size_checker& operator=(const size_checker&) = delete;

  /// @throws the errors of a launch
  void check(tune::operation& chosen, tune::operation& trusted);
  /// Returns the number of elements that differed so far. Waits.
  std::uint64_t wrong();

 private:
  class memory;

  void compare(const tune::device_array& got, const tune::device_array& expected);

  bench_device& on_;
  std::vector<std::string> inputs_;
  std::function<void(tune::operation&)> fill_;
  std::shared_ptr<memory> own_;
  std::shared_ptr<memory> other_;
  tune::kernel kernel_;
  tune::buffer counts_;
  double absolute_;
  double relative_;
  std::size_t element_bytes_;
};

}  // namespace bench
