// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between the leading rank of a fleet and a serving rank. All ranks have the same
// version of libtune and the same byte order.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/process/wire.hpp"

namespace tune::detail {

/// The first message to the leading rank.
struct fleet_hello {
  std::string machine{};      ///< the same text for ranks of one machine
  std::uint64_t process = 0;  ///< its process number there
  std::string database{};     ///< the same text for ranks of one machine that share a database
  std::vector<device_info> devices{};  ///< the devices that it may use; without limits
};
/// The answer: the indices of the devices that the rank is to serve. A second one, without devices,
/// means the end of the work.
struct fleet_assignment {
  std::vector<std::uint64_t> devices{};
  std::uint64_t children = 1;  ///< the number that share the cores of its machine
};
/// Asks for results and searches of a database. Answered by fleet_content.
struct fleet_question {
  std::vector<function_identity> functions{};
  std::vector<std::string> keys{};  ///< content_key of each wanted key of these functions
  bool new_ones = false;            ///< and all rows since the call of pretune
};
/// Results and searches of a database; those from the leading rank are merged into one's own.
struct fleet_content {
  database_content content{};
  bool replaces = false;  ///< it replaces other results for its keys
};
/// A tuner_message of the work of one device, in either direction.
struct fleet_device_message {
  std::uint64_t device = 0;  ///< its place in fleet_hello::devices
  std::vector<std::byte> message{};
};
/// Ends the work of a device. The answer is fleet_stopped, unless the work has ended before.
struct fleet_stop {
  std::uint64_t device = 0;
};
struct fleet_stopped {
  std::uint64_t device = 0;
  std::string reason{};
};
/// The end of all work: the results, from the leading rank. The other rank answers with an empty
/// one.
struct fleet_end {
  std::vector<pretuning_result> results{};
};

/// Shows that the rank lives. Both ends send it repeatedly, during all other work.
struct fleet_alive {};
/// The last message to a rank that has not answered for too long: the others go on without it.
struct fleet_farewell {};

using fleet_message =
    std::variant<fleet_hello, fleet_assignment, fleet_question, fleet_content, fleet_device_message,
                 fleet_stop, fleet_stopped, fleet_end, fleet_alive, fleet_farewell>;

/// A connection to another rank. Any thread sends; one at a time receives.
class rank_link {
 public:
  using clock = std::chrono::steady_clock;

  /// @param socket  of a stream; empty: the connection is lost from the start
  explicit rank_link(file_descriptor socket) noexcept;
  rank_link(const rank_link&) = delete;
  rank_link& operator=(const rank_link&) = delete;

  /// Sends a message. Does nothing once the other end is lost.
  void send(const fleet_message& message) noexcept;
  /// Sends a short message, unless it would have to wait for another message or for the other end.
  void send_at_once(const fleet_message& message) noexcept;
  /// Returns the next message; empty if none has come by then, or none will come.
  std::optional<fleet_message> next(clock::time_point until) noexcept;
  /// True if the other end has closed and all its messages have been returned, or it sent an
  /// invalid message; and after close().
  bool is_lost() const noexcept { return lost_; }
  /// The number of bytes received so far. For the receiving thread.
  std::uint64_t received() const noexcept { return received_; }
  /// Closes the connection to the other rank, which is lost from then on.
  void close() noexcept;

 private:
  void send_all(std::span<const std::byte> left) noexcept;
  bool send_part(std::span<const std::byte>& left) const noexcept;
  void receive_part();
  void give_up(const char* why) noexcept;

  file_descriptor socket_;  // open as long as this object, because several threads use it
  std::mutex sending_;
  bool mute_ = false;  // the other end accepts no more
  frame_reader frames_;
  std::uint64_t received_ = 0;
  std::atomic<bool> lost_;
};

/// The connections of a communicator.
struct rank_links {
  std::size_t rank = 0;
  std::vector<std::unique_ptr<rank_link>>
      links{};                            ///< by rank; the link of a rank to itself is lost
  std::atomic<bool> is_left_out = false;  ///< the others have continued without this rank
};

/// A text that is equal in all processes of a machine.
std::string this_machine();

}  // namespace tune::detail
