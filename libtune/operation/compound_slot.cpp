// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/compound_slot.hpp"

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

// Part of the way it would leave some axes linked, hence the guard.
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

}  // namespace tune
