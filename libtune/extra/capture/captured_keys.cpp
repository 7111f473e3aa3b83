// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/captured_keys.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "libtune/extra/capture/captured_work.hpp"

namespace tune {

captured_keys find_captured_keys(const std::filesystem::path& path) {
  captured_keys found;
  std::set<std::string> left_out;
  auto runs = detail::find_work(read_captures(path), left_out);
  while (!runs.empty()) {
    const detail::captured_work first = runs.front();
    const auto others = std::stable_partition(runs.begin(), runs.end(), [&](const auto& run) {
      return run.function == first.function && detail::is_same_key(run.key, first.key);
    });
    const std::vector<detail::captured_work> of_key(runs.begin(), others);
    found.keys.push_back({.function = first.function,
                          .key = first.key,
                          .contents = of_key.size(),
                          .inputs = detail::inputs_text(of_key)});
    runs.erase(runs.begin(), others);
  }
  found.left_out.assign(left_out.begin(), left_out.end());
  return found;
}

}  // namespace tune
