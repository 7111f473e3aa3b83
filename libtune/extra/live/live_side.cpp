// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_side.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/composition.hpp"

namespace tune::detail {
namespace {

/// Calls with_array(array) or with_memory(buffer) for the binding of a slot.
template <class Array, class Memory>
void visit_binding(const slot& from, Array&& with_array, Memory&& with_memory) {
  if (const auto* array = dynamic_cast<const io_slot*>(&from)) return with_array(array->buffer());
  if (const auto* memory = dynamic_cast<const alias_slot*>(&from)) with_memory(memory->buffer());
}

void bind_array(slot& to, const device_array& array) {
  if (auto* with_array = dynamic_cast<io_slot*>(&to)) return with_array->bind(array);
  to.bind(array.buffer());
}

}  // namespace

void live_side::run(command_queue& queue) {
  if (!as_graph_) return operation_->run();
  operation_->ensure_all_bound();
  record();
  queue.enqueue(*graph_);
}

// Like captured_operation, but on a queue of its own: only one thread can record on a pipeline's
// own queue.
void live_side::record() {
  if (!as_graph_ || version_ == operation_->version()) return;
  const std::uint64_t version = operation_->version();
  command_queue& own = operation_->queue();
  const auto enqueue = [this] { operation_->run(); };
  if (graph_) {
    own.recapture(*graph_, enqueue);
  } else {
    graph_ = own.capture(enqueue);
    if (!graph_) {
      throw device_error("capture of an operation", own.device().name(),
                         "the device refuses to record a command graph; make the instance with "
                         "live_run::enqueue");
    }
  }
  version_ = version;
}

bool live_bindings::read(const operation& from) {
  const auto slots = from.slots();
  if (slots.size() != all_.size()) return false;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].slot->is_bound()) return false;
    visit_binding(
        *slots[i].slot, [&](const device_array& array) { all_[i].array = array; },
        [&](const buffer& memory) { all_[i].memory = memory; });
  }
  return true;
}

void live_bindings::bind(operation& to) const {
  const auto slots = to.slots();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (all_[i].array) bind_array(*slots[i].slot, *all_[i].array);
    if (all_[i].memory) slots[i].slot->bind(*all_[i].memory);
  }
}

void live_bindings::clear() noexcept {
  for (content& each : all_) each = {};
}

void bind_alike(const operation& from, operation& to) {
  const auto before = from.slots();
  const auto after = to.slots();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].slot->is_bound()) continue;
    visit_binding(
        *before[i].slot, [&](const device_array& array) { bind_array(*after[i].slot, array); },
        [&](const buffer& memory) { after[i].slot->bind(memory); });
  }
}

std::string slot_difference(const operation& before, const operation& after) {
  const auto names = [](const operation& of) {
    std::string all;
    for (const named_slot& each : of.slots()) all += (all.empty() ? "" : ", ") + each.name;
    return all;
  };
  const std::string old_names = names(before);
  const std::string new_names = names(after);
  if (old_names == new_names) return {};
  return fmt::format("its operation has the slots {}, and the one in service {}", new_names,
                     old_names);
}

namespace {

// Zeroes the padding too.
void copy_contents(command_queue& queue, const slot& from, const slot& to) {
  visit_binding(
      to,
      [&](const device_array& array) {
        queue.zero(array.buffer(), array.buffer().size_bytes());
        visit_binding(
            from, [&](const device_array& source) { array.copy_from(queue, source); },
            [](const buffer&) {});
      },
      [&](const buffer& memory) {
        visit_binding(
            from, [](const device_array&) {},
            [&](const buffer& source) {
              queue.copy(memory, source, std::min(source.size_bytes(), memory.size_bytes()));
            });
      });
}

std::vector<std::byte> read_contents(command_queue& queue, const slot& from) {
  std::vector<std::byte> contents;
  visit_binding(
      from,
      [&](const device_array& array) {
        std::vector<std::byte> padded(array.layout().bytes());
        if (!padded.empty()) queue.read(array.buffer(), padded.data(), padded.size());
        const array_layout dense(array.type(), array.size());
        contents.resize(dense.bytes());
        copy_elements(array.layout(), padded.data(), dense, contents.data());
      },
      [&](const buffer& memory) {
        contents.resize(memory.size_bytes());
        if (!contents.empty()) queue.read(memory, contents.data(), contents.size());
      });
  return contents;
}

}  // namespace

std::string find_other_bits(operation& before, operation& after, const operation& bound,
                            const std::shared_ptr<allocator>& memory) {
  for (operation* const each : {&before, &after}) {
    if (memory) each->set_allocator(memory);
    each->ensure_all_bound();
  }
  command_queue& queue = before.queue();
  // The pipeline may write its arrays meanwhile, so the second copy is one of the first.
  for (std::size_t i = 0; i < before.slots().size(); ++i) {
    copy_contents(queue, *bound.slots()[i].slot, *before.slots()[i].slot);
    copy_contents(queue, *before.slots()[i].slot, *after.slots()[i].slot);
  }
  before.run();
  after.run();
  queue.finish();
  for (std::size_t i = 0; i < before.slots().size(); ++i) {
    if (read_contents(queue, *before.slots()[i].slot) !=
        read_contents(queue, *after.slots()[i].slot)) {
      return before.slots()[i].name;
    }
  }
  return {};
}

void run_on_zeros(operation& fresh, const std::shared_ptr<allocator>& memory) {
  if (memory) fresh.set_allocator(memory);
  fresh.ensure_all_bound();
  command_queue& queue = fresh.queue();
  const auto zero = [&](const buffer& all) { queue.zero(all, all.size_bytes()); };
  for (const named_slot& each : fresh.slots()) {
    visit_binding(
        *each.slot, [&](const device_array& array) { zero(array.buffer()); }, zero);
  }
  fresh.run();
  queue.finish();
}

}  // namespace tune::detail
