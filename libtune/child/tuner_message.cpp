// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/tuner_message.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <type_traits>
#include <utility>

#include "libtune/child/wire_fields.hpp"
#include "libtune/device/backend.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/process/wire.hpp"

namespace tune::detail {
namespace {

device_address without_ordinal(const device& of) {
  const device_info& info = of.info();
  return {.backend = info.backend,
          .platform = info.identity.platform,
          .name = info.identity.name,
          .driver_version = info.identity.driver_version,
          .pci_address = info.hardware.pci_address,
          .uuid = info.hardware.uuid};
}

// Some APIs report the hardware's identity in one process, and another one or none in the next.
// Then the only device with its name is taken.
std::optional<device> find_namesake(const device_address& wanted, std::span<const device> all) {
  std::optional<device> found;
  for (const device& candidate : all) {
    device_address address = without_ordinal(candidate);
    address.pci_address = wanted.pci_address;
    address.uuid = wanted.uuid;
    if (address != wanted) continue;
    if (found) return std::nullopt;
    found = candidate;
  }
  return found;
}

}  // namespace

std::vector<device> devices_of(std::string_view backend) {
  const auto* const found = find_backend(backend);
  return found != nullptr ? found->offer().all() : std::vector<device>{};
}

// Compares properties, not handles: a wrapped context has a device object of its own.
std::optional<device_address> address_of(const device& wanted, std::span<const device> all) {
  if (const part_origin* part = wanted.impl()->part()) {
    auto address = address_of(device(part->whole), all);
    if (address) {
      address->division = part->division;
      address->part = part->index;
    }
    return address;
  }
  device_address address = without_ordinal(wanted);
  std::optional<std::size_t> alike;
  std::size_t seen = 0;
  for (const device& candidate : all) {
    if (without_ordinal(candidate) != address) continue;
    if (candidate == wanted) {
      address.ordinal = seen;
      return address;
    }
    if (!alike) alike = seen;
    ++seen;
  }
  if (!alike) return std::nullopt;
  return address;
}

std::optional<device> find_device(const device_address& wanted, std::span<const device> all) {
  if (!wanted.division.empty()) {
    device_address whole = wanted;
    whole.division.clear();
    whole.part = 0;
    const auto found = find_device(whole, all);
    return found ? std::optional(found->divide(wanted.division).at(wanted.part)) : std::nullopt;
  }
  std::size_t seen = 0;
  device_address plain = wanted;
  plain.ordinal = 0;
  for (const device& candidate : all) {
    if (without_ordinal(candidate) != plain) continue;
    if (seen++ == wanted.ordinal) return candidate;
  }
  return find_namesake(plain, all);
}

// The driver of NVIDIA's OpenCL reads the variable, too. A part of a card (MIG) is never one of
// several.
std::vector<std::string> variables_for(const device& wanted, std::span<const device> all) {
  const auto uuid_of = [](const device_info& info) {
    return maker_of(info.identity) == "nvidia" ? info.hardware.uuid : "";
  };
  const std::string own = uuid_of(wanted.impl()->whole().info());
  const auto is_another = [&](const device& item) {
    const std::string uuid = uuid_of(item.info());
    return !uuid.empty() && uuid != own;
  };
  if (own.empty() || std::ranges::none_of(all, is_another)) return {};
  if (is_device_chosen_by_environment()) return {};
  return {"CUDA_VISIBLE_DEVICES=GPU-" + own};
}

std::string describe(const device_address& address) {
  const std::string part = address.division.empty()
                               ? ""
                               : fmt::format("part {} of {} compute units of ", address.part,
                                             fmt::join(address.division, ", "));
  return fmt::format("{}{} ({}, {} {}, PCI address '{}', UUID '{}')", part, address.name,
                     address.backend, address.platform, address.driver_version, address.pci_address,
                     address.uuid);
}

std::string describe_all(std::span<const device> all) {
  std::string text;
  for (const device& each : all) {
    text += (text.empty() ? "" : "; ") + describe(without_ordinal(each));
  }
  return text.empty() ? "none" : text;
}

// The fields of each struct, in the order of transmission.

template <>
inline constexpr auto last_of<log_level> = log_level::error;
template <>
inline constexpr auto last_of<match_mode> = match_mode::verify;
template <>
inline constexpr auto last_of<match_grade> = match_grade::nearest;
template <>
inline constexpr auto last_of<tuning_mode> = tuning_mode::behind;
template <>
inline constexpr auto last_of<isolation_mode> = isolation_mode::off;
template <>
inline constexpr auto last_of<result_check> = result_check::none;
template <>
inline constexpr auto last_of<option_source> = option_source::command;
template <>
inline constexpr auto last_of<cache_state> = cache_state::cold;
template <>
inline constexpr auto last_of<live_change> = live_change::drifted;
template <>
inline constexpr auto last_of<test_mode> = test_mode::forced;
template <>
inline constexpr auto last_of<outcome> = outcome::unfit;
template <>
inline constexpr auto last_of<trial_origin> = trial_origin::cached;
template <>
inline constexpr auto last_of<search_end> = search_end::no_gain;
template <>
inline constexpr auto last_of<step_kind> = step_kind::samples;
template <>
inline constexpr auto last_of<lookup_grade> = lookup_grade::nearest;
template <>
inline constexpr auto last_of<match_step> = match_step::any;
template <>
inline constexpr auto last_of<trial_stage> = trial_stage::refined;
template <>
inline constexpr auto last_of<wait_cause> = wait_cause::database;
template <>
inline constexpr auto last_of<failure_kind> = failure_kind::too_little_memory;

/// A message without fields.
template <class Item>
requires std::is_empty_v<std::remove_const_t<Item>>
void describe(auto&, Item&) {}

// ---- base, store, search, measure

void describe(auto& wire, is<metric> auto& item) { wire(item.name, item.value, item.unit); }
void describe(auto& wire, is<search_identity> auto& item) {
  wire(item.space, item.compiler, item.library_version, item.stage, item.inputs);
}
void describe(auto& wire, is<stored_trial> auto& item) {
  wire(item.configuration, item.outcome, item.message, item.samples_ns, item.score_ns,
       item.preparation, item.remembered, item.programs, item.level, item.made_at,
       item.score_lower_ns, item.score_upper_ns, item.metrics);
}
void describe(auto& wire, is<removal> auto& item) { wire(item.description, item.combinations); }
void describe(auto& wire, is<parameter> auto& item) { wire(item.name, item.candidates); }
void describe(auto& wire, is<space_outline> auto& item) {
  wire(item.combinations, item.configurations, item.removals, item.parameters);
}
void describe(auto& wire, is<strategy_options> auto& item) {
  wire(item.seed, item.max_count, item.max_fraction, item.warm_start, item.early_end,
       item.least_score);
}
void describe(auto& wire, is<interval> auto& item) { wire(item.lower, item.upper); }
void describe(auto& wire, is<measure_settings> auto& item) {
  wire(item.time_limit, item.min_iterations, item.max_iterations, item.cache);
}
void describe(auto& wire, is<drift_settings> auto& item) {
  wire(item.threshold, item.runs, item.repeats, item.largest, item.patience);
}
void describe(auto& wire, is<race_settings> auto& item) {
  wire(item.confidence, item.indifference, item.screening_runs, item.block_runs, item.final_runs,
       item.block_time, item.live, item.drift, item.screening_time, item.final_time);
}
inline void describe(field_writer& wire, const samples& item) {
  wire(std::vector<run_time>(item.times().begin(), item.times().end()));
}
inline void describe(field_reader& wire, samples& item) {
  std::vector<run_time> times;
  wire(times);
  item = samples(std::move(times));
}

// ---- tune

void describe(auto& wire, is<objective> auto& item) { wire(item.metric, item.maximise); }
void describe(auto& wire, is<constraint> auto& item) {
  wire(item.metric, item.bound, item.at_least);
}
void describe(auto& wire, is<tuning_goal> auto& item) {
  wire(item.objectives, item.constraints, item.same_bits);
}
void describe(auto& wire, is<tuning_budget> auto& item) {
  wire(item.time, item.trials, item.target, item.within);
}
void describe(auto& wire, is<memory_budget> auto& item) { wire(item.bytes, item.share); }
void describe(auto& wire, is<watchdog_settings> auto& item) { wire(item.floor, item.multiple); }
// Observers are not sent.
void describe(auto& wire, is<tuning_options> auto& item) {
  wire(item.database, item.system_databases, item.match, item.mode, item.wait, item.budget,
       item.compile_time, item.isolation, item.watchdog, item.verify, item.measure, item.race,
       item.strategy, item.search, item.given_by, item.from_environment, item.goal, item.memory,
       item.shared_store, item.push_results, item.longest_search);
}
// A shortlist needs only the winner's configuration.
void describe(auto& wire, is<record> auto& item) { wire(item.values, item.score_ns); }
void describe(auto& wire, is<verification> auto& item) {
  wire(item.winners, item.trials, item.test_default);
}
void describe(auto& wire, is<trial_choice> auto& item) { wire(item.known, item.configurations); }
void describe(auto& wire, is<spent_budget> auto& item) { wire(item.time, item.trials); }
void describe(auto& wire, is<seed_loss> auto& item) { wire(item.expected, item.bound); }
void describe(auto& wire, is<known_losses> auto& item) {
  wire(item.after, item.judges, item.here, item.elsewhere);
}
void describe(auto& wire, is<prior_knowledge> auto& item) {
  wire(item.unfinished, item.goes_on, item.compile_failures, item.denied, item.spent, item.similar,
       item.losses, item.priors);
}
void describe(auto& wire, is<trial> auto& item) {
  wire(item.index, item.configuration, item.outcome, item.reason, item.samples, item.score,
       item.bounds, item.dropped, item.preparation, item.elapsed, item.origin, item.programs,
       item.level, item.metrics);
}
void describe(auto& wire, is<search_progress> auto& item) {
  wire(item.planned, item.taken_over, item.compiling, item.compiled, item.measured, item.dropped,
       item.failed, item.elapsed, item.budget_left, item.best);
}
void describe(auto& wire, is<search_times> auto& item) {
  wire(item.measuring, item.device_wait, item.waiting, item.idle, item.idle_overlap);
}
void describe(auto& wire, is<search_step> auto& item) {
  wire(item.kind, item.index, item.configuration, item.launches, item.expected);
}

void describe(auto& wire, is<nested_tuning> auto& item) {
  wire(item.function, item.key, item.device, item.database);
}
void describe(auto& wire, is<lost_inside> auto& item) { wire(item.name, item.search, item.trial); }
void describe(auto& wire, is<outer_tunings::made> auto& item) { wire(item.name, item.values); }
void describe(auto& wire, is<outer_tunings> auto& item) {
  wire(item.scopes, item.inside, item.in_process, item.lost);
}
void describe(auto& wire, is<lock_holder> auto& item) {
  wire(item.process, item.program, item.stopped, item.used_ticks);
}
// The device is not sent.
void describe(auto& wire, is<tuning_subject> auto& item) {
  wire(item.function, item.version, item.arguments);
}
void describe(auto& wire, is<lookup_event> auto& item) {
  wire(item.subject, item.grade, item.relaxed, item.values, item.database, item.elapsed,
       item.failed_at, item.step, item.device);
}
void describe(auto& wire, is<search_started_event> auto& item) {
  wire(item.subject, item.strategy, item.combinations, item.configurations, item.planned,
       item.removals, item.taken_over, item.budget_left, item.goal, item.covers);
}
void describe(auto& wire, is<search_seeds> auto& item) {
  wire(item.tried, item.judges, item.expected_loss, item.loss_bound, item.stopped);
}
void describe(auto& wire, is<trial_event> auto& item) {
  wire(item.subject, item.trial, item.stage);
}
void describe(auto& wire, is<progress_event> auto& item) { wire(item.subject, item.progress); }
void describe(auto& wire, is<search_finished_event> auto& item) {
  wire(item.subject, item.trials, item.best, item.elapsed, item.end, item.doubts, item.times,
       item.goal, item.space, item.memory_budget_bytes, item.memory_held_bytes, item.seeds);
}
void describe(auto& wire, is<waiting_event> auto& item) {
  wire(item.subject, item.cause, item.holder, item.idle, item.waited, item.limit, item.over);
}
void describe(auto& wire, is<live_event> auto& item) {
  wire(item.subject, item.change, item.before, item.after, item.ratio, item.reason);
}
void describe(auto& wire, is<step_begin> auto& item) { wire(item.step); }
void describe(auto& wire, is<inner_begin> auto& item) { wire(item.inner); }
void describe(auto& wire, is<inner_search> auto& item) { wire(item.search); }
void describe(auto& wire, is<inner_result> auto& item) {
  wire(item.name, item.values, item.for_process);
}
void describe(auto& wire, is<wait_begin> auto& item) { wire(item.limit); }

// ---- messages

void describe(auto& wire, is<device_address> auto& item) {
  wire(item.backend, item.platform, item.name, item.driver_version, item.pci_address, item.uuid,
       item.ordinal, item.division, item.part);
}
void describe(auto& wire, is<handshake> auto& item) { wire(item.protocol, item.library); }
void describe(auto& wire, is<tuning_request> auto& item) {
  wire(item.function, item.key, item.device, item.options, item.context_options, item.choice,
       item.testing, item.around, item.peaks);
}
void describe(auto& wire, is<check_request> auto& item) { wire(item.function, item.values); }
void describe(auto& wire, is<check_answer> auto& item) { wire(item.reason); }
void describe(auto& wire, is<prior_answer> auto& item) { wire(item.known, item.more); }
void describe(auto& wire, is<refusal> auto& item) { wire(item.reason); }
void describe(auto& wire, is<prior_question> auto& item) { wire(item.search); }
void describe(auto& wire, is<process_spoilt> auto& item) { wire(item.how); }
void describe(auto& wire, is<log_line> auto& item) { wire(item.level, item.text); }
void describe(auto& wire, is<tuning_result> auto& item) { wire(item.values, item.score); }
void describe(auto& wire, is<tuning_failure> auto& item) { wire(item.kind, item.text, item.log); }
void describe(auto& wire, is<listed_function> auto& item) {
  wire(item.function, item.test_default);
}
void describe(auto& wire, is<function_list> auto& item) { wire(item.functions); }

namespace {

constexpr frame_form form{.magic = 0x4E54544C,  // "LTTN"
                          .longest_content_bytes = longest_tuner_message_bytes};

template <class Item>
std::uint64_t encoded_bytes(const Item& item) {
  wire_writer writer;
  field_writer fields(writer);
  fields(item);
  return writer.bytes().size();
}

/// Fills messages one after the other.
class splitter {
 public:
  explicit splitter(std::uint64_t most_bytes) : most_bytes_(most_bytes) { parts_.emplace_back(); }

  template <class Item>
  void add(std::vector<Item> prior_knowledge::*list, std::vector<Item>& items) {
    for (Item& item : items) {
      const std::uint64_t bytes = encoded_bytes(item);
      if (bytes > longest_tuner_message_bytes / 2) continue;
      if (filled_ > 0 && filled_ + bytes > most_bytes_) next();
      filled_ += bytes;
      (parts_.back().known.*list).push_back(std::move(item));
    }
  }
  std::vector<prior_answer> take() { return std::move(parts_); }

 private:
  void next() {
    parts_.back().more = true;
    parts_.emplace_back();
    filled_ = 0;
  }

  std::uint64_t most_bytes_;
  std::vector<prior_answer> parts_;
  std::uint64_t filled_ = 0;
};

template <class Item>
void append_items(std::vector<Item>& whole, std::vector<Item>& part) {
  whole.insert(whole.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

}  // namespace

std::vector<prior_answer> split(prior_knowledge known, std::uint64_t most_bytes) {
  splitter parts(most_bytes);
  parts.add(&prior_knowledge::denied, known.denied);
  parts.add(&prior_knowledge::similar, known.similar);
  parts.add(&prior_knowledge::priors, known.priors);
  parts.add(&prior_knowledge::unfinished, known.unfinished);
  parts.add(&prior_knowledge::compile_failures, known.compile_failures);
  std::vector<prior_answer> all = parts.take();
  all.front().known.spent = known.spent;
  all.front().known.losses = std::move(known.losses);
  return all;
}

void append(prior_knowledge& whole, prior_knowledge next) {
  append_items(whole.denied, next.denied);
  append_items(whole.similar, next.similar);
  append_items(whole.priors, next.priors);
  append_items(whole.unfinished, next.unfinished);
  append_items(whole.compile_failures, next.compile_failures);
  whole.spent.time += next.spent.time;
  whole.spent.trials += next.spent.trials;
  if (next.losses.here + next.losses.elsewhere > 0) whole.losses = std::move(next.losses);
}

search_finished_event winner_alone(search_finished_event event) {
  if (event.best) std::swap(event.trials.front(), event.trials[*event.best]);
  event.trials.resize(event.best ? 1 : 0);
  if (event.best) event.best = 0;
  return event;
}

std::vector<std::byte> encode(const tuner_message& message) {
  return encode_message(form, message, "a message is too long to be sent");
}

tuner_message_reader::tuner_message_reader() noexcept : frames_(form) {}

std::optional<tuner_message> tuner_message_reader::next() {
  return next_message<tuner_message, handshake>(frames_);
}

}  // namespace tune::detail
