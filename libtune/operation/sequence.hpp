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

/// Slots that share memory, and the name of the slot that they become.
struct shared_slots {
  std::string name;  ///< of the compound or alias; no other slot of the sequence has it
  std::vector<slot_reference> slots;  ///< as "child:slot"
};

/// Operations that run one after the other on one queue, and the memory that they share:
///   operation_sequence pipeline(queue,
///       {{"gain", gains.instantiate(queue, n)}, {"sum", sums.instantiate(queue, n)}},
///       {{"scaled", {"gain:dest", "sum:src"}}});
///   pipeline.bind("gain:src", samples);
///   pipeline.run();
/// It is an operation itself, so sequences nest. Its slots are those of its children, as
/// "child:slot", except those that a compound or an alias joined: they are hidden.
///
/// It may be moved. Children that others hold too are on their own again after its end; the
/// dimensions that were linked stay so. Not thread-safe, and neither it nor a child may be used
/// while another thread uses the other.
class operation_sequence : public operation {
 public:
  /// If it fails, the children are as they were.
  /// @param queue      the queue of every child
  /// @param children   in the order of running; names without ':'
  /// @param compounds  slots to which one array is bound; see compound_slot
  /// @param aliases    slots, or compounds from above, in the same memory; see alias_slot
  /// @param memory     see set_allocator
  /// @throws argument_error if a child was moved from, has another queue, is part of a sequence, or
  ///         comes twice, a name is taken, a slot that is not optional is missing (the text lists
  ///         those that are there), or slots cannot be joined; type_error if that is for their
  ///         types
  explicit operation_sequence(command_queue queue, std::vector<named_operation> children,
                              const std::vector<shared_slots>& compounds = {},
                              const std::vector<shared_slots>& aliases = {},
                              std::shared_ptr<allocator> memory = nullptr);
  /// The children and slots move along; references to them stay valid.
  operation_sequence(operation_sequence&&) noexcept = default;
  /// The same; the other one keeps the children that this one had, until it is destroyed.
  operation_sequence& operator=(operation_sequence&& other) noexcept;
  ~operation_sequence() override;

  /// The names of the children, in the order of running.
  std::vector<std::string> child_names() const;
  /// @throws argument_error that lists the names, if there is no such child
  operation& child(std::string_view name) const;

  using operation::run;
  /// Runs one child, after binding what it is missing.
  void run(std::string_view name);
  /// Runs the children from one to another, which is run too.
  /// @throws argument_error also if the last comes before the first
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
