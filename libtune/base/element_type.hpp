// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include "libtune/base/dtype.hpp"

/// Lets a plain struct be the element of arrays. In kernel text it has the same name without the
/// namespaces, and the kernel defines it, with the same layout. At global scope:
///   LIBTUNE_ELEMENT(app::random_state)
#define LIBTUNE_ELEMENT(...)                                                                \
  template <>                                                                               \
  struct tune::struct_traits<__VA_ARGS__> {                                                 \
    static constexpr bool known = true;                                                     \
    static constexpr const char* name = #__VA_ARGS__;                                       \
  };                                                                                        \
  static_assert(std::is_trivially_copyable_v<__VA_ARGS__>, "elements are copied as bytes"); \
  static_assert(std::is_default_constructible_v<__VA_ARGS__>, "host arrays make elements");

namespace tune {

/// Whether LIBTUNE_ELEMENT has listed a struct.
template <class T>
struct struct_traits {
  static constexpr bool known = false;  ///< whether T is listed
};

/// A host type that can be the element of an array.
template <class T>
concept element = dtype_traits<T>::known || struct_traits<T>::known;

/// What an array is made of, at run time: a dtype, or a struct of the application's. A value.
class element_type {
 public:
  /// One of the built-in types.
  // NOLINTNEXTLINE(google-explicit-constructor): a dtype is an element type
  element_type(tune::dtype type) noexcept : dtype_(type) {}

  /// The element type of a host type.
  template <element T>
  static element_type of() noexcept {
    if constexpr (dtype_traits<T>::known) {
      return dtype_traits<T>::type;
    } else {
      return {struct_traits<T>::name, sizeof(T), alignof(T)};
    }
  }

  /// Elements of so many bytes that are moved and never looked into.
  static element_type opaque(std::size_t bytes) noexcept { return {"opaque", bytes, 1}; }

  /// "float32", or the struct's name as it was listed.
  std::string_view name() const noexcept;
  /// The name in kernel text: "float", or the struct's name without the namespaces.
  std::string_view kernel_name() const noexcept;
  /// The size of one element, in bytes.
  std::size_t bytes() const noexcept;
  /// What the address of an element has to be a multiple of.
  std::size_t alignment() const noexcept;
  /// Empty for a struct.
  std::optional<tune::dtype> dtype() const noexcept;

  /// Structs are the same if their names and sizes are.
  friend bool operator==(const element_type& a, const element_type& b) noexcept;

 private:
  element_type(std::string_view struct_name, std::size_t bytes, std::size_t alignment) noexcept
      : struct_name_(struct_name), struct_bytes_(bytes), struct_alignment_(alignment) {}

  bool is_struct() const noexcept { return !struct_name_.empty(); }

  tune::dtype dtype_ = tune::dtype::int8;  // if it is not a struct
  std::string_view struct_name_{};         // of static storage
  std::size_t struct_bytes_ = 0;
  std::size_t struct_alignment_ = 0;
};

}  // namespace tune
