// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Import and export of arrays by DLPack.
#pragma once

#include "libtune/bindings/python/handles.hpp"

namespace tune::python {

/// The interface of DLPack, from its documentation: an array of another library, in a capsule. (A
/// capsule "dltensor" has not been consumed; its consumer renames it "used_dltensor".)
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

/// An array of another library, valid during the life of this object.
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

/// Makes a capsule for another library, which keeps an object alive as long as the array is in use.
inline py::capsule export_array(py::object keeps, std::uintptr_t address, int device_type,
                                int device_id, const std::vector<std::int64_t>& shape,
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
    if (Py_IsInitialized() == 0) return;  // the consumer has outlived Python
    const locked with;
    delete static_cast<exported*>(of->manager_context);
  };
  PyObject* capsule = PyCapsule_New(&made->managed, fresh_capsule, [](PyObject* unused) {
    if (PyCapsule_IsValid(unused, fresh_capsule) == 0) return;  // its consumer ends it
    auto* of = static_cast<dl_managed_tensor*>(PyCapsule_GetPointer(unused, fresh_capsule));
    of->deleter(of);
  });
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(made.release());
  return py::reinterpret_steal<py::capsule>(capsule);
}

}  // namespace tune::python
