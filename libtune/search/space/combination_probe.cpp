// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/combination_probe.hpp"

#include <exception>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

std::string failure_text(const combination_probe& at, std::size_t restriction,
                         std::span<const std::size_t> known, const char* what) {
  std::vector<named_value> values;
  for (const std::size_t i : known) {
    const parameter& item = at.parameters()[i];
    values.push_back({item.name, item.candidates[at.choice()[i]]});
  }
  return fmt::format("the restriction '{}' threw for the combination ({}): {}",
                     at.restrictions()[restriction].description, to_string(values), what);
}

}  // namespace

combination_probe::combination_probe(std::span<const parameter> parameters,
                                     std::span<const restriction_outline> restrictions,
                                     combination at)
    : parameters_(parameters),
      restrictions_(restrictions),
      at_(std::move(at)),
      choice_(parameters.size(), 0) {
  for (std::size_t i = 0; i < parameters.size(); ++i) at_.set(i, 0);
}

void combination_probe::throw_named(std::size_t restriction,
                                    std::span<const std::size_t> known) const {
  try {
    throw;
  } catch (const std::exception& problem) {
    std::throw_with_nested(error(failure_text(*this, restriction, known, problem.what())));
  } catch (...) {
    std::throw_with_nested(
        error(failure_text(*this, restriction, known, "something that is no std::exception")));
  }
}

}  // namespace tune::detail
