// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/captured_inputs.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "libtune/array/device_array.hpp"
#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/extra/capture/captured_array.hpp"
#include "libtune/extra/capture/configuration_inputs.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/operation/slot.hpp"

namespace tune::detail {
namespace {

/// The slots in the memory of others: in place operations have them.
shared_memory shared_in(const loaded_run& run) {
  shared_memory shared;
  for (const auto& [name, slot] : run) {
    if (!slot.shares.empty()) shared.emplace_back(name, slot.shares);
  }
  return shared;
}

device_array load_array(command_queue& queue, const io_slot& slot, const captured_slot& captured,
                        const capture_reader& file, const captured_contents& contents) {
  const shape size = slot.required_layout().size();
  if (size != captured.size) {
    throw argument_error(fmt::format("the slot '{}' has the shape {}, and was captured with {}",
                                     captured.name, to_string(size), to_string(captured.size)));
  }
  device_array made(queue.context(), captured_layout(captured, slot.type()));
  set_array(queue, made, captured, file, contents);
  return made;
}

/// Loads the contents of a call from its file.
loaded_run load_call(command_queue& queue, const operation& sample, const captured_work& run) {
  loaded_run loaded;
  for (const named_slot& each : sample.slots()) {
    const auto* const slot = dynamic_cast<const io_slot*>(each.slot.get());
    if (slot == nullptr) continue;
    const auto captured = std::ranges::find(run.call->slots, each.name, &captured_slot::name);
    if (captured == run.call->slots.end()) {
      throw argument_error(fmt::format("its slot '{}' was not captured", each.name));
    }
    loaded_slot& made = loaded[each.name];
    made.shares = captured->shares;
    const auto owner = std::ranges::find(
        run.call->slots, made.shares.empty() ? each.name : made.shares, &captured_slot::name);
    if (captured->before) {
      made.before = load_array(queue, *slot, *captured, run.file, *captured->before);
    }
    if (owner != run.call->slots.end() && owner->after) {
      made.after = load_array(queue, *slot, *captured, run.file, *owner->after);
    }
  }
  return loaded;
}

device_array copy_of(command_queue& queue, const device_array& array) {
  const device_array copy(queue.context(), array.layout());
  copy.copy_from(queue, array);
  return copy;
}

bool has_same_bytes(command_queue& queue, const device_array& a, const device_array& b) {
  std::vector<std::byte> left(a.layout().bytes());
  std::vector<std::byte> right(b.layout().bytes());
  if (left.empty()) return right.empty();
  queue.read(a.buffer(), left.data(), left.size());
  queue.read(b.buffer(), right.data(), right.size());
  return left == right;
}

/// Runs a captured sequence up to an operation inside of it, which it returns.
operation& run_up_to(operation& whole, const std::vector<std::size_t>& path) {
  operation* at = &whole;
  for (const std::size_t index : path) {
    if (dynamic_cast<operation_sequence*>(at) == nullptr) {
      throw argument_error(
          "it is inside of an operation that is no sequence, so the order of its parts is not "
          "known");
    }
    const auto children = at->children();
    for (std::size_t i = 0; i < index; ++i) children[i].operation->run();
    at = children[index].operation.get();
  }
  return *at;
}

/// Runs a captured sequence on its contents, and keeps those of an operation inside of it.
loaded_run load_child(command_queue& queue, const captured_work& run) {
  const auto whole = make_again(*run.call, queue);
  bind_captured(*whole, run.file, *run.call);
  operation& of = run_up_to(*whole, run.path);
  loaded_run loaded;
  std::vector<std::pair<std::string, device_array>> bound;
  for (const named_slot& each : of.slots()) {
    const auto* const slot = dynamic_cast<const io_slot*>(each.slot.get());
    if (slot == nullptr) continue;
    const device_array& array = slot->buffer();
    loaded_slot& made = loaded[each.name];
    for (const auto& [name, other] : bound) {
      if (other.buffer() == array.buffer() && made.shares.empty()) made.shares = name;
    }
    bound.emplace_back(each.name, array);
    made.before = copy_of(queue, array);
  }
  of.run();
  for (const auto& [name, array] : bound) {
    loaded_slot& made = loaded[name];
    if (!has_same_bytes(queue, *made.before, array)) made.after = copy_of(queue, array);
    if (!made.shares.empty()) made.before.reset();
  }
  queue.finish();
  return loaded;
}

/// The declared results; by default all slots, because those that a run did not change have to be
/// unchanged.
tuned_results results_of(const captured_operation_form& form, const loaded_run& run) {
  const auto declared = find_tuning_declaration(form.type);
  if (declared && declared->results) return declared->results({form.type, form.parameters});
  tuned_results all;
  for (const auto& [name, slot] : run) all.emplace(name, tolerance{}.allowing_nan());
  return all;
}

/// The slots that get contents: those that no run changes, and results and their memory, which may
/// be read too. The others are scratch.
std::vector<std::string> slots_with_contents(const std::vector<loaded_run>& runs,
                                             const tuned_results& results) {
  std::vector<std::string> names;
  for (const auto& [name, first] : runs.front()) {
    const bool is_known = std::ranges::all_of(
        runs, [&slot = name](const loaded_run& run) { return run.at(slot).before.has_value(); });
    const bool is_input = std::ranges::all_of(
        runs, [&slot = name](const loaded_run& run) { return !run.at(slot).after.has_value(); });
    const bool is_result = std::ranges::any_of(runs.front(), [&owner = name, &results](auto& each) {
      return results.contains(each.first) && (each.first == owner || each.second.shares == owner);
    });
    if (is_known && (is_input || is_result)) names.push_back(name);
  }
  return names;
}

/// Returns false, with a warning for each run, if the step fails.
bool attempt(std::span<const captured_work> runs, const std::function<void()>& step) {
  try {
    step();
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    for (const captured_work& run : runs) {
      log(log_level::warning,
          fmt::format("'{}' of frame {} in '{}' is not used as an input: {}", run.call->name,
                      run.frame->number, run.file.path().string(), failure.what()));
    }
    return false;
  }
}

}  // namespace

/// Runs of operations that are equal except for their tuning, with a set of inputs each.
struct captured_inputs::group {
  const captured_operation_form* form;
  capture_reader file;  // keeps the form
  workload work;
  answer expected{};
  std::string first{};  // the name of the first run, whose contents are the author's
  shared_memory shared{};

  std::unique_ptr<operation> make(const command_queue& queue,
                                  const std::vector<named_value>& tuning) const {
    return remake(queue, form->type, with_tuning(form->parameters, tuning));
  }

  void add(command_queue& queue, std::size_t index, const captured_work& run,
           const loaded_run& loaded, const std::vector<std::string>& inputs,
           const tuned_results& results);
};

void captured_inputs::group::add(command_queue& queue, std::size_t index, const captured_work& run,
                                 const loaded_run& loaded, const std::vector<std::string>& inputs,
                                 const tuned_results& results) {
  const std::string name = name_of_inputs(*run.frame, [&](const std::string& other) {
    return other == first ||
           std::ranges::count(work.all_inputs(), other, &workload::inputs_description::name) > 0;
  });
  answer part = expected;
  if (index == 0) {
    first = name;
    for (const std::string& slot : inputs) work.set(slot, *loaded.at(slot).before);
    work.weight(run.weight);
  } else {
    input_set set = work.inputs(name);
    for (const std::string& slot : inputs) set.set(slot, *loaded.at(slot).before);
    set.weight(run.weight);
    part = expected.of(name);
  }
  for (const auto& [slot, allowed] : results) {
    const auto found = loaded.find(slot);
    if (found == loaded.end()) {
      throw argument_error(
          fmt::format("its class names the result '{}', which it does not have", slot));
    }
    const auto& wanted = found->second.after ? found->second.after : found->second.before;
    if (wanted) part.add(slot, queue, *wanted, allowed);
  }
}

captured_inputs::captured_inputs(const context& of, std::vector<captured_work> runs)
    : queue_(of.create_tuning_command_queue()) {
  std::vector<captured_work> used;
  while (!runs.empty()) {
    const captured_work first = runs.front();
    const auto others =
        std::stable_partition(runs.begin(), runs.end(), [&](const captured_work& run) {
          return run.form->type == first.form->type &&
                 is_same_key(without_tuning(run.form->parameters),
                             without_tuning(first.form->parameters));
        });
    for (captured_work& each : load({runs.begin(), others})) {
      used.push_back(std::move(each));
    }
    runs.erase(runs.begin(), others);
  }
  loaded_ = used.size();
  text_ = inputs_text(used);
}

captured_inputs::~captured_inputs() = default;

std::vector<captured_work> captured_inputs::load(const std::vector<captured_work>& runs) {
  const captured_operation_form& form = *runs.front().form;
  std::unique_ptr<operation> sample;
  std::vector<loaded_run> loaded;
  std::vector<captured_work> used;
  for (const captured_work& run : runs) {
    const bool is_loaded = attempt({&run, 1}, [&] {
      if (sample == nullptr) sample = remake(queue_, form.type, form.parameters);
      loaded_run made =
          run.path.empty() ? load_call(queue_, *sample, run) : load_child(queue_, run);
      require_room(made);
      if (!loaded.empty() && shared_in(made) != shared_in(loaded.front())) {
        throw argument_error("other slots of it share memory than in the first frame");
      }
      loaded.push_back(std::move(made));
    });
    if (is_loaded) used.push_back(run);
  }
  if (used.empty()) return {};
  const bool is_right = attempt(used, [&] {
    const tuned_results results = results_of(form, loaded.front());
    const auto inputs = slots_with_contents(loaded, results);
    group made{.form = &form, .file = runs.front().file, .work = workload(queue_)};
    for (std::size_t i = 0; i < used.size(); ++i) {
      made.add(queue_, i, used[i], loaded[i], inputs, results);
    }
    made.shared = shared_in(loaded.front());
    bind_shared(*sample, made.work, made.shared);
    // Otherwise every right configuration would be refused.
    if (const auto wrong = find_fault(*sample, made.work, made.expected)) {
      throw error("the captured tuning gives other results here: " + *wrong);
    }
    groups_.push_back(std::move(made));
  });
  return is_right ? used : std::vector<captured_work>();
}

// The arrays of the search need memory, too.
void captured_inputs::require_room(const loaded_run& run) {
  constexpr std::size_t part = 8;
  const std::size_t most = queue_.device().limits().global_memory_bytes / part;
  std::size_t bytes = 0;
  for (const auto& [name, slot] : run) {
    if (slot.before) bytes += slot.before->layout().bytes();
  }
  if (held_bytes_ + bytes > most) {
    throw error(
        fmt::format("the contents of a search may take {} bytes, an eighth of the memory "
                    "of device '{}', and {} are taken",
                    most, queue_.device().name(), held_bytes_));
  }
  held_bytes_ += bytes;
}

measure captured_inputs::extend(measure made, const std::vector<named_value>& configuration) {
  std::vector<configuration_part> parts;
  for (const group& each : groups_) {
    parts.push_back({.of = each.make(queue_, configuration),
                     .work = each.work,
                     .expected = each.expected,
                     .first = each.first,
                     .shared = each.shared});
  }
  return measure_with(queue_, std::move(parts), std::move(made));
}

std::shared_ptr<search_inputs> find_captured_inputs(const context& of, const std::string& function,
                                                    const std::vector<named_value>& key,
                                                    const std::vector<named_value>& example) {
  const auto path = read_environment("LIBTUNE_INPUTS");
  if (!path) return nullptr;
  std::set<std::string> left_out;
  std::vector<captured_work> runs;
  try {
    runs = find_work(read_captures(*path), left_out);
  } catch (const error& failure) {
    warn_once(std::string("LIBTUNE_INPUTS adds no inputs: ") + failure.what());
    return nullptr;
  }
  std::erase_if(runs, [&](const captured_work& run) {
    return run.function != function || !is_same_key(run.key, key);
  });
  // A call of the function may search other spaces, too.
  std::erase_if(runs, [&](const captured_work& run) {
    const auto tuning = tuning_of(run.form->parameters);
    return tuning.size() != example.size() ||
           !std::ranges::all_of(example, [&](const named_value& field) {
             return std::ranges::count(tuning, field.name, &named_value::name) == 1;
           });
  });
  if (runs.empty()) {
    log(log_level::info,
        fmt::format("'{}' has no captured run for {} ({})", *path, function, to_string(key)));
    return nullptr;
  }
  auto inputs = std::make_shared<captured_inputs>(of, std::move(runs));
  if (inputs->loaded() == 0) return nullptr;
  log(log_level::info, fmt::format("{} ({}) is checked and timed with {} ({} different contents)",
                                   function, to_string(key), inputs->text(), inputs->loaded()));
  return inputs;
}

}  // namespace tune::detail

extern "C" {
const bool libtune_opens_capture = [] {
  tune::detail::open_doors().find_inputs = tune::detail::find_captured_inputs;
  return true;
}();
}
