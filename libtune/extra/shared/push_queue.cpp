// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/push_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <unistd.h>

#include "libtune/base/sha256.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune {
namespace {

using detail::private_folder;

constexpr const char* suffix = ".json";

std::string name_of(const std::string& document) {
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(document)))) + suffix;
}

/// Runs use(folder), with an empty one if the folder does not exist.
template <class Use>
auto with_folder(const std::string& path, const char* attempt, const Use& use) {
  try {
    return use(private_folder::open(detail::absolute_path(path)));
  } catch (const std::system_error& failure) {
    throw detail::database_failure(path, attempt, failure.what(),
                                   "let this user alone own the folder, or remove it");
  }
}

std::string read_all(int file) {
  std::string text;
  char part[16384];
  while (true) {
    const ssize_t count = ::read(file, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "read");
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

}  // namespace

bool push_queue::add(const std::string& document) const {
  if (names().size() >= most) return false;
  const std::string path = detail::absolute_path(path_);
  if (const std::error_code reason = detail::create_private_folders(path)) {
    throw detail::database_failure(path, "create the folder", reason.message(),
                                   "make it, or remove what has its name");
  }
  with_folder(path, "keep a result that is to be pushed", [&](const auto& folder) {
    if (!folder) return;
    detail::temporary_file file(*folder);
    file.write(std::as_bytes(std::span(document)));
    file.synchronise();
    file.publish(name_of(document));
  });
  return true;
}

std::vector<std::string> push_queue::names() const {
  return with_folder(path_, "list the results that are to be pushed", [](const auto& folder) {
    std::vector<std::string> names;
    if (!folder) return names;
    std::vector<detail::listed_file> files = folder->list_files();
    std::erase_if(files, [](const auto& file) {
      return detail::is_temporary_name(file.name) || !file.name.ends_with(suffix);
    });
    std::ranges::sort(files, {}, &detail::listed_file::used);
    for (const auto& file : files) names.push_back(file.name);
    return names;
  });
}

std::string push_queue::read(const std::string& name) const {
  return with_folder(path_, "read a result that is to be pushed", [&](const auto& folder) {
    if (!folder) return std::string();
    const auto file = folder->open_file(name);
    std::string text = file ? read_all(file.get()) : std::string();
    return name_of(text) == name ? text : std::string();
  });
}

void push_queue::remove(const std::string& name) const {
  with_folder(path_, "remove a result that has been pushed", [&](const auto& folder) {
    if (folder) folder->remove_file(name);
  });
}

}  // namespace tune
