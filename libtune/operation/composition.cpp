// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/composition.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

using io_slots = std::vector<std::shared_ptr<io_slot>>;

const io_slot& first_of(const std::string& name, const io_slots& children) {
  const bool all_exist = std::find(children.begin(), children.end(), nullptr) == children.end();
  if (!children.empty() && all_exist) return *children.front();
  throw argument_error("compound '" + name +
                       "' has to be made of at least one slot, none of them null");
}

padding_policy strictest(const io_slots& children) {
  const bool any = std::all_of(children.begin(), children.end(), [](const auto& child) {
    return child->policy() == padding_policy::any_valid;
  });
  return any ? padding_policy::any_valid : padding_policy::required;
}

void check_alike(const std::string& name, const io_slots& children) {
  const io_slot& first = *children.front();
  const shape size = first.required_layout().size();
  for (const auto& child : children) {
    if (child->type() != first.type()) {
      throw type_error(fmt::format(
          "the slots of compound '{}' have to hold one type; '{}' holds {}, '{}' holds {}", name,
          first.name(), first.type().name(), child->name(), child->type().name()));
    }
    const shape other = child->required_layout().size();
    if (other != size) {
      throw argument_error(
          fmt::format("the slots of compound '{}' have to have one shape; '{}' has {}, '{}' has {}",
                      name, first.name(), to_string(size), child->name(), to_string(other)));
    }
  }
}

// A failure halfway would leave some axes linked, hence the guard.
void link_all(const std::string& name, const io_slots& children) {
  std::vector<dimension> involved;
  for (const auto& child : children) {
    involved.insert(involved.end(), child->dimensions().begin(), child->dimensions().end());
  }
  if (std::any_of(involved.begin(), involved.end(), [](const auto& d) { return d.is_frozen(); })) {
    throw argument_error("compound '" + name +
                         "' cannot be made of slots to which an array has been bound");
  }
  dimension_guard guard(involved);
  const std::vector<dimension>& first = children.front()->dimensions();
  for (const auto& child : children) {
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
      dimension one = first[axis];
      dimension other = child->dimensions()[axis];
      try {
        one.link(other);
      } catch (const argument_error& failure) {
        throw argument_error(fmt::format("compound '{}' cannot join axis {} of '{}' and '{}': {}",
                                         name, axis, children.front()->name(), child->name(),
                                         failure.what()));
      }
    }
  }
  guard.keep();
}

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

auto find_named(const std::vector<named_slot>& slots, const std::string& name) noexcept {
  return std::find_if(slots.begin(), slots.end(),
                      [&](const named_slot& item) { return item.name == name; });
}

}  // namespace

compound_slot::compound_slot(const std::string& name,
                             std::vector<std::shared_ptr<io_slot>> children)
    : io_slot(name, first_of(name, children).dimensions(), first_of(name, children).type(),
              strictest(children)),
      parts_(std::move(children)) {
  std::vector<std::shared_ptr<slot>> owned(parts_.begin(), parts_.end());
  check_children(name, owned);
  check_alike(name, parts_);
  link_all(name, parts_);
  adopt(std::move(owned));
}

void compound_slot::do_assign_array(const device_array& array) {
  io_slot::do_assign_array(array);
  for (const auto& part : parts_) assign(*part, array);
}

void compound_slot::do_release() noexcept {
  io_slot::do_release();
  for (const auto& part : parts_) release(*part);
}

alias_slot::alias_slot(std::string name, std::vector<std::shared_ptr<slot>> children)
    : slot(std::move(name)) {
  if (children.empty()) {
    throw argument_error("alias '" + this->name() + "' has to be made of at least one slot");
  }
  check_children(this->name(), children);
  adopt(std::move(children));
}

const tune::buffer& alias_slot::buffer() const {
  if (memory_) return *memory_;
  throw argument_error("nothing is bound to the alias '" + name() + "'");
}

std::size_t alias_slot::do_required_bytes() const {
  std::size_t bytes = 0;
  for (const auto& child : children()) bytes = std::max(bytes, child->required_bytes());
  return bytes;
}

void alias_slot::do_assign(const tune::buffer& memory) {
  if (memory_ && *memory_ == memory) return;
  memory_ = memory;
  for (const auto& child : children()) assign(*child, memory);
  mark_changed(true);
}

void alias_slot::do_release() noexcept {
  memory_.reset();
  for (const auto& child : children()) release(*child);
  mark_changed(false);
}

void alias_slot::do_collect(std::vector<dimension>& dimensions) const {
  for (const auto& child : children()) {
    const std::vector<dimension> below = child->all_dimensions();
    dimensions.insert(dimensions.end(), below.begin(), below.end());
  }
}

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
    const auto item = find_named(slots, reference.name);
    if (item != slots.end()) {
      found.push_back(item->slot);
    } else if (!reference.optional ||
               find_named(hidden_slots, reference.name) != hidden_slots.end()) {
      throw_missing(kind, shared.name, reference.name);
    }
  }
  return found;
}

void composition::throw_missing(const std::string& kind, const std::string& owner,
                                const std::string& name) const {
  const auto hidden = find_named(hidden_slots, name);
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
  const bool taken = find_named(slots, shared.name) != slots.end() ||
                     find_named(hidden_slots, shared.name) != hidden_slots.end();
  if (taken) throw argument_error("two slots are named '" + shared.name + "'");
  slots.push_back({shared.name, std::move(whole)});
}

}  // namespace tune
