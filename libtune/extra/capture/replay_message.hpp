// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between tunedb replay, or another parent, and the child that runs captured frames:
// JSON, a line each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/extra/capture/replay_child.hpp"

namespace tune::detail {

/// The variable that starts a child for replays.
constexpr const char* replay_variable = "LIBTUNE_REPLAY_FOR";

/// From the parent: a file and the runs in it.
struct replay_request {
  std::string file;
  std::vector<captured_place> places;
};

/// From the child: it serves replays ("ready"), a run has begun or ended, or nothing can be run.
struct replay_message {
  enum class kind { ready, begun, ended, error };

  kind what = kind::ready;
  std::size_t index = 0;                ///< into the places of the request
  std::optional<replayed_call> call{};  ///< of a run that has ended
  std::string text{};                   ///< of an error
};

/// Each ends in a line feed.
std::string to_line(const replay_request& request);
std::string to_line(const replay_message& message);
/// Read lines. @throws argument_error
replay_request request_from_line(std::string_view line);
replay_message message_from_line(std::string_view line);

}  // namespace tune::detail
