// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune {

namespace detail {
class bit_comparison;
class device_comparison;
}  // namespace detail

/// The arrays that a correct kernel leaves behind, against which each configuration is checked
/// before it is measured. Made once for a search, and shared by all its configurations: a handle,
/// copies mean the same answer. Complete it before it is first compared with; from then on it is
/// thread-safe.
///
/// Alone it compares what it is given, and an array that still holds the answer from before is
/// right. Together with a workload it does more (make_measure): arrays are poisoned before the
/// run, so that a kernel which writes nothing is not taken for right, writes out of bounds are
/// found, and a second run has to give the same bits.
///
///   tune::answer expected;
///   expected.add("u_new", host_result, {.absolute = 1e-5});
///   ...
///   return tune::make_measure(queue, std::move(op), work, expected);
class answer {
 public:
  /// A named array of a configuration.
  using result = std::pair<std::string, device_array>;
  /// Decides itself. Returns nothing if the results are right, else what is wrong with them.
  using function =
      std::function<std::optional<std::string>(command_queue&, const std::vector<result>&)>;

  answer();

  /// Adds the contents that an array has to have, which are kept; what wraps memory of the
  /// application is copied. Arrays without an answer are not compared.
  /// @throws argument_error if the name has an answer already
  template <element T>
  answer& add(std::string name, host_array<T> expected, const tolerance& allowed = {}) {
    auto kept = std::make_shared<host_array<T>>(detail::owned(std::move(expected)));
    const array_layout layout = kept->layout();
    const void* elements = kept->data();
    add_expected({.name = std::move(name),
                  .layout = layout,
                  .elements = std::shared_ptr<const void>(kept, elements),
                  .allowed = allowed});
    return *this;
  }

  /// The same with a copy of the elements of a range, such as a vector, in C order.
  /// @throws argument_error also unless there are as many as the shape has
  template <detail::host_range Range>
  answer& add(std::string name, const Range& expected, const shape& size,
              const tolerance& allowed = {}) {
    return add(std::move(name),
               host_array<detail::element_of<Range>>::copy_of(
                   {std::data(expected), std::size(expected)}, size),
               allowed);
  }

  /// The same with what an array on the device holds now, which is read back: the output of an
  /// operation that is trusted. Waits for the queue.
  /// @throws argument_error if the name has an answer already, device_error
  answer& add(std::string name, command_queue& queue, const device_array& expected,
              const tolerance& allowed = {});

  /// A function that decides, called with all results once the arrays have been found right.
  /// @param decides  is given the queue of the check and every result, with an answer or without
  /// @param judges  the outputs that it looks at and that have no answer: a second run has to give
  ///                the same bits of these too
  /// @throws argument_error if it is empty
  answer& verify(function decides, std::vector<std::string> judges = {});

  /// A second run need not give the same bits, as where floating numbers are added in no order; it
  /// has to be as right as the first.
  answer& nondeterministic();
  /// True if a second run has to give the same bits: true unless nondeterministic was called.
  bool is_deterministic() const noexcept { return contents_->deterministic; }

  /// True if there is nothing to compare with.
  bool empty() const noexcept { return contents_->arrays.empty() && contents_->functions.empty(); }

  /// The arrays of which a second run has to give the same bits: those that have an answer, and
  /// those that a function judges.
  const std::vector<std::string>& judged() const noexcept { return contents_->judged; }

  /// The comparer of two runs, for the checks of the configurations of one search.
  detail::bit_comparison& bits() const noexcept { return *contents_->bits; }

  /// Compares the results that have an answer: large ones on the device, where it can, with what
  /// it keeps there of the answer; small ones, and those that are wrong, on the host. Waits for the
  /// queue.
  /// @returns nothing if all is right, else which array differs, where and how much
  /// @throws argument_error if an array that has an answer is not among the results, or has another
  ///         type or shape there
  std::optional<std::string> find_mismatch(command_queue& queue,
                                           const std::vector<result>& results) const;

  /// The same as a function to be called once the configuration has run. The caller fills the
  /// arrays before the run: memory that a context hands out often holds what the last
  /// configuration wrote. make_measure with a workload does.
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
    std::vector<std::string> judged;
    bool deterministic = true;
    std::shared_ptr<detail::bit_comparison> bits;
  };

  void add_expected(expected_array expected);
  void note_judged(std::string name);

  std::shared_ptr<contents> contents_;
};

namespace detail {
std::shared_ptr<run_check> make_run_check(std::shared_ptr<operation> operation, workload work,
                                          answer expected);
}

/// Measures an operation on the arrays of a workload, and has it checked against an answer:
///
/// 1. Arrays without contents are poisoned with bytes that are NaN to floats, and it is run. So a
///    kernel that writes nothing, or not all, does not pass.
/// 2. Nothing may have been written into the guard bands around its arrays.
/// 3. Its arrays are compared with the answer, by the names of their slots. Those of a sequence
///    count too where they are hidden.
/// 4. It is run again, on the same inputs and another poison, which shows what reads or leaves what
///    it should not: the judged arrays have to have the same bits, or, of what is
///    nondeterministic, be as right as before.
///
/// With an empty answer it is run once, and only the guard bands are looked at. The operation's
/// unbound slots are bound by this. Slots that have an answer, or that a function judges, are bound
/// to the workload's arrays, or a part of a slot that is: other memory could not be poisoned
/// without harm to what it holds, nor guarded. An operation that reads its output has contents for
/// it in the workload, or a reset function, which is called after the poison.
/// @throws argument_error that names the slot if a slot with an answer or a judging function was
///         bound to other memory before this call or a checked run; what workload::bind throws
template <std::derived_from<operation> Operation>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
measure make_measure(tuning_command_queue queue, Operation op, workload work, answer expected) {
  auto kept = std::make_shared<Operation>(std::move(op));
  work.bind(*kept);
  return make_measure(std::move(queue), std::function<void()>([kept] { kept->run(); }))
      .check_runs(detail::make_run_check(kept, std::move(work), std::move(expected)));
}

/// Does the same at once, to an operation that is not measured: on an odd shape, say, beside the
/// one that is. Returns what is wrong. @throws argument_error as make_measure, whatever the
/// operation or the device throws
std::optional<std::string> find_fault(operation& op, workload work, const answer& expected);

/// Runs a trusted operation on the arrays of a workload, and takes some of its outputs as the
/// answer. It is run through the same door as what it judges: same inputs, poison and guard bands.
/// @throws argument_error if it has no such array, one is not the workload's or has an answer
///         already; error if it writes out of bounds; device_error
void take_answer(answer& expected, workload work, operation& trusted,
                 std::initializer_list<std::string> outputs, const tolerance& allowed = {});

}  // namespace tune
