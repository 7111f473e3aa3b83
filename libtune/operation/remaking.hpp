// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/base/fields.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// The parameters of an operation that is made again: what its operation::parameters() returned.
/// All functions throw an argument_error that names the operation and the parameter if it is
/// missing, and a type_error if its value has another type.
class remade_parameters {
 public:
  /// @param type    the class of the operation, for errors
  /// @param values  as from operation::parameters()
  remade_parameters(std::string type, std::vector<named_value> values)
      : type_(std::move(type)), values_(std::move(values)) {}

  /// The value of a parameter.
  const value& at(std::string_view name) const;
  /// True if there is a parameter of this name.
  bool has(std::string_view name) const noexcept;
  /// A value of a type that parameter_list takes.
  template <class T>
  requires(!fielded<T>) T get(std::string_view name)
  const { return value_traits<T>::from_value(at(name)); }
  /// The fields that parameter_list has added under a name, as "name.field".
  template <fielded T>
  T get(std::string_view name) const {
    T made{};
    for_each_field(made, [&](const char* field, auto& member) {
      using type = std::remove_reference_t<decltype(member)>;
      member = get<type>(std::string(name) + '.' + field);
    });
    return made;
  }
  /// A shape, as text: "(3, 4)".
  shape extents(std::string_view name) const;
  /// An element type that the host knows, by its name.
  dtype type(std::string_view name) const { return dtype_from_name(get<std::string>(name)); }

 private:
  std::string type_;
  std::vector<named_value> values_;
};

namespace detail {
using remake_function =
    std::function<std::unique_ptr<operation>(const command_queue&, const remade_parameters&)>;

/// Registers the maker for a class. The first of a class counts.
void add_remaker(const std::type_info& type, remake_function make);
}  // namespace detail

/// The name of a class in C++, without a compiler's marks: "app::gain".
std::string class_name(const std::type_info& type);

/// Registers a function that makes operations of a class again, from their parameters: for frames
/// that were captured from a program (libtune::capture). A static object outside of any function,
/// beside the operation:
///
///   const tune::remaker<gain> remake_gain{
///       [](const tune::command_queue& queue, const tune::remade_parameters& from) {
///         gain made = gain_template(queue.context(), from.get<gain_tuning>("tuning"))
///                         .instantiate(queue, from.extents("shape")[0]);
///         made.set_scale(from.get<float>("scale"));
///         return made;
///       }};
///
/// So do_parameters has to contain everything that the work depends on besides the contents of the
/// slots. Thread-safe.
template <std::derived_from<operation> Operation>
class remaker {
 public:
  /// @param make  (const command_queue&, const remade_parameters&) returns an Operation
  template <class Make>
  explicit remaker(Make make) {
    detail::add_remaker(
        typeid(Operation),
        [make = std::move(make)](const command_queue& queue,
                                 const remade_parameters& from) -> std::unique_ptr<operation> {
          return std::make_unique<Operation>(make(queue, from));
        });
  }
};

/// True if a remaker of a class is registered.
bool can_remake(const std::string& type);

/// Makes an operation again. Its slots are not bound.
/// @param type        as from class_name(typeid(operation))
/// @param parameters  as from operation::parameters()
/// @throws argument_error that lists the registered classes, if this is not one of them; the errors
///         of the maker
std::unique_ptr<operation> remake(const command_queue& queue, const std::string& type,
                                  const std::vector<named_value>& parameters);

}  // namespace tune
