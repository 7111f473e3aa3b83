// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/space/restriction.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// A combination that knows its choice, and what to say when a restriction throws. Begins with the
/// first candidate of every parameter. The spans it is given outlive it.
class combination_probe {
 public:
  combination_probe(std::span<const parameter> parameters,
                    std::span<const restriction_outline> restrictions, combination at);

  std::span<const parameter> parameters() const noexcept { return parameters_; }
  std::span<const restriction_outline> restrictions() const noexcept { return restrictions_; }
  std::span<const std::size_t> choice() const noexcept { return choice_; }

  void set(std::size_t parameter, std::size_t candidate) {
    if (choice_[parameter] == candidate) return;
    choice_[parameter] = candidate;
    at_.set(parameter, candidate);
  }

  /// @param known  the parameters that have been set on purpose, for the error's text
  /// @throws error if the restriction throws, with its exception nested
  bool ask(std::size_t restriction, std::span<const std::size_t> known) const {
    try {
      return at_.allowed_by(restriction);
    } catch (...) {
      throw_named(restriction, known);
    }
  }

 private:
  /// Throws anew what has been caught.
  [[noreturn]] void throw_named(std::size_t restriction, std::span<const std::size_t> known) const;

  std::span<const parameter> parameters_;
  std::span<const restriction_outline> restrictions_;
  combination at_;
  std::vector<std::size_t> choice_;
};

}  // namespace tune::detail
