// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/operation_form.hpp"

#include <algorithm>

#include "libtune/operation/composition.hpp"
#include "libtune/operation/remaking.hpp"

namespace tune::detail {
namespace {

/// The name of a slot in an operation; empty if it is not one of its slots.
std::string name_in(const operation& of, const slot* wanted) {
  for (const auto slots : {of.slots(), of.hidden_slots()}) {
    for (const named_slot& each : slots) {
      if (each.slot.get() == wanted) return each.name;
    }
  }
  return {};
}

bool is_of_child(const operation& of, const slot* wanted) {
  return std::ranges::any_of(of.children(), [&](const named_operation& child) {
    return !name_in(*child.operation, wanted).empty();
  });
}

// Compounds come first, because an alias may take one.
void add_joins(const operation& of, bool aliases, std::vector<captured_join>& joins) {
  for (const auto slots : {of.slots(), of.hidden_slots()}) {
    for (const named_slot& each : slots) {
      const bool is_alias = dynamic_cast<const alias_slot*>(each.slot.get()) != nullptr;
      if (is_alias != aliases || each.slot->children().empty()) continue;
      if (is_of_child(of, each.slot.get())) continue;
      captured_join join{.name = each.name, .is_alias = is_alias, .slots = {}};
      for (const auto& part : each.slot->children()) join.slots.push_back(name_in(of, part.get()));
      joins.push_back(std::move(join));
    }
  }
}

}  // namespace

captured_operation_form form_of(const operation& of) {
  captured_operation_form form{.type = class_name(typeid(of)), .parameters = of.parameters()};
  for (const named_operation& each : of.children()) {
    form.child_names.push_back(each.name);
    form.children.push_back(form_of(*each.operation));
  }
  if (form.children.empty()) return form;
  add_joins(of, false, form.joins);
  add_joins(of, true, form.joins);
  return form;
}

}  // namespace tune::detail
