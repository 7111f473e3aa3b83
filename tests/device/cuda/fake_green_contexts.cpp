// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Green contexts of the fake driver. A green context that is made current is useless here, because
// its streams work in the primary one alone.
#include <algorithm>
#include <deque>

#include "tests/device/cuda/fake_driver_state.hpp"

namespace fake_cuda {
namespace {

constexpr unsigned group = 8;

CUdevResource resource_of(unsigned multiprocessors) {
  CUdevResource made{};
  made.type = CU_DEV_RESOURCE_TYPE_SM;
  made.sm.smCount = multiprocessors;
  return made;
}

CUresult split(CUdevResource* groups, unsigned* count, const CUdevResource* all,
               CUdevResource* remaining, unsigned flags, unsigned least) {
  ENTER("cuDevSmResourceSplitByCount");
  if (flags != 0 || least > all->sm.smCount) return CUDA_ERROR_INVALID_VALUE;
  const unsigned each = std::max(group, (least + group - 1) / group * group);
  const unsigned most = all->sm.smCount / each;
  *count = groups == nullptr ? most : std::min(*count, most);
  if (groups != nullptr) std::fill_n(groups, *count, resource_of(each));
  if (remaining != nullptr) {
    const unsigned left = all->sm.smCount - *count * each;
    *remaining = left > 0 ? resource_of(left) : CUdevResource{};
  }
  return CUDA_SUCCESS;
}

// The driver never lets go of them.
CUdevResourceDesc describe(unsigned multiprocessors) {
  static std::deque<unsigned> all;
  return reinterpret_cast<CUdevResourceDesc>(&all.emplace_back(multiprocessors));
}

}  // namespace

void add_green_contexts(table& t) {
  add<PFN_cuDeviceGetDevResource_v12040>(t, "cuDeviceGetDevResource",
                                         [](CUdevice, CUdevResource* made, CUdevResourceType type) {
                                           ENTER("cuDeviceGetDevResource");
                                           if (type != CU_DEV_RESOURCE_TYPE_SM)
                                             return CUDA_ERROR_INVALID_RESOURCE_TYPE;
                                           *made = resource_of(settings().multiprocessors);
                                           return CUDA_SUCCESS;
                                         });
  add<PFN_cuDevSmResourceSplitByCount_v12040>(t, "cuDevSmResourceSplitByCount", split);
  add<PFN_cuDevResourceGenerateDesc_v12040>(
      t, "cuDevResourceGenerateDesc",
      [](CUdevResourceDesc* made, CUdevResource* resources, unsigned count) {
        ENTER("cuDevResourceGenerateDesc");
        unsigned all = 0;
        for (unsigned i = 0; i < count; ++i) all += resources[i].sm.smCount;
        *made = describe(all);
        return all > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      });
  add<PFN_cuGreenCtxCreate_v12040>(
      t, "cuGreenCtxCreate",
      [](CUgreenCtx* made, CUdevResourceDesc resources, CUdevice, unsigned flags) {
        ENTER("cuGreenCtxCreate");
        if (flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
        *made = reinterpret_cast<CUgreenCtx>(
            new green_object{.multiprocessors = *reinterpret_cast<unsigned*>(resources)});
        ++live;
        return CUDA_SUCCESS;
      });
  add<PFN_cuGreenCtxDestroy_v12040>(t, "cuGreenCtxDestroy", [](CUgreenCtx context) {
    ENTER("cuGreenCtxDestroy");
    auto* const green = reinterpret_cast<green_object*>(context);
    if (green->streams > 0) return CUDA_ERROR_INVALID_CONTEXT;  // a leak, with a real driver
    delete green;
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxFromGreenCtx_v12040>(
      t, "cuCtxFromGreenCtx", [](CUcontext* made, CUgreenCtx context) {
        ENTER("cuCtxFromGreenCtx");
        *made = handle_of(reinterpret_cast<green_object*>(context)->converted);
        return CUDA_SUCCESS;
      });
  add<PFN_cuGreenCtxStreamCreate_v12050>(
      t, "cuGreenCtxStreamCreate", [](CUstream* made, CUgreenCtx context, unsigned flags, int) {
        ENTER("cuGreenCtxStreamCreate");
        if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
        auto* const green = reinterpret_cast<green_object*>(context);
        *made = reinterpret_cast<CUstream>(new stream_object{handle_of(primary), {}, green});
        ++green->streams;
        ++live;
        return CUDA_SUCCESS;
      });
}

}  // namespace fake_cuda
