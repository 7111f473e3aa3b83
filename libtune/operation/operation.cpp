// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/operation.hpp"

#include <algorithm>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

std::vector<std::string> operation::slot_names() const {
  std::vector<std::string> names;
  for (const auto& item : slots_) names.push_back(item->name());
  return names;
}

io_slot& operation::slot(std::string_view name) {
  for (const auto& item : slots_) {
    if (item->name() == name) return *item;
  }
  std::string known;
  for (const auto& item : slots_) known += (known.empty() ? "" : ", ") + item->name();
  throw argument_error("no slot is named '" + std::string(name) + "'; " +
                       (known.empty() ? "the operation has none" : "the slots are " + known));
}

const io_slot& operation::slot(std::string_view name) const {
  return const_cast<operation*>(this)->slot(name);  // NOLINT: finding a slot changes nothing
}

void operation::bind(std::string_view name, const device_array& array) {
  io_slot& target = slot(name);
  // Otherwise only the launch would fail, with the number of an argument instead of a name.
  if (array.buffer().impl()->context() != queue_.context().impl()) {
    throw argument_error("the array for the slot '" + std::string(name) +
                         "' belongs to another context than the operation's queue on device '" +
                         queue_.device().name() + "'; make both from one context");
  }
  target.bind(array);
}

void operation::ensure_bound(std::string_view name) { ensure_bound(slot(name)); }

void operation::ensure_all_bound() {
  for (const auto& item : slots_) ensure_bound(*item);
}

std::size_t operation::required_bytes() const {
  std::size_t total = 0;
  for (const auto& item : slots_) total += item->required_bytes();
  return total;
}

std::uint64_t operation::version() const noexcept {
  std::uint64_t latest = version_;
  for (const auto& item : slots_) latest = std::max(latest, item->version());
  return latest;
}

void operation::run() {
  ensure_all_bound();
  do_run();
}

io_slot& operation::add_slot(std::string name, std::initializer_list<dimension> dimensions,
                             element_type type) {
  const bool taken = std::any_of(slots_.begin(), slots_.end(),
                                 [&](const auto& item) { return item->name() == name; });
  if (taken) throw argument_error("two slots are named '" + name + "'");
  slots_.push_back(std::make_unique<io_slot>(std::move(name), dimensions, type));
  return *slots_.back();
}

void operation::ensure_bound(io_slot& slot) {
  if (!slot.is_bound()) slot.allocate(queue_.context());
}

}  // namespace tune
