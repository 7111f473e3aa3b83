// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "libtune/extra/metrics/metric_page.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Counts the answers of autotuners, and the changes of live pipelines, by their keys. Threads that
/// call autotuners, and threads of libtune, note them; a thread that only enqueues does not. The
/// functions of the doors answered and live_changed. Thread-safe.
class key_tally {
 public:
  /// The keys that are kept; those beyond are counted by their function alone.
  static constexpr std::size_t most_keys = 10'000;

  static key_tally& shared();

  void note(const tuning_subject& subject, tuning_origin origin);
  void note(const live_event& event);
  /// @param most  keys with series of their own, those with the most answers and changes first
  void write(metric_page& to, std::size_t most) const;

 private:
  static constexpr std::size_t origins = 6;
  static constexpr std::size_t change_kinds = 5;

  struct key {
    std::string function;
    int version = 0;
    std::string device;
    std::string platform;
    std::string arguments;
    tuning_origin origin = tuning_origin::failed;  // of the tuning in service
    std::array<std::uint64_t, change_kinds> changes{};
    std::uint64_t events = 0;
  };

  key* find(const tuning_subject& subject);
  void write_keys(metric_page& to, std::size_t most) const;

  mutable std::mutex mutex_;
  std::map<std::string, std::array<std::uint64_t, origins>> answers_;  // by function
  std::map<std::string, key> keys_;
  std::uint64_t left_out_ = 0;  // answers and changes of keys beyond most_keys
};

}  // namespace tune::detail
