// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/restrictions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/formula/evaluation.hpp"
#include "libtune/extra/bare/formula/program.hpp"

namespace tune::detail::formulas {
namespace {

void collect_places(const formula& of, node_index from, std::vector<std::size_t>& places) {
  const node& at = of.nodes[from];
  if (at.what == op::name && std::ranges::find(places, at.place) == places.end()) {
    places.push_back(at.place);
  }
  for (const node_index child : at.children) collect_places(of, child, places);
}

void collect_parts(const formula& of, node_index from, std::vector<node_index>& parts) {
  if (of.nodes[from].what != op::all_of) return parts.push_back(from);
  for (const node_index child : of.nodes[from].children) collect_parts(of, child, parts);
}

/// The parameters that a formula reads, by the places of their names in it.
struct read_parameters {
  read_parameters(const formula& of, const std::vector<parameter>& parameters) {
    owned.reserve(of.names.size());
    for (const std::string& name : of.names) {
      const auto found = std::ranges::find(parameters, name, &parameter::name);
      if (found == parameters.end()) refuse_name(of, name, parameters);
      parameter_of.push_back(static_cast<std::size_t>(found - parameters.begin()));
      owned.push_back(*found);
      auto& kept = candidates.emplace_back();
      for (const value& candidate : owned.back().candidates) kept.push_back(operand_of(candidate));
    }
  }

  std::vector<std::size_t> parameter_of;
  std::vector<std::vector<operand>> candidates;
  std::vector<parameter> owned;  // owns the texts of the candidates

 private:
  [[noreturn]] static void refuse_name(const formula& of, const std::string& name,
                                       const std::vector<parameter>& parameters) {
    std::vector<std::string_view> all;
    for (const parameter& each : parameters) all.push_back(each.name);
    throw argument_error(
        fmt::format("the expression '{}' reads '{}', which is no parameter; the parameters are {}",
                    of.text, name, fmt::join(all, ", ")));
  }
};

/// The candidates of a choice, which has an index for each parameter.
class chosen_values final : public name_values {
 public:
  chosen_values(const read_parameters& read, std::span<const std::size_t> choice)
      : read_(read), choice_(choice) {}

  operand at(std::size_t place) const override {
    return read_.candidates[place][choice_[read_.parameter_of[place]]];
  }

 private:
  const read_parameters& read_;
  std::span<const std::size_t> choice_;
};

/// A part of a formula over parameters. A value: a copy runs on its own.
class part_check {
 public:
  part_check(std::shared_ptr<const formula> of, node_index part,
             std::shared_ptr<const read_parameters> read, const std::vector<parameter>& parameters)
      : of_(std::move(of)),
        part_(part),
        read_(std::move(read)),
        fast_(program::make(*of_, part, read_->parameter_of, parameters)) {}

  bool operator()(std::span<const std::size_t> choice) {
    if (fast_) {
      if (const std::optional<bool> found = fast_->holds(choice)) return *found;
    }
    workspace in;
    return evaluate(*of_, part_, chosen_values(*read_, choice), in).truth();
  }

  /// True if the part has a value for all candidates of these names. False too if there are too
  /// many to try.
  bool has_values(const std::vector<std::size_t>& places, std::size_t parameters) {
    constexpr std::size_t most = 1 << 16;
    std::size_t combinations = 1;
    for (const std::size_t place : places) {
      combinations *= read_->candidates[place].size();
      if (combinations > most) return false;
    }
    std::vector<std::size_t> choice(parameters, 0);
    for (std::size_t i = 0; i < combinations; ++i) {
      std::size_t left = i;
      for (const std::size_t place : places) {
        choice[read_->parameter_of[place]] = left % read_->candidates[place].size();
        left /= read_->candidates[place].size();
      }
      if (!has_value(choice)) return false;
    }
    return true;
  }

 private:
  bool has_value(std::span<const std::size_t> choice) {
    if (fast_ && fast_->holds(choice).has_value()) return true;
    try {
      workspace in;
      try_to_evaluate(*of_, part_, chosen_values(*read_, choice), in);
      return true;
    } catch (const not_applicable&) {
      return false;
    }
  }

  std::shared_ptr<const formula> of_;
  node_index part_;
  std::shared_ptr<const read_parameters> read_;
  std::optional<program> fast_;
};

/// The number of parameters that are set before a restriction with these reads is checked.
std::size_t depth_of(const std::vector<std::size_t>& reads) {
  return reads.empty() ? 0 : std::ranges::max(reads) + 1;
}

/// Makes a part that may lack a value wait for the parameters of the parts before it, so that they
/// can refuse first.
template <class HasValues>
void wait_for_guards(const std::vector<restriction>& before, std::vector<std::size_t>& reads,
                     HasValues has_values) {
  const std::size_t depth = depth_of(reads);
  const auto is_later = [&](const restriction& each) { return depth_of(*each.reads) > depth; };
  if (std::ranges::none_of(before, is_later) || has_values()) return;
  for (const restriction& guard : before) {
    if (!is_later(guard)) continue;
    for (const std::size_t read : *guard.reads) {
      if (std::ranges::find(reads, read) == reads.end()) reads.push_back(read);
    }
  }
}

}  // namespace

std::vector<node_index> parts_of(const formula& of) {
  std::vector<node_index> parts;
  collect_parts(of, of.root, parts);
  return parts;
}

std::vector<restriction> make_restrictions(const std::shared_ptr<const formula>& of,
                                           const std::vector<parameter>& parameters) {
  const auto read = std::make_shared<const read_parameters>(*of, parameters);
  const std::vector<node_index> parts = parts_of(*of);
  std::vector<restriction> made;
  for (const node_index part : parts) {
    const node& at = of->nodes[part];
    std::string description =
        parts.size() == 1 ? of->text : of->text.substr(at.begin, at.end - at.begin);
    std::vector<std::size_t> places;
    collect_places(*of, part, places);
    std::vector<std::size_t> reads;
    for (const std::size_t place : places) reads.push_back(read->parameter_of[place]);
    part_check check(of, part, read, parameters);
    wait_for_guards(made, reads, [&] { return check.has_values(places, parameters.size()); });
    made.push_back({std::move(description), std::move(check), std::move(reads)});
  }
  return made;
}

}  // namespace tune::detail::formulas
