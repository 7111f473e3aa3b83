// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/locked_lookup.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

struct kept_locks {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const tuning_lock>> by_path;
};

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file && text) return std::move(text).str();
  const int reason = errno;
  throw error(reason != 0 ? std::generic_category().message(reason) : "it is empty");
}

std::shared_ptr<const tuning_lock> open_lock(const std::string& path) {
  static detail::never_destroyed<kept_locks> kept;
  const std::lock_guard guard(kept->mutex);
  auto& lock = kept->by_path[path];
  if (lock == nullptr) {
    lock = std::make_shared<const tuning_lock>(tuning_lock::from_json(read_file(path)));
    log(log_level::info, fmt::format("all tuning results come from the lock '{}', which has {}",
                                     path, lock->size()));
  }
  return lock;
}

}  // namespace

record find_locked(const std::string& path, const context& context,
                   const function_identity& function, const tuning_subject& subject) {
  std::shared_ptr<const tuning_lock> lock;
  try {
    lock = open_lock(path);
  } catch (const error& failure) {
    throw not_locked_error(subject, path, std::string("it cannot be read: ") + failure.what());
  }
  const record_key key{subject.arguments, subject.device.identity};
  const locked_result* found = lock->find(function, key);
  if (found == nullptr) throw not_locked_error(subject, path, lock->absence(function, key));
  // Another libtune may have another preamble, which is a part of every program.
  if (!found->programs.empty() && found->library_version == library_version()) {
    expect_program(context, {.configuration = found->values,
                             .key = subject.arguments,
                             .digests = [digests = found->programs] { return digests; },
                             .differs =
                                 [subject, path] {
                                   throw not_locked_error(
                                       subject, path,
                                       "the kernel has changed since the result was locked");
                                 }});
  }
  return {.values = found->values,
          .device = found->device,
          .score_ns = found->score_ns,
          .database = path};
}

}  // namespace tune
