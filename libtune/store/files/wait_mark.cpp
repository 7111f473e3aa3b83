// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/wait_mark.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <system_error>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune {
namespace {

using detail::byte_locks;
using detail::lock_attempt;
using detail::private_folder;
using raw_record = std::array<std::uint64_t, 2>;

// More threads than that do not wait for keys inside of tunings at a time; those beyond wait as
// long as they may.
constexpr std::uint64_t most_slots = 4096;

// In the file of marks, each with a byte of its own.
std::uint64_t byte_of(std::uint64_t slot) noexcept { return slot << 2; }

::off_t place_of(std::uint64_t slot) noexcept {
  return static_cast<::off_t>(slot * sizeof(raw_record));
}

/// The marks of this process, used where there is no file of marks. Never destroyed: threads may
/// still tune while the process ends.
struct own_marks {
  std::mutex mutex;
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> all;
};

own_marks& marks_here() {
  static auto* const marks = new own_marks;
  return *marks;
}

std::shared_ptr<byte_locks> open_file(const std::string& folder) {
  if (folder.empty()) return nullptr;
  try {
    return byte_locks::open(folder + '/' + wait_mark::file_name, [&] {
      const auto opened = private_folder::open(folder);
      return opened ? opened->open_lock_file(wait_mark::file_name) : detail::file_descriptor();
    });
  } catch (const std::system_error&) {
    return nullptr;
  }
}

}  // namespace

wait_mark::wait_mark(const std::string& folder, std::vector<std::uint64_t> had,
                     std::uint64_t wanted)
    : had_(std::move(had)), wanted_(wanted), file_(open_file(folder)) {
  for (const std::uint64_t key : had_) put({key, wanted_});
}

wait_mark::~wait_mark() {
  if (detail::is_forked()) return;
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    for (const std::uint64_t key : had_) {
      const auto found = marks_here().all.find({key, wanted_});
      if (found != marks_here().all.end()) marks_here().all.erase(found);
    }
  }
  for (const std::uint64_t slot : slots_) {
    const raw_record nothing{};
    // If this fails: a mark whose slot is not locked counts for nothing.
    [[maybe_unused]] const ::ssize_t written =
        ::pwrite(file_->descriptor(), nothing.data(), sizeof nothing, place_of(slot));
    file_->release(byte_of(slot));
  }
}

void wait_mark::put(const edge& record) {
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    marks_here().all.insert(record);
    return;
  }
  for (std::uint64_t slot = 0; slot < most_slots; ++slot) {
    const lock_attempt attempt = file_->try_take(byte_of(slot), detail::lock_kind::alone);
    if (attempt == lock_attempt::busy) continue;
    if (attempt != lock_attempt::taken) return;
    slots_.push_back(slot);
    const raw_record raw{record.first, record.second};
    // Without its mark a circle of waits is not seen, and ends by LIBTUNE_WAIT.
    [[maybe_unused]] const ::ssize_t written =
        ::pwrite(file_->descriptor(), raw.data(), sizeof raw, place_of(slot));
    return;
  }
}

std::vector<wait_mark::edge> wait_mark::edges() const {
  if (!file_) {
    const std::lock_guard lock(marks_here().mutex);
    return {marks_here().all.begin(), marks_here().all.end()};
  }
  std::vector<edge> found;
  raw_record raw{};
  for (std::uint64_t slot = 0; slot < most_slots; ++slot) {
    const auto bytes = ::pread(file_->descriptor(), raw.data(), sizeof raw, place_of(slot));
    if (bytes != static_cast<::ssize_t>(sizeof raw)) break;
    if (raw != raw_record{} && file_->holder(byte_of(slot))) found.emplace_back(raw[0], raw[1]);
  }
  return found;
}

// All in a circle see the same wanted keys, so they agree: the one that wants the least goes on.
bool wait_mark::has_to_give_way() const {
  const std::vector<edge> all = edges();
  std::set<std::uint64_t> wanted;
  std::uint64_t key = wanted_;
  while (wanted.insert(key).second) {
    if (std::ranges::find(had_, key) != had_.end()) return *wanted.begin() == wanted_;
    const auto next = std::ranges::find(all, key, &edge::first);
    if (next == all.end()) return false;
    key = next->second;
  }
  return false;
}

}  // namespace tune
