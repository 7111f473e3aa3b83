// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "operations/by_name/by_name.hpp"
#include "operations/by_name/given_parameters.hpp"

namespace tune::operations {

/// A field of a key or a shape as a parameter.
struct field_meaning {
  std::string name;          ///< the name of the field
  std::string meaning;       ///< a line for users
  bool is_required = false;  ///< the value of a default-constructed object is no default
};

/// Describes an operation and makes its templates, for register_operation:
///
///   register_operation(operation_maker("unpack")
///       .add_fields<unpack_key>(parameter_stage::key, {{"bits", "of a sample"}, ...})
///       .add(parameter_stage::size, "rows", {}, "rows of samples")
///       .made_by(
///           [](const context& in, const given_parameters& key) {
///             return unpack_template(in, key.all<unpack_key>());
///           },
///           [](const unpack_template& made, const command_queue& queue,
///              const given_parameters& size) {
///             return without_settings(made.instantiate(queue, size.count("rows"), ...));
///           }));
class operation_maker {
 public:
  /// Makes the template for a key.
  using function = std::function<std::shared_ptr<const template_by_name>(
      const context&, const given_parameters& key)>;

  explicit operation_maker(std::string name) : name_(std::move(name)) {}

  /// Adds a parameter.
  /// @param at             the time at which it is set
  /// @param name           unique in the stage
  /// @param default_value  std::monostate if it is required
  /// @param meaning        a line for users
  operation_maker& add(parameter_stage at, std::string name, value default_value,
                       std::string meaning) {
    described_.push_back(
        {name_, at, std::move(name), std::move(default_value), std::move(meaning)});
    return *this;
  }
  /// Adds a parameter for each field of T, in the order of the meanings, with the field's default.
  /// @throws argument_error unless each field has one meaning
  template <fielded T>
  operation_maker& add_fields(parameter_stage at, std::initializer_list<field_meaning> meanings) {
    return add_values(at, to_values(T{}), meanings);
  }
  /// Sets the functions that make templates and operations.
  /// @param make         (const context&, const given_parameters& key) returns a template; its
  ///                     tuning() is a struct with listed fields, or a function tuning_values()
  /// @param instantiate  (const Template&, const command_queue&, const given_parameters& size)
  ///                     returns an operation_by_name, whose set is called with described names
  ///                     only
  template <class Make, class Instantiate>
  operation_maker& made_by(Make make, Instantiate instantiate);

  /// The name of the operation.
  const std::string& name() const noexcept { return name_; }
  /// All parameters.
  const std::vector<parameter_description>& parameters() const noexcept { return described_; }
  /// Makes a template. @throws argument_error, type_error, the errors of the template
  std::shared_ptr<const template_by_name> make(const context& context,
                                               const configuration& key) const;

 private:
  operation_maker& add_values(parameter_stage at, const std::vector<named_value>& defaults,
                              std::initializer_list<field_meaning> meanings);

  std::string name_;
  std::vector<parameter_description> described_;
  function make_;
};

/// Adds an operation to those that make_template and describe_parameters know, until the process
/// ends. Thread-safe.
/// @throws argument_error if one of this name exists, or the maker has no functions
void register_operation(operation_maker added);

/// An operation that has no settings.
template <std::derived_from<tune::operation> Operation>
operation_by_name without_settings(Operation made) {
  return {std::make_unique<Operation>(std::move(made)), [](std::string_view, const value&) {}};
}

/// An operation with settings.
/// @param made  the operation
/// @param set   (Operation&, std::string_view name, const value&) changes a setting
template <std::derived_from<tune::operation> Operation, class Set>
operation_by_name with_settings(Operation made, Set set) {
  auto held = std::make_unique<Operation>(std::move(made));
  Operation* const of = held.get();
  return {std::move(held),
          [of, set = std::move(set)](std::string_view name, const value& v) mutable {
            set(*of, name, v);
          }};
}

namespace makers {

/// The parameters of an operation, for its templates.
struct described_operation {
  std::string name;
  std::vector<parameter_description> parameters;
};

/// Checks the names of settings before set sees them.
operation_by_name with_checked_names(std::shared_ptr<const described_operation> of,
                                     operation_by_name made);

template <class Template>
concept has_tuning_values = requires(const Template& made) {
  { made.tuning_values() } -> std::convertible_to<std::vector<named_value>>;
};

template <class Template, class Instantiate>
class template_of final : public template_by_name {
 public:
  template_of(std::shared_ptr<const described_operation> of, Template made, Instantiate instantiate)
      : of_(std::move(of)), made_(std::move(made)), instantiate_(std::move(instantiate)) {}

  std::vector<named_value> tuning() const override {
    if constexpr (has_tuning_values<Template>) {
      return made_.tuning_values();
    } else {
      return to_values(made_.tuning());
    }
  }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given(of_->name, of_->parameters, parameter_stage::size, sizes);
    return with_checked_names(of_, instantiate_(made_, queue, given));
  }

 private:
  std::shared_ptr<const described_operation> of_;
  Template made_;
  Instantiate instantiate_;
};

}  // namespace makers

template <class Make, class Instantiate>
operation_maker& operation_maker::made_by(Make make, Instantiate instantiate) {
  const auto of = std::make_shared<const makers::described_operation>(
      makers::described_operation{name_, described_});
  make_ = [of, make = std::move(make), instantiate = std::move(instantiate)](
              const context& context,
              const given_parameters& key) -> std::shared_ptr<const template_by_name> {
    using made = std::remove_cvref_t<decltype(make(context, key))>;
    return std::make_shared<const makers::template_of<made, Instantiate>>(of, make(context, key),
                                                                          instantiate);
  };
  return *this;
}

}  // namespace tune::operations
