// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tree/layering.hpp"

#include <algorithm>
#include <fstream>
#include <istream>
#include <regex>
#include <string_view>
#include <utility>

namespace layering {
namespace {

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t begin = 1; begin < row.size();) {
    const std::size_t end = std::min(row.find('|', begin), row.size());
    cells.push_back(row.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

std::vector<std::string> backticked(const std::string& cell) {
  static const std::regex word("`([^`]+)`");
  std::vector<std::string> words;
  for (std::sregex_iterator match(cell.begin(), cell.end(), word), end; match != end; ++match) {
    words.push_back((*match)[1]);
  }
  return words;
}

/// "device" for "device/buffer.hpp"; empty for a file that lies in no module.
std::string module_of(const std::string& file) {
  const std::size_t slash = file.find('/');
  return slash == std::string::npos ? "" : file.substr(0, slash);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// True if a list names a file, or a folder that it lies in.
bool names_file_or_folder(const std::vector<std::string>& words, const std::string& file) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return file == word || file.starts_with(word + "/");
  });
}

std::optional<std::string> quoted_violation(const rules& rules, const include_line& line) {
  static const std::regex embedded_text("[^/]+\\.[^./]+\\.hpp");
  constexpr std::string_view top = "libtune/";
  const bool is_beside = !line.included.starts_with(top);  // of another folder of the project
  if (is_beside && std::regex_match(line.included, embedded_text)) return std::nullopt;
  const std::string target = is_beside ? "../" + line.included : line.included.substr(top.size());
  const std::string module = module_of(line.file);
  if (module_of(target) == module) return std::nullopt;
  const auto rule = std::find_if(rules.modules.begin(), rules.modules.end(),
                                 [&](const module_rule& row) { return row.module == module; });
  if (rule == rules.modules.end()) {
    return "module '" + module + "' is not in the table of libtune/README.md";
  }
  if (names_file_or_folder(rule->may_include, target)) return std::nullopt;
  if (is_beside) return "write the path from the top, libtune/...";
  return "the table of libtune/README.md does not let '" + module + "' include it";
}

std::optional<std::string> bracketed_violation(const rules& rules, const include_line& line) {
  static const std::regex system("(sys|linux|net|netinet|arpa)/.*");
  for (const library_rule& library : rules.libraries) {
    const bool matches =
        std::any_of(library.prefixes.begin(), library.prefixes.end(),
                    [&](const std::string& prefix) { return line.included.starts_with(prefix); });
    if (!matches) continue;
    if (!contains(library.places, "any") && !names_file_or_folder(library.places, line.file)) {
      return "the library belongs to another place: see libtune/README.md";
    }
    if (line.in_public_header && !library.in_public_headers) {
      return "a public header includes no third-party header; move it to the source";
    }
    return std::nullopt;
  }
  if (line.included.find('/') == std::string::npos || std::regex_match(line.included, system)) {
    return std::nullopt;
  }
  return "the library is not in the table of libtune/README.md";
}

/// True for files of the neighbour.
bool owns(const neighbour_rule& rule, const std::string& file) {
  return names_file_or_folder(rule.places, file) ||
         std::any_of(rule.places.begin(), rule.places.end(),
                     [&](const std::string& place) { return file.starts_with(place + "."); });
}

/// The neighbour that a file belongs to; empty for those of the core.
std::string neighbour_of(const rules& rules, const std::string& file) {
  for (const neighbour_rule& each : rules.neighbours) {
    if (owns(each, file)) return each.neighbour;
  }
  return "";
}

/// Calls visit with each include of the sources below a folder, and where it stands.
template <class Visitor>
void for_each_include(const std::filesystem::path& folder, Visitor&& visit) {
  static const std::regex include(R"rx(\s*#\s*include\s*(["<])([^">]+)[">].*)rx");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".cpp") continue;
    include_line line;
    line.file = entry.path().lexically_relative(folder).generic_string();
    std::ifstream source(entry.path());
    std::string text;
    for (int number = 1; std::getline(source, text); ++number) {
      std::smatch match;
      if (!std::regex_match(text, match, include)) continue;
      line.quoted = match[1] == "\"";
      line.included = match[2];
      visit(line, "libtune/" + line.file + ":" + std::to_string(number) + ": " + line.included);
    }
  }
}

}  // namespace

rules read_rules(std::istream& markdown) {
  enum class table { none, modules, libraries, neighbours } current = table::none;
  rules result;
  for (std::string row; std::getline(markdown, row);) {
    if (row.starts_with("| module |")) current = table::modules;
    if (row.starts_with("| third-party include |")) current = table::libraries;
    if (row.starts_with("| neighbour |")) current = table::neighbours;
    if (!row.starts_with("|")) current = table::none;
    if (current == table::none) continue;
    const std::vector<std::string> cells = cells_of(row);
    const std::vector<std::string> names = backticked(cells.at(0));
    if (names.empty()) continue;
    switch (current) {
      case table::modules: result.modules.push_back({names[0], backticked(cells.at(2))}); break;
      case table::neighbours:
        result.neighbours.push_back({names[0], backticked(cells.at(2))});
        break;
      default:
        result.libraries.push_back(
            {names, backticked(cells.at(1)), cells.at(2).starts_with(" yes")});
    }
  }
  return result;
}

std::optional<std::string> violation(const rules& rules, const include_line& line) {
  if (module_of(line.file).empty()) return std::nullopt;  // an umbrella, above all modules
  return line.quoted ? quoted_violation(rules, line) : bracketed_violation(rules, line);
}

std::vector<std::string> violations_below(const std::filesystem::path& folder, const rules& rules,
                                          const std::set<std::string>& public_headers) {
  std::vector<std::string> found;
  for_each_include(folder, [&](include_line line, const std::string& place) {
    line.in_public_header = public_headers.contains(line.file);
    if (const auto wrong = violation(rules, line)) found.push_back(place + ": " + *wrong);
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> core_violations_below(const std::filesystem::path& folder,
                                               const rules& rules) {
  constexpr std::string_view top = "libtune/";
  std::vector<std::string> found;
  for_each_include(folder, [&](const include_line& line, const std::string& place) {
    if (!line.included.starts_with(top) || !neighbour_of(rules, line.file).empty()) return;
    const std::string target = line.included.substr(top.size());
    const std::string neighbour = neighbour_of(rules, target);
    if (neighbour.empty()) return;
    found.push_back(place + ": the core does not know its neighbour '" + neighbour + "'");
  });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace layering
