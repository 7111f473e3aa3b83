// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_failure.hpp"

#include <exception>
#include <fmt/format.h>
#include <new>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

outcome outcome_of(const device_error& failure, outcome otherwise) {
  switch (failure.failure()) {
    case device_failure::over_limit:
    case device_failure::out_of_memory: return outcome::over_limit;
    case device_failure::invalid_launch: return outcome::launch_failed;
    case device_failure::fault: return outcome::device_fault;
    case device_failure::invalid_binary:
    case device_failure::other: break;
  }
  return otherwise;
}

// Some drivers report a fault by a code that has other meanings as well.
bool is_fault(const device_error& failure, const std::function<bool()>& device_works) {
  if (failure.failure() == device_failure::fault) return true;
  const bool may_be =
      failure.failure() == device_failure::over_limit || failure.failure() == device_failure::other;
  return may_be && device_works && !device_works();
}

}  // namespace

std::optional<std::string> find_broken_limit(const resources& asked, const device_limits& limits) {
  const auto& group = asked.work_group;
  const std::size_t items = group[0] * group[1] * group[2];
  if (items > limits.max_work_group_size) {
    return fmt::format("a work group of {} work items, the device allows {}", items,
                       limits.max_work_group_size);
  }
  for (std::size_t axis = 0; axis < group.size(); ++axis) {
    if (group[axis] > limits.max_work_group_extent[axis]) {
      return fmt::format("a work group of {} along {}, the device allows {}", group[axis],
                         "xyz"[axis], limits.max_work_group_extent[axis]);
    }
  }
  if (asked.local_memory_bytes > limits.local_memory_bytes) {
    return fmt::format("{} bytes of local memory, the device has {}{}", asked.local_memory_bytes,
                       limits.local_memory_bytes,
                       limits.max_dynamic_local_memory_bytes > limits.local_memory_bytes
                           ? fmt::format(" (and {} for kernels that ask for it at launch)",
                                         limits.max_dynamic_local_memory_bytes)
                           : "");
  }
  const std::size_t all = asked.local_memory_bytes + asked.dynamic_local_memory_bytes;
  if (asked.dynamic_local_memory_bytes > 0 && all > limits.max_dynamic_local_memory_bytes) {
    return fmt::format("{} bytes of local memory, {} of them at launch, the device has {}", all,
                       asked.dynamic_local_memory_bytes, limits.max_dynamic_local_memory_bytes);
  }
  return std::nullopt;
}

outcome outcome_of(prebuilt_program::status failed) {
  switch (failed) {
    case prebuilt_program::status::crashed: return outcome::crashed;
    case prebuilt_program::status::timed_out: return outcome::timed_out;
    case prebuilt_program::status::made:
    case prebuilt_program::status::refused:
    case prebuilt_program::status::unavailable: break;
  }
  return outcome::compile_failed;
}

trial_failure describe_thrown(outcome device_failed, const std::function<bool()>& device_works) {
  try {
    throw;
  } catch (const compiler_lost_error& failure) {
    const bool is_late = failure.why() == compiler_lost_error::cause::timed_out;
    return {is_late ? outcome::timed_out : outcome::crashed, failure.what()};
  } catch (const build_error& failure) {
    return {outcome::compile_failed, failure.what()};
  } catch (const device_error& failure) {
    const bool fault = is_fault(failure, device_works);
    return {fault ? outcome::device_fault : outcome_of(failure, device_failed), failure.what(),
            failure.failure() == device_failure::out_of_memory};
  } catch (const too_little_memory_error& failure) {  // thrown by a nested tuning
    return {outcome::over_limit, failure.what(), true};
  } catch (const std::bad_alloc&) {
    return {outcome::out_of_memory, "the host has no more memory (std::bad_alloc)", true};
  } catch (const std::exception& failure) {
    return {outcome::failed, failure.what()};
  } catch (...) {
    return {outcome::failed, "something that is not a std::exception was thrown"};
  }
}

}  // namespace tune
