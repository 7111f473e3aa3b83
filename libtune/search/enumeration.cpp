// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/enumeration.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/search/random_source.hpp"

namespace tune::detail {
namespace {

/// Depth d means that the first d parameters have a candidate.
class walk {
 public:
  walk(std::span<const parameter> parameters, std::span<const restriction_outline> restrictions,
       combination& at)
      : parameters_(parameters),
        restrictions_(restrictions),
        at_(at),
        choice_(parameters.size(), 0),
        below_(parameters.size() + 1, 1),
        askable_(parameters.size() + 1) {
    for (std::size_t depth = parameters.size(); depth-- > 0;) {
      below_[depth] = below_[depth + 1] * parameters[depth].candidates.size();
    }
    for (std::size_t i = 0; i < restrictions.size(); ++i) {
      const std::size_t depth = depth_of(restrictions[i]);
      askable_[depth].push_back(i);
      deepest_ = std::max(deepest_, depth);
    }
    found_.removed.resize(restrictions.size(), 0);
    for (std::size_t i = 0; i < parameters.size(); ++i) at_.set(i, 0);
  }

  enumeration run() {
    visit(0, 0);
    probe();
    return std::move(found_);
  }

 private:
  std::size_t depth_of(const restriction_outline& restriction) const {
    if (!restriction.reads) return parameters_.size();
    std::size_t depth = 0;
    for (const std::size_t read : *restriction.reads) depth = std::max(depth, read + 1);
    return depth;
  }

  void visit(std::size_t depth, std::size_t first) {
    if (const auto refusing = refused_at(depth)) {
      found_.removed[*refusing] += below_[depth];
      return;
    }
    if (depth == deepest_) {
      for (std::size_t i = 0; i < below_[depth]; ++i) found_.allowed.push_back(first + i);
      return;
    }
    for (std::size_t i = 0; i < parameters_[depth].candidates.size(); ++i) {
      set(depth, i);
      visit(depth + 1, first + i * below_[depth + 1]);
    }
  }

  void set(std::size_t parameter, std::size_t candidate) {
    choice_[parameter] = candidate;
    at_.set(parameter, candidate);
  }

  std::optional<std::size_t> refused_at(std::size_t depth) const {
    for (const std::size_t i : askable_[depth]) {
      if (!ask(i, depth)) return i;
    }
    return std::nullopt;
  }

  bool ask(std::size_t restriction, std::size_t depth) const {
    try {
      return at_.allowed_by(restriction);
    } catch (const std::exception& problem) {
      std::throw_with_nested(error(failure_text(restriction, depth, problem.what())));
    } catch (...) {
      std::throw_with_nested(
          error(failure_text(restriction, depth, "something that is no std::exception")));
    }
  }

  std::string failure_text(std::size_t restriction, std::size_t depth, const char* what) const {
    std::vector<named_value> values;
    for (std::size_t i = 0; i < depth; ++i) {
      values.push_back({parameters_[i].name, parameters_[i].candidates[choice_[i]]});
    }
    return fmt::format("the restriction '{}' threw for the combination ({}): {}",
                       restrictions_[restriction].description, to_string(values), what);
  }

  // A restriction that reads what it has not declared is answered from leftovers of the walk. Such
  // a space would be silently wrong, so some combinations are asked again with everything set.
  void probe() {
    if (std::ranges::none_of(restrictions_,
                             [](const auto& item) { return item.reads.has_value(); })) {
      return;
    }
    random_source random(0);
    for (int probes = 0; probes < 256; ++probes) {
      const std::size_t position = random.below(below_[0]);
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        set(i, position / below_[i + 1] % parameters_[i].candidates.size());
      }
      const bool listed = std::ranges::binary_search(found_.allowed, position);
      if (allowed_here() != listed) throw_undeclared_read();
    }
  }

  bool allowed_here() const {
    for (std::size_t depth = 0; depth <= deepest_; ++depth) {
      if (refused_at(depth)) return false;
    }
    return true;
  }

  [[noreturn]] void throw_undeclared_read() const {
    std::string suspects;
    for (const restriction_outline& item : restrictions_) {
      if (item.reads) suspects += (suspects.empty() ? "'" : ", '") + item.description + "'";
    }
    throw argument_error(fmt::format(
        "a restriction among {} reads a parameter that it has not declared, or answers differently "
        "each time; declare every parameter that it reads, or none",
        suspects));
  }

  std::span<const parameter> parameters_;
  std::span<const restriction_outline> restrictions_;
  combination& at_;
  std::vector<std::size_t> choice_;
  std::vector<std::size_t> below_;                 // combinations that share the first d candidates
  std::vector<std::vector<std::size_t>> askable_;  // restrictions by the depth that they need
  std::size_t deepest_ = 0;                        // beyond it nothing is restricted
  enumeration found_;
};

}  // namespace

enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction_outline> restrictions, combination& at) {
  return walk(parameters, restrictions, at).run();
}

}  // namespace tune::detail
