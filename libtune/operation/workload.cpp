// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libtune/array/guarded_memory.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/operation/composition.hpp"
#include "libtune/operation/input_set.hpp"

namespace tune {
namespace {

constexpr std::size_t longest_band_bytes = std::size_t{1} << 20;
// Neither poison nor pattern should be zero, the value that kernels write most often.
constexpr std::byte guard_bits{0x5A};

// The band should detect a kernel that is off by a row.
std::size_t band_bytes(const workload_options& options, const slot& slot) {
  const auto* array = dynamic_cast<const io_slot*>(&slot);
  if (array == nullptr || array->dimensions().size() < 2) return options.guard_bytes;
  const array_layout layout = array->required_layout();
  const std::size_t row = layout.padded()[layout.padded().rank() - 1] * layout.element_bytes();
  return std::max(options.guard_bytes, std::min(row, longest_band_bytes));
}

std::size_t element_bytes_of(const slot& slot) {
  const auto* array = dynamic_cast<const io_slot*>(&slot);
  return array == nullptr ? 0 : array->type().bytes();
}

// Stray writes are counted through all rows and their padding, so the text contains the layout.
std::string describe_layout(const slot& slot) {
  const auto* array = dynamic_cast<const io_slot*>(&slot);
  if (array == nullptr) return {};
  const array_layout& layout = array->buffer().layout();
  const bool is_padded = layout.padded() != layout.size();
  if (layout.size().rank() < 2 && !is_padded) return {};
  return fmt::format(", laid out as {}{}", to_string(layout.padded()),
                     is_padded ? " with its padding" : "");
}

/// The largest power of two that divides the elements of a slot, up to that of a double complex.
std::size_t element_alignment(const slot& slot) {
  constexpr std::size_t most = 16;
  const std::size_t bytes = element_bytes_of(slot);  // 0 for an alias
  return std::min(bytes == 0 ? most : bytes & (~bytes + 1), most);
}

/// The memory of an optional buffer; null for none.
std::shared_ptr<detail::buffer_interface> impl_of(const std::optional<buffer>& of) {
  return of ? of->impl() : nullptr;
}

/// Returns the memory that is bound to a slot; null if the slot is unbound.
const buffer* memory_of(const slot& slot) {
  if (!slot.is_bound()) return nullptr;
  if (const auto* array = dynamic_cast<const io_slot*>(&slot)) return &array->buffer().buffer();
  return &dynamic_cast<const alias_slot&>(slot).buffer();
}

const named_slot* find_slot(std::span<const named_slot> slots, std::string_view name) {
  const auto found = std::ranges::find(slots, name, &named_slot::name);
  return found == slots.end() ? nullptr : &*found;
}

// Returns the reason why an operation has no array for contents; empty if it has one.
std::string describe_misplaced(const operation& operation, const std::string& name) {
  if (const named_slot* own = find_slot(operation.slots(), name)) {
    if (dynamic_cast<const io_slot*>(own->slot.get()) != nullptr) return {};
    return "is an alias, memory for slots of any shapes, which takes no contents";
  }
  const named_slot* hidden = find_slot(operation.hidden_slots(), name);
  if (hidden == nullptr) {
    return fmt::format(
        "the operation does not have (tune::optional_slot(\"{}\") where only some "
        "have it)",
        name);
  }
  const slot& root = hidden->slot->root();
  const auto owner = std::ranges::find_if(
      operation.slots(), [&](const named_slot& item) { return item.slot.get() == &root; });
  return fmt::format("is part of '{}' and has no array of its own",
                     owner == operation.slots().end() ? root.name() : owner->name);
}

}  // namespace

/// Contents of a slot.
struct workload::source {
  upload_function upload{};                // empty: none, or derived
  std::optional<input_kind> derived{};     // from the author's
  std::optional<device_array> original{};  // the contents, with the padding of the last slot

  bool empty() const noexcept { return !upload && !derived; }
};

struct workload::shared_array {
  source author{};
  std::map<std::size_t, source> others{};  // by the number of the set of inputs
  bool optional = false;                   // true if operations may lack the slot
  std::optional<buffer> memory{};
  std::optional<guarded_memory> guard{};  // the owner of the memory; empty without guards
  std::optional<buffer> shifted{};        // the same memory, for shifted inputs
  // Earlier memory that operations may still use.
  std::vector<std::weak_ptr<detail::buffer_interface>> replaced{};
};

struct workload::contents {
  workload_options options;
  std::map<std::string, shared_array, std::less<>> arrays{};
  std::vector<inputs_description> sets{{.name = "", .weight = 1}};
  std::size_t used = 0;       // of sets
  std::size_t alignment = 0;  // of shifted inputs; 0: no inputs are shifted
};

workload::workload(command_queue queue, const workload_options& options)
    : queue_(std::move(queue)), contents_(std::make_shared<contents>(contents{options})) {}

void workload::set_upload(const slot_reference& slot, upload_function upload) {
  shared_array& shared = contents_->arrays[slot.name];
  shared.author = {.upload = std::move(upload)};
  shared.optional = slot.optional;
  for (auto& [number, other] : shared.others) {
    if (other.derived) other.original.reset();
  }
}

workload::source& workload::source_of(std::size_t number, const std::string& slot) {
  return contents_->arrays[slot].others[number];
}

void workload::set_in(std::size_t number, const std::string& slot, upload_function upload) {
  source_of(number, slot) = {.upload = std::move(upload)};
}

void workload::derive_in(std::size_t number, const std::string& slot, input_kind kind) {
  source_of(number, slot) = {.derived = kind};
}

void workload::weigh(std::size_t number, double part) {
  if (!std::isfinite(part) || part < 0) {
    throw argument_error(
        fmt::format("inputs cannot have a weight of {}: give a finite number of at "
                    "least 0",
                    part));
  }
  contents_->sets.at(number).weight = part;
}

workload& workload::weight(double part) {
  weigh(0, part);
  return *this;
}

input_set workload::inputs(const std::string& name) {
  const auto can_be_in_name = [](char c) {
    return detail::is_letter_or_digit(c) || std::string_view(" _-.").find(c) != std::string::npos;
  };
  if (name.empty() || !std::ranges::all_of(name, can_be_in_name)) {
    throw argument_error(fmt::format(
        "inputs cannot be named '{}': use letters, digits, spaces, '_', '-' and '.'", name));
  }
  auto& sets = contents_->sets;
  const auto known = std::ranges::find(sets, name, &inputs_description::name);
  const auto number = static_cast<std::size_t>(known - sets.begin());
  if (known == sets.end()) sets.push_back({.name = name, .weight = 0});
  return {*this, number};
}

workload& workload::vary(std::initializer_list<std::string> slots,
                         std::initializer_list<input_kind> kinds) {
  for (const input_kind kind : kinds) {
    input_set made = inputs(std::string(input_kind_name(kind)));
    for (const std::string& slot : slots) made.derive(slot, kind);
  }
  return *this;
}

workload& workload::vary_alignment(std::size_t bytes) {
  if (!std::has_single_bit(bytes)) {
    throw argument_error(
        fmt::format("arrays cannot begin at multiples of {} bytes: give a power of two", bytes));
  }
  auto& sets = contents_->sets;
  contents_->alignment = std::max(bytes, queue_.context().impl()->least_alignment());
  inputs_description moved{
      .name = fmt::format("at odd multiples of {} bytes", contents_->alignment),
      .weight = 0,
      .is_shifted = true};
  const auto known = std::ranges::find(sets, true, &inputs_description::is_shifted);
  if (known == sets.end()) {
    sets.push_back(std::move(moved));
  } else {
    *known = std::move(moved);
  }
  return *this;
}

std::size_t workload::shift_of(const slot& slot) const {
  if (contents_->alignment == 0) return 0;
  return std::max(contents_->alignment, element_alignment(slot));
}

const buffer& workload::present_memory(const shared_array& shared) const {
  const bool is_shifted = contents_->sets[contents_->used].is_shifted && shared.shifted;
  return is_shifted ? *shared.shifted : *shared.memory;
}

const std::vector<workload::inputs_description>& workload::all_inputs() const noexcept {
  return contents_->sets;
}

void workload::use_inputs(std::size_t number) {
  if (number >= contents_->sets.size()) {
    throw argument_error(fmt::format("a workload with {} sets of inputs has no number {}",
                                     contents_->sets.size(), number));
  }
  contents_->used = number;
}

workload& workload::set(const slot_reference& slot, const device_array& contents) {
  set_upload(slot, [contents](command_queue& queue, const device_array& target) {
    target.copy_from(queue, contents);
  });
  return *this;
}

void workload::check_contents(const operation& operation) const {
  for (const auto& [name, shared] : contents_->arrays) {
    for (const auto& [number, other] : shared.others) {
      if (!other.empty() && shared.author.empty()) {
        throw argument_error(fmt::format(
            "the inputs '{}' have contents for the slot '{}', for which the workload has none; "
            "define those of the author too, by workload::set",
            contents_->sets[number].name, name));
      }
    }
    const bool is_hidden = find_slot(operation.hidden_slots(), name) != nullptr;
    const bool is_there = is_hidden || find_slot(operation.slots(), name) != nullptr;
    if (shared.author.empty() || (shared.optional && !is_there)) continue;
    const std::string reason = describe_misplaced(operation, name);
    if (reason.empty()) continue;
    throw argument_error(
        fmt::format("the workload has contents for the slot '{}', which {}; the slots are {}", name,
                    reason, fmt::join(operation.slot_names(), ", ")));
  }
}

void workload::bind(operation& operation) {
  check_contents(operation);
  for (const named_slot& item : operation.slots()) {
    if (item.slot->is_bound()) continue;
    shared_array& shared = contents_->arrays[item.name];
    provide(shared, *item.slot);
    item.slot->bind(*shared.memory);
  }
  use_inputs(0);
  restore(operation);
}

// Memory that is too small stays with the operations that use it.
void workload::provide(shared_array& shared, const slot& slot) {
  const workload_options& options = contents_->options;
  const std::size_t bytes = std::max<std::size_t>(slot.required_bytes(), 1);
  const std::size_t band = options.guards ? band_bytes(options, slot) : 0;
  const std::size_t shift = shift_of(slot);
  const bool is_guarded = !options.guards || (shared.guard && shared.guard->band_bytes() >= band);
  const bool is_shiftable = shift == 0 || (shared.guard && shared.guard->shift_bytes() == shift);
  const bool is_large = shared.memory && shared.memory->size_bytes() >= bytes;
  if (is_large && is_guarded && is_shiftable) return;
  std::size_t size = bytes;
  if (shared.memory) {
    shared.replaced.push_back(shared.memory->impl());
    if (shared.shifted) shared.replaced.push_back(shared.shifted->impl());
    size = std::max(size, shared.memory->size_bytes());
  }
  shared.memory.reset();
  shared.shifted.reset();
  shared.guard.reset();
  if (options.guards || shift != 0) {
    shared.guard.emplace(queue_.context(), size, band, shift);
    shared.memory = shared.guard->memory();
    shared.shifted = shared.guard->shifted();
  } else {
    shared.memory = queue_.context().create_buffer(size);
  }
}

workload::shared_array* workload::find(const named_slot& item) const {
  const auto found = contents_->arrays.find(item.name);
  if (found == contents_->arrays.end() || !found->second.memory) return nullptr;
  const buffer* const memory = memory_of(*item.slot);
  const bool is_own = memory != nullptr && (*memory == *found->second.memory ||
                                            memory->impl() == impl_of(found->second.shifted));
  return is_own ? &found->second : nullptr;
}

// Names are ignored, because two slots may share an array.
void workload::follow(slot& slot) const {
  const buffer* const memory = memory_of(slot);
  if (memory == nullptr) return;
  for (const auto& [name, shared] : contents_->arrays) {
    if (!shared.memory) continue;
    const buffer& present = present_memory(shared);
    if (*memory == present) return;
    const bool is_other = *memory == *shared.memory || memory->impl() == impl_of(shared.shifted);
    const bool is_old = std::ranges::any_of(
        shared.replaced, [&](const auto& replaced) { return replaced.lock() == memory->impl(); });
    if (!is_old && !is_other) continue;
    slot.bind(present);
    return;
  }
}

bool workload::provides(const operation& operation, std::string_view slot) const {
  const buffer* const memory = memory_of(operation.any_slot(slot));
  return memory != nullptr && std::ranges::any_of(operation.slots(), [&](const named_slot& item) {
           const shared_array* const shared = find(item);
           return shared != nullptr &&
                  (*shared->memory == *memory || impl_of(shared->shifted) == memory->impl());
         });
}

void workload::restore(const operation& operation, std::byte poison) {
  check_contents(operation);
  // Two queues are not ordered, and a queue can be waited for through a copy of the handle.
  command_queue other = operation.queue();
  const bool is_shared = other == queue_;
  if (!is_shared) other.finish();
  for (const named_slot& item : operation.slots()) {
    follow(*item.slot);
    shared_array* const shared = find(item);
    if (shared == nullptr) continue;
    const std::size_t bytes = item.slot->required_bytes();
    const auto* slot = dynamic_cast<const io_slot*>(item.slot.get());
    if (slot != nullptr) {
      fill(*shared, slot->buffer(), poison);
    } else if (bytes != 0) {
      queue_.fill(present_memory(*shared), bytes, std::span(&poison, 1));
    }
    const std::size_t used = slot != nullptr ? slot->buffer().layout().bytes() : bytes;
    if (!shared->guard || !contents_->options.guards) continue;
    shared->guard->arm(queue_, used, poison ^ guard_bits,
                       &present_memory(*shared) != &*shared->memory);
  }
  if (!is_shared) queue_.finish();
}

void workload::fill(shared_array& shared, const device_array& target, std::byte poison) {
  if (shared.author.empty()) {
    if (target.layout().bytes() == 0) return;
    queue_.fill(target.buffer(), target.layout().bytes(), std::span(&poison, 1));
    return;
  }
  const auto other = shared.others.find(contents_->used);
  source& from =
      other == shared.others.end() || other->second.empty() ? shared.author : other->second;
  // Large contents of other sets are not kept on the device.
  constexpr std::size_t most = 16;
  const std::size_t memory = queue_.device().limits().global_memory_bytes;
  if (&from != &shared.author && target.layout().bytes() > memory / most) {
    produce(shared, from, target);
  } else {
    target.copy_from(queue_, original_of(shared, from, target.layout()));
  }
}

void workload::produce(shared_array& shared, const source& from, const device_array& target) {
  if (!from.derived) return from.upload(queue_, target);
  const device_array& author = original_of(shared, shared.author, target.layout());
  detail::derive_contents(queue_, author, *from.derived, target);
}

const device_array& workload::original_of(shared_array& shared, source& from,
                                          const array_layout& layout) {
  if (from.original && from.original->layout() == layout) return *from.original;
  from.original.reset();
  const device_array original(queue_.context(), layout);
  produce(shared, from, original);
  return from.original.emplace(original);
}

void workload::run(operation& operation, std::byte poison) {
  const std::size_t inputs = contents_->used;
  bind(operation);
  use_inputs(inputs);
  restore(operation, poison);
  operation.run();
  operation.queue().finish();
  if (const auto stray = find_stray_write(operation)) {
    throw error("an operation that was run on device '" + queue_.device().name() +
                "' leaves its arrays: " + *stray + "; mend its kernel, its range or its padding");
  }
}

std::optional<std::string> workload::find_stray_write(const operation& operation) {
  std::string found;
  for (const named_slot& item : operation.slots()) {
    const shared_array* const shared = find(item);
    if (shared == nullptr || !shared->guard) continue;
    const auto stray = shared->guard->find_stray_write(queue_, element_bytes_of(*item.slot));
    if (!stray) continue;
    found += fmt::format("{}'{}'{}: {}", found.empty() ? "" : "; ", item.name,
                         describe_layout(*item.slot), stray->describe());
  }
  if (found.empty()) return std::nullopt;
  return found;
}

std::vector<std::string> workload::outputs(const operation& operation) const {
  std::vector<std::string> names;
  for (const named_slot& item : operation.slots()) {
    const shared_array* const shared = find(item);
    const bool is_array = dynamic_cast<const io_slot*>(item.slot.get()) != nullptr;
    if (is_array && shared != nullptr && shared->author.empty()) names.push_back(item.name);
  }
  return names;
}

std::size_t workload::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [name, array] : contents_->arrays) {
    if (array.guard) {
      bytes += array.guard->total_bytes();
    } else if (array.memory) {
      bytes += array.memory->size_bytes();
    }
    if (array.author.original) bytes += array.author.original->layout().bytes();
    for (const auto& [number, other] : array.others) {
      if (other.original) bytes += other.original->layout().bytes();
    }
  }
  return bytes;
}

}  // namespace tune
