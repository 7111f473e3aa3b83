// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A stand-in for NVIDIA's management library with one GPU, for tests: LIBTUNE_NVML names it.
#include "tests/extra/sensors/fake_nvml.hpp"

#include <chrono>
#include <cstring>

namespace {

constexpr int success = 0;
constexpr int invalid_argument = 2;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr unsigned least_limit = 200'000;
constexpr unsigned most_limit = 700'000;

// Mapped anew whenever another test has another file.
fake_nvml::gpu& state() {
  static std::string path;
  static fake_nvml::gpu* mapped = nullptr;
  const char* const now = std::getenv(fake_nvml::state_variable);
  if (now == nullptr) std::abort();
  if (mapped == nullptr || path != now) mapped = fake_nvml::map((path = now).c_str());
  return *mapped;
}

int set(std::atomic<unsigned>& what, unsigned value) {
  if (const int status = state().settings_status; status != success) return status;
  what = value;
  ++state().changes;
  return success;
}

int find(bool known, void** device) {
  *device = &state();
  return known ? success : not_found;
}

}  // namespace

// The names are NVIDIA's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int nvmlInit_v2() { return success; }
const char* nvmlErrorString(int status) {
  return status == 4 ? "Insufficient Permissions" : status == not_found ? "Not Found" : "Failed";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* name, void** device) {
  return find(std::strcmp(name, fake_nvml::address) == 0, device);
}
int nvmlDeviceGetHandleByUUID(const char* name, void** device) {
  return find(name == std::string("GPU-") + fake_nvml::uuid, device);
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const unsigned period = state().period_ms;
  if (period == 0) return not_supported;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  *millijoules = static_cast<unsigned long long>(now.count()) / period * period *
                 state().milliwatts.load() / 1000;
  return success;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = state().milliwatts;
  return success;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
  *mhz = state().clock;
  return success;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = state().temperature;
  return success;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = state().reasons;
  return success;
}
int nvmlDeviceGetSupportedMemoryClocks(void*, unsigned* count, unsigned* mhz) {
  mhz[0] = 3201;
  mhz[1] = 1593;
  *count = 2;
  return success;
}
int nvmlDeviceGetSupportedGraphicsClocks(void*, unsigned, unsigned* count, unsigned* mhz) {
  mhz[0] = 1980;
  mhz[1] = 1200;
  mhz[2] = 345;
  *count = 3;
  return success;
}
int nvmlDeviceSetGpuLockedClocks(void*, unsigned mhz, unsigned) {
  return set(state().graphics_clock, mhz);
}
int nvmlDeviceResetGpuLockedClocks(void*) { return set(state().graphics_clock, 0); }
int nvmlDeviceSetMemoryLockedClocks(void*, unsigned mhz, unsigned) {
  return set(state().memory_clock, mhz);
}
int nvmlDeviceResetMemoryLockedClocks(void*) { return set(state().memory_clock, 0); }
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* milliwatts) {
  *milliwatts = state().power_limit_mw;
  return success;
}
int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* least, unsigned* most) {
  *least = least_limit;
  *most = most_limit;
  return success;
}
int nvmlDeviceSetPowerManagementLimit(void*, unsigned milliwatts) {
  if (milliwatts < least_limit || milliwatts > most_limit) return invalid_argument;
  return set(state().power_limit_mw, milliwatts);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
