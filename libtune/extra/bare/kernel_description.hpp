// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune::detail {

/// The description of a bare_kernel, and its values for a configuration. Its const functions are
/// thread-safe.
struct kernel_description {
  /// A restriction before the parameters are complete.
  struct condition {
    std::optional<expression> text{};
    bare_kernel::predicate allows{};
    std::string description{};
    std::vector<std::string> reads{};
  };
  struct macro {
    std::string name;
    std::function<value(const configuration&)> of;
  };
  struct expected {
    std::size_t argument;
    std::function<void(answer&, const std::string& name, const shape&)> add;
  };

  struct trusted_kernel {
    std::shared_ptr<const kernel_description> about;
    configuration at;
    tolerance allowed;
  };
  struct variation {
    std::size_t argument;
    input_kind kind;
  };

  bare_kernel::definition defined;
  std::vector<parameter> parameters{};
  std::vector<condition> conditions{};
  std::array<std::optional<std::vector<quantity>>, 3> grid_divisors{};
  std::array<std::string, 3> work_group_names{"block_size_x", "block_size_y", "block_size_z"};
  std::optional<quantity> local_memory{};
  std::vector<macro> macros{};
  std::vector<kernel_argument> arguments{};
  std::vector<std::pair<std::string, std::vector<std::byte>>> constants{};  // by variable
  std::vector<expected> answers{};
  std::optional<trusted_kernel> reference{};
  std::vector<variation> variations{};
  bare_kernel::verifier verify{};
  bool deterministic = true;
  bool reports_accuracy = false;
  bool reports_bits = false;
  std::size_t alignment = 0;  // of arrays in a set of inputs; 0: no such set
  bare_kernel::measuring_function measures{};
  declared_work work{};
  std::optional<std::pair<quantity, quantity>> work_by_formulas{};  // operations and bytes
  std::vector<expression> limits{};
  std::vector<std::string> read_by_metrics{};  // names in the formulas of metrics
  search_defaults search{};
  tuning_goal goal{};
  std::optional<configuration> test_default{};
  std::optional<bare_kernel::identity> remembered{};

  /// The name of the slot of an argument.
  std::string slot_name(std::size_t argument) const;
  /// The name of an argument's answer in messages: "the answer for argument 0 of the kernel
  /// 'twice'".
  std::string answer_name(std::size_t argument) const;
  /// @throws argument_error for an unknown parameter name, and for a problem without work items
  void check() const;
  search_space space() const;
  /// See search_problem::needs_of.
  std::optional<resources> needs(const std::vector<named_value>& values) const;
  /// The work group; without extents 256 x 1 x 1. @throws argument_error for a given name without a
  /// value
  work_size work_group(const configuration& at) const;
  /// The number of work groups along each axis.
  work_size grid(const configuration& at) const;
  std::size_t dynamic_bytes(const configuration& at) const;
  /// The declared work of a run. @throws argument_error if a formula has no value, or a negative or
  /// infinite one
  declared_work work_of(const configuration& at) const;
  /// The name of the kernel, with the values of this configuration.
  std::string kernel_name(const configuration& at) const;
  program compile(const context& context, const configuration& at) const;
  /// See search_problem::why_not.
  std::optional<std::string> why_not(const std::vector<metric>& figures) const;
  /// Fills all arguments that have contents, for each set of inputs.
  void fill(workload& work) const;
  answer expected_answer() const;
  /// Adds the results of the reference, if there is one, on a filled workload.
  void take_reference(answer& expected, const workload& work) const;
  const macro* find_macro(const std::string& name) const;
  /// Passes the bound arrays to the kernel of an operation. @throws device_error for another
  /// parameter at that position
  static void set_arrays(bare_operation& of) { of.set_arrays(); }

 private:
  void check_extent(std::size_t axis) const;
  bool is_parameter(const std::string& name) const;
  /// True for an array that the kernel writes, and that has no answer of its own.
  bool lacks_answer(std::size_t argument) const;
  void check_names(const quantity& of, const std::string& what) const;
  void check_work() const;
  configuration known_to_work(const configuration& at) const;
  std::optional<std::size_t> find_extent(std::size_t axis, const configuration& at) const;
  double divisor(std::size_t axis, const configuration& at, std::size_t extent) const;
};

/// Calls a function, and prepends the given thing to the text of its errors: "the answer for
/// argument 0 of the kernel 'twice': ...". Errors that name their origin are left unchanged.
template <class Function>
decltype(auto) blaming(const std::string& thing, Function&& function) {
  try {
    return function();
  } catch (const type_error& mistake) {
    throw type_error(thing + ": " + mistake.what());
  } catch (const argument_error& mistake) {
    throw argument_error(thing + ": " + mistake.what());
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    throw error(thing + ": " + failure.what());
  }
}

/// The search for the best configuration, for sessions. The description must outlive it.
search_problem make_problem(std::shared_ptr<const kernel_description> of, const context& context);

}  // namespace tune::detail
