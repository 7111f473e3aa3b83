// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/base/fields.hpp"
#include "libtune/base/value.hpp"

namespace tune {

/// Collects the parameters of an operation, which its do_parameters returns:
///
///   return tune::parameter_list()
///       .add("type", src_->type())                     // "float32"
///       .add("shape", src_->required_layout().size())  // "(3, 4)"
///       .add("window", window_)
///       .add("tuning", tuning_);  // each field: "tuning.wgs", "tuning.vector"
///
/// The names are for readers of logs; they are not stored. Not thread-safe.
class parameter_list {
 public:
  /// Adds a value of any type that a key's field may have: a number, an enumeration, a string, a
  /// dtype, or a std::optional of one.
  template <class T>
  requires(!fielded<T>) parameter_list& add(std::string name, const T& item) {
    values_.push_back({std::move(name), value_traits<T>::to_value(item)});
    return *this;
  }
  /// Adds a value.
  parameter_list& add(std::string name, const value& item) {
    values_.push_back({std::move(name), item});
    return *this;
  }
  /// Adds text.
  parameter_list& add(std::string name, const char* text) {
    return add(std::move(name), std::string(text));
  }
  /// Adds the name of an element type.
  parameter_list& add(std::string name, const element_type& type) {
    return add(std::move(name), std::string(type.name()));
  }
  /// Adds a shape as text.
  parameter_list& add(std::string name, const shape& size) {
    return add(std::move(name), to_string(size));
  }
  /// Adds each field of a key or tuning, as "name.field".
  template <fielded T>
  parameter_list& add(const std::string& name, const T& fields) {
    for (named_value& item : to_values(fields)) {
      values_.push_back({name + '.' + item.name, std::move(item.value)});
    }
    return *this;
  }

  /// The values, in the order in which they were added.
  const std::vector<named_value>& values() const noexcept { return values_; }
  /// Converts to the result of do_parameters.
  operator std::vector<named_value>() const { return values_; }  // NOLINT: what it is made for

 private:
  std::vector<named_value> values_;
};

}  // namespace tune
