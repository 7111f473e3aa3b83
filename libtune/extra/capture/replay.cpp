// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/replay.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/capture/captured_array.hpp"
#include "libtune/extra/capture/captured_work.hpp"
#include "libtune/operation/composition.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/operation/sequence.hpp"

namespace tune {
namespace {

std::unique_ptr<operation> make_form(const captured_operation_form& form,
                                     const command_queue& queue) {
  if (form.children.empty() || can_remake(form.type)) {
    return remake(queue, form.type, form.parameters);
  }
  std::vector<named_operation> children;
  for (std::size_t i = 0; i < form.children.size(); ++i) {
    children.emplace_back(form.child_names[i],
                          std::shared_ptr<operation>(make_form(form.children[i], queue)));
  }
  std::vector<shared_slots> compounds;
  std::vector<shared_slots> aliases;
  for (const captured_join& join : form.joins) {
    shared_slots shared{.name = join.name, .slots = {}};
    for (const std::string& each : join.slots) shared.slots.emplace_back(each);
    (join.is_alias ? aliases : compounds).push_back(std::move(shared));
  }
  return std::make_unique<operation_sequence>(queue, std::move(children), compounds, aliases);
}

const captured_slot& slot_of(const captured_call& call, const std::string& name) {
  const auto found = std::ranges::find(call.slots, name, &captured_slot::name);
  if (found != call.slots.end()) return *found;
  throw argument_error(fmt::format(
      "the operation '{}' has a slot '{}' that was not captured: its class '{}' has changed since",
      call.name, name, call.form.type));
}

/// Binds memory to a slot, which takes the captured padding if it can.
void bind_memory(slot& to, const captured_slot& captured, const buffer& memory) {
  auto* const with_array = dynamic_cast<io_slot*>(&to);
  if (with_array == nullptr) return to.bind(memory);
  const array_layout layout = detail::captured_layout(captured, with_array->type());
  try {
    with_array->bind(device_array(memory, layout));
  } catch (const type_error&) {
    throw;
  } catch (const argument_error&) {  // other padding, or another shape, for which this throws
    with_array->bind(memory);
    if (with_array->buffer().layout().size() != captured.size) {
      throw argument_error(
          fmt::format("the slot '{}' has the shape {}, and was captured with {}", captured.name,
                      to_string(with_array->buffer().layout().size()), to_string(captured.size)));
    }
  }
}

/// The bytes that any slot in this memory needs.
std::size_t bytes_for(const operation& of, const captured_call& call, const std::string& owner) {
  std::size_t bytes = 1;
  for (const named_slot& each : of.slots()) {
    const captured_slot& captured = slot_of(call, each.name);
    if (each.name != owner && captured.shares != owner) continue;
    bytes = std::max({bytes, each.slot->required_bytes(), std::size_t{captured.bytes}});
  }
  return bytes;
}

void set_contents(operation& of, const slot& to, const captured_slot& captured,
                  const capture_reader& from, const buffer& memory) {
  command_queue& queue = of.queue();
  constexpr std::byte poison{0xFF};
  queue.fill(memory, memory.size_bytes(), std::span(&poison, 1));
  if (!captured.before) return;
  const auto* const with_array = dynamic_cast<const io_slot*>(&to);
  if (with_array == nullptr) return detail::write_contents(queue, memory, from, *captured.before);
  detail::set_array(queue, with_array->buffer(), captured, from, *captured.before);
}

}  // namespace

std::unique_ptr<operation> make_again(const captured_call& call, const command_queue& queue) {
  return make_form(call.form, queue);
}

void bind_captured(operation& of, const capture_reader& from, const captured_call& call) {
  const context in = of.queue().context();
  std::map<std::string, buffer> memories;
  for (const named_slot& each : of.slots()) {
    const captured_slot& captured = slot_of(call, each.name);
    if (!captured.shares.empty()) continue;
    memories.emplace(each.name, in.create_buffer(bytes_for(of, call, each.name)));
  }
  for (const named_slot& each : of.slots()) {
    const captured_slot& captured = slot_of(call, each.name);
    const auto memory = memories.find(captured.shares.empty() ? each.name : captured.shares);
    if (memory == memories.end()) {
      throw argument_error(
          fmt::format("the slot '{}' of '{}' shares the memory of '{}', which has "
                      "none of its own",
                      each.name, call.name, captured.shares));
    }
    bind_memory(*each.slot, captured, memory->second);
  }
  for (const named_slot& each : of.slots()) {
    const auto memory = memories.find(each.name);
    if (memory == memories.end()) continue;
    set_contents(of, *each.slot, slot_of(call, each.name), from, memory->second);
  }
  of.queue().finish();
}

std::optional<std::string> find_difference(operation& of, const capture_reader& from,
                                           const captured_call& call) {
  command_queue& queue = of.queue();
  for (const named_slot& each : of.slots()) {
    const captured_slot& captured = slot_of(call, each.name);
    const auto& wanted = captured.changed ? captured.after : captured.before;
    if (!captured.shares.empty() || !wanted) continue;
    const auto* const with_array = dynamic_cast<const io_slot*>(each.slot.get());
    // The memory of an alias is scratch of several slots.
    if (with_array == nullptr) continue;
    const auto found =
        detail::array_difference(queue, with_array->buffer(), captured, from, *wanted);
    if (found) return fmt::format("the slot '{}': {}", each.name, *found);
  }
  return std::nullopt;
}

std::string_view replay_outcome_name(replay_outcome outcome) noexcept {
  constexpr std::array<std::string_view, 3> names{"same", "different", "failed"};
  return names[static_cast<std::size_t>(outcome)];
}

replayed_call replay(const capture_reader& from, const captured_frame& frame,
                     const captured_call& call, const command_queue& queue) {
  replayed_call made{.frame = frame.number, .name = call.name, .type = call.form.type};
  made.device = queue.device().name();
  try {
    const auto of = make_again(call, queue);
    bind_captured(*of, from, call);
    of->run();
    of->queue().finish();
    const auto difference = find_difference(*of, from, call);
    made.outcome = difference ? replay_outcome::different : replay_outcome::same;
    made.text = difference.value_or("");
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    made.text = failure.what();
  }
  return made;
}

void set_captured(workload& work, const capture_reader& from, const captured_call& call,
                  bool inputs_only) {
  command_queue queue = work.queue();
  for (const captured_slot& each : call.slots) {
    if (!each.before || each.type.empty() || (inputs_only && each.changed)) continue;
    work.set(each.name, detail::make_array(queue, each, from, *each.before));
  }
}

std::size_t add_captured_inputs(workload& work, answer& expected, const capture_reader& from,
                                std::string_view call, const tolerance& allowed, bool inputs_only) {
  command_queue queue = work.queue();
  std::size_t sets = 0;
  std::string names;
  for (const captured_frame& frame : from.frames()) {
    for (const captured_call& run : frame.calls) {
      names += (names.empty() ? "" : ", ") + run.name;
      if (run.name != call) continue;
      const std::string name = detail::name_of_inputs(frame, [&](const std::string& other) {
        return std::ranges::count(work.all_inputs(), other, &workload::inputs_description::name) >
               0;
      });
      input_set inputs = work.inputs(name);
      for (const captured_slot& each : run.slots) {
        if (!each.before || each.type.empty() || (inputs_only && each.changed)) continue;
        inputs.set(each.name, detail::make_array(queue, each, from, *each.before));
      }
      inputs.weight(frame.weight);
      answer part = expected.of(name);
      add_captured(part, queue, from, run, allowed);
      ++sets;
    }
  }
  if (sets == 0) {
    throw argument_error(fmt::format("the frames in '{}' have no operation '{}'; they have {}",
                                     from.path().string(), call, names));
  }
  return sets;
}

void add_captured(answer& expected, command_queue queue, const capture_reader& from,
                  const captured_call& call, const tolerance& allowed) {
  for (const captured_slot& each : call.slots) {
    if (!each.after || each.type.empty()) continue;
    expected.add(each.name, queue, detail::make_array(queue, each, from, *each.after), allowed);
  }
}

}  // namespace tune
