// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/frame_set.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libtune/base/error.hpp"
#include "libtune/operation/composition.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/operation/slot.hpp"
#include "libtune/tune/tuned_by.hpp"

namespace tune::detail {
namespace {

/// The memory that is bound to a slot, and the layout of the array if it has one.
struct bound_memory {
  const buffer* memory = nullptr;  // null if the slot is unbound
  const array_layout* layout = nullptr;
  std::size_t bytes = 0;
};

bound_memory memory_of(const slot& of) {
  if (!of.is_bound()) return {};
  if (const auto* array = dynamic_cast<const io_slot*>(&of)) {
    const device_array& bound = array->buffer();
    return {&bound.buffer(), &bound.layout(), bound.layout().bytes()};
  }
  const buffer& memory = dynamic_cast<const alias_slot&>(of).buffer();
  return {&memory, nullptr, of.required_bytes()};
}

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

/// Adds the autotuner and the key, if the class declares them. A declaration that fails leaves a
/// frame without them.
void add_key(captured_operation_form& form) {
  const auto declared = find_tuning_declaration(form.type);
  if (declared == nullptr) return;
  try {
    form.key = declared->key({form.type, form.parameters});
    form.function = declared->function().name;
  } catch (const error&) {
    form.key.clear();
  }
}

/// The present form of an operation, with its children and the slots that they share.
captured_operation_form form_of(const operation& of) {
  captured_operation_form form{.type = class_name(typeid(of)), .parameters = of.parameters()};
  add_key(form);
  for (const named_operation& each : of.children()) {
    form.child_names.push_back(each.name);
    form.children.push_back(form_of(*each.operation));
  }
  if (form.children.empty()) return form;
  add_joins(of, false, form.joins);
  add_joins(of, true, form.joins);
  return form;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void check_names(const planned_point& point, const std::vector<std::string>& names) {
  const auto known = point.current().slot_names();
  for (const std::string& each : names) {
    if (contains(known, each)) continue;
    throw argument_error(fmt::format(
        "the options of the captured operation '{}' name the slot '{}', which it does not have; "
        "the slots are {}",
        point.name, each, fmt::join(known, ", ")));
  }
}

// Reads the present binding of a slot into its snapshot. @returns false with the reason noted
bool read_binding(frame_set& set, const planned_point& point, std::size_t index, std::size_t number,
                  const slot& from) {
  slot_snapshot& snapshot = set.calls[index].slots[number];
  const planned_slot& planned = point.slots[number];
  const bound_memory bound = memory_of(from);
  const char* reason = nullptr;
  if (bound.memory == nullptr) {
    reason = "is not bound";
  } else if (bound.bytes > planned.bytes) {
    reason = "is bound to a larger array than at capture::prepare";
  } else if (planned.shares) {
    const auto other = memory_of(*point.current().slots()[*planned.shares].slot);
    const bool is_same = other.memory != nullptr && *other.memory == *bound.memory;
    if (!is_same) reason = "shares its memory with another slot no more";
  }
  if (reason != nullptr) {
    set.fail(fmt::format("the slot '{}' of '{}' {}", planned.name, point.name, reason));
    return false;
  }
  snapshot.bytes = bound.bytes;
  snapshot.memory = bound.memory->impl().get();
  snapshot.layout.reset();
  if (bound.layout != nullptr) snapshot.layout = *bound.layout;
  if (!planned.shares) return true;
  slot_snapshot& owner = set.calls[index].slots[*planned.shares];
  owner.bytes = std::max(owner.bytes, bound.bytes);
  return true;
}

void note_queue(frame_set& set, const command_queue& queue) {
  const auto known = std::ranges::find(set.queues, queue);
  if (known == set.queues.end()) set.queues.push_back(queue);
}

void begin_call(frame_set& set, planned_point& point, std::size_t index) {
  operation& of = point.current();
  call_snapshot& call = set.calls[index];
  command_queue& queue = of.queue();
  if (queue.is_capturing()) {
    return set.fail(fmt::format(
        "the queue of '{}' is recording a graph, which would copy the slots in each launch; "
        "pass the captured_operation to capture::add, or capture the operations one by one",
        point.name));
  }
  of.ensure_all_bound();
  const std::uint64_t version = of.version();
  if (!point.form || point.version != version) {
    point.form = std::make_shared<const captured_operation_form>(form_of(of));
    point.version = version;
  }
  call.form = point.form;
  call.order = set.runs++;
  note_queue(set, queue);
  const auto slots = of.slots();
  if (slots.size() != point.slots.size()) {
    return set.fail(fmt::format("'{}' has other slots than at capture::prepare", point.name));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!read_binding(set, point, index, i, *slots[i].slot)) return;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slot_snapshot& to = call.slots[i];
    if (!point.slots[i].before || to.bytes == 0) continue;
    to.before.take(queue, *memory_of(*slots[i].slot).memory, to.bytes);
  }
  call.is_begun = true;
}

void end_call(frame_set& set, const planned_point& point, std::size_t index) {
  operation& of = point.current();
  call_snapshot& call = set.calls[index];
  const auto slots = of.slots();
  for (std::size_t i = 0; i < point.slots.size(); ++i) {
    slot_snapshot& to = call.slots[i];
    if (!point.slots[i].after || to.bytes == 0) continue;
    const bound_memory bound = memory_of(*slots[i].slot);
    if (bound.memory == nullptr || bound.memory->impl().get() != to.memory) {
      return set.fail(fmt::format("the binding of '{}' of '{}' changes in its run",
                                  point.slots[i].name, point.name));
    }
    to.after.take(of.queue(), *bound.memory, to.bytes);
  }
  call.is_taken = true;
}

}  // namespace

void planned_point::plan_slots() {
  check_names(*this, options.unchanged);
  check_names(*this, options.overwritten);
  slots.clear();
  std::vector<const buffer*> memories;
  for (const named_slot& each : current().slots()) {
    const bound_memory bound = memory_of(*each.slot);
    planned_slot planned{.name = each.name, .bytes = bound.bytes};
    const auto same = std::ranges::find_if(
        memories, [&](const buffer* memory) { return *memory == *bound.memory; });
    if (same != memories.end()) {
      const auto owner = static_cast<std::size_t>(same - memories.begin());
      planned.shares = slots[owner].shares.value_or(owner);
      // The first slot stands for the memory of all.
      slots[*planned.shares].bytes = std::max(slots[*planned.shares].bytes, bound.bytes);
    }
    memories.push_back(bound.memory);
    planned.before = !planned.shares && !contains(options.overwritten, each.name);
    planned.after = !planned.shares && !contains(options.unchanged, each.name);
    slots.push_back(std::move(planned));
  }
}

snapshot_place::snapshot_place(const context& context, snapshot_memory kind, std::size_t bytes) {
  if (kind == snapshot_memory::device) {
    device_ = context.create_buffer(bytes);
  } else {
    host_ = context.create_pinned_memory(bytes);
  }
}

void snapshot_place::take(command_queue& queue, const buffer& from, std::size_t bytes) {
  if (device_) {
    queue.copy(*device_, from, bytes);
  } else {
    queue.read(from, host_->data(), bytes, 0, false);
  }
}

std::span<const std::byte> snapshot_place::read(command_queue& queue, std::size_t offset,
                                                std::size_t bytes,
                                                const pinned_memory& staging) const {
  if (host_) return {static_cast<const std::byte*>(host_->data()) + offset, bytes};
  queue.read(*device_, staging.data(), bytes, offset);
  return {static_cast<const std::byte*>(staging.data()), bytes};
}

void frame_set::clear() noexcept {
  for (call_snapshot& each : calls) each.is_begun = each.is_taken = false;
  runs = 0;
  queues.clear();
  ends.clear();
  failure.clear();
}

void frame_set::fail(std::string_view reason) noexcept {
  try {
    if (failure.empty()) failure = reason;
  } catch (const std::exception&) {  // out of memory: the flag counts
    failure = "?";
  }
}

bool frame_set::has_ended() const {
  return std::ranges::all_of(ends, [](const event& each) { return each.is_complete(); });
}

std::unique_ptr<frame_set> make_frame_set(const context& context, snapshot_memory kind,
                                          const std::vector<planned_point>& points) {
  auto set = std::make_unique<frame_set>();
  for (const planned_point& point : points) {
    call_snapshot& call = set->calls.emplace_back();
    for (const planned_slot& each : point.slots) {
      slot_snapshot& slot = call.slots.emplace_back();
      if (each.bytes == 0) continue;
      if (each.before) slot.before = snapshot_place(context, kind, each.bytes);
      if (each.after) slot.after = snapshot_place(context, kind, each.bytes);
    }
  }
  set->queues.reserve(points.size());
  set->ends.reserve(points.size());
  return set;
}

std::size_t snapshot_bytes_of(const std::vector<planned_point>& points) noexcept {
  std::size_t sum = 0;
  for (const planned_point& point : points) {
    for (const planned_slot& each : point.slots) {
      sum += each.bytes * (std::size_t{each.before} + std::size_t{each.after});
    }
  }
  return sum;
}

void take_before(frame_set& set, planned_point& point, std::size_t index) noexcept {
  try {
    if (set.failure.empty() && !set.calls[index].is_begun) begin_call(set, point, index);
  } catch (const std::exception& failure) {
    set.fail(failure.what());
  }
}

void take_after(frame_set& set, planned_point& point, std::size_t index) noexcept {
  try {
    const call_snapshot& call = set.calls[index];
    if (set.failure.empty() && call.is_begun && !call.is_taken) end_call(set, point, index);
  } catch (const std::exception& failure) {
    set.fail(failure.what());
  }
}

void mark_end(frame_set& set) noexcept {
  try {
    for (command_queue& each : set.queues) {
      set.ends.push_back(each.enqueue_marker());
      each.flush();
    }
  } catch (const std::exception& failure) {
    set.fail(failure.what());
  }
}

}  // namespace tune::detail
