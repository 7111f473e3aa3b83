// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/operation/operation.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/operation/slot.hpp"

namespace tune {

/// Several slots that one array is bound to, for instance the output of one operation and the input
/// of the next. It links their dimensions, and thus satisfies the requirements of all.
class compound_slot final : public io_slot {
 public:
  /// Takes ownership of the slots, which may be compounds themselves. On failure nothing changes.
  /// The links outlive the compound.
  /// @throws type_error if the slots hold different types
  /// @throws argument_error if the list is empty, a slot is repeated, bound or owned, belongs to
  ///         another context or has another shape, or dimensions cannot be linked
  compound_slot(const std::string& name, std::vector<std::shared_ptr<io_slot>> children);

 private:
  void do_assign_array(const device_array& array) override;
  void do_release() noexcept override;

  std::vector<std::shared_ptr<io_slot>> parts_;
};

/// Slots of any kinds, shapes and types that lie in the same memory, because they are never in use
/// at the same time. It has no type and no shape: memory is bound to it instead of an array, and
/// each of its slots gets its array at the start of that memory.
class alias_slot final : public slot {
 public:
  /// Takes ownership of the slots. On failure nothing changes.
  /// @throws argument_error if the list is empty, a slot is repeated, bound or owned, or the slots
  ///         belong to different contexts
  alias_slot(std::string name, std::vector<std::shared_ptr<slot>> children);

  /// The bound memory. @throws argument_error if the slot is unbound
  const tune::buffer& buffer() const;

 private:
  std::size_t do_required_bytes() const override;
  void do_assign(const tune::buffer& memory) override;
  void do_release() noexcept override;
  void do_collect(std::vector<dimension>& dimensions) const override;

  std::optional<tune::buffer> memory_;
};

/// Joins the slots of operations into compounds and aliases. Its destructor separates them again
/// unless keep() was called.
class composition {
 public:
  /// Collects the slots of the operations, including hidden ones, as "operation:slot".
  explicit composition(const std::vector<named_operation>& operations);

  /// Join slots, which are hidden from then on. If all slots are optional and missing, nothing
  /// happens.
  void add_compound(const shared_slots& shared);
  void add_alias(const shared_slots& shared);

  void keep() noexcept { guard_.keep(); }

  // the slots so far
  std::vector<named_slot> slots;
  std::vector<named_slot> hidden_slots;

 private:
  std::vector<std::shared_ptr<slot>> find_all(const std::string& kind,
                                              const shared_slots& shared) const;
  [[noreturn]] void throw_missing(const std::string& kind, const std::string& owner,
                                  const std::string& name) const;
  void replace(const shared_slots& shared, std::shared_ptr<slot> whole);

  dimension_guard guard_;
};

}  // namespace tune
