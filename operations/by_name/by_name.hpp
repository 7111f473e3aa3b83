// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/bare/configuration.hpp"
#include "libtune/libtune.hpp"

namespace tune::operations {

/// The time at which a parameter of an operation is set.
enum class parameter_stage : std::uint8_t {
  key,      ///< a parameter of make_template, which compiles and tunes for it
  size,     ///< a parameter of template_by_name::instantiate
  setting,  ///< a parameter of operation_by_name::set, at any time
};

/// Returns the word of a stage: "key", "size" or "setting".
std::string_view parameter_stage_name(parameter_stage stage) noexcept;

/// A parameter of an operation that is made by name.
struct parameter_description {
  std::string operation;                         ///< the name of the operation
  parameter_stage stage = parameter_stage::key;  ///< the time at which it is set
  std::string name;                              ///< the name of the parameter
  value default_value{};                         ///< std::monostate if it is required
  std::string meaning{};                         ///< a line for users
};

/// Returns the parameters of all operations that make_template knows, operation by operation.
std::vector<parameter_description> describe_parameters();

/// An operation and its settings.
struct operation_by_name {
  std::unique_ptr<tune::operation> operation;  ///< not null
  /// Changes a setting. @throws argument_error with a list of the settings, for an unknown name;
  /// type_error for a value of another type
  std::function<void(std::string_view name, const value& v)> set;
};

/// The template of an operation whose type is known only at run time. Immutable, so thread-safe.
class template_by_name {
 public:
  virtual ~template_by_name() = default;
  template_by_name(const template_by_name&) = delete;
  template_by_name& operator=(const template_by_name&) = delete;

  /// The values of the tuning; of the first tuning for a template for ranges of sizes.
  virtual std::vector<named_value> tuning() const = 0;
  /// Makes an operation for one size.
  /// @param queue  a queue of the template's context
  /// @param sizes  the parameters of the stage size; those with a default may be omitted
  /// @throws argument_error for unknown or missing names, type_error, the errors of the operation
  virtual operation_by_name instantiate(const command_queue& queue,
                                        const configuration& sizes) const = 0;

 protected:
  template_by_name() = default;
};

/// Makes the template of an operation by name, for callers that do not know its type at compile
/// time: other languages, and pipelines described in a file.
///
///   const auto made = tune::operations::make_template(context, "transpose", {{"type",
///   "float32"}}); auto [op, set] = made->instantiate(queue, {{"rows", 512}, {"columns", 512}});
///
/// @param context    compiles the kernels, and tunes them
/// @param operation  "fill", "transpose", "hreduce", "maskedsum", "percentile5", "fft", "gemm", or
///                   one that register_operation has added: register_telescope_operations adds
///                   those of libtune::telescope
/// @param key        the parameters of the stage key; whole numbers may be signed or unsigned
/// @throws argument_error with a list of the names, for an unknown operation or parameter;
/// type_error;
///         the errors of the operation's template
std::shared_ptr<const template_by_name> make_template(const context& context,
                                                      std::string_view operation,
                                                      const configuration& key);

}  // namespace tune::operations
