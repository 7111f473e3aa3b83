// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compile_pool.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/backend.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/pool/worker_pool.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/process/usable_resources.hpp"

namespace tune {
namespace {

using detail::compile_job;
using detail::compile_target;

// Drivers open a GPU for one process after the other: with 0.2 s each, as measured, the last of
// sixteen concurrent ones waits for 3 s.
bool opens_device(const device_info& device) {
  const detail::backend* const found = detail::find_backend(device.backend);
  return found != nullptr && found->opens_device_to_compile(device);
}

compile_target target_of(const context& context) {
  const tune::device handle = context.device();
  const device_info& device = handle.info();
  return {.backend = device.backend,
          .platform = device.identity.platform,
          .device = device.identity.name,
          .driver_version = device.identity.driver_version,
          .compiler_identity = context.compiler_identity(),
          .compute_capability = device.hardware.compute_capability.value_or(compute_capability{}),
          .starts_in_turn = opens_device(device)};
}

/// The folder is a part of the digest if it is the base of relative paths.
detail::sha256_digest digest_of(const context& context, const detail::compile_order& order) {
  binary_key key = program_key(context, order.source);
  key.add("folder", order.folder);
  for (const nd_range& launch : order.launches) {
    detail::wire_writer shape;
    for (const work_size& size : {launch.global, launch.local}) {
      for (const std::size_t extent : {size.x, size.y, size.z}) shape.add(std::uint64_t{extent});
    }
    key.add("launch", {reinterpret_cast<const char*>(shape.bytes().data()), shape.bytes().size()});
  }
  return key.digest();
}

// Returns the base of relative paths; empty if the system does not report it.
std::string current_folder() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

// The helper libtune-worker, or the program of LIBTUNE_WORKER.
compile_pool_options helper_options() {
  if (auto given = read_environment("LIBTUNE_WORKER")) return {.program = *std::move(given)};
  detail::found_helper search = detail::find_helper("libtune-worker");
  if (!search.path.empty()) return {.program = std::move(search.path)};
  compile_pool_options none{.program = ""};
  none.absence = std::string("libtune-worker was not found: ") + detail::missing_worker_remedy;
  warn_once("programs are compiled in this process, one after the other: " +
            detail::describe_missing("libtune-worker", search) + "; " +
            detail::missing_worker_remedy);
  return none;
}

compile_pool_options wanted_options(std::optional<std::size_t> count,
                                    std::vector<std::string> own_arguments) {
  constexpr std::size_t most = 1024;
  if (count == std::size_t{0}) return {.program = "", .workers = 0};
  const detail::usable_resources resources = detail::find_usable_resources();
  compile_pool_options options;
  if (own_arguments.empty()) {
    options = helper_options();
  } else {
    // The running file, even if another has replaced it since.
    options = {.program = "/proc/self/exe", .arguments = std::move(own_arguments)};
  }
  options.workers = count ? static_cast<int>(std::min(*count, most)) : worker_count(resources);
  options.memory_bytes = worker_memory_bytes(resources, options.workers);
  return options;
}

void check_pool_seal(const char* what, const context& context) {
  const auto text = [&] {
    const tune::device device = context.device();
    return std::string(what) + " for device '" + device.name() + "'";
  };
  detail::refuse_if_forked(text);
  detail::check_seal(sealed_action::process, text);
}

/// The pools of this process, by their settings.
struct shared_pools {
  /// LIBTUNE_WORKER, LIBTUNE_WORKERS, and the arguments of a program that is its own worker.
  using wish = std::tuple<std::string, std::optional<std::size_t>, std::vector<std::string>>;
  std::mutex mutex;
  std::map<wish, std::unique_ptr<compile_pool>> pools;
};

shared_pools& all_shared_pools() {
  static detail::never_destroyed<shared_pools> made;
  return *made;
}

shared_pools::wish current_wish() {
  std::string given = read_environment("LIBTUNE_WORKER").value_or("");
  auto own = given.empty() ? detail::own_worker_arguments() : std::vector<std::string>();
  return {std::move(given), read_environment_index("LIBTUNE_WORKERS"), std::move(own)};
}

/// Returns the settings for a program that cannot be its own worker.
shared_pools::wish without_own(shared_pools::wish wish) {
  std::get<2>(wish).clear();
  return wish;
}

compile_pool& pool_of(shared_pools& all, const shared_pools::wish& wish) {
  auto& pool = all.pools[wish];
  if (pool == nullptr) {
    pool = std::make_unique<compile_pool>(wanted_options(std::get<1>(wish), std::get<2>(wish)));
  }
  return *pool;
}

class [[nodiscard]] counted {
 public:
  explicit counted(std::atomic<int>& count) noexcept : count_(count), before_(count_++) {}
  ~counted() { --count_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

  bool alone() const noexcept { return before_ == 0; }

 private:
  std::atomic<int>& count_;
  int before_;
};

[[noreturn]] void throw_failure(const context& context, const program_source& source,
                                const compile_result& result) {
  using status = compile_result::status;
  if (result.what != status::build_failed) {
    throw compiler_lost_error(
        fmt::format("'{}' was not compiled: {}", source.name, result.text), result.text,
        result.what == status::timed_out ? compiler_lost_error::cause::timed_out
                                         : compiler_lost_error::cause::crashed);
  }
  const tune::device device = context.device();
  throw build_error(fmt::format("'{}' does not compile for device '{}':\n{}", source.name,
                                device.name(), result.text),
                    result.text);
}

/// Empty if this process has to compile it.
std::optional<program> made_by(compile_pool& pool, const context& context,
                               const program_source& source) {
  const compile_future future = pool.submit(context, source);
  const compile_result& result = future.result();
  if (result.what == compile_result::status::built) {
    try {
      program made = context.create_program_from_binary(source.name, result.binary);
      made.impl()->set_included(result.included);
      return made;
    } catch (const device_error& failure) {
      if (failure.failure() != device_failure::invalid_binary) throw;
      log(log_level::debug, fmt::format("'{}' is compiled again: {}", source.name, failure.what()));
      return std::nullopt;
    }
  }
  if (result.what != compile_result::status::unavailable) throw_failure(context, source, result);
  log(log_level::debug,
      fmt::format("'{}' is compiled in this process: {}", source.name, result.text));
  return std::nullopt;
}

}  // namespace

compile_pool& compile_pool::shared() {
  const shared_pools::wish wish = current_wish();
  shared_pools& all = all_shared_pools();
  const std::lock_guard lock(all.mutex);
  // At the end of the process, these threads end before static objects are destroyed.
  static const int registered = std::atexit([] {
    for (auto& [key, each] : all_shared_pools().pools) each->end();
  });
  static_cast<void>(registered);
  compile_pool& pool = pool_of(all, wish);
  if (pool.why_unavailable().empty() || std::get<2>(wish).empty()) return pool;
  return pool_of(all, without_own(wish));
}

bool compile_pool::shared_runs() {
  const shared_pools::wish wish = current_wish();
  shared_pools& all = all_shared_pools();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(std::array{wish, without_own(wish)}, [&](const auto& wanted) {
    const auto found = all.pools.find(wanted);
    return found != all.pools.end() && found->second->running() > 0;
  });
}

compile_pool::compile_pool(compile_pool_options options)
    : workers_(std::make_unique<detail::worker_pool>(std::move(options))) {}

// In a forked process nothing of it can be destroyed, in particular its thread.
compile_pool::~compile_pool() {
  if (detail::is_forked()) static_cast<void>(workers_.release());
}

void compile_pool::end() noexcept {
  if (!detail::is_forked()) workers_->stop();
}

bool compile_pool::is_available() const { return workers_->is_available(); }

std::string compile_pool::why_unavailable() const { return workers_->why_unavailable(); }

bool compile_pool::is_for(const context& context) {
  const tune::device handle = context.device();
  return detail::find_backend(handle.info().backend) != nullptr;
}

bool compile_pool::can_compile(const context& context) const {
  return is_for(context) && is_available();
}

int compile_pool::workers() const noexcept { return workers_->options().workers; }

int compile_pool::running() const { return workers_->running(); }

void compile_pool::warm_up(const context& context, int count) {
  check_pool_seal("start helper processes that compile", context);
  if (can_compile(context)) workers_->warm_up(target_of(context), count);
}

compile_future compile_pool::submit(const context& context, const program_source& source,
                                    compile_limits limits, std::vector<nd_range> launches) {
  check_pool_seal("have a helper process compile", context);
  std::string reason = "no worker can compile for this device";
  if (can_compile(context)) {
    try {
      detail::compile_order order{.target = target_of(context),
                                  .source = source,
                                  .launches = std::move(launches),
                                  .folder = may_include(source) ? current_folder() : ""};
      const auto digest = digest_of(context, order);
      if (auto job = workers_->submit(digest, std::move(order), limits)) {
        return compile_future(std::move(job));
      }
    } catch (const std::exception& failure) {
      reason = failure.what();
    }
  }
  auto refused = std::make_shared<compile_job>(std::make_shared<detail::completion_board>());
  refused->finish(detail::failed(compile_result::status::unavailable, reason));
  return compile_future(std::move(refused));
}

std::uint64_t compile_pool::completed() const {
  detail::completion_board& board = workers_->board();
  const std::lock_guard lock(board.mutex);
  return board.completed;
}

std::uint64_t compile_pool::wait_any(std::uint64_t seen,
                                     std::chrono::steady_clock::time_point deadline) const {
  detail::completion_board& board = workers_->board();
  std::unique_lock lock(board.mutex);
  board.changed.wait_until(lock, deadline, [&] { return board.completed != seen; });
  return board.completed;
}

program pooled_compiler::do_build(const context& context, const program_source& source) const {
  const counted here(under_way_);
  const tune::device device = context.device();
  const detail::backend* const found = detail::find_backend(device.info().backend);
  const bool tells_there = found != nullptr && found->hides_included_files() && may_include(source);
  const auto is_busy = [&] {
    return tells_there || !here.alone() ||
           (pool_ != nullptr ? pool_->running() > 0 : compile_pool::shared_runs());
  };
  if (use_ == use_pool::when_busy && !is_busy()) return inner_.build(context, source);
  compile_pool& pool = pool_ != nullptr ? *pool_ : compile_pool::shared();
  if (pool.can_compile(context)) {
    if (auto made = made_by(pool, context, source)) return *std::move(made);
  }
  return inner_.build(context, source);
}

}  // namespace tune
