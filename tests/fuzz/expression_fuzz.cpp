// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The text of a restriction over four parameters. It is refused, or the space holds as many
// configurations as the expression holds for.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/search/space/search_space.hpp"

namespace {

const std::vector<tune::parameter>& parameters() {
  static const std::vector<tune::parameter> all{
      {"a", {std::int64_t{0}, std::int64_t{3}, std::int64_t{-9223372036854775807 - 1}}},
      {"b", {0.5, -2.0, 9007199254740992.0}},
      {"c", {std::string("a"), std::string()}},
      {"d", {true, false}}};
  return all;
}

/// The number of configurations for which it holds; empty if it has no value for one of them.
std::optional<std::size_t> count(const tune::expression& of) {
  const tune::search_space all(parameters());
  std::size_t found = 0;
  try {
    for (std::size_t i = 0; i < all.size(); ++i) found += of.holds(all.values(i)) ? 1 : 0;
  } catch (const tune::argument_error&) {
    return std::nullopt;
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const tune::expression read(std::string(reinterpret_cast<const char*>(data), size));
    const std::optional<std::size_t> expected = count(read);
    const tune::search_space space(parameters(), read.restrictions(parameters()));
    try {
      if (space.size() != expected.value_or(space.size())) std::abort();
    } catch (const tune::error&) {
      if (expected) std::abort();
    }
    if (!read.parts().empty()) static_cast<void>(read.parts().back().names());
  } catch (const tune::argument_error&) {  // NOLINT(bugprone-empty-catch): it is refused
  }
  return 0;
}
