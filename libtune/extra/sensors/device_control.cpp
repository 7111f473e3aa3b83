// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/device_control.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/json.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/extra/sensors/nvml.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/store/files/private_folder.hpp"
#include "libtune/tune/engine/device_lease.hpp"

namespace tune::detail {
namespace {

// The longest delay until clocks follow a setting.
constexpr std::chrono::milliseconds settling{20};

std::vector<std::string> record_folders() {
  std::vector<std::string> folders;
  for (const std::string& shared : device_lock::shared_folders()) {
    folders.push_back(fmt::format("{}/libtune-settings-{}", shared, ::geteuid()));
  }
  return folders;
}

// Records of another NVML library, such as a stub in tests, are not for this process.
std::string record_prefix() {
  return device_lock::file_name(read_environment("LIBTUNE_NVML").value_or("")) + '-';
}

/// Settings to restore, and their device.
struct debt {
  device_info device{};
  original_settings before{};
};

std::string text_of(const debt& owed) {
  json document{{"device", owed.device.identity.name},
                {"pci", owed.device.hardware.pci_address},
                {"uuid", owed.device.hardware.uuid},
                {"unlock_graphics", owed.before.unlock_graphics},
                {"unlock_memory", owed.before.unlock_memory}};
  if (owed.before.power_limit_mw) document["power_limit_mw"] = *owed.before.power_limit_mw;
  return json_text(document);
}

std::optional<debt> debt_from(std::string_view text) {
  const auto document = parse_json(text, false);
  if (!document.is_object()) return std::nullopt;
  try {
    debt owed;
    owed.device.identity.name = document.at("device").get<std::string>();
    owed.device.hardware.pci_address = document.at("pci").get<std::string>();
    owed.device.hardware.uuid = document.at("uuid").get<std::string>();
    owed.before.unlock_graphics = document.at("unlock_graphics").get<bool>();
    owed.before.unlock_memory = document.at("unlock_memory").get<bool>();
    if (document.contains("power_limit_mw")) {
      owed.before.power_limit_mw = document.at("power_limit_mw").get<unsigned>();
    }
    return owed;
  } catch (const input::exception&) {
    return std::nullopt;
  }
}

/// The record of a device, locked during the life of this object, and removed with it.
class settings_record {
 public:
  /// @throws error if it cannot be created or another process has it
  explicit settings_record(const std::string& hardware) {
    const std::string name = record_prefix() + device_lock::file_name(hardware);
    std::string why;
    for (const std::string& folder : record_folders()) {
      try {
        if (create_private_folders(folder)) continue;
        if (lock(folder, name)) return;
        throw error("another process has set the clocks or the power limit of the device");
      } catch (const std::system_error& failure) {
        why = failure.what();
      }
    }
    throw error("no record of the settings to restore can be kept in /dev/shm or /tmp: " + why);
  }
  /// Takes an existing record. Null if another process has it.
  static std::unique_ptr<settings_record> take(const std::string& folder, const std::string& name) {
    std::unique_ptr<settings_record> taken(new settings_record);
    return taken->lock(folder, name) ? std::move(taken) : nullptr;
  }
  // The record of a debt that could not be settled stays.
  ~settings_record() {
    if (!file_) return;
    if (!read()) ::unlink(path_.c_str());
    file_->release(0);
  }
  settings_record(const settings_record&) = delete;
  settings_record& operator=(const settings_record&) = delete;

  std::optional<debt> read() const {
    std::array<char, record_bytes> text{};
    const auto got = ::pread(file_->descriptor(), text.data(), text.size(), 0);
    return got > 0 ? debt_from({text.data(), static_cast<std::size_t>(got)}) : std::nullopt;
  }
  /// Writes all with one call, so that a killed process leaves the whole record or nothing.
  void write(const std::optional<debt>& owed) {
    std::string text = owed ? text_of(*owed) : "";
    text.resize(record_bytes, ' ');
    if (::pwrite(file_->descriptor(), text.data(), text.size(), 0) != record_bytes) {
      throw error("the record of the settings to restore cannot be written; is the disk full?");
    }
  }

 private:
  static constexpr ::ssize_t record_bytes = 1024;

  settings_record() = default;
  // Its previous owner may remove the record between open and lock.
  bool lock(const std::string& folder, const std::string& name) {
    constexpr int attempts = 3;
    path_ = folder + '/' + name;
    for (int i = 0; i < attempts; ++i) {
      file_ = byte_locks::open(path_, [&] {
        const auto opened = private_folder::open(folder);
        return opened ? opened->open_lock_file(name) : file_descriptor();
      });
      const lock_attempt made =
          file_ ? file_->try_take(0, lock_kind::alone) : lock_attempt::impossible;
      if (made == lock_attempt::taken) return true;
      file_ = nullptr;
      if (made != lock_attempt::removed) return false;
    }
    return false;
  }

  std::string path_;
  std::shared_ptr<byte_locks> file_;
};

/// A device whose settings this process has changed.
struct changed_device {
  explicit changed_device(const device_info& device)
      : record(hardware_name(device)), owed{device, {}} {
    const nvml_device hardware(device);
    if (const auto left = record.read()) {  // by a process that has ended since
      hardware.restore(left->before);
    } else if (hardware.has_locked_clocks()) {
      throw error("the clocks of device '" + device.identity.name +
                  "' have been locked by another program or an administrator, and could not be "
                  "restored; 'nvidia-smi -rgc' and -rmc unlock them");
    }
  }

  settings_record record;
  debt owed;
  device_settings now{};
};

struct changed_devices {
  std::mutex mutex;
  std::atomic<bool> any{false};
  std::map<std::string, std::unique_ptr<changed_device>> all;
};

changed_devices& changed() {
  static never_destroyed<changed_devices> devices;
  return *devices;
}

void settle_debt(changed_device& of) {
  if (of.owed.before) nvml_device(of.owed.device).restore(of.owed.before);
  of.owed.before = {};
  of.now = {};
  of.record.write(std::nullopt);
}

void log_failure(const std::string& name, const std::exception& failure) noexcept {
  log(log_level::error,
      fmt::format("the clocks or the power limit of device '{}' could not be restored ({}): 'sudo "
                  "nvidia-smi -rgc -rmc' and -pl restore them by hand",
                  name, failure.what()));
}

void restore_all() noexcept {
  if (is_forked()) return;
  const std::lock_guard lock(changed().mutex);
  for (auto& [name, item] : changed().all) {
    try {
      settle_debt(*item);
    } catch (const std::exception& failure) {
      log_failure(item->owed.device.identity.name, failure);
    }
  }
  changed().all.clear();
}

// The debt is recorded before the change.
void change(changed_device& of, const nvml_device& hardware, const device_settings& wanted) {
  if (of.now) settle_debt(of);
  if (!wanted) return;
  of.record.write(debt{of.owed.device, hardware.original(wanted)});
  try {
    hardware.set(wanted, of.owed.before);
  } catch (const error&) {
    settle_debt(of);
    throw;
  }
  of.now = wanted;
  std::this_thread::sleep_for(settling);
}

}  // namespace

device_control& device_control::shared() {
  static never_destroyed<device_control> control;
  return *control;
}

void device_control::set(const device_info& device, const device_settings& wanted) {
  if (!wanted && !changed().any) return;
  const std::lock_guard lock(changed().mutex);
  const std::string name = hardware_name(device);
  auto known = changed().all.find(name);
  if (known == changed().all.end()) {
    if (!wanted) return;
    const nvml_device hardware(device);
    if (!changed().any.exchange(true)) std::atexit(restore_all);
    known = changed().all.emplace(name, std::make_unique<changed_device>(device)).first;
  }
  if (known->second->now == wanted) return;
  change(*known->second, nvml_device(device), wanted);
}

void device_control::restore(const device_info& device) noexcept {
  if (!changed().any) return;
  try {
    const std::lock_guard lock(changed().mutex);
    const auto known = changed().all.find(hardware_name(device));
    if (known == changed().all.end()) return;
    settle_debt(*known->second);
    changed().all.erase(known);
  } catch (const std::exception& failure) {
    log_failure(device.identity.name, failure);
  }
}

void device_control::restore_left_behind() noexcept {
  for (const std::string& path : record_folders()) {
    try {
      const auto folder = private_folder::open(path);
      if (!folder) continue;
      for (const listed_file& file : folder->list_files()) {
        if (!file.name.starts_with(record_prefix())) continue;
        const std::lock_guard lock(changed().mutex);
        const auto record = settings_record::take(path, file.name);
        const auto left = record ? record->read() : std::nullopt;
        if (!left) continue;
        nvml_device(left->device).restore(left->before);
        record->write(std::nullopt);
        log(log_level::warning,
            fmt::format("the clocks and the power limit of device '{}' have been restored, which a "
                        "process that ended early had left changed",
                        left->device.identity.name));
      }
    } catch (const std::exception& failure) {
      log(log_level::warning, fmt::format("settings that a process has left changed could not be "
                                          "restored, by the records in {}: {}",
                                          path, failure.what()));
    }
  }
}

}  // namespace tune::detail
