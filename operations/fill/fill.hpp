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

/// Tuning key: the size of an element.
struct fill_key {
  std::size_t element_bytes = 4;  ///< bytes of one element
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

/// Sets every element of an array, including padding, to one value: zero by default, else the
/// value of set_value. Made by fill_template.
///
/// Slot data: any shape; any padding.
class fill final : public operation {
 public:
  /// For fill_template, which compiled the program for this tuning and type.
  fill(const command_queue& queue, const program& program, const fill_tuning& tuning,
       element_type type, const shape& size);

  /// Sets the value for later runs. @throws type_error unless it has the array's element type
  template <element T>
  void set_value(const T& value) {
    set_value(element_type::of<T>(), &value);
  }
  /// Sets the value for later runs, for a type that is known only at run time.
  /// @throws argument_error unless these are the bytes of one element
  void set_value_bytes(std::span<const std::byte> value);
  /// The value for later runs, as bytes of one element. Valid as long as the operation.
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
  std::vector<std::byte> word_;  // copies of the value that fill a word
};

/// The kernel that fills arrays of one element type, compiled and tuned for a context. Immutable,
/// so thread-safe.
class fill_template {
 public:
  /// Looks up the tuning for an element size in the database; without one it searches, and stores
  /// it.
  static const autotuner<fill_key, fill_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws the errors of autotuner and compile
  fill_template(const context& context, element_type type,
                const std::optional<fill_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const fill_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue  a queue of the template's context
  /// @param size   the shape of the array
  fill instantiate(const command_queue& queue, const shape& size) const;

 private:
  element_type type_;
  fill_tuning tuning_;
  program program_;
};

/// The search space.
space<fill_tuning> tuning_space(const fill_key& key);

}  // namespace tune::operations
