// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_door.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

constexpr int state_version = 1;
// A request and a state are short; a name may be long.
constexpr std::size_t most_line_bytes = std::size_t{1} << 16;

std::string door_folder() {
  const auto local = node_local_folder();
  if (!local) throw error("there is no folder under /var/tmp for requests of captured frames");
  std::string folder = *local + "/captures";
  if (const std::error_code failure = create_private_folders(folder)) {
    throw error("the folder '" + folder + "' cannot be made: " + failure.message());
  }
  return folder;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw error("the path '" + path + "' is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

file_descriptor new_socket(int flags) {
  file_descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!made) throw std::system_error(errno, std::generic_category(), "socket");
  return made;
}

// The other end must not hold up a writer of frames, nor tunedb.
void limit_waits(int socket, int milliseconds) {
  const timeval longest{.tv_sec = milliseconds / 1000,
                        .tv_usec = static_cast<::suseconds_t>(milliseconds % 1000) * 1000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

/// Empty if the other end closes, waits too long or sends too much.
std::string read_line(int socket) {
  std::string line;
  std::array<char, 4096> part{};
  while (line.empty() || line.back() != '\n') {
    const ::ssize_t count = ::recv(socket, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || line.size() > most_line_bytes) return {};
    line.append(part.data(), static_cast<std::size_t>(count));
  }
  return line;
}

bool write_line(int socket, const std::string& line) {
  return ::send(socket, line.data(), line.size(), MSG_NOSIGNAL) ==
         static_cast<::ssize_t>(line.size());
}

std::uint64_t natural(const input& object, const char* name) {
  const input& item = member(object, name);
  if (!item.is_number_unsigned()) refuse_document(fmt::format("'{}' is no whole number", name));
  return item.get<std::uint64_t>();
}

std::string text_in(const input& object, const char* name) {
  return text_from_json(member(object, name));
}

std::string to_line(const capture_state& state) {
  const json document{{"version", state_version},
                      {"pipeline", text_to_json(state.pipeline)},
                      {"process", static_cast<std::uint64_t>(state.process)},
                      {"folder", text_to_json(state.folder)},
                      {"frames", state.counts.frames},
                      {"written", state.counts.written},
                      {"in_time", state.counts.in_time},
                      {"skipped", state.counts.skipped},
                      {"failed", state.counts.failed},
                      {"bytes", state.counts.bytes},
                      {"last_failure", text_to_json(state.last_failure)},
                      {"last_file", text_to_json(state.last_file)},
                      {"finished", state.is_finished}};
  return json_text(document) + '\n';
}

capture_state state_from_line(const std::string& line) {
  const input document = parse_input(line);
  if (natural(document, "version") != state_version) {
    refuse_document("the program has another version of libtune");
  }
  capture_state state{.pipeline = text_in(document, "pipeline"),
                      .process = static_cast<std::int64_t>(natural(document, "process")),
                      .folder = text_in(document, "folder")};
  state.counts = {.frames = natural(document, "frames"),
                  .written = natural(document, "written"),
                  .in_time = natural(document, "in_time"),
                  .skipped = natural(document, "skipped"),
                  .failed = natural(document, "failed"),
                  .bytes = natural(document, "bytes")};
  state.last_failure = text_in(document, "last_failure");
  state.last_file = text_in(document, "last_file");
  state.is_finished = member(document, "finished") == true;
  return state;
}

}  // namespace

capture_door::capture_door() : socket_(new_socket(SOCK_NONBLOCK)) {
  static std::atomic<unsigned> made{0};
  const std::string path = fmt::format("{}/{}-{}", door_folder(), ::getpid(), made++);
  const sockaddr_un address = address_of(path);
  ::unlink(path.c_str());  // of an earlier process with this number
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_.get(), 8) != 0) {
    throw std::system_error(errno, std::generic_category(), "a socket at '" + path + "'");
  }
  path_ = path;
}

capture_door::~capture_door() { ::unlink(path_.c_str()); }

void capture_door::serve(const std::function<void(std::uint64_t frames)>& request,
                         const std::function<capture_state()>& state) {
  while (true) {
    const file_descriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    limit_waits(client.get(), 200);
    try {
      const std::uint64_t frames = natural(parse_input(read_line(client.get())), "request");
      if (frames > 0) request(frames);
      write_line(client.get(), to_line(state()));
    } catch (const argument_error&) {  // NOLINT(bugprone-empty-catch): no request
    }
  }
}

std::optional<capture_state> ask_capture(const std::string& path, std::uint64_t frames) {
  const file_descriptor socket = new_socket(0);
  const sockaddr_un address = address_of(path);
  const int failed =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (failed != 0 && errno == ECONNREFUSED) ::unlink(path.c_str());
  if (failed != 0) return std::nullopt;
  limit_waits(socket.get(), 5000);
  if (!write_line(socket.get(), fmt::format("{{\"request\": {}}}\n", frames))) return std::nullopt;
  const std::string line = read_line(socket.get());
  if (line.empty()) return std::nullopt;
  return state_from_line(line);
}

std::vector<found_capture> find_captures() {
  std::vector<found_capture> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(door_folder(), failed), end;
       !failed && entry != end; entry.increment(failed)) {
    const std::string path = entry->path().string();
    if (auto state = ask_capture(path, 0)) found.push_back({path, *std::move(state)});
  }
  return found;
}

}  // namespace tune::detail
