// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// An element, as far as the speed depends on it.
struct fill_key {
  std::size_t element_bytes = 4;  ///< of one element
};

/// The division of the array among work groups and work items.
struct fill_tuning {
  std::size_t wgs = 128;   ///< work items in a work group
  std::size_t vector = 1;  ///< elements that an item stores at once: a word
  std::size_t items = 1;   ///< words that an item stores
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::fill_key, element_bytes)
LIBTUNE_FIELDS(tune::operations::fill_tuning, wgs, vector, items)

namespace tune::operations {

/// Sets every element of an array, the padding included, to one value: zero, until set_value says
/// otherwise. Made by fill_template.
///
/// Slot data: any shape; any padding.
class fill final : public operation {
 public:
  /// For fill_template, which compiled the program for this tuning and type.
  fill(const command_queue& queue, const program& program, const fill_tuning& tuning,
       element_type type, const shape& size);

  /// Sets the value that later runs write. @throws type_error if it is not of the array's element
  /// type
  template <element T>
  void set_value(const T& value) {
    set_value(element_type::of<T>(), &value);
  }
  /// The same, for a type that is known at run time only.
  /// @throws argument_error if these are not the bytes of one element
  void set_value_bytes(std::span<const std::byte> value);
  /// The value that later runs write, as bytes of one element. Valid until the operation goes.
  std::span<const std::byte> value_bytes() const noexcept {
    return std::span(word_).first(word_.size() / tuning_.vector);
  }

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;
  void set_value(element_type type, const void* value);

  kernel kernel_;
  fill_tuning tuning_;
  slot_ref<> data_;
  std::vector<std::byte> word_;  // the value, as often as it fits
};

/// The kernel that fills arrays of one element type, compiled and tuned for a context. Immutable,
/// so thread-safe.
class fill_template {
 public:
  /// Looks up the tuning for an element size in the database; without one it searches, and stores
  /// it.
  static const autotuner<fill_key, fill_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws what autotuner and compile throw
  fill_template(const context& context, element_type type,
                const std::optional<fill_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const fill_tuning& tuning() const noexcept { return tuning_; }

  /// An operation for one shape of array.
  /// @param queue  of the context that the template was made for
  /// @param size   the shape of the array
  fill instantiate(const command_queue& queue, const shape& size) const;

 private:
  element_type type_;
  fill_tuning tuning_;
  program program_;
};

/// The configurations that are searched.
space<fill_tuning> tuning_space(const fill_key& key);

}  // namespace tune::operations
