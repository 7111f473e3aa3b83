// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/nvml.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/device/context.hpp"

namespace tune::detail {

// nvmlFieldValue_t
struct field_value {
  unsigned int field = 0;
  unsigned int scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  int type = 0;
  int status = 0;
  std::uint64_t value = 0;  // a union; an unsigned int is in its first bytes
};

namespace {

constexpr unsigned int field_power_instant = 186;
constexpr int success = 0;
constexpr int no_permission = 4;
constexpr int clock_of_multiprocessors = 1;
constexpr int sensor_of_chip = 0;
constexpr std::size_t most_clocks = 1024;

constexpr std::uint64_t power_cap = 0x4;
constexpr std::uint64_t locked_by_somebody = 0x2;
constexpr std::array<std::pair<std::uint64_t, const char*>, 4> throttles{
    {{0x8, "hardware slowdown"},
     {0x20, "heat (driver)"},
     {0x40, "heat (hardware)"},
     {0x80, "power brake"}}};

}  // namespace

// X(member, function, parameters after the device)
#define LIBTUNE_NVML_FUNCTIONS(X)                                                          \
  X(energy, nvmlDeviceGetTotalEnergyConsumption, unsigned long long*)                      \
  X(fields, nvmlDeviceGetFieldValues, int, field_value*)                                   \
  X(power, nvmlDeviceGetPowerUsage, unsigned*)                                             \
  X(clock, nvmlDeviceGetClockInfo, int, unsigned*)                                         \
  X(temperature, nvmlDeviceGetTemperature, int, unsigned*)                                 \
  X(reasons, nvmlDeviceGetCurrentClocksEventReasons, unsigned long long*)                  \
  X(old_reasons, nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long*)           \
  X(memory_clocks, nvmlDeviceGetSupportedMemoryClocks, unsigned*, unsigned*)               \
  X(graphics_clocks, nvmlDeviceGetSupportedGraphicsClocks, unsigned, unsigned*, unsigned*) \
  X(lock_graphics, nvmlDeviceSetGpuLockedClocks, unsigned, unsigned)                       \
  X(unlock_graphics, nvmlDeviceResetGpuLockedClocks)                                       \
  X(lock_memory, nvmlDeviceSetMemoryLockedClocks, unsigned, unsigned)                      \
  X(unlock_memory, nvmlDeviceResetMemoryLockedClocks)                                      \
  X(limit, nvmlDeviceGetPowerManagementLimit, unsigned*)                                   \
  X(limits, nvmlDeviceGetPowerManagementLimitConstraints, unsigned*, unsigned*)            \
  X(set_limit, nvmlDeviceSetPowerManagementLimit, unsigned)

// Some are null if the driver is too old, or too new.
struct nvml_api {
  shared_library library;
  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*by_address)(const char*, void**) = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
#define LIBTUNE_NVML_MEMBER(member, function, ...) \
  int (*member)(void* __VA_OPT__(, ) __VA_ARGS__) = nullptr;
  LIBTUNE_NVML_FUNCTIONS(LIBTUNE_NVML_MEMBER)
#undef LIBTUNE_NVML_MEMBER
};

namespace {

template <class Function>
void find(const shared_library& library, Function& function, const char* name) {
  function = library.function<Function>(name);
}

// Never unloaded, because the driver keeps threads.
const nvml_api& open() {
  const std::string path = read_environment("LIBTUNE_NVML").value_or("libnvidia-ml.so.1");
  static never_destroyed<std::mutex> guard;
  static never_destroyed<std::map<std::string, nvml_api>> all;
  const std::lock_guard lock(*guard);
  if (const auto known = all->find(path); known != all->end()) return known->second;
  nvml_api api;
  api.library = shared_library(path.c_str());
  if (!api.library) {
    throw error("NVIDIA's management library cannot be loaded (" + api.library.error() +
                "); it is a part of the driver, which containers have to pass on");
  }
  find(api.library, api.init, "nvmlInit_v2");
  find(api.library, api.error_string, "nvmlErrorString");
  find(api.library, api.by_address, "nvmlDeviceGetHandleByPciBusId_v2");
  find(api.library, api.by_uuid, "nvmlDeviceGetHandleByUUID");
  if (!api.init || !api.error_string || !api.by_address || !api.by_uuid) {
    throw error("'" + path +
                "' is not NVIDIA's management library, or is too old: functions are "
                "missing");
  }
#define LIBTUNE_NVML_FIND(member, function, ...) find(api.library, api.member, #function);
  LIBTUNE_NVML_FUNCTIONS(LIBTUNE_NVML_FIND)
#undef LIBTUNE_NVML_FIND
  if (const int status = api.init(); status != success) {
    throw error(std::string("NVIDIA's management library does not start: ") +
                api.error_string(status));
  }
  return all->emplace(path, std::move(api)).first->second;
}

// Calls a function that may be missing.
template <class... Parameters, class... Arguments>
int call(int (*function)(void*, Parameters...), void* handle, Arguments... arguments) {
  constexpr int function_not_found = 13;
  return function != nullptr ? function(handle, arguments...) : function_not_found;
}

double integrated(double& total, double& before, std::chrono::steady_clock::time_point& then,
                  double watts) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - then).count();
  if (then.time_since_epoch().count() != 0) total += seconds * (before + watts) / 2;
  before = watts;
  then = now;
  return total;
}

class nvml_sensor final : public energy_sensor {
 public:
  explicit nvml_sensor(const device_info& of)
      : device_(of), counts_(device_.counted_joules().has_value()) {
    if (!counts_) device_.watts();
  }

  std::string name() const override {
    return counts_ ? "NVML's energy counter" : "NVML's power, integrated";
  }
  double joules() override {
    if (counts_) return device_.counted_joules().value();
    return integrated(total_, before_, then_, device_.watts());
  }
  device_state state() override { return device_.state(); }

 private:
  nvml_device device_;
  bool counts_;
  double total_ = 0;
  double before_ = 0;
  std::chrono::steady_clock::time_point then_{};
};

}  // namespace

nvml_device::nvml_device(const device_info& of) : api_(open()), name_(of.identity.name) {
  const device_hardware& hardware = of.hardware;
  int status = 6;  // not found
  if (!hardware.pci_address.empty()) {
    status = api_.by_address(hardware.pci_address.c_str(), &handle_);
  }
  if (status != success && !hardware.uuid.empty()) {
    status = api_.by_uuid(("GPU-" + hardware.uuid).c_str(), &handle_);
  }
  if (status != success) {
    throw error(
        fmt::format("NVIDIA's management library does not know device '{}' (PCI address "
                    "'{}', UUID '{}'): {}",
                    name_, hardware.pci_address, hardware.uuid, api_.error_string(status)));
  }
}

void nvml_device::require(int status, const char* call) const {
  if (status == success) return;
  throw error(fmt::format("{} on device '{}': {}{}", call, name_, api_.error_string(status),
                          status == no_permission
                              ? "; ask an administrator, or run as one (in a container: with "
                                "CAP_SYS_ADMIN)"
                              : ""));
}

std::optional<double> nvml_device::counted_joules() const {
  unsigned long long millijoules = 0;
  if (call(api_.energy, handle_, &millijoules) != success) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

double nvml_device::watts() const {
  field_value instant{.field = field_power_instant};
  if (call(api_.fields, handle_, 1, &instant) == success && instant.status == success) {
    return static_cast<double>(static_cast<std::uint32_t>(instant.value)) * 1e-3;
  }
  unsigned milliwatts = 0;
  require(call(api_.power, handle_, &milliwatts), "reading the power");
  return milliwatts * 1e-3;
}

std::optional<std::uint64_t> nvml_device::reasons() const {
  unsigned long long bits = 0;
  if (call(api_.reasons, handle_, &bits) == success) return bits;
  if (call(api_.old_reasons, handle_, &bits) == success) return bits;
  return std::nullopt;
}

device_state nvml_device::state() const {
  device_state now;
  unsigned number = 0;
  if (call(api_.clock, handle_, clock_of_multiprocessors, &number) == success) {
    now.clock_mhz = number;
  }
  if (call(api_.temperature, handle_, sensor_of_chip, &number) == success) {
    now.temperature_c = number;
  }
  const std::uint64_t reasons = this->reasons().value_or(0);
  now.power_capped = (reasons & power_cap) != 0;
  for (const auto& [bit, words] : throttles) {
    if ((reasons & bit) != 0)
      now.throttled += (now.throttled.empty() ? "" : ", ") + std::string(words);
  }
  return now;
}

supported_settings nvml_device::supported() const {
  supported_settings offered;
  std::array<unsigned, most_clocks> clocks{};
  unsigned count = most_clocks;
  if (call(api_.memory_clocks, handle_, &count, clocks.data()) == success) {
    offered.memory_clocks_mhz.assign(clocks.begin(), clocks.begin() + count);
  }
  if (!offered.memory_clocks_mhz.empty()) {
    const auto memory = static_cast<unsigned>(offered.memory_clocks_mhz.front());
    count = most_clocks;
    if (call(api_.graphics_clocks, handle_, memory, &count, clocks.data()) == success) {
      offered.graphics_clocks_mhz.assign(clocks.begin(), clocks.begin() + count);
    }
  }
  unsigned least = 0;
  unsigned most = 0;
  if (call(api_.limits, handle_, &least, &most) == success) {
    offered.least_power_limit_w = least * 1e-3;
    offered.most_power_limit_w = most * 1e-3;
  }
  return offered;
}

bool nvml_device::has_locked_clocks() const {
  return (reasons().value_or(0) & locked_by_somebody) != 0;
}

original_settings nvml_device::original(const device_settings& wanted) const {
  original_settings before;
  before.unlock_graphics = wanted.graphics_clock_mhz != 0;
  before.unlock_memory = wanted.memory_clock_mhz != 0;
  if (wanted.power_limit_w != 0) {
    unsigned limit = 0;
    require(call(api_.limit, handle_, &limit), "reading the power limit");
    before.power_limit_mw = limit;
  }
  return before;
}

void nvml_device::set(const device_settings& wanted, original_settings& done) const {
  const original_settings before = original(wanted);
  if (const auto mhz = static_cast<unsigned>(wanted.graphics_clock_mhz); mhz != 0) {
    require(call(api_.lock_graphics, handle_, mhz, mhz), "locking the graphics clock");
    done.unlock_graphics = true;
  }
  if (const auto mhz = static_cast<unsigned>(wanted.memory_clock_mhz); mhz != 0) {
    require(call(api_.lock_memory, handle_, mhz, mhz), "locking the memory clock");
    done.unlock_memory = true;
  }
  if (wanted.power_limit_w != 0) {
    const auto milliwatts = static_cast<unsigned>(std::lround(wanted.power_limit_w * 1e3));
    require(call(api_.set_limit, handle_, milliwatts), "setting the power limit");
    done.power_limit_mw = before.power_limit_mw;
  }
}

void nvml_device::restore(const original_settings& before) const {
  const int graphics = before.unlock_graphics ? call(api_.unlock_graphics, handle_) : success;
  const int memory = before.unlock_memory ? call(api_.unlock_memory, handle_) : success;
  if (before.power_limit_mw) {
    require(call(api_.set_limit, handle_, *before.power_limit_mw), "restoring the power limit");
  }
  require(graphics, "unlocking the graphics clock");
  require(memory, "unlocking the memory clock");
}

std::unique_ptr<energy_sensor> make_nvml_sensor(const device_info& of) {
  return std::make_unique<nvml_sensor>(of);
}

}  // namespace tune::detail

namespace tune {

supported_settings find_supported_settings(const device& of) {
  return detail::nvml_device(of.info()).supported();
}

}  // namespace tune
