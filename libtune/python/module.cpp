// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libtune._libtune: the C interface as Python classes, one for each handle. The package libtune
// wraps it; arrays, dtypes and names of other tuners are matters of that. Whatever may take long
// runs without the interpreter's lock, which callbacks take again.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

#include "libtune/c_api/libtune.h"

namespace py = pybind11;

namespace {

/// Raises the exception of libtune._errors that fits a status.
[[noreturn]] void raise(libtune_status status) {
  const std::string text = libtune_last_error();
  const py::object made =
      py::module_::import("libtune._errors").attr("of_status")(static_cast<int>(status), text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw py::error_already_set();
}

void check(libtune_status status) {
  if (status != LIBTUNE_OK) raise(status);
}

/// Runs a call without the interpreter's lock.
template <class Call>
libtune_status unlocked(Call&& call) {
  const py::gil_scoped_release without;
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

/// Makes an object of the handle that a function gives out.
template <class Owner, class Create>
std::unique_ptr<Owner> make(const Create& create) {
  typename Owner::handle* made = nullptr;
  check(unlocked([&] { return create(&made); }));
  return std::make_unique<Owner>(made);
}

// ---- values

/// A Python value for the length of a call, which it has to outlive where it is a text.
libtune_value to_value(py::handle given) {
  libtune_value made{};
  PyObject* const object = given.ptr();
  if (object == Py_None) return made;
  if (PyBool_Check(object)) {
    made.type = LIBTUNE_BOOL;
    made.as.integer = object == Py_True ? 1 : 0;
  } else if (PyUnicode_Check(object)) {
    made.type = LIBTUNE_TEXT;
    made.as.text = PyUnicode_AsUTF8(object);
    if (made.as.text == nullptr) throw py::error_already_set();
  } else if (PyFloat_Check(object)) {
    made.type = LIBTUNE_REAL;
    made.as.real = PyFloat_AS_DOUBLE(object);
  } else if (PyIndex_Check(object)) {
    const py::object whole = py::reinterpret_steal<py::object>(PyNumber_Index(object));
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
  } else if (PyNumber_Check(object)) {  // numpy.float32 and its like
    made.type = LIBTUNE_REAL;
    made.as.real = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  } else {
    throw py::type_error("a value is a bool, a number, a str or None, not " +
                         std::string(py::str(py::type::of(given))));
  }
  return made;
}

py::object to_python(const libtune_value& v) {
  switch (v.type) {
    case LIBTUNE_BOOL: return py::bool_(v.as.integer != 0);
    case LIBTUNE_INT: return py::int_(v.as.integer);
    case LIBTUNE_UINT: return py::int_(v.as.natural);
    case LIBTUNE_REAL: return py::float_(v.as.real);
    case LIBTUNE_TEXT: return py::str(v.as.text);
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

py::dict to_dict(const libtune_named_value* values, std::size_t count) {
  py::dict made;
  for (std::size_t i = 0; i < count; ++i) made[values[i].name] = to_python(values[i].value);
  return made;
}

/// The items of a dict as named values, which live as long as it and this.
class named_values {
 public:
  explicit named_values(const py::dict& given) {
    values_.reserve(given.size());
    for (const auto& [name, v] : given) {
      if (!py::isinstance<py::str>(name)) throw py::type_error("the names of values are of str");
      const char* text = PyUnicode_AsUTF8(name.ptr());
      if (text == nullptr) throw py::error_already_set();
      values_.push_back({text, to_value(v)});
    }
  }
  const libtune_named_value* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }

 private:
  std::vector<libtune_named_value> values_;
};

/// The columns of a table, which is ended.
py::dict to_columns(libtune_table* table) {
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
    made[name] = std::move(column);
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

py::dict device_info(const device& of) {
  const libtune_named_value* properties = nullptr;
  std::size_t count = 0;
  check(libtune_device_info(of.get(), &properties, &count));
  return to_dict(properties, count);
}

// ---- tuning

/// The first exception that a callback has left; raised when the call into the library has
/// returned.
class pending_exception {
 public:
  /// Keeps it, and sets its text as the reason. To be called in a catch block, with the lock.
  libtune_status keep(py::error_already_set& failure) {
    const bool ends = !failure.matches(PyExc_Exception);  // KeyboardInterrupt, SystemExit
    if (ends) stops_ = true;
    const std::string kind = py::str(failure.type().attr("__name__"));
    libtune_set_last_error((kind + ": " + std::string(py::str(failure.value()))).c_str());
    if (!first_ || (ends && !is_end_)) {
      first_ = std::make_unique<py::error_already_set>(std::move(failure));
      is_end_ = ends;
    }
    return LIBTUNE_ERROR;
  }
  bool stops() const noexcept { return stops_; }

  /// Raises what ended the call, or the error of the status with the first exception as its cause.
  void raise_for(libtune_status status) {
    auto first = std::exchange(first_, nullptr);
    const bool is_end = std::exchange(is_end_, false);
    stops_ = false;
    if (is_end && first) throw std::move(*first);
    if (status == LIBTUNE_OK) return;
    if (!first) raise(status);
    const std::string text = libtune_last_error();
    const py::object made =
        py::module_::import("libtune._errors").attr("of_status")(static_cast<int>(status), text);
    made.attr("__cause__") = first->value();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    throw py::error_already_set();
  }

 private:
  std::unique_ptr<py::error_already_set> first_;
  bool is_end_ = false;
  bool stops_ = false;
};

/// A Python function that the library calls.
struct callback {
  py::function function;
  pending_exception* pending;

  /// Calls it with the lock. @param use  is given what it returned
  template <class Use, class... Arguments>
  libtune_status call(Use&& use, const Arguments&... arguments) noexcept {
    const py::gil_scoped_acquire with;
    try {
      use(function(arguments()...));
      return LIBTUNE_OK;
    } catch (py::error_already_set& failure) {
      if (failure.matches(py::module_::import("libtune._errors").attr("SkipConfiguration"))) {
        libtune_set_last_error(std::string(py::str(failure.value())).c_str());
        return LIBTUNE_SKIPPED;
      }
      return pending->keep(failure);
    } catch (const std::exception& failure) {
      libtune_set_last_error(failure.what());
      return LIBTUNE_ERROR;
    }
  }
};

class tuner {
 public:
  explicit tuner(const std::string& name) { check(libtune_tuner_create(name.c_str(), &handle_)); }
  tuner(const std::string& name, const std::string& source,
        const std::vector<std::string>& problem_size) {
    const auto texts = pointers(problem_size);
    check(libtune_tuner_create_kernel(name.c_str(), source.c_str(), texts.data(), texts.size(),
                                      &handle_));
  }
  ~tuner() { libtune_tuner_destroy(handle_); }
  tuner(const tuner&) = delete;
  tuner& operator=(const tuner&) = delete;

  void parameter(const std::string& name, const py::sequence& candidates) {
    const py::list kept(candidates);
    std::vector<libtune_value> values;
    for (const py::handle each : kept) values.push_back(to_value(each));
    check(libtune_tuner_parameter(handle_, name.c_str(), values.data(), values.size()));
  }
  void restrict_to(const std::string& expression) {
    check(libtune_tuner_restrict(handle_, expression.c_str()));
  }
  void restrict_by(py::function function, const std::string& description) {
    check(libtune_tuner_restrict_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, int* allowed) {
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) {
                const int truth = PyObject_IsTrue(answer.ptr());
                if (truth < 0) throw py::error_already_set();
                *allowed = truth;
              },
              [&] { return to_dict(values, count); });
        },
        keep(std::move(function)), description.c_str()));
  }
  void metric(const std::string& name, const std::string& formula, const std::string& unit) {
    check(libtune_tuner_metric(handle_, name.c_str(), formula.c_str(), unit.c_str()));
  }
  void set_option(const std::string& name, const std::optional<std::string>& text) {
    check(libtune_tuner_set_option(handle_, name.c_str(), text ? text->c_str() : nullptr));
  }
  void remember(const std::string& name, int version, const py::dict& key) {
    const named_values values(key);
    check(libtune_tuner_remember(handle_, name.c_str(), version, values.data(), values.size()));
  }
  void measure_by(py::function function) {
    check(libtune_tuner_measure_by(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, int iterations,
           double* seconds) {
          return static_cast<callback*>(user)->call(
              [&](const py::object& answer) { *seconds = answer.cast<double>(); },
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
                kept = answer.cast<std::string>();
                *text = kept.c_str();
              },
              [&] { return to_dict(values, count); });
        },
        keep(std::move(function))));
  }
  void header(const std::string& name, const std::string& text) {
    check(libtune_tuner_header(handle_, name.c_str(), text.c_str()));
  }
  void flag(const std::string& text) { check(libtune_tuner_flag(handle_, text.c_str())); }
  void define(const std::string& name, const py::object& text) {
    const libtune_value v = to_value(text);
    check(libtune_tuner_define(handle_, name.c_str(), &v));
  }
  void work_group(const std::string& x, const std::string& y, const std::string& z) {
    check(libtune_tuner_work_group(handle_, x.c_str(), y.c_str(), z.c_str()));
  }
  void divide_grid(int axis, const std::vector<std::string>& divisors) {
    const auto texts = pointers(divisors);
    check(libtune_tuner_divide_grid(handle_, axis, texts.data(), texts.size()));
  }
  void local_memory(const std::string& bytes) {
    check(libtune_tuner_local_memory(handle_, bytes.c_str()));
  }
  void limit(const std::string& expression) {
    check(libtune_tuner_limit(handle_, expression.c_str()));
  }
  void array(int access, const std::string& type, const std::vector<std::size_t>& shape,
             const py::object& contents, const std::string& name) {
    std::optional<bytes_view> view;
    if (!contents.is_none()) view.emplace(contents, false);
    check(libtune_tuner_array(handle_, static_cast<libtune_access>(access), type.c_str(),
                              shape.data(), shape.size(), view ? view->data() : nullptr,
                              name.c_str()));
  }
  void device_array(int access, const std::string& type, const std::vector<std::size_t>& shape,
                    const buffer& contents, const std::string& name) {
    check(libtune_tuner_device_array(handle_, static_cast<libtune_access>(access), type.c_str(),
                                     shape.data(), shape.size(), contents.get(), name.c_str()));
  }
  void scalar(const py::object& bytes) {
    const bytes_view view(bytes, false);
    check(libtune_tuner_scalar(handle_, view.data(), view.size()));
  }
  void constant(const std::string& name, const py::object& bytes) {
    const bytes_view view(bytes, false);
    check(libtune_tuner_constant(handle_, name.c_str(), view.data(), view.size()));
  }
  void answer(std::size_t argument, const py::object& expected, double absolute, double relative) {
    const bytes_view view(expected, false);
    check(libtune_tuner_answer(handle_, argument, view.data(), absolute, relative));
  }
  /// @param function  is given a function that reads an argument: read(argument, destination)
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
                                           ? std::string(py::str(answer)).c_str()
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
  std::unique_ptr<results> run(const context& in, const py::dict& configuration) {
    const named_values values(configuration);
    libtune_results* made = nullptr;
    finish(unlocked(
        [&] { return libtune_tuner_run(handle_, in.get(), values.data(), values.size(), &made); }));
    return std::make_unique<results>(made);
  }
  /// Signals are looked at after each trial, so that Ctrl-C ends a search.
  std::unique_ptr<tuned> tune(const context& in) {
    check(libtune_tuner_on_trial(
        handle_,
        [](void* user, const libtune_named_value* values, size_t count, const char* outcome,
           const char* reason, double time_ns) {
          auto* const self = static_cast<tuner*>(user);
          const py::gil_scoped_acquire with;
          try {
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
            if (self->reports_) (*self->reports_)(to_dict(values, count), outcome, reason, time_ns);
          } catch (py::error_already_set& failure) {
            return self->pending_.keep_end(failure);
          }
          return self->pending_.stops() ? LIBTUNE_STOPPED : LIBTUNE_OK;
        },
        this));
    libtune_tuned* made = nullptr;
    const libtune_status status =
        unlocked([&] { return libtune_tuner_tune(handle_, in.get(), &made); });
    std::unique_ptr<tuned> owned = made == nullptr ? nullptr : std::make_unique<tuned>(made);
    finish(status);
    return owned;
  }

 private:
  /// Any exception of the function that hears of trials ends the search.
  class search_exception : public pending_exception {
   public:
    libtune_status keep_end(py::error_already_set& failure);
  };

  static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> made;
    for (const std::string& each : texts) made.push_back(each.c_str());
    return made;
  }
  callback* keep(py::function function) {
    callbacks_.push_back(std::make_unique<callback>(callback{std::move(function), &pending_}));
    return callbacks_.back().get();
  }
  void finish(libtune_status status) { pending_.raise_for(status); }

  libtune_tuner* handle_ = nullptr;
  search_exception pending_;
  std::vector<std::unique_ptr<callback>> callbacks_;
  std::optional<py::function> reports_;
};

py::dict best_of(const tuned& of) {
  const libtune_named_value* values = nullptr;
  std::size_t count = 0;
  check(libtune_tuned_best(of.get(), &values, &count));
  return to_dict(values, count);
}

// ---- operations

py::dict slot_of(const operation& of, std::size_t place) {
  libtune_slot_info info{};
  check(libtune_operation_slot(of.get(), place, &info));
  py::tuple shape(info.rank);
  py::tuple padded(info.rank);
  for (std::size_t i = 0; i < info.rank; ++i) {
    shape[i] = py::int_(info.shape[i]);
    padded[i] = py::int_(info.padded[i]);
  }
  py::dict made;
  made["name"] = info.name;
  made["type"] = info.type;
  made["element_bytes"] = info.element_bytes;
  made["shape"] = shape;
  made["padded"] = padded;
  made["bytes"] = info.bytes;
  made["bound"] = info.bound != 0;
  return made;
}

// ---- DLPack

/// The interface of DLPack, as its documentation lays it out: an array of another library, in a
/// capsule. (A capsule "dltensor" has not been consumed; its consumer renames it "used_dltensor".)
struct dl_tensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t rank;
  std::uint8_t type_code;
  std::uint8_t type_bits;
  std::uint16_t type_lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: in C order
  std::uint64_t byte_offset;
};
struct dl_managed_tensor {
  dl_tensor tensor;
  void* manager_context;
  void (*deleter)(dl_managed_tensor*);
};

constexpr const char* fresh_capsule = "dltensor";
constexpr const char* used_capsule = "used_dltensor";

/// An array of another library, until this goes.
class imported_array {
 public:
  explicit imported_array(const py::object& capsule) {
    PyObject* const object = capsule.ptr();
    if (PyCapsule_IsValid(object, used_capsule) != 0) {
      throw py::value_error("the DLPack capsule has been consumed already; ask for a new one");
    }
    if (PyCapsule_IsValid(object, fresh_capsule) == 0) {
      throw py::value_error("a DLPack capsule of the name 'dltensor' is needed, not " +
                            std::string(py::repr(capsule)));
    }
    tensor_ = static_cast<dl_managed_tensor*>(PyCapsule_GetPointer(object, fresh_capsule));
    if (tensor_ == nullptr || PyCapsule_SetName(object, used_capsule) != 0) {
      throw py::error_already_set();
    }
  }
  ~imported_array() {
    if (tensor_->deleter != nullptr) tensor_->deleter(tensor_);
  }
  imported_array(const imported_array&) = delete;
  imported_array& operator=(const imported_array&) = delete;

  const dl_tensor& tensor() const noexcept { return tensor_->tensor; }
  py::tuple shape() const { return extents(tensor().shape); }
  py::object strides() const {
    if (tensor().strides == nullptr) return py::none();
    return extents(tensor().strides);
  }
  std::uintptr_t address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(tensor().data);
  }

 private:
  py::tuple extents(const std::int64_t* of) const {
    py::tuple made(tensor().rank);
    for (int i = 0; i < tensor().rank; ++i) made[static_cast<std::size_t>(i)] = py::int_(of[i]);
    return made;
  }

  dl_managed_tensor* tensor_;
};

/// A capsule for another library, which keeps an object alive as long as it has the array.
py::capsule export_array(py::object keeps, std::uintptr_t address, int device_type, int device_id,
                         const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& strides, int code, int bits) {
  struct exported {
    dl_managed_tensor managed{};
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    py::object keeps;
  };
  auto made = std::make_unique<exported>();
  made->shape = shape;
  made->strides = strides;
  made->keeps = std::move(keeps);
  made->managed.tensor = {
      reinterpret_cast<void*>(address),  // NOLINT(performance-no-int-to-ptr): a driver's handle
      device_type,
      device_id,
      static_cast<std::int32_t>(made->shape.size()),
      static_cast<std::uint8_t>(code),
      static_cast<std::uint8_t>(bits),
      1,
      made->shape.data(),
      made->strides.data(),
      0};
  made->managed.manager_context = made.get();
  made->managed.deleter = [](dl_managed_tensor* of) {
    const py::gil_scoped_acquire with;
    delete static_cast<exported*>(of->manager_context);
  };
  PyObject* capsule = PyCapsule_New(&made->managed, fresh_capsule, [](PyObject* unused) {
    if (PyCapsule_IsValid(unused, fresh_capsule) == 0) return;  // its consumer ends it
    auto* of = static_cast<dl_managed_tensor*>(PyCapsule_GetPointer(unused, fresh_capsule));
    of->deleter(of);
  });
  if (capsule == nullptr) throw py::error_already_set();
  made.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

libtune_status tuner_stop(pending_exception& pending, py::error_already_set& failure) {
  pending.keep(failure);
  return LIBTUNE_STOPPED;
}

libtune_status tuner::search_exception::keep_end(py::error_already_set& failure) {
  return tuner_stop(*this, failure);
}

}  // namespace

PYBIND11_MODULE(_libtune, m) {
  m.doc() = "The C interface of libtune, one class for each handle; use the package libtune.";
  if (libtune_abi() != LIBTUNE_C_ABI) {
    throw py::import_error("libtune_c has the interface " + std::to_string(libtune_abi()) +
                           ", and this module needs " + std::to_string(LIBTUNE_C_ABI));
  }
  m.attr("__version__") = libtune_version();

  m.def("devices", [] {
    std::size_t count = 0;
    check(unlocked([&] { return libtune_device_count(&count); }));
    py::list all;
    for (std::size_t i = 0; i < count; ++i) {
      all.append(py::cast(make<device>([&](auto** made) { return libtune_device_get(i, made); })));
    }
    return all;
  });
  m.def("select_device",
        [] { return make<device>([&](auto** made) { return libtune_device_select(made); }); });
  m.def("tune_in_children", [] { check(libtune_tune_in_children()); });
  m.def("operations", [] {
    libtune_table* table = nullptr;
    check(libtune_operation_list(&table));
    return to_columns(table);
  });
  m.def("status_name",
        [](int status) { return libtune_status_name(static_cast<libtune_status>(status)); });
  m.def("export_dlpack", export_array);

  py::class_<device>(m, "Device").def_property_readonly("info", device_info);

  py::class_<context>(m, "Context")
      .def(py::init([](const device& on) {
        return make<context>([&](auto** made) { return libtune_context_create(on.get(), made); });
      }))
      .def_property_readonly("device",
                             [](const context& of) {
                               return make<device>([&](auto** made) {
                                 return libtune_context_get_device(of.get(), made);
                               });
                             })
      .def("set_option",
           [](const context& of, const std::string& name, const std::optional<std::string>& text) {
             check(libtune_context_set_option(of.get(), name.c_str(),
                                              text ? text->c_str() : nullptr));
           })
      .def_property_readonly("native", [](const context& of) {
        std::uintptr_t handle = 0;
        check(libtune_context_native(of.get(), &handle));
        return handle;
      });

  py::class_<queue>(m, "Queue")
      .def(py::init([](const context& in) {
        return make<queue>([&](auto** made) { return libtune_queue_create(in.get(), made); });
      }))
      .def_static("wrap",
                  [](const context& in, std::uintptr_t handle) {
                    return make<queue>(
                        [&](auto** made) { return libtune_queue_wrap(in.get(), handle, made); });
                  })
      .def_property_readonly("native",
                             [](const queue& of) {
                               std::uintptr_t handle = 0;
                               check(libtune_queue_native(of.get(), &handle));
                               return handle;
                             })
      .def("finish",
           [](const queue& of) { check(unlocked([&] { return libtune_queue_finish(of.get()); })); })
      .def("write",
           [](const queue& of, const buffer& to, std::size_t offset, const py::object& from) {
             const bytes_view view(from, false);
             check(unlocked([&] {
               return libtune_queue_write(of.get(), to.get(), offset, view.data(), view.size());
             }));
           })
      .def("read",
           [](const queue& of, const buffer& from, std::size_t offset, const py::object& to) {
             const bytes_view view(to, true);
             check(unlocked([&] {
               return libtune_queue_read(of.get(), from.get(), offset, view.data(), view.size());
             }));
           })
      .def("write_address",
           [](const queue& of, const buffer& to, std::size_t offset, std::uintptr_t from,
              std::size_t bytes) {
             const void* const source =
                 reinterpret_cast<const void*>(from);  // NOLINT(performance-no-int-to-ptr)
             check(unlocked(
                 [&] { return libtune_queue_write(of.get(), to.get(), offset, source, bytes); }));
           })
      .def("copy",
           [](const queue& of, const buffer& to, std::size_t to_offset, const buffer& from,
              std::size_t from_offset, std::size_t bytes) {
             check(
                 libtune_queue_copy(of.get(), to.get(), to_offset, from.get(), from_offset, bytes));
           })
      .def("zero", [](const queue& of, const buffer& to, std::size_t offset, std::size_t bytes) {
        check(libtune_queue_zero(of.get(), to.get(), offset, bytes));
      });

  py::class_<buffer>(m, "Buffer")
      .def(py::init([](const context& in, std::size_t bytes) {
        return make<buffer>(
            [&](auto** made) { return libtune_buffer_create(in.get(), bytes, made); });
      }))
      .def_static("wrap",
                  [](const context& in, std::uintptr_t handle, std::size_t bytes) {
                    return make<buffer>([&](auto** made) {
                      return libtune_buffer_wrap(in.get(), handle, bytes, made);
                    });
                  })
      .def_property_readonly("native",
                             [](const buffer& of) {
                               std::uintptr_t handle = 0;
                               check(libtune_buffer_native(of.get(), &handle));
                               return handle;
                             })
      .def_property_readonly("size", [](const buffer& of) {
        std::size_t bytes = 0;
        check(libtune_buffer_size(of.get(), &bytes));
        return bytes;
      });

  py::class_<database>(m, "Database")
      .def(py::init([](const std::optional<std::string>& path) {
        return make<database>([&](auto** made) {
          return libtune_database_open(path ? path->c_str() : nullptr, made);
        });
      }))
      .def_property_readonly("path",
                             [](const database& of) {
                               const char* path = nullptr;
                               check(libtune_database_path(of.get(), &path));
                               return std::string(path);
                             })
      .def("find",
           [](const database& of, const std::string& name, int version, const py::dict& key,
              const device& on, bool nearest) -> py::object {
             const named_values values(key);
             libtune_result* made = nullptr;
             const libtune_status status = unlocked([&] {
               return libtune_database_find(of.get(), name.c_str(), version, values.data(),
                                            values.size(), on.get(),
                                            nearest ? LIBTUNE_NEAREST : LIBTUNE_EXACT, &made);
             });
             if (status == LIBTUNE_NOT_FOUND) return py::none();
             check(status);
             const owner<libtune_result, libtune_result_destroy> owned(made);
             const libtune_named_value* list = nullptr;
             std::size_t count = 0;
             check(libtune_result_values(made, &list, &count));
             py::dict found = to_dict(list, count);
             check(libtune_result_info(made, &list, &count));
             return py::make_tuple(std::move(found), to_dict(list, count));
           })
      .def("functions",
           [](const database& of) {
             libtune_table* table = nullptr;
             check(unlocked([&] { return libtune_database_functions(of.get(), &table); }));
             return to_columns(table);
           })
      .def("table",
           [](const database& of, const std::string& name, int version, bool trials) -> py::object {
             libtune_table* table = nullptr;
             const libtune_status status = unlocked([&] {
               return trials ? libtune_database_trials(of.get(), name.c_str(), version, &table)
                             : libtune_database_results(of.get(), name.c_str(), version, &table);
             });
             if (status == LIBTUNE_NOT_FOUND) return py::none();
             check(status);
             return to_columns(table);
           });

  py::class_<tuner>(m, "Tuner")
      .def(py::init<const std::string&>())
      .def(py::init<const std::string&, const std::string&, const std::vector<std::string>&>())
      .def("parameter", &tuner::parameter)
      .def("restrict", &tuner::restrict_to)
      .def("restrict_by", &tuner::restrict_by)
      .def("metric", &tuner::metric)
      .def("set_option", &tuner::set_option)
      .def("remember", &tuner::remember)
      .def("measure_by", &tuner::measure_by)
      .def("on_trial", &tuner::on_trial)
      .def("source_by", &tuner::source_by)
      .def("header", &tuner::header)
      .def("flag", &tuner::flag)
      .def("define", &tuner::define)
      .def("work_group", &tuner::work_group)
      .def("divide_grid", &tuner::divide_grid)
      .def("local_memory", &tuner::local_memory)
      .def("limit", &tuner::limit)
      .def("array", &tuner::array)
      .def("device_array", &tuner::device_array)
      .def("scalar", &tuner::scalar)
      .def("constant", &tuner::constant)
      .def("answer", &tuner::answer)
      .def("verify_by", &tuner::verify_by)
      .def("run", &tuner::run)
      .def("tune", &tuner::tune);

  py::class_<results>(m, "Results")
      .def("read", [](const results& of, std::size_t argument, const py::object& to) {
        const bytes_view view(to, true);
        check(unlocked(
            [&] { return libtune_results_read(of.get(), argument, view.data(), view.size()); }));
      });

  py::class_<tuned>(m, "Tuned")
      .def_property_readonly("best", best_of)
      .def_property_readonly("time_ns",
                             [](const tuned& of) -> std::optional<double> {
                               double time = 0;
                               const libtune_status status = libtune_tuned_time(of.get(), &time);
                               if (status == LIBTUNE_NOT_FOUND) return std::nullopt;
                               check(status);
                               return time;
                             })
      .def("trials",
           [](const tuned& of) {
             libtune_table* table = nullptr;
             check(libtune_tuned_trials(of.get(), &table));
             return to_columns(table);
           })
      .def("instantiate",
           [](const tuned& of, const queue& on) {
             return make<operation>(
                 [&](auto** made) { return libtune_tuned_instantiate(of.get(), on.get(), made); });
           })
      .def("run", [](const tuned& of, const context& in) {
        return make<results>(
            [&](auto** made) { return libtune_tuned_run(of.get(), in.get(), made); });
      });

  py::class_<operation_template>(m, "Template")
      .def(py::init([](const context& in, const std::string& name, const py::dict& key) {
        const named_values values(key);
        return make<operation_template>([&](auto** made) {
          return libtune_template_create(in.get(), name.c_str(), values.data(), values.size(),
                                         made);
        });
      }))
      .def_property_readonly("tuning",
                             [](const operation_template& of) {
                               const libtune_named_value* values = nullptr;
                               std::size_t count = 0;
                               check(libtune_template_tuning(of.get(), &values, &count));
                               return to_dict(values, count);
                             })
      .def("instantiate", [](const operation_template& of, const queue& on, const py::dict& sizes) {
        const named_values values(sizes);
        return make<operation>([&](auto** made) {
          return libtune_template_instantiate(of.get(), on.get(), values.data(), values.size(),
                                              made);
        });
      });

  py::class_<operation>(m, "Operation")
      .def("slots",
           [](const operation& of) {
             std::size_t count = 0;
             check(libtune_operation_slot_count(of.get(), &count));
             py::list made;
             for (std::size_t i = 0; i < count; ++i) made.append(slot_of(of, i));
             return made;
           })
      .def("bind",
           [](const operation& of, const std::string& slot, const buffer& memory,
              const std::optional<std::vector<std::size_t>>& padded) {
             check(libtune_operation_bind(of.get(), slot.c_str(), memory.get(),
                                          padded ? padded->data() : nullptr));
           })
      .def("buffer",
           [](const operation& of, const std::string& slot) {
             libtune_buffer* made = nullptr;
             check(libtune_operation_get_buffer(of.get(), slot.c_str(), &made));
             return std::make_unique<buffer>(made);
           })
      .def("ensure_bound",
           [](const operation& of) { check(libtune_operation_ensure_bound(of.get())); })
      .def("write",
           [](const operation& of, const std::string& slot, const py::object& from) {
             const bytes_view view(from, false);
             check(unlocked([&] {
               return libtune_operation_write(of.get(), slot.c_str(), view.data(), view.size());
             }));
           })
      .def("read",
           [](const operation& of, const std::string& slot, const py::object& to) {
             const bytes_view view(to, true);
             check(unlocked([&] {
               return libtune_operation_read(of.get(), slot.c_str(), view.data(), view.size());
             }));
           })
      .def("set",
           [](const operation& of, const std::string& name, const py::object& given) {
             const libtune_value v = to_value(given);
             check(libtune_operation_set(of.get(), name.c_str(), &v));
           })
      .def("set_argument",
           [](const operation& of, std::size_t argument, const py::object& bytes) {
             const bytes_view view(bytes, false);
             check(libtune_operation_set_argument(of.get(), argument, view.data(), view.size()));
           })
      .def("run", [](const operation& of) {
        check(unlocked([&] { return libtune_operation_run(of.get()); }));
      });

  py::class_<imported_array>(m, "ImportedArray")
      .def(py::init<const py::object&>())
      .def_property_readonly("device",
                             [](const imported_array& of) {
                               return py::make_tuple(of.tensor().device_type,
                                                     of.tensor().device_id);
                             })
      .def_property_readonly("type",
                             [](const imported_array& of) {
                               return py::make_tuple(of.tensor().type_code, of.tensor().type_bits,
                                                     of.tensor().type_lanes);
                             })
      .def_property_readonly("shape", &imported_array::shape)
      .def_property_readonly("strides", &imported_array::strides)
      .def_property_readonly("address", &imported_array::address)
      .def_property_readonly("byte_offset",
                             [](const imported_array& of) { return of.tensor().byte_offset; });
}
