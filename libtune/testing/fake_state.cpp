// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_state.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::testing {
namespace {

constexpr std::size_t launches_without_allocation = 1000;

std::string describe(fake_call call, std::string_view subject) {
  switch (call) {
    case fake_call::compile: return fmt::format("compiling '{}'", subject);
    case fake_call::create_kernel: return fmt::format("creating kernel '{}'", subject);
    case fake_call::allocate: return "allocation of a buffer";
    case fake_call::launch: return fmt::format("launch of kernel '{}'", subject);
    case fake_call::copy: return "copy";
    case fake_call::fill: return "fill";
    case fake_call::finish: return "waiting";
    case fake_call::load: return fmt::format("loading the binary of '{}'", subject);
    case fake_call::capture: return "capture of commands";
    case fake_call::launch_graph: return "launch of a command graph";
  }
  return "call";
}

// The directive #line 7 "name" sets the number and name of the next line.
void follow_line_directive(const std::string& line, std::string& name, std::size_t& number) {
  std::istringstream words(line);
  std::string directive;
  std::size_t next = 0;
  if (words >> directive >> next) number = next - 1;
  const std::size_t open = line.find('"');
  if (open != std::string::npos) name = line.substr(open + 1, line.rfind('"') - open - 1);
}

std::string compile_log(const program_source& source) {
  std::istringstream lines(source.text);
  std::string log;
  std::string name = source.name;
  std::size_t number = 0;
  int conditions = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("#line ")) follow_line_directive(line, name, number);
    if (line.starts_with("#if")) ++conditions;
    if (line.starts_with("#endif")) --conditions;
    if (line.starts_with("#error") && conditions == 0) {
      log += fmt::format("{}:{}:1: error: {}\n", name, number, line.substr(1));
    }
  }
  return log;
}

}  // namespace

fake_state::fake_state(fake_device_options options) : options_(std::move(options)) {
  launches_.reserve(launches_without_allocation);
}

device_info fake_state::info() const {
  return {.identity = options_.identity,
          .backend = options_.backend,
          .kind = options_.kind,
          .language = kernel_language::opencl_c,
          .limits = options_.limits,
          .hardware = options_.hardware,
          .managed_memory = options_.managed_memory,
          .command_graphs = options_.command_graphs};
}

void fake_state::begin(fake_call call, std::string_view subject, const fake_macros* macros) {
  const std::optional<fake_failure> failure = failures_.count(call, macros);
  if (!failure) return;
  if (call == fake_call::compile && !failure->sticky) {
    throw build_error(fmt::format("'{}' does not compile for device '{}':\n{}", subject,
                                  options_.identity.name, failure->reason),
                      failure->reason);
  }
  fail(describe(call, subject), failure->reason, failure->failure);
}

void fake_state::check_alive() const {
  if (const auto failure = failures_.stuck()) fail("a call", failure->reason, failure->failure);
}

void fake_state::fail(const std::string& call, const std::string& reason,
                      device_failure failure) const {
  throw device_error(call, options_.identity.name, reason, failure);
}

void fake_state::add_kernel(const std::string& name, fake_kernel kernel) {
  auto shared = std::make_shared<const fake_kernel>(std::move(kernel));
  const std::lock_guard lock(mutex_);
  kernels_[name] = std::move(shared);
}

std::shared_ptr<const fake_kernel> fake_state::find_kernel(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  std::string names;
  for (const auto& [known, kernel] : kernels_) names += " " + known;
  fail(describe(fake_call::create_kernel, name),
       "no host function has this name; register it with fake_device::add_kernel; there are" +
           (names.empty() ? " none" : names),
       device_failure::other);
}

void fake_state::set_time(time_function time) {
  auto shared = time ? std::make_shared<const time_function>(std::move(time)) : nullptr;
  const std::lock_guard lock(mutex_);
  time_ = std::move(shared);
}

std::chrono::nanoseconds fake_state::time_of(const fake_launch& launch) const {
  std::shared_ptr<const time_function> time;
  {
    const std::lock_guard lock(mutex_);
    time = time_;
  }
  return time != nullptr ? (*time)(launch) : options_.times.kernel;
}

void fake_state::record(std::shared_ptr<const fake_kernel_instance> kernel, const nd_range& range) {
  const std::lock_guard lock(mutex_);
  launches_.push_back({std::move(kernel), range});
}

std::vector<fake_launch_record> fake_state::launches() const {
  const std::lock_guard lock(mutex_);
  std::vector<fake_launch_record> records;
  records.reserve(launches_.size());
  for (const auto& [kernel, range] : launches_) {
    records.push_back({kernel->name, range, *kernel->macros});
  }
  return records;
}

void fake_state::reserve(std::size_t bytes) {
  const auto refuse = [&](const std::string& reason) {
    fail(fmt::format("allocation of {} bytes", bytes), reason, device_failure::out_of_memory);
  };
  const std::size_t largest = options_.limits.max_allocation_bytes;
  if (bytes > largest) refuse(fmt::format("a buffer may have at most {} bytes", largest));
  const std::size_t all = options_.limits.global_memory_bytes;
  std::size_t live = live_bytes_;
  do {
    const std::size_t taken = std::min(all, live + foreign_bytes_);
    if (bytes > all - taken) refuse(fmt::format("{} of {} bytes are taken", taken, all));
  } while (!live_bytes_.compare_exchange_weak(live, live + bytes));
}

void check_source(const program_source& source, const device_info& device) {
  const std::string log = compile_log(source);
  if (log.empty()) return;
  throw build_error(fmt::format("'{}' does not compile for device '{}':\n{}", source.name,
                                device.identity.name, log),
                    log);
}

}  // namespace tune::testing
