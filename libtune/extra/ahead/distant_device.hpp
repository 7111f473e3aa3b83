// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The work of one device for the leading rank: both ends of the connection.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/fleet_message.hpp"
#include "libtune/extra/ahead/group_work.hpp"

namespace tune::detail {

/// The messages for one device, from the receiving thread to the working thread.
class device_messages {
 public:
  using item = std::variant<tuner_message, fleet_stopped>;

  void put(item message);
  /// Marks the end of the messages.
  void end();
  bool has_ended() const;
  /// Returns the next message, also after the end if it came before; empty if none comes in time.
  std::optional<item> take(std::chrono::milliseconds patience);
  /// Waits for a tuner_message of one type, and drops others.
  /// @returns empty after the end
  template <class Wanted>
  std::optional<Wanted> wait_for();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<item> items_;
  bool ended_ = false;
};

/// A device of another rank, for the leading rank. Its handle stands for it among other devices;
/// nothing runs on it here. One thread at a time tunes on it.
class distant_device {
 public:
  /// @param link   must outlive this
  /// @param place  the index of the device in its rank
  /// @param owner  the name of its rank, for messages
  distant_device(rank_link& link, std::uint64_t place, const device_info& info, std::string owner);

  const device& handle() const noexcept { return handle_; }
  std::uint64_t place() const noexcept { return place_; }
  /// For the receiving thread.
  device_messages& messages() noexcept { return messages_; }
  bool is_lost() const { return messages_.has_ended(); }

  /// Calls tune_remotely on the other rank. @throws device_lost_error and the errors of that
  tuned_values tune(const remote_task& task);

 private:
  void send(const tuner_message& message);

  rank_link& link_;
  std::uint64_t place_;
  std::string owner_;
  device handle_;
  device_messages messages_;
};

/// The parts of its rank that a served device uses. All references must outlive it.
struct served_device_setting {
  rank_link& link;
  std::uint64_t place = 0;
  tune::device device;
  const remote_tuner& tune;
  std::string database{};  ///< this rank's, for calls inside an autotune function
  std::vector<std::string> system_databases{};
  std::size_t children = 1;        ///< the number that share the cores
  std::function<bool()> is_ended;  ///< true if this rank must stop working
};

/// A device of this rank that works for the leading rank, until its end.
class served_device {
 public:
  explicit served_device(served_device_setting setting);
  /// Ends its work.
  ~served_device();
  served_device(const served_device&) = delete;
  served_device& operator=(const served_device&) = delete;

  std::uint64_t place() const noexcept { return setting_.place; }
  /// For the receiving thread.
  void take(const fleet_device_message& message);
  /// Ends the present work, if any.
  void stop() { stopping_ = true; }
  /// Ends its work and its child for good; does not wait.
  void end() { messages_.end(); }

 private:
  void work();
  void carry_out(const tuning_request& request, kept_child& child);
  void send(const tuner_message& message) const;

  served_device_setting setting_;
  device_messages messages_;
  std::atomic<bool> stopping_ = false;
  std::jthread thread_;
};

/// The message that a frame holds. @throws wire_error
tuner_message decode(const fleet_device_message& message);

}  // namespace tune::detail
