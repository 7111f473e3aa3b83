// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_cache.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/signals.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/cache/included_memory.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

/// Returns the folder of the cache; empty if caching is off. @throws environment_error for the root
/// folder
std::string wanted_folder() {
  if (const auto given = read_environment("LIBTUNE_CACHE")) {
    if (*given == "off") return "";
    const std::filesystem::path folder(*given);
    if (folder.lexically_normal() != folder.root_path()) return *given;
    throw environment_error("LIBTUNE_CACHE", *given, "a folder that has nothing else, or off");
  }
  const auto own = user_cache_folder();
  return own ? *own + "/programs" : "";
}

struct program_caches {
  std::string folder;
  std::shared_ptr<const binary_cache> files;
  std::shared_ptr<recent_binaries> recent;
};

struct kept_caches {
  std::mutex mutex;
  program_caches latest;
};

program_caches current_caches() {
  static detail::never_destroyed<kept_caches> kept;
  std::string folder = wanted_folder();
  if (folder.empty()) return {};
  const std::lock_guard lock(kept->mutex);
  program_caches& latest = kept->latest;
  if (latest.folder != folder) {
    latest.files = std::make_shared<const binary_cache>(folder);
    latest.recent = std::make_shared<recent_binaries>();
    latest.folder = std::move(folder);
  }
  return latest;
}

/// Writes binaries to their cache on a separate thread, several at once if they have accumulated.
/// The thread ends when there is nothing to write. Thread-safe.
class binary_writer {
 public:
  /// The writer of this process, never destroyed. It writes its binaries before the process ends by
  /// exit.
  static binary_writer& shared();

  binary_writer() = default;
  /// Waits until everything is written.
  ~binary_writer();
  binary_writer(const binary_writer&) = delete;
  binary_writer& operator=(const binary_writer&) = delete;

  void write(std::shared_ptr<const binary_cache> cache, binary_cache::entry entry);
  void flush() noexcept;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable written_;
  std::shared_ptr<const binary_cache> cache_;  // of the waiting binaries
  std::vector<binary_cache::entry> waiting_;
  std::thread thread_;
  bool thread_runs_ = false;
};

binary_writer& binary_writer::shared() {
  static detail::never_destroyed<binary_writer> writer;
  static const int registered = std::atexit([] { writer->flush(); });
  static_cast<void>(registered);
  return *writer;
}

binary_writer::~binary_writer() { flush(); }

void binary_writer::write(std::shared_ptr<const binary_cache> cache, binary_cache::entry entry) {
  std::unique_lock lock(mutex_);
  // A change of the folder is rare, and waits for the earlier binaries.
  written_.wait(lock, [&] { return waiting_.empty() || cache_ == cache; });
  cache_ = std::move(cache);
  waiting_.push_back(std::move(entry));
  if (thread_runs_) return;
  if (thread_.joinable()) thread_.join();
  try {
    const detail::signals_blocked quiet;
    thread_ = std::thread([this] { run(); });
    thread_runs_ = true;
  } catch (const std::system_error& failure) {
    log(log_level::debug, std::string("programs are not cached: ") + failure.what());
    waiting_.clear();
  }
}

void binary_writer::run() {
  const unsealed_section ours;  // the seal concerns the requesting thread
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    const auto cache = cache_;
    const auto entries = std::exchange(waiting_, {});
    lock.unlock();
    written_.notify_all();
    try {
      cache->save_all(entries);
    } catch (const std::exception& failure) {  // out of memory
      log(log_level::debug, std::string("programs are not cached: ") + failure.what());
    }
    lock.lock();
  }
  thread_runs_ = false;
  written_.notify_all();
}

// A forked process does not have the thread.
void binary_writer::flush() noexcept {
  if (detail::is_forked()) return;
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return !thread_runs_; });
  if (thread_.joinable()) thread_.join();
}

// Returns null if the driver does not accept the binary.
std::optional<program> make(const context& context, const std::string& name,
                            std::span<const std::byte> binary) {
  try {
    return context.create_program_from_binary(name, binary);
  } catch (const error& failure) {
    log(log_level::debug,
        fmt::format("the cached program of '{}' is compiled again: {}", name, failure.what()));
    return std::nullopt;
  }
}

std::optional<program> load(const binary_cache& cache, recent_binaries* recent,
                            const binary_key& key, const context& context,
                            const std::string& name) {
  const detail::sha256_digest digest = key.digest();
  if (recent != nullptr) {
    if (const auto binary = recent->find(digest)) {
      if (auto made = make(context, name, *binary)) return made;
      recent->remove(digest);
    }
  }
  auto binary = cache.load(digest);
  if (!binary) return std::nullopt;
  auto made = make(context, name, *binary);
  if (!made) {
    cache.remove(key);
  } else if (recent != nullptr) {
    recent->add(digest, *std::move(binary));
  }
  return made;
}

void save(const binary_cache& cache, const binary_key& key, const program& made,
          const std::string& name) {
  try {
    const std::vector<std::byte> binary = made.binary();
    if (!binary.empty()) cache.save(key, binary);
  } catch (const error& failure) {
    log(log_level::debug, fmt::format("'{}' is not cached: {}", name, failure.what()));
  }
}

/// Returns the key of a program's binary in a cache; empty for a program that may include files
/// that are not known.
std::optional<binary_key> key_of(const context& context, const program_source& source) {
  if (may_include(source)) return present_key(context, source);
  return program_key(context, source);
}

}  // namespace

recent_binaries::binary recent_binaries::find(const detail::sha256_digest& key) {
  const std::lock_guard lock(mutex_);
  const auto found = position(key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->bytes;
}

void recent_binaries::add(const detail::sha256_digest& key, std::vector<std::byte> bytes) {
  if (bytes.size() > cap_bytes_) return;
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::lock_guard lock(mutex_);
  if (const auto known = position(key); known != entries_.end()) erase(known);
  bytes_ += kept->size();
  entries_.push_front({key, std::move(kept)});
  while (bytes_ > cap_bytes_) erase(std::prev(entries_.end()));
}

void recent_binaries::remove(const detail::sha256_digest& key) {
  const std::lock_guard lock(mutex_);
  if (const auto known = position(key); known != entries_.end()) erase(known);
}

std::list<recent_binaries::entry>::iterator recent_binaries::position(
    const detail::sha256_digest& key) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const entry& item) { return item.key == key; });
}

void recent_binaries::erase(std::list<entry>::iterator which) {
  bytes_ -= which->bytes->size();
  entries_.erase(which);
}

std::shared_ptr<const binary_cache> program_cache() { return current_caches().files; }

std::shared_ptr<recent_binaries> recent_programs() { return current_caches().recent; }

std::optional<std::vector<std::byte>> find_cached_binary(const context& context,
                                                         const program_source& source) {
  const auto cache = program_cache();
  const auto key = cache != nullptr ? key_of(context, source) : std::nullopt;
  if (!key) return std::nullopt;
  const detail::sha256_digest digest = key->digest();
  const auto recent = recent_programs();
  if (recent != nullptr) {
    if (const auto binary = recent->find(digest)) return *binary;
  }
  auto found = cache->load(digest);
  if (found && recent != nullptr) recent->add(digest, *found);
  return found;
}

void cache_binary(const context& context, const program_source& source,
                  std::vector<std::byte> binary, const included_files& included) {
  const bool includes = may_include(source);
  auto files = includes ? remember_included(context, source, included) : std::nullopt;
  const auto cache = program_cache();
  if (cache == nullptr || binary.empty() || (includes && !files)) return;
  const detail::sha256_digest key = (files ? files->key : program_key(context, source)).digest();
  if (files) binary_writer::shared().write(cache, std::move(files->lists));
  if (const auto recent = recent_programs()) recent->add(key, binary);
  binary_writer::shared().write(cache, {.key = key, .binary = std::move(binary)});
}

void flush_cached_binaries() { binary_writer::shared().flush(); }

cached_compiler::cached_compiler(const compiler& inner, std::shared_ptr<const binary_cache> cache,
                                 std::shared_ptr<recent_binaries> recent, bool keeps) noexcept
    : inner_(inner), cache_(std::move(cache)), recent_(std::move(recent)), keeps_(keeps) {}

program cached_compiler::do_build(const context& context, const program_source& source) const {
  const bool includes = may_include(source);
  auto key = cache_ != nullptr ? key_of(context, source) : std::nullopt;
  if (key) {
    if (auto cached = load(*cache_, recent_.get(), *key, context, source.name)) {
      return *std::move(cached);
    }
  }
  program made = inner_.build(context, source);
  if (includes) {
    const auto files = remember_included(context, source, made.included());
    key = files ? std::optional(files->key) : std::nullopt;
    if (files && cache_ != nullptr && keeps_) cache_->save_all(std::span(&files->lists, 1));
  }
  if (key && cache_ != nullptr && keeps_) save(*cache_, *key, made, source.name);
  return made;
}

}  // namespace tune
