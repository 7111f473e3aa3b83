// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/counters.hpp"

#include "libtune/base/error.hpp"

#if __has_include(<cupti_range_profiler.h>)
#include <array>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/device/cuda/device.hpp"
#include "libtune/device/cuda/interop.hpp"

// Functions of CUPTI 12.6 and later.
#define LIBTUNE_CUPTI_FUNCTIONS(X)                                 \
  X(initialize, cuptiProfilerInitialize)                           \
  X(deinitialize, cuptiProfilerDeInitialize)                       \
  X(availability, cuptiProfilerGetCounterAvailability)             \
  X(chip_name, cuptiDeviceGetChipName)                             \
  X(error_text, cuptiGetResultString)                              \
  X(host_initialize, cuptiProfilerHostInitialize)                  \
  X(host_deinitialize, cuptiProfilerHostDeinitialize)              \
  X(properties, cuptiProfilerHostGetMetricProperties)              \
  X(add_metrics, cuptiProfilerHostConfigAddMetrics)                \
  X(config_size, cuptiProfilerHostGetConfigImageSize)              \
  X(config_image, cuptiProfilerHostGetConfigImage)                 \
  X(evaluate, cuptiProfilerHostEvaluateToGpuValues)                \
  X(enable, cuptiRangeProfilerEnable)                              \
  X(disable, cuptiRangeProfilerDisable)                            \
  X(data_size, cuptiRangeProfilerGetCounterDataSize)               \
  X(data_initialize, cuptiRangeProfilerCounterDataImageInitialize) \
  X(configure, cuptiRangeProfilerSetConfig)                        \
  X(start, cuptiRangeProfilerStart)                                \
  X(stop, cuptiRangeProfilerStop)                                  \
  X(push, cuptiRangeProfilerPushRange)                             \
  X(pop, cuptiRangeProfilerPopRange)                               \
  X(decode, cuptiRangeProfilerDecodeData)

namespace tune::cuda {
namespace {

struct figure {
  const char* name;
  const char* counter;
  double factor;
  const char* unit;
};

constexpr std::array figures{
    figure{"memory_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 1, "%"},
    figure{"memory_rate", "dram__bytes.sum.per_second", 1e-9, "GB/s"},
    figure{"compute_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", 1, "%"},
    figure{"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 1, "%"}};

// Warps that issue nothing, and the one that issues ("selected").
constexpr std::array stall_reasons{"barrier",
                                   "branch_resolving",
                                   "dispatch_stall",
                                   "drain",
                                   "gmma",
                                   "imc_miss",
                                   "lg_throttle",
                                   "long_scoreboard",
                                   "math_pipe_throttle",
                                   "membar",
                                   "mio_throttle",
                                   "misc",
                                   "no_instruction",
                                   "not_selected",
                                   "selected",
                                   "short_scoreboard",
                                   "sleeping",
                                   "tex_throttle",
                                   "wait"};
constexpr double least_share = 1;  // percent

struct cupti_api {
  shared_library library;
  shared_library host;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name cannot be put in parentheses
#define LIBTUNE_CUPTI_MEMBER(member, function) decltype(&::function) member = nullptr;
  LIBTUNE_CUPTI_FUNCTIONS(LIBTUNE_CUPTI_MEMBER)
#undef LIBTUNE_CUPTI_MEMBER
  std::string absence;
};

cupti_api load() {
  cupti_api api;
  for (const char* name :
       {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
        "/usr/local/cuda/lib64/libcupti.so", "libcupti.so"}) {
    api.library = shared_library(name);
    if (api.library) break;
    if (api.absence.empty()) api.absence = api.library.error();
  }
  if (!api.library) return api;
  api.absence.clear();
  // CUPTI loads this part of itself by its name when it is initialised.
  api.host = api.library.beside("libnvperf_host.so");
#define LIBTUNE_CUPTI_FIND(member, name)                       \
  api.member = api.library.function<decltype(&::name)>(#name); \
  if (api.member == nullptr) api.absence = "it is older than 12.6, without " #name;
  LIBTUNE_CUPTI_FUNCTIONS(LIBTUNE_CUPTI_FIND)
#undef LIBTUNE_CUPTI_FIND
  return api;
}

const cupti_api& cupti() {
  static const detail::never_destroyed<cupti_api> api(load());
  if (!api->absence.empty()) {
    throw error("CUPTI, which reads the counters of NVIDIA GPUs, cannot be used (" + api->absence +
                "); it is in the toolkit's extras/CUPTI/lib64, or the cuda-cupti package");
  }
  return *api;
}

/// A parameter block of CUPTI, with the size that CUPTI expects.
template <class Parameters>
Parameters block(std::size_t bytes) {
  Parameters made{};
  made.structSize = bytes;
  return made;
}
#define LIBTUNE_CUPTI_BLOCK(type) block<type>(type##_STRUCT_SIZE)

void check(CUptiResult code, const char* call) {
  if (code == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cupti().error_text(code, &text);
  const bool forbidden = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  throw error(fmt::format("{}: {}{}", call, text != nullptr ? text : "unknown error",
                          forbidden ? "; the driver's option NVreg_RestrictProfilingToAdminUsers=0 "
                                      "lets everybody read counters, and containers need "
                                      "CAP_SYS_ADMIN"
                                    : ""));
}

/// The part of CUPTI that needs no device: the names and meanings of counters.
class counter_host {
 public:
  counter_host(const std::string& chip, const std::uint8_t* available) {
    auto made = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_Initialize_Params);
    made.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    made.pChipName = chip.c_str();
    made.pCounterAvailabilityImage = available;
    check(cupti().host_initialize(&made), "choosing the counters of a chip");
    handle_ = made.pHostObject;
    for (const figure& item : figures) add(item.counter);
    for (const char* reason : stall_reasons) {
      add(fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason));
    }
    for (const std::string& name : names_) pointers_.push_back(name.c_str());
  }
  ~counter_host() {
    auto end = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_Deinitialize_Params);
    end.pHostObject = handle_;
    cupti().host_deinitialize(&end);
  }
  counter_host(const counter_host&) = delete;
  counter_host& operator=(const counter_host&) = delete;

  const std::vector<std::string>& names() const noexcept { return names_; }
  std::span<const char*> pointers() noexcept { return pointers_; }

  std::vector<std::uint8_t> configuration() {
    auto added = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    added.pHostObject = handle_;
    added.ppMetricNames = pointers_.data();
    added.numMetrics = pointers_.size();
    check(cupti().add_metrics(&added), "asking for counters");
    auto size = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = handle_;
    check(cupti().config_size(&size), "asking for counters");
    std::vector<std::uint8_t> image(size.configImageSize);
    auto got = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_GetConfigImage_Params);
    got.pHostObject = handle_;
    got.configImageSize = image.size();
    got.pConfigImage = image.data();
    check(cupti().config_image(&got), "asking for counters");
    return image;
  }
  std::vector<double> values(std::span<const std::uint8_t> data) {
    std::vector<double> read(pointers_.size());
    auto asked = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    asked.pHostObject = handle_;
    asked.pCounterDataImage = data.data();
    asked.counterDataImageSize = data.size();
    asked.ppMetricNames = pointers_.data();
    asked.numMetrics = pointers_.size();
    asked.pMetricValues = read.data();
    check(cupti().evaluate(&asked), "evaluating counters");
    return read;
  }

 private:
  // The stall reasons differ between chips.
  void add(std::string name) {
    auto asked = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Host_GetMetricProperties_Params);
    asked.pHostObject = handle_;
    asked.pMetricName = name.c_str();
    if (cupti().properties(&asked) == CUPTI_SUCCESS) names_.push_back(std::move(name));
  }

  CUpti_Profiler_Host_Object* handle_ = nullptr;
  std::vector<std::string> names_;
  std::vector<const char*> pointers_;
};

/// Holds the profiler of the current context.
class range_profiler {
 public:
  explicit range_profiler(CUcontext context) {
    auto begin = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_Initialize_Params);
    check(cupti().initialize(&begin), "starting the profiler");
    auto enabled = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_Enable_Params);
    enabled.ctx = context;
    const CUptiResult status = cupti().enable(&enabled);
    if (status != CUPTI_SUCCESS) end();
    check(status, "enabling the profiler");
    handle_ = enabled.pRangeProfilerObject;
  }
  ~range_profiler() {
    auto disabled = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_Disable_Params);
    disabled.pRangeProfilerObject = handle_;
    cupti().disable(&disabled);
    end();
  }
  range_profiler(const range_profiler&) = delete;
  range_profiler& operator=(const range_profiler&) = delete;

  std::vector<std::uint8_t> profile(counter_host& host, const std::function<void()>& run) {
    std::vector<std::uint8_t> data = make_data(host);
    const std::vector<std::uint8_t> wanted = host.configuration();
    auto setting = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_SetConfig_Params);
    setting.pRangeProfilerObject = handle_;
    setting.configSize = wanted.size();
    setting.pConfig = wanted.data();
    setting.counterDataImageSize = data.size();
    setting.pCounterDataImage = data.data();
    setting.range = CUPTI_UserRange;
    setting.replayMode = CUPTI_UserReplay;
    setting.maxRangesPerPass = 1;
    setting.numNestingLevels = 1;
    setting.minNestingLevel = 1;
    setting.targetNestingLevel = 1;
    check(cupti().configure(&setting), "setting up the counters");
    while (!make_pass(run)) {
    }
    auto decoded = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_DecodeData_Params);
    decoded.pRangeProfilerObject = handle_;
    check(cupti().decode(&decoded), "reading the counters");
    return data;
  }

 private:
  std::vector<std::uint8_t> make_data(counter_host& host) const {
    auto size = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = handle_;
    size.pMetricNames = host.pointers().data();
    size.numMetrics = host.pointers().size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    check(cupti().data_size(&size), "preparing the counters");
    std::vector<std::uint8_t> data(size.counterDataSize);
    auto begin = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    begin.pRangeProfilerObject = handle_;
    begin.counterDataSize = data.size();
    begin.pCounterData = data.data();
    check(cupti().data_initialize(&begin), "preparing the counters");
    return data;
  }
  static void end() {
    auto ended = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_DeInitialize_Params);
    cupti().deinitialize(&ended);
  }
  // Returns true after the last pass.
  bool make_pass(const std::function<void()>& run) const {
    auto start = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = handle_;
    check(cupti().start(&start), "starting the counters");
    auto pushed = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_PushRange_Params);
    pushed.pRangeProfilerObject = handle_;
    pushed.pRangeName = "run";
    check(cupti().push(&pushed), "starting the counters");
    run();
    auto popped = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_PopRange_Params);
    popped.pRangeProfilerObject = handle_;
    check(cupti().pop(&popped), "stopping the counters");
    auto stop = LIBTUNE_CUPTI_BLOCK(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = handle_;
    check(cupti().stop(&stop), "stopping the counters");
    return stop.isAllPassSubmitted != 0;
  }

  CUpti_RangeProfiler_Object* handle_ = nullptr;
};

std::string chip_of(CUdevice device) {
  auto asked = LIBTUNE_CUPTI_BLOCK(CUpti_Device_GetChipName_Params);
  asked.deviceIndex = static_cast<std::size_t>(device);
  check(cupti().chip_name(&asked), "asking for the name of the chip");
  return asked.pChipName;
}

std::vector<std::uint8_t> available_counters(CUcontext context) {
  auto asked = LIBTUNE_CUPTI_BLOCK(CUpti_Profiler_GetCounterAvailability_Params);
  asked.ctx = context;
  check(cupti().availability(&asked), "listing the counters");
  std::vector<std::uint8_t> image(asked.counterAvailabilityImageSize);
  asked.pCounterAvailabilityImage = image.data();
  check(cupti().availability(&asked), "listing the counters");
  return image;
}

std::vector<metric> to_metrics(const std::vector<std::string>& names,
                               const std::vector<double>& values) {
  constexpr std::string_view stall = "smsp__average_warps_issue_stalled_";
  std::vector<metric> made;
  double all = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].starts_with(stall)) all += values[i];
    for (const figure& item : figures) {
      if (names[i] == item.counter) made.push_back({item.name, values[i] * item.factor, item.unit});
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double share = 100 * values[i] / all;
    if (!names[i].starts_with(stall) || !(share >= least_share)) continue;
    const std::string reason = names[i].substr(stall.size());
    made.push_back({"stall_" + reason.substr(0, reason.find("_per_issue")), share, "%"});
  }
  return made;
}

}  // namespace

std::vector<metric> read_counters(const context& context, const std::function<void()>& run) {
  const context_scope current(context);
  const auto handle = static_cast<CUcontext>(native_handle(context));
  const auto& device = dynamic_cast<const cuda_device&>(*context.device().impl());
  range_profiler profiler(handle);
  const std::vector<std::uint8_t> available = available_counters(handle);
  counter_host host(chip_of(device.handle()), available.data());
  const std::vector<std::uint8_t> data = profiler.profile(host, run);
  return to_metrics(host.names(), host.values(data));
}

std::vector<std::string> counter_names(const std::string& chip) {
  return counter_host(chip, nullptr).names();
}

}  // namespace tune::cuda

#else

namespace tune::cuda {

std::vector<metric> read_counters(const context&, const std::function<void()>&) {
  throw error(
      "counters of NVIDIA GPUs need a library that was built with CUDA 12.6 or later, and "
      "its headers of CUPTI");
}
std::vector<std::string> counter_names(const std::string&) {
  throw error("this library was built without the headers of CUPTI");
}

}  // namespace tune::cuda

#endif
