// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/composition.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/operation/alias_slot.hpp"
#include "libtune/operation/compound_slot.hpp"

namespace tune {
namespace {

std::vector<dimension> dimensions_of(const std::vector<named_operation>& operations) {
  std::vector<dimension> all;
  for (const named_operation& each : operations) {
    for (const named_slot& item : each.operation->slots()) {
      const std::vector<dimension> some = item.slot->all_dimensions();
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

auto find(const std::vector<named_slot>& slots, const std::string& name) noexcept {
  return std::find_if(slots.begin(), slots.end(),
                      [&](const named_slot& item) { return item.name == name; });
}

}  // namespace

composition::composition(const std::vector<named_operation>& operations)
    : guard_(dimensions_of(operations)) {
  for (const named_operation& each : operations) {
    for (const named_slot& item : each.operation->slots()) {
      slots.push_back({each.name + ':' + item.name, item.slot});
    }
    for (const named_slot& item : each.operation->hidden_slots()) {
      hidden_slots.push_back({each.name + ':' + item.name, item.slot});
    }
  }
}

void composition::add_compound(const shared_slots& shared) {
  std::vector<std::shared_ptr<io_slot>> parts;
  for (const auto& found : find_all("compound", shared)) {
    auto with_array = std::dynamic_pointer_cast<io_slot>(found);
    if (!with_array) {
      throw type_error(fmt::format(
          "compound '{}' cannot take '{}': it is an alias, which has no type and no shape",
          shared.name, found->name()));
    }
    parts.push_back(std::move(with_array));
  }
  if (!parts.empty()) replace(shared, std::make_shared<compound_slot>(shared.name, parts));
}

void composition::add_alias(const shared_slots& shared) {
  auto parts = find_all("alias", shared);
  if (!parts.empty()) replace(shared, std::make_shared<alias_slot>(shared.name, std::move(parts)));
}

std::vector<std::shared_ptr<slot>> composition::find_all(const std::string& kind,
                                                         const shared_slots& shared) const {
  std::vector<std::shared_ptr<slot>> found;
  for (const slot_reference& reference : shared.slots) {
    const auto item = find(slots, reference.name);
    if (item != slots.end()) {
      found.push_back(item->slot);
    } else if (!reference.optional || find(hidden_slots, reference.name) != hidden_slots.end()) {
      throw_missing(kind, shared.name, reference.name);
    }
  }
  return found;
}

void composition::throw_missing(const std::string& kind, const std::string& owner,
                                const std::string& name) const {
  const auto hidden = find(hidden_slots, name);
  if (hidden != hidden_slots.end()) {
    throw argument_error(fmt::format("{} '{}' cannot take '{}': it is part of '{}' already", kind,
                                     owner, name, hidden->slot->owner()->name()));
  }
  std::string names;
  for (const named_slot& item : slots) names += (names.empty() ? "" : ", ") + item.name;
  throw argument_error(
      fmt::format("{0} '{1}' cannot take '{2}': there is no such slot; the slots are {3}; "
                  "tune::optional_slot(\"{2}\") takes it only if it is there",
                  kind, owner, name, names));
}

void composition::replace(const shared_slots& shared, std::shared_ptr<slot> whole) {
  const auto is_part = [&](const named_slot& item) { return item.slot->owner() == whole.get(); };
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(hidden_slots), is_part);
  std::erase_if(slots, is_part);
  const bool taken = find(slots, shared.name) != slots.end() ||
                     find(hidden_slots, shared.name) != hidden_slots.end();
  if (taken) throw argument_error("two slots are named '" + shared.name + "'");
  slots.push_back({shared.name, std::move(whole)});
}

}  // namespace tune
