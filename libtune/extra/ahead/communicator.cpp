// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/communicator.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/extra/ahead/fleet_message.hpp"
#include "libtune/extra/ahead/mpi_plugin.hpp"
#include "libtune/extra/ahead/rank_socket.hpp"
#include "libtune/kernel/pool/worker_program.hpp"

namespace tune {
namespace {

using detail::file_descriptor;
using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_meeting{60};
constexpr std::chrono::seconds longest_connect{5};  // the limit for one address

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<::ssize_t>(bytes.size())) {
    throw error("no random bytes for admitting ranks: " + detail::system_text());
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The address of a rank, and the greeting that it expects.
struct visiting_card {
  std::string machine{};
  std::string library{};
  std::string token{};
  std::uint16_t port = 0;
  std::vector<std::string> addresses{};

  std::string text() const {
    std::string all = fmt::format("{} {} {} {}", machine, library, token, port);
    for (const std::string& address : addresses) {
      if (all.size() + 1 + address.size() <= communicator::longest_text) all += ' ' + address;
    }
    return all;
  }
  static visiting_card parse(const std::string& text) {
    visiting_card card;
    std::istringstream words(text);
    words >> card.machine >> card.library >> card.token >> card.port;
    if (!words) throw error("the greeting of a rank cannot be read: '" + text + "'");
    for (std::string address; words >> address;) card.addresses.push_back(address);
    return card;
  }
};

std::string greeting(const std::string& token, std::size_t rank) {
  return fmt::format("{}{:08x}", token, rank);
}

/// Connects to one address of a rank; empty without an answer, or if another program answers.
file_descriptor try_connect(const std::string& address, const visiting_card& card,
                            std::size_t own_rank) {
  file_descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const ::sockaddr_in target = detail::socket_address(address, card.port);
  const int at_once =
      ::connect(socket.get(), reinterpret_cast<const ::sockaddr*>(&target), sizeof target);
  const auto until = clock::now() + longest_connect;
  if (at_once != 0 && (errno != EINPROGRESS || !detail::is_ready(socket.get(), POLLOUT, until)))
    return file_descriptor();
  int failure = 0;
  ::socklen_t size = sizeof failure;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0 || !detail::send_all(socket.get(), greeting(card.token, own_rank)))
    return file_descriptor();
  // The other rank may first wait for others.
  const auto answer =
      detail::receive_exactly(socket.get(), card.token.size(), until + longest_meeting);
  if (answer != card.token) return file_descriptor();
  return socket;
}

file_descriptor connect_to(std::size_t rank, const visiting_card& card, std::size_t own_rank,
                           bool same_machine) {
  std::vector<std::string> addresses = card.addresses;
  if (same_machine) addresses.insert(addresses.begin(), detail::loopback);
  for (const std::string& address : addresses) {
    if (file_descriptor socket = try_connect(address, card, own_rank)) return socket;
  }
  throw error(fmt::format(
      "rank {} was not reached at port {} of {}: let the ranks reach each other over TCP", rank,
      card.port, fmt::join(addresses, ", ")));
}

/// Admits the ranks above. Other programs may connect, too, and send nothing: all connections are
/// read concurrently, so that none delays the next. One thread uses it.
class reception {
 public:
  using admitted = std::pair<std::size_t, file_descriptor>;

  /// All references must outlive it.
  reception(int listener, const std::string& token) : listener_(listener), token_(token) {}

  /// Waits for the next rank; empty after the given time.
  std::optional<admitted> next(clock::time_point until) {
    while (wait(until)) {
      for (std::size_t i = guests_.size(); i-- > 0;) {
        if (auto made = listen_to(guests_[i])) return made;
        if (!guests_[i].socket || clock::now() >= guests_[i].until) {
          guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      accept();
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_guests = 256;

  struct guest {
    file_descriptor socket;
    clock::time_point until;
    std::string said{};
  };

  /// Waits until a connection, data, or the longest silence of a guest. Returns false after the
  /// given time.
  bool wait(clock::time_point until) const {
    const auto now = clock::now();
    if (now >= until) return false;
    std::vector<::pollfd> all{{listener_, POLLIN, 0}};
    for (const guest& each : guests_) {
      all.push_back({each.socket.get(), POLLIN, 0});
      until = std::min(until, each.until);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    ::poll(all.data(), all.size(), static_cast<int>(std::max<long>(0, left)));
    return true;
  }

  void accept() {
    file_descriptor socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (guests_.size() == most_guests) guests_.erase(guests_.begin());  // the oldest
    guests_.push_back({std::move(socket), clock::now() + longest_connect});
  }

  /// Returns the rank that has sent its whole greeting. Closes the socket of another program.
  std::optional<admitted> listen_to(guest& from) const {
    std::string text(greeting(token_, 0).size() - from.said.size(), '\0');
    const ::ssize_t got = ::recv(from.socket.get(), text.data(), text.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (got > 0) from.said.append(text, 0, static_cast<std::size_t>(got));
    if (got > 0 && static_cast<std::size_t>(got) < text.size()) return std::nullopt;
    file_descriptor socket = std::move(from.socket);
    if (got <= 0 || !from.said.starts_with(token_) || !detail::send_all(socket.get(), token_)) {
      return std::nullopt;
    }
    return admitted(std::stoul(from.said.substr(token_.size()), nullptr, 16), std::move(socket));
  }

  int listener_;
  const std::string& token_;
  std::vector<guest> guests_;  // in the order of arrival
};

std::unique_ptr<detail::rank_links> link_ranks(std::size_t rank,
                                               std::vector<file_descriptor> sockets) {
  auto made = std::make_unique<detail::rank_links>();
  made->rank = rank;
  for (file_descriptor& socket : sockets) {
    made->links.push_back(std::make_unique<detail::rank_link>(std::move(socket)));
  }
  return made;
}

}  // namespace

std::string detail::this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return boot + '/' + name.data();
}

communicator::communicator(std::unique_ptr<detail::rank_links> links) noexcept
    : links_(std::move(links)) {}
communicator::~communicator() = default;
communicator::communicator(communicator&& other) noexcept = default;
communicator& communicator::operator=(communicator&& other) noexcept = default;

std::size_t communicator::rank() const noexcept { return links_ ? links_->rank : 0; }
std::size_t communicator::size() const noexcept { return links_ ? links_->links.size() : 0; }
bool communicator::is_left_out() const noexcept { return links_ && links_->is_left_out; }

communicator communicator::meet(std::size_t rank, std::size_t size, const all_gather& gather) {
  visiting_card own{.machine = detail::this_machine(),
                    .library = std::string(library_version()),
                    .token = random_token()};
  const auto machines = gather(own.machine);
  const bool one_machine =
      std::ranges::all_of(machines, [&](const auto& each) { return each == own.machine; });
  auto [listener, port] = detail::listen_on(one_machine ? detail::loopback : "0.0.0.0");
  own.port = port;
  if (!one_machine) own.addresses = detail::own_addresses();
  const auto cards = gather(own.text());
  if (cards.size() != size) {
    throw argument_error(fmt::format("{} ranks have answered instead of {}", cards.size(), size));
  }
  std::vector<visiting_card> others;
  for (std::size_t other = 0; other < size; ++other) {
    others.push_back(visiting_card::parse(cards[other]));
    if (others.back().library == own.library) continue;
    throw error(fmt::format("rank {} has libtune {}, and rank {} has {}: run one version", other,
                            others.back().library, rank, own.library));
  }
  std::vector<file_descriptor> sockets(size);
  for (std::size_t other = 0; other < rank; ++other) {
    const visiting_card& card = others[other];
    sockets[other] = connect_to(other, card, rank, card.machine == own.machine);
  }
  const auto until = clock::now() + longest_meeting;
  reception admission(listener.get(), own.token);
  for (std::size_t missing = size - 1 - rank; missing > 0;) {
    auto come = admission.next(until);
    if (!come) {
      throw error(
          fmt::format("{} ranks have not connected within {} s: let the ranks reach each other "
                      "over TCP",
                      missing, longest_meeting.count()));
    }
    if (come->first <= rank || come->first >= size || sockets[come->first]) continue;
    sockets[come->first] = std::move(come->second);
    --missing;
  }
  for (const file_descriptor& socket : sockets) {
    if (socket) detail::watch_other_end(socket.get());
  }
  return communicator(link_ranks(rank, std::move(sockets)));
}

communicator communicator::meet_by_mpi() {
  const detail::found_helper found = detail::find_helper("libtune_mpi.so");
  if (found.path.empty()) {
    throw error(fmt::format(
        "ranks of mpirun meet through libtune_mpi.so, which was not found (looked at: {}); it is "
        "built with libtune where CMake finds MPI: install libopenmpi-dev and build again",
        fmt::join(found.looked_at, ", ")));
  }
  // Not unloaded: MPI registers functions that run at the end of the process.
  static const detail::never_destroyed<shared_library> plugin(found.path.c_str());
  const auto run = plugin->function<detail::mpi_run_function>(detail::mpi_run_name);
  if (run == nullptr) throw error("'" + found.path + "' cannot be used: " + plugin->error());
  std::optional<communicator> made;
  detail::mpi_meeting meeting{[&](std::size_t rank, std::size_t size, const all_gather& gather) {
    made.emplace(meet(rank, size, gather));
  }};
  std::string failure;
  run(meeting, failure);
  if (!failure.empty()) throw error(failure);
  return *std::move(made);
}

std::vector<communicator> communicator::of_threads(std::size_t size) {
  std::vector<std::vector<file_descriptor>> sockets(size);
  for (auto& of_one : sockets) of_one.resize(size);
  for (std::size_t above = 0; above < size; ++above) {
    for (std::size_t below = 0; below < above; ++below) {
      std::array<int, 2> pair{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
        throw error("no sockets for the ranks: " + detail::system_text());
      }
      sockets[above][below] = file_descriptor(pair[0]);
      sockets[below][above] = file_descriptor(pair[1]);
    }
  }
  std::vector<communicator> all;
  for (std::size_t rank = 0; rank < size; ++rank) {
    all.push_back(communicator(link_ranks(rank, std::move(sockets[rank]))));
  }
  return all;
}

bool is_started_by_mpirun() noexcept {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace tune
