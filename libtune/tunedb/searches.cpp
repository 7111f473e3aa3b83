// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/searches.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace tune::cli {

void search_choice::add_to(CLI::App& command) {
  command.add_option("--search", number, "The number of a search, as trials prints it")
      ->type_name("N");
  command.add_option("--arg", arguments, "A field of the key, as NAME=VALUE; all of them or none")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  device.add_to(command);
}

std::vector<search_content> search_choice::choose(const function_content& content) const {
  std::string key;
  if (!arguments.empty()) {
    key =
        text_of(search_columns(parse_key(content.function, arguments), {}), "arguments_canonical");
  }
  std::vector<search_content> found;
  for (const search_content& search : content.searches) {
    if (number != 0 && search.id != number) continue;
    if (!key.empty() && text_of(search.columns, "arguments_canonical") != key) continue;
    if (device.fits(search.device())) found.push_back(search);
  }
  if (found.empty()) throw nothing_found("the database has no such search");
  std::ranges::sort(found, {}, [](const search_content& search) {
    return std::pair(text_of(search.columns, "started_at"), search.id);
  });
  return found;
}

}  // namespace tune::cli
