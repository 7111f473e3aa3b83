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

/// "device" for "device/buffer.hpp", "extra/bare" for "extra/bare/bare_kernel.hpp"; empty for a
/// file that lies in no module, which is an umbrella header.
std::string module_of(const std::string& file) {
  std::size_t slash = file.find('/');
  if (file.starts_with("extra/") || file.starts_with("bindings/"))
    slash = file.find('/', slash + 1);
  return slash == std::string::npos ? "" : file.substr(0, slash);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// True if a list names a file, a folder that it lies in, or the folder of which it is the umbrella
/// header.
bool names_file_or_folder(const std::vector<std::string>& words, const std::string& file) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return file == word || file == word + ".hpp" || file.starts_with(word + "/");
  });
}

std::optional<std::string> quoted_violation(const rules& rules, const include_line& line) {
  static const std::regex embedded_text("[^/]+\\.[^./]+\\.hpp");
  constexpr std::string_view top = "libtune/";
  const bool is_beside = !line.included.starts_with(top);  // of another folder of the project
  if (is_beside && std::regex_match(line.included, embedded_text)) return std::nullopt;
  const std::string target = is_beside ? "../" + line.included : line.included.substr(top.size());
  const std::string module = module_of(line.file);
  if (module_of(target) == module || target == module + ".hpp") return std::nullopt;
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
  enum class table { none, core, neighbours, libraries } current = table::none;
  rules result;
  for (std::string row; std::getline(markdown, row);) {
    if (row.starts_with("| module |")) current = table::core;
    if (row.starts_with("| third-party include |")) current = table::libraries;
    if (row.starts_with("| neighbour |")) current = table::neighbours;
    if (!row.starts_with("|")) current = table::none;
    if (current == table::none) continue;
    const std::vector<std::string> cells = cells_of(row);
    const std::vector<std::string> names = backticked(cells.at(0));
    if (names.empty()) continue;
    switch (current) {
      case table::core:
      case table::neighbours:
        result.modules.push_back({names[0], backticked(cells.at(2)), current == table::core});
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

}  // namespace layering
