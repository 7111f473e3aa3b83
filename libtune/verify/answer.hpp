// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
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
#include "libtune/verify/accuracy.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune {

namespace detail {
class bit_comparison;
class device_comparison;
class result_digest;
class right_results;
}  // namespace detail

/// The expected contents of arrays, against which each configuration is checked before it is
/// measured. Made once for a search, and shared by all its configurations: a handle, copies refer
/// to the same answer. Complete it before the first comparison; after that it is thread-safe.
///
/// On its own, it only compares arrays, and an array that still holds an earlier right answer
/// passes. With a workload the check is stricter (make_measure): arrays are poisoned before the
/// run, so that a kernel that writes nothing fails; writes out of bounds are found; and a second
/// run has to give the same bits.
///
///   tune::answer expected;
///   expected.add("u_new", host_result, {.absolute = 1e-5});
///   ...
///   return tune::make_measure(queue, std::move(op), work, expected);
class answer {
 public:
  /// A named array of a configuration.
  using result = std::pair<std::string, device_array>;
  /// A custom check. Returns nothing if the results are right, else a description of the error.
  using function =
      std::function<std::optional<std::string>(command_queue&, const std::vector<result>&)>;

  answer();

  /// Adds the expected contents of an array, which are kept; if they wrap memory of the
  /// application, they are copied. Arrays without an answer are not compared.
  /// @throws argument_error if the name already has an answer
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

  /// Adds a copy of the elements of a range, such as a vector, in C order.
  /// @throws argument_error also unless the number of elements is that of the shape
  template <detail::host_range Range>
  answer& add(std::string name, const Range& expected, const shape& size,
              const tolerance& allowed = {}) {
    return add(std::move(name),
               host_array<detail::element_of<Range>>::copy_of(
                   {std::data(expected), std::size(expected)}, size),
               allowed);
  }

  /// Adds the present contents of a device array, which are read back: the output of a trusted
  /// operation. Waits for the queue.
  /// @throws argument_error if the name already has an answer, device_error
  answer& add(std::string name, command_queue& queue, const device_array& expected,
              const tolerance& allowed = {});

  /// Adds a custom check, which is called with all results after the arrays have been found right.
  /// It should depend on these results alone: it is not called again for large results with the
  /// bits of the latest ones that all custom checks have found right.
  /// @param decides  gets the queue of the check and every result, with an answer or without
  /// @param judges   the outputs that it checks and that have no answer: a second run has to give
  /// the same bits in these, too
  /// @throws argument_error if decides is empty
  answer& verify(function decides, std::vector<std::string> judges = {});

  /// Returns the answer for another set of inputs (workload::inputs), and makes it on first use.
  /// Results with these inputs are compared with it; without an answer, only writes out of bounds
  /// are found. If the whole answer is nondeterministic, so is this one. A handle to a part of this
  /// answer.
  answer of(const std::string& inputs);
  /// The part that of() has made; an empty answer if it has made none.
  answer part_of(const std::string& inputs) const;
  /// The names of the sets of inputs that of() was called for.
  std::vector<std::string> inputs() const;

  /// Allows a second run to give other bits, as with sums of floating-point numbers in varying
  /// order; it has to be as right as the first.
  answer& nondeterministic();
  /// True if a second run has to give the same bits: true unless nondeterministic was called.
  bool is_deterministic() const noexcept { return contents_->deterministic; }

  /// Gives each configuration with right results the figures of its accuracy: "error",
  /// "error_rms", "snr" (dB) and "ulps", over all arrays with an answer and all sets of inputs.
  /// They are metrics like any others, also for goals: "min time, snr >= 60". The answer should be
  /// more exact than the results. Configurations that are not checked have none
  /// (tuning_options::verify).
  answer& report_accuracy();
  /// True if report_accuracy was called.
  bool reports_accuracy() const noexcept { return contents_->reports_accuracy; }

  /// Gives each configuration with right results the figure "bits": a digest of them, equal for
  /// equal bits, so that the configurations with the same bits are known after a search (tunedb
  /// explain, docs/report.md). Under a goal of the same bits all have it. Configurations that are
  /// not checked have none, and no configuration has it if the results are nondeterministic.
  answer& report_bits();
  /// True if report_bits was called.
  bool reports_bits() const noexcept { return contents_->reports_bits; }
  /// Measures the results that have an answer. Waits for the queue. @throws as find_mismatch
  accuracy measure(command_queue& queue, const std::vector<result>& results) const;

  /// The digest of the arrays in judged(), or of these outputs if nothing is judged: a whole number
  /// below 2^48, so that it is exact as a metric. Empty without arrays, and if the results are
  /// nondeterministic. Waits for the queue.
  std::optional<double> digest(command_queue& queue, const std::vector<result>& results,
                               const std::vector<std::string>& outputs = {}) const;

  /// True if there are no answers and no custom checks.
  bool empty() const noexcept { return contents_->arrays.empty() && contents_->functions.empty(); }

  /// The arrays in which a second run has to give the same bits: those with an answer, and those
  /// that a custom check judges.
  const std::vector<std::string>& judged() const noexcept { return contents_->judged; }

  /// Compares two runs, for the checks of all configurations of a search.
  detail::bit_comparison& bits() const noexcept { return *contents_->bits; }

  /// Compares the results that have an answer: large ones on the device if possible, with a copy of
  /// the answer there; small ones, and wrong ones, on the host. Waits for the queue.
  /// @returns nothing if all are right, else the array that differs, the place and the difference
  /// @throws argument_error if an array with an answer is not among the results, or has another
  ///         type or shape there
  std::optional<std::string> find_mismatch(command_queue& queue,
                                           const std::vector<result>& results) const;

  /// Returns find_mismatch() as a function to be called after the configuration has run. The caller
  /// has to fill the arrays before the run, because newly allocated memory often holds the results
  /// of the previous configuration. make_measure with a workload does so.
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
    bool reports_accuracy = false;
    bool reports_bits = false;
    std::shared_ptr<detail::bit_comparison> bits;
    std::shared_ptr<detail::right_results> right;
    std::shared_ptr<detail::result_digest> digests;
    std::map<std::string, answer> others{};  // by the names of the inputs
  };

  void add_expected(expected_array expected);
  void note_judged(std::string name);

  std::shared_ptr<contents> contents_;
};

namespace detail {
std::shared_ptr<run_check> make_run_check(std::shared_ptr<operation> operation, workload work,
                                          answer expected);
/// Empty if the author's inputs are the only ones that are timed.
std::vector<timed_inputs> timed_inputs_of(const std::shared_ptr<operation>& operation,
                                          const workload& work);
}  // namespace detail

/// Measures an operation on the arrays of a workload, and checks it against an answer:
///
/// 1. Arrays without contents are poisoned with bytes that are NaN as floats, and the operation is
///    run. So a kernel that writes nothing, or not everything, fails.
/// 2. The guard bands around the arrays must be unchanged.
/// 3. The arrays are compared with the answer, by the names of their slots, including hidden slots
///    of a sequence.
/// 4. It is run again with the same inputs and another poison, which reveals reads of undefined
///    memory and missing writes: the judged arrays must have the same bits, or, if they are
///    nondeterministic, be as right as before.
/// 5. In between it is run once with each other set of inputs of the workload, and compared with
///    the answer for these.
///
/// It is timed with the sets of inputs that have a weight. With an empty answer it is run once, and
/// only the guard bands are checked. Unbound slots of the operation are bound to the workload.
/// Slots that have an answer, or that a custom check judges, must be bound to the workload's
/// arrays, or be part of a slot that is: other memory could not be poisoned without damage to its
/// contents, nor guarded. An operation that reads its output needs contents for it in the workload,
/// or a reset function, which is called after the poisoning.
/// @throws argument_error that names the slot if a slot with an answer or a custom check was bound
///         to other memory before this call or a checked run; errors of workload::bind
template <std::derived_from<operation> Operation>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
measure make_measure(tuning_command_queue queue, Operation op, workload work, answer expected) {
  auto kept = std::make_shared<Operation>(std::move(op));
  work.bind(*kept);
  std::vector<timed_inputs> timed = detail::timed_inputs_of(kept, work);
  return make_measure(std::move(queue), std::function<void()>([kept] { kept->run(); }))
      .over(std::move(timed))
      .check_runs(detail::make_run_check(kept, std::move(work), std::move(expected)));
}

/// Checks an operation that is not measured in the same way, for example on an odd shape. Returns a
/// description of the error. @throws argument_error as make_measure, errors of the operation or the
/// device
std::optional<std::string> find_fault(operation& op, workload work, const answer& expected);
/// The same; adds the accuracy of a right result if the answer reports it, for measure::report.
std::optional<std::string> find_fault(operation& op, workload work, const answer& expected,
                                      accuracy& measured);

/// Runs a trusted operation on the arrays of a workload, and takes some of its outputs as the
/// answer, for each set of inputs. It runs under the same conditions as the checked operations:
/// inputs, poison and guard bands.
/// @throws argument_error if there is no such array, one does not belong to the workload or already
///         has an answer; error if it writes out of bounds; device_error
void take_answer(answer& expected, workload work, operation& trusted,
                 const std::vector<std::string>& outputs, const tolerance& allowed = {});

}  // namespace tune
