// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/tolerance.hpp"

namespace tune {

namespace detail {
class device_comparison;
}

/// The arrays that a correct kernel leaves behind, against which each configuration is checked
/// before it is measured. Made once for a search, and shared by all its configurations: a handle,
/// copies mean the same answer. Complete it before it is first compared with; from then on it is
/// thread-safe.
///
/// A kernel that writes nothing passes if the right values happen to lie in its buffers already, as
/// where the buffers of one configuration serve the next: zero them before the first run, with
/// measure::reset or once they are bound.
///
///   tune::answer expected;
///   expected.add("u_new", host_result, {.absolute = 1e-5});
///   ...
///   return tune::make_measure(queue, op).check(
///       expected.check(queue, {{"u_new", op.buffer("u_new")}, {"u", op.buffer("u")}}));
class answer {
 public:
  /// A named array of a configuration.
  using result = std::pair<std::string, device_array>;
  /// Decides itself. Returns nothing if the results are right, else what is wrong with them.
  using function =
      std::function<std::optional<std::string>(command_queue&, const std::vector<result>&)>;

  answer();

  /// What an array has to hold. Arrays without an answer are not looked at.
  /// @throws argument_error if the name has an answer already
  template <element T>
  answer& add(std::string name, host_array<T> expected, const tolerance& allowed = {}) {
    auto kept = std::make_shared<host_array<T>>(std::move(expected));
    const array_layout layout = kept->layout();
    const void* elements = kept->data();
    add_expected({.name = std::move(name),
                  .layout = layout,
                  .elements = std::shared_ptr<const void>(kept, elements),
                  .allowed = allowed});
    return *this;
  }

  /// A function that decides, called with all results once the arrays have been found right.
  /// @throws argument_error if it is empty
  answer& verify(function decides);

  /// Compares the results that have an answer: large ones on the device, where it can, with what
  /// it keeps there of the answer; small ones, and those that are wrong, on the host. Waits for the
  /// queue.
  /// @returns nothing if all is right, else which array differs, where and how much
  /// @throws argument_error if an array that has an answer is not among the results, or has another
  ///         type or shape there
  std::optional<std::string> find_mismatch(command_queue& queue,
                                           const std::vector<result>& results) const;

  /// The same as a function to be called once the configuration has run.
  std::function<std::optional<std::string>()> check(command_queue queue,
                                                    std::vector<result> results) const;

 private:
  struct expected_array {
    std::string name;
    array_layout layout;
    std::shared_ptr<const void> elements;
    tolerance allowed;
    std::shared_ptr<detail::device_comparison> on_device{};
  };
  struct contents {
    std::vector<expected_array> arrays;
    std::vector<function> functions;
  };

  void add_expected(expected_array expected);

  std::shared_ptr<contents> contents_;
};

}  // namespace tune
