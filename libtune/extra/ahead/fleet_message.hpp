// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between the rank that leads a fleet and one that serves it. All ranks have the same
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

/// The first message to a rank that leads.
struct fleet_hello {
  std::string machine{};      ///< the same text for ranks of one machine
  std::uint64_t process = 0;  ///< its number there
  std::string database{};     ///< the same text for ranks of one machine that share a database
  std::vector<device_info> devices{};  ///< that it may use; without limits
};
/// The answer: the places of those among them that it is to serve. Another one, without any, says
/// that there is no more work.
struct fleet_assignment {
  std::vector<std::uint64_t> devices{};
  std::uint64_t children = 1;  ///< that share the cores of its machine
};
/// Asks for results and searches of a database. Answered by fleet_content.
struct fleet_question {
  std::vector<function_identity> functions{};
  std::vector<std::string> keys{};  ///< of these functions: content_key of each
  bool new_ones = false;            ///< and all that came since the call of pretune
};
/// Results and searches of a database; from the rank that leads: to be brought into one's own.
struct fleet_content {
  database_content content{};
  bool replaces = false;  ///< it wins over other results for its keys
};
/// A tuner_message of the work of one device, in either direction.
struct fleet_device_message {
  std::uint64_t device = 0;  ///< its place in fleet_hello::devices
  std::vector<std::byte> message{};
};
/// To end the work of a device. If that has not ended by then, the answer is fleet_stopped.
struct fleet_stop {
  std::uint64_t device = 0;
};
struct fleet_stopped {
  std::uint64_t device = 0;
  std::string reason{};
};
/// All is done: the results, from the rank that leads. The other one answers the same without.
struct fleet_end {
  std::vector<pretuning_result> results{};
};

/// The rank lives. Sent again and again by both ends, whatever else they do.
struct fleet_alive {};
/// The last message to a rank that has not answered for too long: it goes on without it.
struct fleet_farewell {};

using fleet_message =
    std::variant<fleet_hello, fleet_assignment, fleet_question, fleet_content, fleet_device_message,
                 fleet_stop, fleet_stopped, fleet_end, fleet_alive, fleet_farewell>;

/// A connection to another rank. Any thread sends; one at a time receives.
class rank_link {
 public:
  using clock = std::chrono::steady_clock;

  /// @param socket  of a stream; empty: it is lost already
  explicit rank_link(file_descriptor socket) noexcept;
  rank_link(const rank_link&) = delete;
  rank_link& operator=(const rank_link&) = delete;

  /// Does nothing once the other end is lost.
  void send(const fleet_message& message) noexcept;
  /// Sends a short message, unless it would have to wait for another one or for the other end.
  void send_at_once(const fleet_message& message) noexcept;
  /// Returns the next message; empty if none has come by then, or none will.
  std::optional<fleet_message> next(clock::time_point until) noexcept;
  /// True if the other end has closed and all that it sent has been returned, or it sent what is no
  /// message; and after close.
  bool is_lost() const noexcept { return lost_; }
  /// The number of bytes that have come so far. From the thread that receives.
  std::uint64_t received() const noexcept { return received_; }
  /// Leaves the other rank, which is lost from then on.
  void close() noexcept;

 private:
  void send_all(std::span<const std::byte> left) noexcept;
  bool send_part(std::span<const std::byte>& left) const noexcept;
  void receive_part();
  void give_up(const char* why) noexcept;

  file_descriptor socket_;  // open for as long as this lives, for several threads use it
  std::mutex sending_;
  bool mute_ = false;  // the other end takes no more
  frame_reader frames_;
  std::uint64_t received_ = 0;
  std::atomic<bool> lost_;
};

/// The connections of a communicator.
struct rank_links {
  std::size_t rank = 0;
  std::vector<std::unique_ptr<rank_link>> links{};  ///< by rank; that to itself is lost
  std::atomic<bool> is_left_out = false;            ///< the others go on without this rank
};

/// A text that is the same in all processes of a machine.
std::string this_machine();

}  // namespace tune::detail
