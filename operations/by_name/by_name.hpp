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

/// The time at which a parameter of an operation is given.
enum class parameter_stage : std::uint8_t {
  key,      ///< to make_template, which compiles and tunes for it
  size,     ///< to template_by_name::instantiate
  setting,  ///< to operation_by_name::set, at any time
};

/// Returns the word of a stage: "key", "size" or "setting".
std::string_view parameter_stage_name(parameter_stage stage) noexcept;

/// A parameter of an operation that is made by its name.
struct parameter_description {
  std::string operation;                         ///< the name of the operation
  parameter_stage stage = parameter_stage::key;  ///< the time at which it is given
  std::string name;                              ///< its own
  value default_value{};                         ///< std::monostate if it has to be given
  std::string meaning{};                         ///< a line for people
};

/// Returns the parameters of all operations that make_template knows, operation by operation.
const std::vector<parameter_description>& describe_parameters();

/// An operation and its settings.
struct operation_by_name {
  std::unique_ptr<tune::operation> operation;  ///< not null
  /// Changes a setting of this name. @throws argument_error, which lists the settings, if there is
  /// none of this name; type_error for a value of another type
  std::function<void(std::string_view name, const value& v)> set;
};

/// The template of an operation whose type is known at run time only. Immutable, so thread-safe.
class template_by_name {
 public:
  virtual ~template_by_name() = default;
  template_by_name(const template_by_name&) = delete;
  template_by_name& operator=(const template_by_name&) = delete;

  /// The values of its tuning; of a template for ranges of sizes those of the first tuning.
  virtual std::vector<named_value> tuning() const = 0;
  /// An operation for one size.
  /// @param queue  of the context that the template was made for
  /// @param sizes  its parameters of the stage size; those that have a default may be left out
  /// @throws argument_error for other names or missing ones, type_error, what the operation throws
  virtual operation_by_name instantiate(const command_queue& queue,
                                        const configuration& sizes) const = 0;

 protected:
  template_by_name() = default;
};

/// Makes the template of an operation by its name, for callers that do not know its type when they
/// are compiled: other languages, and pipelines that a file describes.
///
///   const auto made = tune::operations::make_template(context, "transpose", {{"type",
///   "float32"}}); auto [op, set] = made->instantiate(queue, {{"rows", 512}, {"columns", 512}});
///
/// @param context    compiles the kernels, and tunes them
/// @param operation  "fill", "transpose", "hreduce", "maskedsum", "fft" or "gemm"
/// @param key        its parameters of the stage key; whole numbers may be signed or not
/// @throws argument_error that lists the names, for an unknown operation or parameter; type_error;
///         what the template of the operation throws
std::shared_ptr<const template_by_name> make_template(const context& context,
                                                      std::string_view operation,
                                                      const configuration& key);

}  // namespace tune::operations
