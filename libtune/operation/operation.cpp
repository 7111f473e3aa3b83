// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/operation.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune {
namespace {

tune::slot* find(std::span<const named_slot> slots, std::string_view name) noexcept {
  for (const named_slot& item : slots) {
    if (item.name == name) return item.slot.get();
  }
  return nullptr;
}

std::string list_names(std::span<const named_slot> slots) {
  std::string names;
  for (const named_slot& item : slots) names += (names.empty() ? "" : ", ") + item.name;
  return names;
}

}  // namespace

operation::operation(command_queue queue, std::shared_ptr<allocator> memory)
    : queue_(std::move(queue)) {
  set_allocator(std::move(memory));
}

operation::~operation() = default;
operation::operation(operation&&) noexcept = default;
operation& operation::operator=(operation&&) noexcept = default;

void operation::throw_moved_from() {
  throw argument_error(
      "the operation was moved from, and has neither queue nor slots any more; use the one that it "
      "was moved to, or assign another to it");
}

void operation::set_allocator(std::shared_ptr<allocator> memory) {
  check_not_moved_from();
  if (memory && memory->context() != queue_.context()) {
    throw argument_error(
        "the allocator belongs to another context than the operation's queue on "
        "device '" +
        queue_.device().name() + "'; make both from one context");
  }
  memory_ = std::move(memory);
}

std::vector<std::string> operation::slot_names() const {
  std::vector<std::string> names;
  for (const named_slot& item : slots_) names.push_back(item.name);
  return names;
}

io_slot& operation::slot(std::string_view name) {
  tune::slot& found = any_slot(name);
  if (auto* with_array = dynamic_cast<io_slot*>(&found)) return *with_array;
  throw type_error(fmt::format(
      "slot '{}' is an alias: slots of any types share its memory, so it takes no array; bind a "
      "buffer of {} bytes, or let ensure_bound allocate it",
      name, found.required_bytes()));
}

const io_slot& operation::slot(std::string_view name) const {
  return const_cast<operation*>(this)->slot(name);  // NOLINT: finding a slot changes nothing
}

tune::slot& operation::any_slot(std::string_view name) {
  check_not_moved_from();
  if (tune::slot* found = find(slots_, name)) return *found;
  if (tune::slot* found = find(hidden_slots_, name)) return *found;
  const std::string hidden = list_names(hidden_slots_);
  throw argument_error(
      fmt::format("no slot is named '{}'; {}{}", name,
                  slots_.empty() ? "the operation has none" : "the slots are " + list_names(slots_),
                  hidden.empty() ? "" : ", and as parts of those " + hidden));
}

const tune::slot& operation::any_slot(std::string_view name) const {
  return const_cast<operation*>(this)->any_slot(name);  // NOLINT: finding a slot changes nothing
}

void operation::bind(std::span<const binding> bindings) {
  for (auto at = bindings.begin(); at != bindings.end(); ++at) {
    slot(at->name).check(at->array);
    if (std::any_of(bindings.begin(), at, [&](const auto& b) { return b.name == at->name; })) {
      throw argument_error(fmt::format("two arrays are given for the slot '{}'", at->name));
    }
  }
  for (const binding& each : bindings) slot(each.name).bind(each.array);
}

void operation::ensure_all_bound() {
  check_not_moved_from();
  for (const named_slot& item : slots_) ensure_bound(*item.slot);
}

std::size_t operation::required_bytes() const {
  std::size_t total = 0;
  for (const named_slot& item : slots_) total += item.slot->required_bytes();
  return total;
}

std::uint64_t operation::version() const noexcept {
  std::uint64_t latest = version_;
  for (const named_slot& item : slots_) latest = std::max(latest, item.slot->version());
  for (const auto& child : children()) latest = std::max(latest, child.operation->version());
  return latest;
}

void operation::run() {
  ensure_all_bound();
  do_run();
}

io_slot& operation::add_slot(std::string name, std::vector<dimension> dimensions, element_type type,
                             padding_policy policy) {
  auto made = std::make_shared<io_slot>(std::move(name), std::move(dimensions), type, policy);
  io_slot& added = *made;
  add(std::move(made));
  return added;
}

void operation::add(std::shared_ptr<io_slot> slot) {
  if (find(slots_, slot->name()) != nullptr || find(hidden_slots_, slot->name()) != nullptr) {
    throw argument_error("two slots are named '" + slot->name() + "'");
  }
  slot->restrict_to(queue_.context());
  slots_.push_back({slot->name(), std::move(slot)});
}

void operation::ensure_bound(tune::slot& slot) {
  if (slot.is_bound()) return;
  if (memory_) {
    slot.root().allocate_buffer(*memory_);
  } else {
    slot.root().allocate_buffer(queue_.context());
  }
}

std::uint64_t next_version() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // Only the order of the numbers matters; nothing is published with them.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void captured_operation::run() {
  command_queue& queue = operation_->queue();
  if (queue.is_capturing()) {
    operation_->run();
    return;
  }
  operation_->ensure_all_bound();
  if (version_ != operation_->version()) renew();
  if (graph_) {
    queue.enqueue(*graph_);
  } else {
    operation_->run();
  }
}

void captured_operation::renew() {
  command_queue& queue = operation_->queue();
  // Read before the run: an operation that changes in each run, such as one that alternates between
  // two buffers, has to be recorded in each.
  const std::uint64_t version = operation_->version();
  const auto enqueue = [this] { operation_->run(); };
  if (graph_ && queue_ == queue) {
    queue.recapture(*graph_, enqueue);
  } else {
    graph_ = queue.capture(enqueue);
    queue_ = queue;
  }
  version_ = version;
  if (graph_) ++captures_;
}

}  // namespace tune
