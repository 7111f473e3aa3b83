// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/extra/ahead/fleet_message.hpp"

namespace tune::detail {

/// Sends other ranks a sign of life at intervals, in a thread of its own.
class rank_heartbeat {
 public:
  /// @param to  must outlive this
  rank_heartbeat(std::vector<rank_link*> to, std::chrono::milliseconds longest_silence)
      : thread_([to = std::move(to), longest_silence](const std::stop_token& end) {
          const auto pause =
              std::min<std::chrono::milliseconds>(std::chrono::seconds(1), longest_silence / 10);
          std::mutex mutex;
          std::condition_variable_any never;
          std::unique_lock lock(mutex);
          while (!end.stop_requested()) {
            for (rank_link* link : to) link->send_at_once(fleet_alive{});
            never.wait_for(lock, end, pause, [] { return false; });
          }
        }) {}

 private:
  std::jthread thread_;
};

/// Closes the link of a rank that sends heartbeats and has not answered for too long. One thread
/// uses it.
class silence_watch {
 public:
  /// @param name  the name of the rank, for messages
  silence_watch(rank_link& link, std::string name, std::chrono::milliseconds longest)
      : link_(link), name_(std::move(name)), longest_(longest), received_(link.received()) {}

  /// Checks the silence. To be called often, when no message can be read.
  void look();

 private:
  rank_link& link_;
  std::string name_;
  std::chrono::milliseconds longest_;
  std::uint64_t received_;
  rank_link::clock::time_point looked_ = rank_link::clock::now();
  rank_link::clock::duration silent_{0};
  bool is_told_ = false;
};

}  // namespace tune::detail
