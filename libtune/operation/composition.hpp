// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libtune/operation/operation.hpp"
#include "libtune/operation/sequence.hpp"

namespace tune {

/// Joins the slots of operations into compounds and aliases. What it joined is apart again when it
/// is destroyed without keep.
class composition {
 public:
  /// The slots of the operations, hidden ones too, as "operation:slot".
  explicit composition(const std::vector<named_operation>& operations);

  /// Join slots, which are hidden from then on. Without any, since all are optional, nothing
  /// happens.
  void add_compound(const shared_slots& shared);
  void add_alias(const shared_slots& shared);

  void keep() noexcept { guard_.keep(); }

  // What there is so far.
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
