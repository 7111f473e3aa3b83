// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuner whose callbacks are Python functions.
#pragma once

#include <algorithm>
#include <array>

#include "libtune/bindings/python/handles.hpp"

namespace tune::python {

/// The first exception of a callback; raised when the call into the library has returned.
class pending_exception {
 public:
  /// Stores it, and sets its text as the reason. To be called in a catch block, with the lock.
  /// @param ends_call  true for one that ends the call; it replaces an earlier one
  /// @returns LIBTUNE_STOPPED for an exception that ends programs
  libtune_status keep(py::error_already_set& failure, bool ends_call = false) {
    const bool ends = !failure.matches(PyExc_Exception);  // KeyboardInterrupt, SystemExit
    const std::string kind = shown(failure.type().attr("__name__"));
    libtune_set_last_error((kind + ": " + shown(failure.value())).c_str());
    if (!first_ || (ends_call && !is_end_) || (ends && !is_end_)) {
      first_ = std::make_unique<py::error_already_set>(std::move(failure));
      is_end_ = ends;
    }
    return ends ? LIBTUNE_STOPPED : LIBTUNE_ERROR;
  }

  /// Raises the exception that ended the call, or the error of the status with the first exception
  /// as its cause.
  void raise_for(libtune_status status) {
    auto first = std::exchange(first_, nullptr);
    const bool is_end = std::exchange(is_end_, false);
    if (is_end && first) throw std::move(*first);
    if (status == LIBTUNE_OK) return;
    if (!first) raise(status);
    const py::object made =
        py::module_::import("libtune._errors")
            .attr("of_status")(static_cast<int>(status), decoded(libtune_last_error()));
    made.attr("__cause__") = first->value();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    throw py::error_already_set();
  }

 private:
  std::unique_ptr<py::error_already_set> first_;
  bool is_end_ = false;
};

/// A Python function that the library calls.
class callback {
 public:
  callback(py::function calls, pending_exception& keeps)
      : function_(std::move(calls)), pending_(&keeps) {}

  /// Calls it with the lock. @param use  receives its return value
  template <class Use, class... Arguments>
  libtune_status call(const Use& use, const Arguments&... arguments) noexcept {
    try {
      const locked with;
      return attempt(use, arguments...);
    } catch (...) {
      libtune_set_last_error("a Python function failed, and its exception could not be kept");
      return LIBTUNE_ERROR;
    }
  }

 private:
  template <class Use, class... Arguments>
  libtune_status attempt(const Use& use, const Arguments&... arguments) {
    try {
      use(function_(arguments()...));
      return LIBTUNE_OK;
    } catch (py::error_already_set& failure) {
      if (failure.matches(py::module_::import("libtune._errors").attr("SkipConfiguration"))) {
        libtune_set_last_error(shown(failure.value()).c_str());
        return LIBTUNE_SKIPPED;
      }
      return pending_->keep(failure);
    } catch (const std::exception& failure) {
      libtune_set_last_error(failure.what());
      return LIBTUNE_ERROR;
    }
  }

  py::function function_;
  pending_exception* pending_;
};

class tuner {
 public:
  explicit tuner(const c_text& name) { check(libtune_tuner_create(name.c_str(), &handle_)); }
  tuner(const c_text& name, const c_text& source, const std::vector<c_text>& problem_size) {
    const auto texts = pointers(problem_size);
    check(libtune_tuner_create_kernel(name.c_str(), source.c_str(), texts.data(), texts.size(),
                                      &handle_));
  }
  ~tuner() { libtune_tuner_destroy(handle_); }
  tuner(const tuner&) = delete;
  tuner& operator=(const tuner&) = delete;

  void parameter(const c_text& name, const py::sequence& candidates) {
    const py::list kept(candidates);
    std::vector<libtune_value> values;
    for (const py::handle each : kept) values.push_back(to_value(each));
    check(libtune_tuner_parameter(handle_, name.c_str(), values.data(), values.size()));
  }
  void restrict_to(const c_text& expression) {
    check(libtune_tuner_restrict(handle_, expression.c_str()));
  }
  void restrict_by(py::function function, const c_text& description) {
    check(
        libtune_tuner_restrict_by(handle_, allows, keep(std::move(function)), description.c_str()));
  }
  void restrict_reading(py::function function, const c_text& description,
                        const std::vector<c_text>& reads) {
    const auto names = pointers(reads);
    check(libtune_tuner_restrict_reading(handle_, allows, keep(std::move(function)),
                                         description.c_str(), names.data(), names.size()));
  }
  /// @param function  receives the configuration and the figures, and returns a number
  void metric_by(const c_text& name, py::function function) {
    check(libtune_tuner_metric_by(
        handle_, name.c_str(), nullptr,
        [](void* user, const libtune_named_value* values, size_t count,
           const libtune_named_value* figures, size_t figure_count, double* value) {
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) { *value = answer.cast<double>(); },
              [&] { return to_dict(values, count); },
              [&] { return to_dict(figures, figure_count); });
        },
        keep(std::move(function))));
  }
  void metric(const c_text& name, const c_text& formula, const c_text& unit) {
    check(libtune_tuner_metric(handle_, name.c_str(), formula.c_str(), unit.c_str()));
  }
  void set_option(const c_text& name, const std::optional<c_text>& text) {
    check(libtune_tuner_set_option(handle_, name.c_str(), text ? text->c_str() : nullptr));
  }
  void remember(const c_text& name, int version, const py::dict& key) {
    const named_values values(key);
    check(libtune_tuner_remember(handle_, name.c_str(), version, values.data(), values.size()));
  }
  void measure_by(py::function function) {
    check(libtune_tuner_measure_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, int iterations,
           double* seconds) {
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) { *seconds = number_of(answer); },
              [&] { return to_dict(values, count); }, [&] { return py::int_(iterations); });
        },
        keep(std::move(function))));
  }
  void on_trial(py::function function) { reports_ = std::move(function); }
  void source_by(py::function function) {
    check(libtune_tuner_source_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, const char** text) {
          thread_local std::string kept;
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) {
                if (!py::isinstance<py::str>(answer)) {
                  throw py::type_error("the function of a kernel's text returned " +
                                       shown(py::repr(answer)) + ", and a str is needed");
                }
                kept = encoded(answer);
                *text = kept.c_str();
              },
              [&] { return to_dict(values, count); });
        },
        keep(std::move(function))));
  }
  void header(const c_text& name, const c_text& text) {
    check(libtune_tuner_header(handle_, name.c_str(), text.c_str()));
  }
  void flag(const c_text& text) { check(libtune_tuner_flag(handle_, text.c_str())); }
  void define(const c_text& name, const py::object& text) {
    const libtune_value v = to_value(text);
    check(libtune_tuner_define(handle_, name.c_str(), &v));
  }
  void work_group(const c_text& x, const c_text& y, const c_text& z) {
    check(libtune_tuner_work_group(handle_, x.c_str(), y.c_str(), z.c_str()));
  }
  void divide_grid(int axis, const std::vector<c_text>& divisors) {
    const auto texts = pointers(divisors);
    check(libtune_tuner_divide_grid(handle_, axis, texts.data(), texts.size()));
  }
  void local_memory(const c_text& bytes) {
    check(libtune_tuner_local_memory(handle_, bytes.c_str()));
  }
  /// @param function  returns three numbers of groups, three extents and the bytes of local memory
  void launch_by(py::function function) {
    check(libtune_tuner_launch_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, libtune_launch* launch) {
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) {
                const auto made = answer.cast<std::array<std::size_t, 7>>();
                std::copy_n(made.begin(), 3, launch->groups);
                std::copy_n(made.begin() + 3, 3, launch->extents);
                launch->local_memory_bytes = made[6];
              },
              [&] { return to_dict(values, count); });
        },
        keep(std::move(function))));
  }
  /// @param function  receives the configuration, and functions that start a run and wait for it
  void observe_by(py::function function) {
    check(libtune_tuner_observe_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count,
           libtune_observed* observed) {
          return static_cast<callback*>(user)->call(
              [](const py::object&) {}, [&] { return to_dict(values, count); },
              [&] {
                return py::cpp_function([observed] {
                  check(unlocked([&] { return libtune_observed_start(observed); }));
                });
              },
              [&] {
                return py::cpp_function([observed] {
                  check(unlocked([&] { return libtune_observed_finish(observed); }));
                });
              });
        },
        keep(std::move(function))));
  }
  void work(const std::optional<c_text>& flops, const std::optional<c_text>& bytes,
            const std::optional<c_text>& arithmetic) {
    const auto text = [](const std::optional<c_text>& of) { return of ? of->c_str() : nullptr; };
    check(libtune_tuner_work(handle_, text(flops), text(bytes), text(arithmetic)));
  }
  void limit(const c_text& expression) { check(libtune_tuner_limit(handle_, expression.c_str())); }
  void array(int access, const c_text& type, const std::vector<std::size_t>& shape,
             const py::object& contents, const c_text& name) {
    std::optional<bytes_view> view;
    if (!contents.is_none()) view.emplace(contents, false);
    check(libtune_tuner_array(handle_, static_cast<libtune_access>(access), type.c_str(),
                              shape.data(), shape.size(), view ? view->data() : nullptr,
                              name.c_str()));
  }
  void device_array(int access, const c_text& type, const std::vector<std::size_t>& shape,
                    const buffer& contents, const c_text& name) {
    check(libtune_tuner_device_array(handle_, static_cast<libtune_access>(access), type.c_str(),
                                     shape.data(), shape.size(), contents.get(), name.c_str()));
  }
  void scalar(const py::object& bytes) {
    const bytes_view view(bytes, false);
    check(libtune_tuner_scalar(handle_, view.data(), view.size()));
  }
  void constant(const c_text& name, const py::object& bytes) {
    const bytes_view view(bytes, false);
    check(libtune_tuner_constant(handle_, name.c_str(), view.data(), view.size()));
  }
  void answer(std::size_t argument, const py::object& expected, double absolute, double relative) {
    const bytes_view view(expected, false);
    check(libtune_tuner_answer(handle_, argument, view.data(), absolute, relative));
  }
  void reference(const tuner& trusted, const py::dict& configuration, double absolute,
                 double relative) {
    const named_values values(configuration);
    check(libtune_tuner_reference(handle_, trusted.handle_, values.data(), values.size(), absolute,
                                  relative));
  }
  void vary(std::size_t argument, const c_text& kind) {
    check(libtune_tuner_vary(handle_, argument, kind.c_str()));
  }
  void report_accuracy() { check(libtune_tuner_report_accuracy(handle_)); }
  void report_bits() { check(libtune_tuner_report_bits(handle_)); }
  /// @param function  receives a function that reads an argument: read(argument, destination)
  void verify_by(py::function function) {
    check(libtune_tuner_verify_by(
        handle_,
        [](void* user, libtune_results* made) {
          auto* const by = static_cast<callback*>(user);
          libtune_status wrong = LIBTUNE_OK;
          const libtune_status status = by->call(
              [&](const py::object& answer) {
                if (answer.is_none() || answer.is(py::bool_(true))) return;
                wrong = LIBTUNE_ERROR;
                libtune_set_last_error(py::isinstance<py::str>(answer)
                                           ? shown(answer).c_str()
                                           : "the function that verifies refused it");
              },
              [&] {
                return py::cpp_function([made](std::size_t argument, const py::object& to) {
                  const bytes_view view(to, true);
                  check(libtune_results_read(made, argument, view.data(), view.size()));
                });
              });
          return status == LIBTUNE_OK ? wrong : status;
        },
        keep(std::move(function))));
  }
  void begin_with(const py::dict& configuration) {
    const named_values values(configuration);
    finish(libtune_tuner_begin_with(handle_, values.data(), values.size()));
  }
  std::size_t size() {
    std::size_t made = 0;
    finish(unlocked([&] { return libtune_tuner_size(handle_, &made); }));
    return made;
  }
  py::dict space() {
    libtune_table* table = nullptr;
    finish(unlocked([&] { return libtune_tuner_space(handle_, &table); }));
    return to_columns(table);
  }
  std::unique_ptr<results> run(const context& in, const py::dict& configuration) {
    const named_values values(configuration);
    libtune_results* made = nullptr;
    finish(unlocked(
        [&] { return libtune_tuner_run(handle_, in.get(), values.data(), values.size(), &made); }));
    return std::make_unique<results>(made);
  }
  std::unique_ptr<tuned> tune(const context& in) {
    check(libtune_tuner_on_trial(handle_, reports_ ? report : nullptr, this));
    interruption signals;
    libtune_tuned* made = nullptr;
    const libtune_status status =
        unlocked([&] { return libtune_tuner_tune(handle_, in.get(), &made); });
    std::unique_ptr<tuned> owned = made == nullptr ? nullptr : std::make_unique<tuned>(made);
    if (const auto raised = signals.take()) static_cast<void>(pending_.keep(*raised, true));
    finish(status);
    return owned;
  }

 private:
  static libtune_status allows(void* user, const libtune_named_value* values, size_t count,
                               int* allowed) {
    return static_cast<callback*>(user)->call(
        [&](const py::object& answer) {
          const int truth = PyObject_IsTrue(answer.ptr());
          if (truth < 0) throw py::error_already_set();
          *allowed = truth;
        },
        [&] { return to_dict(values, count); });
  }

  /// Any exception of the function for trials ends the search.
  static libtune_status report(void* user, const libtune_named_value* values, size_t count,
                               const char* outcome, const char* reason, double time_ns) {
    auto* const self = static_cast<tuner*>(user);
    const locked with;
    try {
      (*self->reports_)(to_dict(values, count), decoded(outcome), decoded(reason), time_ns);
      return LIBTUNE_OK;
    } catch (py::error_already_set& failure) {
      static_cast<void>(self->pending_.keep(failure, true));
      return LIBTUNE_STOPPED;
    }
  }

  static double number_of(const py::object& answer) {
    const double number = PyFloat_AsDouble(answer.ptr());
    if (number != -1 || PyErr_Occurred() == nullptr) return number;
    PyErr_Clear();
    throw py::type_error("the function that measures returned " + shown(py::repr(answer)) +
                         ", and the seconds of a run are needed, a number");
  }
  static std::vector<const char*> pointers(const std::vector<c_text>& texts) {
    std::vector<const char*> made;
    made.reserve(texts.size());
    for (const c_text& each : texts) made.push_back(each.c_str());
    return made;
  }
  callback* keep(py::function function) {
    callbacks_.push_back(std::make_unique<callback>(std::move(function), pending_));
    return callbacks_.back().get();
  }
  void finish(libtune_status status) { pending_.raise_for(status); }

  libtune_tuner* handle_ = nullptr;
  pending_exception pending_;
  std::vector<std::unique_ptr<callback>> callbacks_;
  std::optional<py::function> reports_;
};

}  // namespace tune::python
