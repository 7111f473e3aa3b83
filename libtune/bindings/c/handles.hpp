// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The objects behind the handles of libtune.h, and the common frame of every call: no exception
// leaves it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/bindings/c/libtune.h"
#include "libtune/device/context.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/options.hpp"
#include "operations/by_name/by_name.hpp"
#include "operations/fft/fft.hpp"

namespace tune::c_api {

/// Stores the text of the exception being handled as this thread's last error.
/// @returns the matching status
libtune_status note_failure() noexcept;

/// Defers the end of a thread by pthread_cancel until the call has returned: its exception cannot
/// pass through the frames of a call.
class [[nodiscard]] uncancelled {
 public:
  uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }
  uncancelled(const uncancelled&) = delete;
  uncancelled& operator=(const uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Runs a call, and converts exceptions to a status.
template <class Call>
libtune_status guarded(Call&& call) noexcept {
  const uncancelled until_it_returns;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return LIBTUNE_OK;
    } else {
      return call();
    }
  } catch (...) {
    return note_failure();
  }
}

/// Returns the object of a pointer. @throws argument_error that names it, if it is null
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer != nullptr) return *pointer;
  throw argument_error(std::string(what) + " is null");
}

/// The text, or an empty text for null.
inline std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

/// Runs a call that returns a handle or a table: without a target it does nothing.
template <class Made, class Call>
libtune_status giving(Made** out, Call&& call) noexcept {
  return guarded([&] {
    static_cast<void>(required(out, "the place for the handle"));
    return call();
  });
}

/// Returns a new handle, within giving.
template <class Handle, class... Arguments>
void give(Handle** out, Arguments&&... arguments) {
  *out = new Handle{std::forward<Arguments>(arguments)...};
}

/// Destroys a handle.
template <class Handle>
libtune_status destroy(Handle* handle) noexcept {
  return guarded([&] { delete handle; });
}

/// A function of the caller with its user data.
template <class Function>
struct callback {
  Function function = nullptr;
  void* user = nullptr;
};

/// The text of this thread's last error, for a callback that failed, with the callback's own
/// status.
/// @param otherwise  the text if it set none
std::string callback_reason(libtune_status status, const char* otherwise);
/// Throws for a callback that failed. @throws tuning_stopped_error for LIBTUNE_STOPPED, else error
[[noreturn]] void throw_failed(libtune_status status, const char* otherwise);
/// True if the stop function of this thread (libtune_stop_by) requests a stop.
bool is_stop_wanted() noexcept;
/// Clears the last error, so that a text from a callback is not an earlier one.
void clear_last_error() noexcept;

/// Converts a value of the caller. @throws argument_error, type_error
value to_value(const libtune_value& given);
std::vector<named_value> to_values(const libtune_named_value* given, std::size_t count);

/// Texts and arrays that returned values refer to. Their addresses do not change.
class value_store {
 public:
  libtune_value keep(const value& v);
  libtune_value keep(std::vector<double> numbers);
  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<double>> numbers_;
};

/// Named values in the form for the caller.
class value_list {
 public:
  value_list() = default;
  explicit value_list(const std::vector<named_value>& values);
  value_list(const value_list&) = delete;
  value_list& operator=(const value_list&) = delete;

  void give(const libtune_named_value** values, std::size_t* count) const;
  const libtune_named_value* data() const noexcept { return all_.data(); }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  value_store store_;
  std::vector<libtune_named_value> all_;
};

/// Makes a table row by row. Columns are in the order of their first use.
class table_builder {
 public:
  void begin_row() { ++rows_; }
  /// Sets a cell of the latest row.
  void set(const std::string& column, const value& v);
  void set(const std::string& column, std::vector<double> numbers);
  /// Ensures that a column exists, to fix the order.
  void reserve(const std::string& column);

  /// Returns the table, within giving.
  void give(libtune_table** out) &&;

 private:
  std::vector<libtune_value>& cells_of(const std::string& column);

  std::unique_ptr<libtune_table> made_;
  std::map<std::string, std::size_t> places_;
  std::size_t rows_ = 0;
};

/// Returns a name that differs from the others, with the prefix if necessary.
std::string apart_from(const std::set<std::string>& others, const std::string& prefix,
                       const std::string& name);

/// Sets an option by its name, in the form of libtune_context_set_option.
void set_option(tuning_options& options, const std::string& name, const char* text);

/// Calls visitor.operator()<T>() for the host type of elements, if this library knows it.
template <class Visitor>
decltype(auto) visit_element(const element_type& type, Visitor&& visitor) {
  if (const auto dtype = type.dtype()) return visit_dtype(*dtype, visitor);
  if (type == element_type::of<operations::complex_half>()) {
    return visitor.template operator()<operations::complex_half>();
  }
  throw type_error("elements of '" + std::string(type.name()) + "' cannot be copied here");
}

/// The element type with a name that this library supports: dtypes and complex_half.
element_type element_type_of(const char* name);

/// Checks elements of the caller for an array without padding.
/// @throws argument_error unless there are as many bytes as the shape needs
void require_bytes(const element_type& type, const shape& size, std::size_t bytes);

}  // namespace tune::c_api

struct libtune_table {
  struct column {
    std::string name;
    std::vector<libtune_value> cells;
  };
  std::vector<column> columns;
  std::size_t rows = 0;
  tune::c_api::value_store store;
};

struct libtune_device {
  explicit libtune_device(tune::device its_device);

  tune::device device;
  tune::c_api::value_list properties;
};

struct libtune_context {
  tune::context context;
};

struct libtune_queue {
  tune::command_queue queue;
};

struct libtune_buffer {
  tune::buffer buffer;
};

struct libtune_database {
  explicit libtune_database(const std::string& path);

  tune::tuning_database database;
  std::mutex mutex;                   // guards the other members
  std::vector<std::int64_t> state{};  // the state of the file when the functions were read
  std::map<std::pair<std::string, int>, std::shared_ptr<const tune::function_identity>> known;
};

struct libtune_result {
  explicit libtune_result(const tune::record& found);

  tune::c_api::value_list values;
  tune::c_api::value_list facts;
};

struct libtune_results {
  tune::kernel_results results;
};

struct libtune_template {
  explicit libtune_template(std::shared_ptr<const tune::operations::template_by_name> its_template)
      : made(std::move(its_template)), tuning(made->tuning()) {}

  std::shared_ptr<const tune::operations::template_by_name> made;
  tune::c_api::value_list tuning;
};

struct libtune_operation {
  std::shared_ptr<tune::operation> operation;  // shared with the sequence that it is part of
  tune::bare_operation* bare = nullptr;        // the same operation, if it is a bare one
  std::function<void(std::string_view, const tune::value&)> set{};  // copies share their state
};

struct libtune_tuner {
  using step = std::function<void(tune::bare_kernel&)>;

  libtune_tuner(tune::bare_kernel::definition its_definition, bool of_kernel)
      : defined(std::move(its_definition)), is_kernel(of_kernel), kernel(defined) {}

  /// Performs a step at once, for its errors, and again after a new definition of the kernel.
  void add(step does) {
    does(kernel);
    steps.push_back(std::move(does));
  }

  void redefine(const std::function<void(tune::bare_kernel::definition&)>& change) {
    require_kernel();
    auto changed = defined;
    change(changed);
    tune::bare_kernel made(changed);
    for (const step& each : steps) each(made);
    made.set_arguments(arguments);
    for (const step& each : answers) each(made);
    defined = std::move(changed);
    kernel = std::move(made);
  }

  void add_argument(tune::kernel_argument added) {
    require_kernel();
    if (!answers.empty()) {
      throw tune::argument_error("an argument of the kernel '" + defined.name +
                                 "' is given after an answer; give all arguments first");
    }
    arguments.push_back(std::move(added));
    kernel.set_arguments(arguments);
  }

  void require_kernel() const {
    if (is_kernel) return;
    throw tune::argument_error("the tuner '" + defined.name +
                               "' has no kernel: a function measures its configurations");
  }

  tune::tuning_options options_in(const tune::context& context) const {
    tune::tuning_options made = *tuning_options_of(context);
    for (const auto& [name, text] : options) {
      tune::c_api::set_option(made, name, text ? text->c_str() : nullptr);
    }
    made.metrics.computed.insert(made.metrics.computed.end(), computed.begin(), computed.end());
    if (observes) made.metrics.probes.push_back(observes);
    if (begin_with.empty()) return made;
    const tune::search_space space = kernel.space();
    for (const auto& values : begin_with) {
      if (const auto number = space.find(values)) made.search.warm_start.push_back(*number);
    }
    return made;
  }

  tune::bare_kernel::definition defined;
  bool is_kernel;
  tune::bare_kernel kernel;  // for a function: only its space
  std::vector<step> steps{};
  std::vector<tune::kernel_argument> arguments{};
  std::vector<step> answers{};
  std::vector<std::pair<std::string, std::optional<std::string>>> options{};
  std::vector<tune::computed_metric> computed{};  // by functions of the caller
  std::vector<std::vector<tune::named_value>> begin_with{};
  std::shared_ptr<tune::probe> observes{};  // null without a function that observes
  // For a function.
  tune::c_api::callback<libtune_measure_function> measures{};
  std::vector<tune::computed_metric> metrics{};
  std::vector<std::string> read_by_metrics{};  // names in their formulas
  std::optional<tune::bare_kernel::identity> remembered{};

  tune::c_api::callback<libtune_trial_function> hears{};
};
