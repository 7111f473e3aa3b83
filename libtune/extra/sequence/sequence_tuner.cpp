// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sequence/sequence_tuner.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/session.hpp"

namespace tune {
namespace {

std::string text_of(const std::vector<named_value>& values) {
  return detail::json_text(detail::exact_json(values));
}

std::vector<named_value> values_of(const std::string& text,
                                   const std::vector<field_description>& fields) {
  detail::input document;
  try {
    document["tuning"] = detail::parse_json(text);
  } catch (const detail::input::exception&) {
    throw argument_error("the tuning of a member is no JSON: " + text);
  }
  return detail::values_from_json(document, "tuning", fields);
}

const std::string& text_in(const std::vector<named_value>& values, const std::string& member) {
  const auto found = std::ranges::find(values, member, &named_value::name);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->value);
  if (text == nullptr) throw argument_error("there is no tuning for the member '" + member + "'");
  return *text;
}

run_time median_of(measure measured, const measure_settings& settings) {
  measured.run();
  return take_samples(measured, settings).median();
}

}  // namespace

const std::vector<named_value>& member_tunings::values(std::string_view member) const {
  std::string known;
  for (const auto& [name, values] : all_) {
    if (name == member) return values;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw argument_error(
      fmt::format("the sequence has no member '{}'; its members are {}", member, known));
}

std::vector<std::string> member_tunings::names() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : all_) names.push_back(name);
  return names;
}

void member_tunings::add(std::string member, std::vector<named_value> values) {
  all_.emplace_back(std::move(member), std::move(values));
}

sequence_tuner::sequence_tuner(definition defined) : defined_(std::move(defined)) {
  check_function_names({defined_.name, defined_.version, {}, {}});
  if (defined_.finalists > 0) return;
  throw argument_error("the sequence '" + defined_.name +
                       "' compares no finalists of its members; ask for one at least");
}

sequence_tuner& sequence_tuner::add(std::string name, std::shared_ptr<const autotuner_core> core,
                                    std::vector<named_value> key) {
  const auto is_taken = [&](const member_function& each) { return each.name == name; };
  if (std::ranges::any_of(members_, is_taken) || defined_.key.has(name)) {
    throw argument_error(
        fmt::format("the sequence '{}' has a member or a key '{}' already", defined_.name, name));
  }
  check_function_names({defined_.name, defined_.version, {}, {{name, value_type::string}}});
  members_.push_back({std::move(name), std::move(core), std::move(key)});
  return *this;
}

member_tunings sequence_tuner::tune(const context& context, const function& make) const {
  return tune(context, make, *tuning_options_of(context));
}

member_tunings sequence_tuner::tune(const context& context, const function& make,
                                    const tuning_options& options) const {
  if (members_.empty()) {
    throw argument_error("the sequence '" + defined_.name + "' has no members to tune");
  }
  const std::vector<named_value> of_all = key();
  detail::autotuner_parts parts;
  parts.name = defined_.name;
  parts.version = defined_.version;
  parts.key_fields = describe_values(of_all);
  for (const member_function& each : members_) {
    parts.tuning_fields.push_back({each.name, value_type::string});
    parts.test_default.push_back({each.name, text_of(each.core->test_default())});
  }
  parts.tunes = [&](tuning_session& session, const std::vector<named_value>&) {
    return search(session, make, options);
  };
  parts.check = [&](const std::vector<named_value>& values) {
    const member_tunings tunings = from_texts(values);
    for (const member_function& each : members_) each.core->check(tunings.values(each.name));
  };
  parts.repeatable = true;
  // A child process knows neither the function nor the members.
  tuning_options here = options;
  if (!here.isolation) here.isolation = isolation_mode::off;
  const auto core = detail::make_autotuner(std::move(parts));
  return from_texts(detail::obtain_tuning(*core, context, of_all, &here));
}

std::vector<named_value> sequence_tuner::key() const {
  std::vector<named_value> all = defined_.key.values();
  for (const member_function& each : members_) {
    const function_identity& own = each.core->identity();
    detail::json about = {{"function", own.name}, {"version", own.version}};
    about["key"] = detail::exact_json(each.key);
    all.push_back({each.name, detail::json_text(about)});
  }
  return all;
}

member_tunings sequence_tuner::from_texts(const std::vector<named_value>& values) const {
  member_tunings all;
  for (const member_function& each : members_) {
    all.add(each.name, values_of(text_in(values, each.name), each.core->identity().value_fields));
  }
  return all;
}

std::vector<named_value> sequence_tuner::search(tuning_session& session, const function& make,
                                                const tuning_options& options) const {
  std::vector<parameter> parameters;
  for (const member_function& each : members_) {
    parameter tunings{each.name, {}};
    for (const auto& finalist :
         each.core->finalists(session.context(), each.key, defined_.finalists, options)) {
      tunings.candidates.emplace_back(text_of(finalist));
    }
    parameters.push_back(std::move(tunings));
  }
  const search_space space(std::move(parameters));
  const generator generate = make(session.context().create_tuning_command_queue());
  const search_problem problem{
      .space = space,
      .configuration = [&](std::size_t index) { return space.values(index); },
      .needs = [](std::size_t) -> std::optional<resources> { return std::nullopt; },
      .generate = [&](std::size_t index) { return generate(from_texts(space.values(index))); },
      .find = [&](const std::vector<named_value>& values) { return space.find(values); },
      .first = {0}};
  return space.values(session.tune(problem));
}

measure make_sequence_measure(tuning_command_queue queue, operation_sequence sequence,
                              workload work, answer expected) {
  struct replayed {
    explicit replayed(operation_sequence its) : sequence(std::move(its)), capture(sequence) {}
    operation_sequence sequence;
    captured_operation capture;
  };
  const auto kept = std::make_shared<replayed>(std::move(sequence));
  const std::shared_ptr<operation> shared(kept, &kept->sequence);
  work.bind(*shared);
  return make_measure(std::move(queue), std::function<void()>([kept] { kept->capture.run(); }))
      .check_runs(detail::make_run_check(shared, std::move(work), std::move(expected)));
}

measure make_measure_in_place(tuning_command_queue queue,
                              std::shared_ptr<operation_sequence> sequence,
                              const std::string& child) {
  const std::vector<std::string> names = sequence->child_names();
  static_cast<void>(sequence->child(child));  // throws if the child is unknown
  const auto at = std::ranges::find(names, child);
  run_neighbours neighbours;
  if (at != names.begin()) {
    neighbours.before = [sequence, first = names.front(), last = *(at - 1)] {
      sequence->run_range(first, last);
    };
  }
  if (at + 1 != names.end()) {
    neighbours.after = [sequence, first = *(at + 1), last = names.back()] {
      sequence->run_range(first, last);
    };
  }
  return make_measure(
      std::move(queue), [sequence = std::move(sequence), child] { sequence->run(child); },
      std::move(neighbours));
}

run_time sequence_times::alone() const noexcept {
  run_time sum{};
  for (const child_time& each : children) sum += each.alone;
  return sum;
}

run_time sequence_times::in_place() const noexcept {
  run_time sum{};
  for (const child_time& each : children) sum += each.in_place;
  return sum;
}

sequence_times time_sequence(const tuning_command_queue& queue,
                             const std::shared_ptr<operation_sequence>& sequence,
                             const measure_settings& settings) {
  sequence->ensure_all_bound();
  sequence->run();  // drivers load much at the first launch
  sequence_times times;
  for (const std::string& name : sequence->child_names()) {
    times.children.push_back(
        {.name = name,
         .alone = median_of(make_measure(queue, [&] { sequence->run(name); }), settings),
         .in_place = median_of(make_measure_in_place(queue, sequence, name), settings)});
  }
  captured_operation whole(*sequence);
  times.whole = median_of(make_measure(queue, [&] { whole.run(); }), settings);
  return times;
}

}  // namespace tune
