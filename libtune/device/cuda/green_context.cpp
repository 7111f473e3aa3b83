// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/green_context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/device/cuda/context.hpp"

namespace tune::cuda {
namespace {

void require_green_contexts(const cuda_device& device) {
  const driver_api& api = device.api();
  if (api.device_get_resource != nullptr && api.resource_split != nullptr &&
      api.resource_describe != nullptr && api.green_create != nullptr &&
      api.green_destroy != nullptr && api.green_as_context != nullptr &&
      api.green_stream_create != nullptr) {
    return;
  }
  throw device_error(
      "dividing the multiprocessors", device.info().identity.name,
      fmt::format("green contexts need the NVIDIA driver of CUDA 12.5, and this one offers "
                  "CUDA {}; update it",
                  version_text(api.version)));
}

/// The smallest groups of the driver, and last the multiprocessors that are in none of them. All
/// are of one split, as the driver demands of those that make up a set.
std::vector<CUdevResource> smallest_groups(const cuda_device& device) {
  const driver_api& api = device.api();
  CUdevResource all{};
  check(api, api.device_get_resource(device.handle(), &all, CU_DEV_RESOURCE_TYPE_SM),
        "cuDeviceGetDevResource", device.info());
  unsigned count = 0;
  const auto split = [&](CUdevResource* groups, CUdevResource* remaining) {
    check(api, api.resource_split(groups, &count, &all, remaining, 0, 1),
          "cuDevSmResourceSplitByCount", device.info());
  };
  split(nullptr, nullptr);
  std::vector<CUdevResource> groups(count);
  CUdevResource remaining{};
  split(groups.data(), &remaining);
  groups.resize(count);
  if (remaining.type == CU_DEV_RESOURCE_TYPE_SM && remaining.sm.smCount > 0) {
    groups.push_back(remaining);
  }
  if (groups.empty()) {
    throw device_error("cuDevSmResourceSplitByCount", device.info().identity.name,
                       "the driver gives no group of its multiprocessors");
  }
  return groups;
}

multiprocessors set_of(const cuda_device& device, std::vector<CUdevResource> groups) {
  multiprocessors set;
  for (const CUdevResource& each : groups) set.count += each.sm.smCount;
  const driver_api& api = device.api();
  check(api,
        api.resource_describe(&set.resources, groups.data(), static_cast<unsigned>(groups.size())),
        "cuDevResourceGenerateDesc", device.info());
  return set;
}

}  // namespace

std::vector<multiprocessors> divide_multiprocessors(const cuda_device& device,
                                                    const std::vector<std::size_t>& counts) {
  require_green_contexts(device);
  // Kept retained, because each green context would otherwise make and destroy it.
  device.primary_context();
  const std::vector<CUdevResource> groups = smallest_groups(device);
  auto next = groups.begin();
  std::vector<multiprocessors> sets;
  for (const std::size_t wanted : counts) {
    const auto first = next;
    std::size_t count = 0;
    while (count < wanted && next != groups.end()) count += next++->sm.smCount;
    if (count < wanted) {
      throw argument_error(fmt::format(
          "device '{}' cannot be divided into parts of {} multiprocessors: its driver gives them "
          "in groups of {}, so that only {} are left for a part of {}; ask for multiples of {}",
          device.info().identity.name, fmt::join(counts, ", "), groups.front().sm.smCount, count,
          wanted, groups.front().sm.smCount));
    }
    sets.push_back(set_of(device, {first, next}));
  }
  if (next != groups.end()) sets.push_back(set_of(device, {next, groups.end()}));
  return sets;
}

green_context::green_context(const cuda_device& part) : part_(part) {
  const driver_api& api = part.api();
  const relaxed_capture spared(api);
  check(api,
        api.green_create(&handle_, part.resources(), part.handle(), CU_GREEN_CTX_DEFAULT_STREAM),
        "cuGreenCtxCreate", part.info());
  const CUresult status = api.green_as_context(&as_context_, handle_);
  if (status == CUDA_SUCCESS) return;
  log_failure(api, api.green_destroy(handle_), "cuGreenCtxDestroy");
  throw_error(api, status, "cuCtxFromGreenCtx", part.info());
}

green_context::~green_context() {
  if (detail::is_forked()) return;
  log_failure(part_.api(), part_.api().green_destroy(handle_), "cuGreenCtxDestroy");
}

CUstream green_context::create_stream() const {
  CUstream stream = nullptr;
  check(part_.api(), part_.api().green_stream_create(&stream, handle_, CU_STREAM_NON_BLOCKING, 0),
        "cuGreenCtxStreamCreate", part_.info());
  return stream;
}

}  // namespace tune::cuda
