// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/simulate/read_recording.hpp"
#include "bench/simulate/recording_builder.hpp"
#include "bench/simulate/recording_json.hpp"

namespace tune {
namespace {

using detail::recorded_member;
using nlohmann::json;

constexpr double ms_per_ns = 1e-6;

/// The space that a search belongs to, as far as a document says.
std::string subject_of(const json& function, const json& search) {
  const json& columns = recorded_member(search, "columns");
  return fmt::format("{} version {} ({}) on {}", recorded_member(function, "name").dump(),
                     recorded_member(function, "version").dump(),
                     detail::text_or_empty(columns, "arguments_canonical"),
                     detail::text_or_empty(columns, "device_canonical"));
}

std::vector<double> samples_of(const json& columns) {
  std::vector<double> samples;
  const json listed = json::parse(detail::text_or_empty(columns, "samples_ns"), nullptr, false);
  if (!listed.is_array()) return samples;
  for (const json& sample : listed) {
    if (sample.is_number()) samples.push_back(sample.get<double>() * ms_per_ns);
  }
  return samples;
}

recorded_configuration configuration_of(const json& trial,
                                        const std::vector<parameter>& parameters) {
  recorded_configuration one;
  const json& fields = recorded_member(trial, "configuration");
  for (const json& field : fields) {
    const std::size_t at = one.values.size();
    if (at >= parameters.size() || field.size() != 3 || field[0] != parameters[at].name) {
      throw argument_error("an export holds trials of different parameters; export one search");
    }
    one.values.push_back(detail::to_value(field[2]));
  }
  const json& columns = recorded_member(trial, "columns");
  one.result.samples_ms = samples_of(columns);
  one.result.compile_ms = detail::number_or_zero(columns, "preparation_ns") * ms_per_ns;
  one.result.benchmark_ms =
      std::accumulate(one.result.samples_ms.begin(), one.result.samples_ms.end(), 0.0);
  if (const double score = detail::number_or_zero(columns, "score_ns"); score > 0) {
    one.result.score_ms = score * ms_per_ns;
  } else {
    one.result.failure = detail::text_or_empty(columns, "outcome");
  }
  return one;
}

std::vector<parameter> parameters_of(const json& trial) {
  std::vector<parameter> parameters;
  for (const json& field : recorded_member(trial, "configuration")) {
    if (!field.is_array() || field.size() != 3 || !field[0].is_string()) {
      throw argument_error("a configuration in an export holds no [name, kind, value]");
    }
    parameters.push_back({field[0].get<std::string>(), {}});
  }
  return parameters;
}

/// Adds searches to one space, and refuses those of another.
class collecting {
 public:
  void add(const json& function, const json& search) {
    const json& trials = recorded_member(search, "trials");
    if (trials.empty()) return;
    const std::string subject = subject_of(function, search);
    if (builder_ && subject != subject_) {
      throw argument_error("an export holds searches of " + subject_ + " and of " + subject +
                           "; export one of them");
    }
    subject_ = subject;
    if (!builder_) builder_.emplace(parameters_of(trials.front()));
    for (const json& trial : trials) {
      builder_->add(configuration_of(trial, builder_->parameters()));
    }
  }

  recorded_space build(std::string name) {
    if (!builder_) throw argument_error("an export of libtune holds no trial");
    return std::move(*builder_).build(std::move(name));
  }

 private:
  std::optional<detail::recording_builder> builder_;
  std::string subject_;
};

}  // namespace

recorded_space read_libtune_export(std::string_view text, std::string name) {
  const json document = detail::parse(text);
  if (detail::text_or_empty(document, "format") != "libtune tuning results") {
    throw argument_error("a document is no export of libtune: its 'format' is another");
  }
  collecting found;
  for (const json& function : recorded_member(document, "functions")) {
    for (const json& search : recorded_member(function, "searches")) found.add(function, search);
  }
  return found.build(std::move(name));
}

}  // namespace tune
