// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/operation/operation.hpp"

namespace tune {

/// Slots that share memory, and their common name in the sequence.
struct shared_slots {
  std::string name;                   ///< of the compound or alias; unique in the sequence
  std::vector<slot_reference> slots;  ///< as "child:slot"
};

/// Operations that run one after the other on one queue, and share memory:
///   operation_sequence pipeline(queue,
///       {{"gain", gains.instantiate(queue, n)}, {"sum", sums.instantiate(queue, n)}},
///       {{"scaled", {"gain:dest", "sum:src"}}});
///   pipeline.bind("gain:src", samples);
///   pipeline.run();
/// A sequence is an operation itself, so sequences nest. Its slots are the children's, as
/// "child:slot", except those that are joined to a compound or an alias: they are hidden.
///
/// It can be moved. When it ends, children that others hold too become independent again, but
/// linked dimensions stay linked. Not thread-safe: a sequence and its children must not be used by
/// several threads at the same time.
class operation_sequence : public operation {
 public:
  /// On failure the children are unchanged.
  /// @param queue      the queue of every child
  /// @param children   in the order of running; the names contain no ':'
  /// @param compounds  slots that one array is bound to; see compound_slot
  /// @param aliases    slots, or compounds of the previous argument, in the same memory; see
  /// alias_slot
  /// @param memory     source of memory; see set_allocator
  /// @throws argument_error if a child was moved from, has another queue, is part of a sequence, or
  ///         is repeated; if a name is taken, a non-optional slot is missing (the text lists the
  ///         existing ones), or slots cannot be joined; type_error if their types prevent it
  explicit operation_sequence(command_queue queue, std::vector<named_operation> children,
                              const std::vector<shared_slots>& compounds = {},
                              const std::vector<shared_slots>& aliases = {},
                              std::shared_ptr<allocator> memory = nullptr);
  /// Moves the children and slots along; references to them stay valid.
  operation_sequence(operation_sequence&&) noexcept = default;
  /// Moves likewise; the other object keeps this one's children until it is destroyed.
  operation_sequence& operator=(operation_sequence&& other) noexcept;
  ~operation_sequence() override;

  /// The names of the children, in the order of running.
  std::vector<std::string> child_names() const;
  /// Returns a child. @throws argument_error that lists the names if there is no such child
  operation& child(std::string_view name) const;

  using operation::run;
  /// Runs one child, after binding memory to its unbound slots.
  void run(std::string_view name);
  /// Runs a range of children, including the first and the last.
  /// @throws argument_error also if the last precedes the first
  void run_range(std::string_view first, std::string_view last);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;
  std::span<const named_operation> do_children() const noexcept override { return children_; }

  void check_children() const;
  std::size_t index_of(std::string_view name) const;
  void run_child(operation& child);

  std::vector<named_operation> children_;
};

}  // namespace tune
