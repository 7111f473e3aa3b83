// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space_text.hpp"

#include <fmt/format.h>

namespace tune {

// Databases hold digests of this text: a change makes every stored space look like another one.
std::string canonical_text(const search_space& space) {
  std::string text = fmt::format("size {}\n", space.size());
  for (const parameter& item : space.parameters()) {
    text += fmt::format("parameter {}:{}", item.name.size(), item.name);
    for (const value& candidate : item.candidates) text += " " + canonical_text(candidate);
    text += '\n';
  }
  for (const removal& item : space.removals()) {
    text += fmt::format("restriction {}:{} {}\n", item.description.size(), item.description,
                        item.combinations);
  }
  return text;
}

}  // namespace tune
