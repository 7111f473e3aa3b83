// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace layering {

/// A row of the tables of the core and of its neighbours. What it may include are modules
/// ("device", "extra/bare") and single files ("opencl/backend.hpp").
struct module_rule {
  std::string module;
  std::vector<std::string> may_include;
  bool is_core = false;
};

/// A row of the table of third-party includes. The places are modules, single files, or "any".
struct library_rule {
  std::vector<std::string> prefixes;
  std::vector<std::string> places;
  bool in_public_headers = false;
};

struct rules {
  std::vector<module_rule> modules;
  std::vector<library_rule> libraries;
};

/// The tables of libtune/README.md.
rules read_rules(std::istream& markdown);

/// One #include. Files are named from libtune/, as "device/buffer.hpp".
struct include_line {
  std::string file;
  std::string included;  ///< what stands between the quotes or angle brackets
  bool quoted = true;
  bool in_public_header = false;
};

/// The fault of an include; empty if it is allowed.
std::optional<std::string> violation(const rules& rules, const include_line& line);

/// Everything wrong with the sources below a folder. public_headers are named from that folder.
std::vector<std::string> violations_below(const std::filesystem::path& folder, const rules& rules,
                                          const std::set<std::string>& public_headers);

}  // namespace layering
