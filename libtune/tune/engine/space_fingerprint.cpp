// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/space_fingerprint.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {
namespace {

constexpr std::size_t fingerprint_bytes = 16;

std::string fixed_fields(const search_problem& problem) {
  const std::vector<parameter>& parameters = problem.space.parameters();
  std::vector<named_value> fixed = problem.configuration(0);
  std::erase_if(fixed, [&](const named_value& field) {
    return std::ranges::find(parameters, field.name, &parameter::name) != parameters.end();
  });
  return canonical_text(fixed);
}

}  // namespace

std::string space_fingerprint(const search_problem& problem) {
  try {
    const std::string text = canonical_text(problem.space) + "fixed " + fixed_fields(problem);
    const auto digest = detail::sha256(std::as_bytes(std::span(text)));
    return detail::to_hex(std::span(digest).first(fingerprint_bytes));
  } catch (const std::exception& failure) {
    log(log_level::debug, std::string("a space has no fingerprint: ") + failure.what());
    return {};
  }
}

}  // namespace tune
