// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owners of the C interface's handles, its statuses as exceptions, and its values as Python values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/bindings/c/libtune.h"

namespace py = pybind11;

namespace tune::python {

/// Decodes a text of the library, which C++ programs may have stored in any encoding.
inline py::str decoded(const char* text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

/// A Python text for C, where a character 0 would end it. Valid as long as the Python text.
inline const char* encoded(py::handle text) {
  Py_ssize_t size = 0;
  const char* const made = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (made == nullptr) throw py::error_already_set();
  if (std::strlen(made) != static_cast<std::size_t>(size)) {
    throw py::value_error("the text " + std::string(py::repr(text)) + " has a character 0");
  }
  return made;
}

/// The str() of an object for the library, with any characters.
inline std::string shown(py::handle object) {
  const auto text = py::reinterpret_steal<py::object>(PyObject_Str(object.ptr()));
  const auto bytes = py::reinterpret_steal<py::object>(
      text ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (bytes) return PyBytes_AS_STRING(bytes.ptr());
  PyErr_Clear();
  return "(without a text)";
}

/// An encoded argument.
struct c_text {
  std::string text;
  const char* c_str() const noexcept { return text.c_str(); }
};

/// At its end Python ends threads that request its lock by an exception, which cannot pass through
/// the frames of a callback or a destructor: these threads wait here for the end of the process.
template <class Call>
auto or_wait_for_end(Call&& call) noexcept {
  try {
    return call();
  } catch (...) {
    while (true) ::pause();
  }
}

/// Holds the interpreter's lock.
class locked {
 public:
  locked() noexcept : state_(or_wait_for_end(PyGILState_Ensure)) {}
  ~locked() { PyGILState_Release(state_); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// The calls running without the lock now, and the request to end them.
struct running_calls {
  std::atomic<int> count{0};
  std::atomic<bool> end{false};
};
inline running_calls running;

/// Releases the lock during its life.
class without_lock {
 public:
  without_lock() noexcept : state_(PyEval_SaveThread()) { ++running.count; }
  ~without_lock() {
    --running.count;
    or_wait_for_end([&] { PyEval_RestoreThread(state_); });
  }
  without_lock(const without_lock&) = delete;
  without_lock& operator=(const without_lock&) = delete;

 private:
  PyThreadState* state_;
};

/// At the end of the program: ends searches of threads that are not joined, before the drivers shut
/// down.
inline void end_calls() {
  constexpr std::chrono::milliseconds longest{900};
  constexpr std::chrono::milliseconds between_looks{5};
  running.end = true;
  const without_lock others_run;
  const auto until = std::chrono::steady_clock::now() + longest;
  while (running.count > 1 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(between_looks);
  }
}

/// Lets the handlers of Python's signals, and its end, stop the tunings of this thread.
class interruption {
 public:
  interruption() : outer_(std::exchange(innermost(), this)) { libtune_stop_by(look, this); }
  ~interruption() {
    innermost() = outer_;
    libtune_stop_by(outer_ != nullptr ? look : nullptr, outer_);
  }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// The exception of a handler; null without one.
  std::unique_ptr<py::error_already_set> take() { return std::move(raised_); }

 private:
  static int look(void* user) noexcept {
    auto* const self = static_cast<interruption*>(user);
    if (self->ends_ || running.end) return 1;
    const locked with;
    if (PyErr_CheckSignals() == 0) return 0;
    self->ends_ = true;
    self->raised_ = std::make_unique<py::error_already_set>();
    return 1;
  }

  static interruption*& innermost() noexcept {
    thread_local interruption* of_thread = nullptr;
    return of_thread;
  }

  interruption* outer_;  // the outer one, for a function that tunes itself
  bool ends_ = false;
  std::unique_ptr<py::error_already_set> raised_;
};

/// Raises the exception of libtune._errors for a status.
[[noreturn]] inline void raise(libtune_status status) {
  const py::object made =
      py::module_::import("libtune._errors")
          .attr("of_status")(static_cast<int>(status), decoded(libtune_last_error()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw py::error_already_set();
}

inline void check(libtune_status status) {
  if (status != LIBTUNE_OK) raise(status);
}

/// Runs a call without the interpreter's lock.
template <class Call>
libtune_status unlocked(Call&& call) {
  const without_lock others_run;
  return call();
}

/// Owns a handle.
template <class Handle, libtune_status (*Destroy)(Handle*)>
class owner {
 public:
  using handle = Handle;

  explicit owner(Handle* owned) noexcept : handle_(owned) {}
  ~owner() { Destroy(handle_); }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  Handle* get() const noexcept { return handle_; }

 private:
  Handle* handle_;
};

using device = owner<libtune_device, libtune_device_destroy>;
using context = owner<libtune_context, libtune_context_destroy>;
using queue = owner<libtune_queue, libtune_queue_destroy>;
using buffer = owner<libtune_buffer, libtune_buffer_destroy>;
using database = owner<libtune_database, libtune_database_destroy>;
using tuned = owner<libtune_tuned, libtune_tuned_destroy>;
using results = owner<libtune_results, libtune_results_destroy>;
using operation_template = owner<libtune_template, libtune_template_destroy>;
using operation = owner<libtune_operation, libtune_operation_destroy>;

/// Makes an object of the handle that a function returns.
template <class Owner, class Create>
std::unique_ptr<Owner> make(const Create& create) {
  typename Owner::handle* made = nullptr;
  check(unlocked([&] { return create(&made); }));
  return std::make_unique<Owner>(made);
}

/// A Python value for the length of a call; the value must outlive the call if it is a text.
inline libtune_value to_value(py::handle given) {
  libtune_value made{};
  PyObject* const object = given.ptr();
  if (object == Py_None) return made;
  if (PyBool_Check(object)) {
    made.type = LIBTUNE_BOOL;
    made.as.integer = object == Py_True ? 1 : 0;
  } else if (PyUnicode_Check(object)) {
    made.type = LIBTUNE_TEXT;
    made.as.text = encoded(given);
  } else if (PyFloat_Check(object)) {
    made.type = LIBTUNE_REAL;
    made.as.real = PyFloat_AS_DOUBLE(object);
  } else if (PyIndex_Check(object)) {
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(object));
    if (!whole) throw py::error_already_set();
    int overflow = 0;
    made.type = LIBTUNE_INT;
    made.as.integer = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow > 0) {
      made.type = LIBTUNE_UINT;
      made.as.natural = PyLong_AsUnsignedLongLong(whole.ptr());
    }
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw py::value_error("the number " + std::string(py::str(given)) + " has more than 64 bits");
    }
  } else if (PyNumber_Check(object)) {  // for example numpy.float32
    made.type = LIBTUNE_REAL;
    made.as.real = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  } else {
    throw py::type_error("a value is a bool, a number, a str or None, not " +
                         std::string(py::str(py::type::of(given))));
  }
  return made;
}

inline py::object to_python(const libtune_value& v) {
  switch (v.type) {
    case LIBTUNE_BOOL: return py::bool_(v.as.integer != 0);
    case LIBTUNE_INT: return py::int_(v.as.integer);
    case LIBTUNE_UINT: return py::int_(v.as.natural);
    case LIBTUNE_REAL: return py::float_(v.as.real);
    case LIBTUNE_TEXT: return decoded(v.as.text);
    case LIBTUNE_REALS: {
      py::list numbers(v.count);
      for (int i = 0; i < v.count; ++i) {
        numbers[static_cast<std::size_t>(i)] = py::float_(v.as.reals[i]);
      }
      return numbers;
    }
    default: return py::none();
  }
}

inline py::dict to_dict(const libtune_named_value* values, std::size_t count) {
  py::dict made;
  for (std::size_t i = 0; i < count; ++i)
    made[decoded(values[i].name)] = to_python(values[i].value);
  return made;
}

/// The items of a dict as named values, valid as long as the dict and this object.
class named_values {
 public:
  explicit named_values(const py::dict& given) {
    values_.reserve(given.size());
    for (const auto& [name, v] : given) {
      if (!py::isinstance<py::str>(name)) throw py::type_error("the names of values are of str");
      values_.push_back({encoded(name), to_value(v)});
    }
  }
  const libtune_named_value* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }

 private:
  std::vector<libtune_named_value> values_;
};

/// The columns of a table, which is destroyed.
inline py::dict to_columns(libtune_table* table) {
  const owner<libtune_table, libtune_table_destroy> owned(table);
  std::size_t rows = 0;
  std::size_t columns = 0;
  check(libtune_table_size(table, &rows, &columns));
  py::dict made;
  for (std::size_t i = 0; i < columns; ++i) {
    const char* name = nullptr;
    const libtune_value* cells = nullptr;
    check(libtune_table_column(table, i, &name, &cells));
    py::list column(rows);
    for (std::size_t row = 0; row < rows; ++row) column[row] = to_python(cells[row]);
    made[decoded(name)] = std::move(column);
  }
  return made;
}

/// Contiguous bytes of any object with the buffer protocol.
class bytes_view {
 public:
  bytes_view(py::handle object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
  }
  ~bytes_view() { PyBuffer_Release(&view_); }
  bytes_view(const bytes_view&) = delete;
  bytes_view& operator=(const bytes_view&) = delete;

  void* data() const noexcept { return view_.buf; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

}  // namespace tune::python

template <>
struct pybind11::detail::type_caster<tune::python::c_text> {
  PYBIND11_TYPE_CASTER(tune::python::c_text, const_name("str"));

  bool load(handle given, bool) {
    if (PyUnicode_Check(given.ptr()) == 0) return false;
    value.text = tune::python::encoded(given);
    return true;
  }
};
