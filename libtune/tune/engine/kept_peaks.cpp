// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/kept_peaks.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/databases.hpp"

namespace tune::detail {
namespace {

class database_peaks final : public peak_store {
 public:
  database_peaks(std::string path, device_identity of)
      : path_(std::move(path)), device_(std::move(of)) {}

  std::optional<double> find(std::string_view of) override {
    const std::lock_guard lock(mutex_);
    std::optional<double> found;
    warn_on_database_error([&] { found = opened().find_peak(identity(of)); });
    return found;
  }

  void keep(std::string_view of, double rate) override {
    const std::lock_guard lock(mutex_);
    warn_on_database_error([&] { opened().store_peak(identity(of), rate); });
  }

 private:
  tuning_database& opened() {
    if (!database_) database_.emplace(path_);
    return *database_;
  }

  peak_identity identity(std::string_view of) const {
    return {device_, std::string(library_version()), std::string(of)};
  }

  const std::string path_;
  const device_identity device_;
  std::mutex mutex_;
  std::optional<tuning_database> database_;
};

}  // namespace

std::shared_ptr<peak_store> keep_peaks_in(const std::string& database, device_identity of) {
  if (database.empty()) return nullptr;
  return std::make_shared<database_peaks>(database, std::move(of));
}

}  // namespace tune::detail
