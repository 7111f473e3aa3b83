// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/include_mirror.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace tune::opencl {
namespace {

namespace fs = std::filesystem;

fs::path new_folder() {
  std::string name = (fs::temp_directory_path() / "libtune-includes-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw fs::filesystem_error("making a folder", name,
                               std::error_code(errno, std::generic_category()));
  }
  return name;
}

// From clang: "k.cl:1:10: fatal error: 'x.h' file not found"; from others: cannot open source file
// "x.h".
std::string missing_name(std::string_view log) {
  for (const std::string_view words : {"file not found", "cannot open", "could not open"}) {
    const std::size_t at = log.find(words);
    if (at == std::string_view::npos) continue;
    const std::string_view before = log.substr(0, at);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    const bool comes_first = words.starts_with("file");
    const std::string_view part =
        comes_first ? line : log.substr(at).substr(0, log.substr(at).find('\n'));
    const std::size_t last = part.find_last_of("'\"");
    const std::size_t first = last == std::string_view::npos || last == 0
                                  ? std::string_view::npos
                                  : part.find_last_of("'\"", last - 1);
    if (first != std::string_view::npos) {
      return std::string(part.substr(first + 1, last - first - 1));
    }
  }
  return {};
}

}  // namespace

include_mirror::include_mirror(const program_source& source, const std::string& folder)
    : root_(new_folder()), folder_(fs::path(folder).lexically_normal()), source_(source) {
  add_folder(folder_);
  source_.options = with_include_folders(source.options, [&](const std::string& given) {
    const fs::path original = (folder_ / given).lexically_normal();
    add_folder(original);
    return inside(original).string();
  });
  look_at(source.text);
  for (const kernel_header& header : source.headers) look_at(header.text);
  if (reads_untold(source)) reliable_ = false;
}

include_mirror::~include_mirror() {
  std::error_code ignored;
  if (entered_) fs::current_path(folder_, ignored);
  fs::remove_all(root_, ignored);
}

bool include_mirror::add_missing(const std::string& log) {
  const std::string name = missing_name(log);
  if (name.empty() || !names_.insert(name).second) return false;
  bool any = false;
  // Adding a file also adds its folder.
  for (const fs::path& folder : std::vector(folders_.begin(), folders_.end())) {
    any = add((folder / name).lexically_normal()) || any;
  }
  return any;
}

void include_mirror::add_folder(const fs::path& original) {
  if (!folders_.insert(original).second) return;
  fs::create_directories(inside(original));
  for (const std::string& name : std::vector(names_.begin(), names_.end())) {
    add((original / name).lexically_normal());
  }
}

bool include_mirror::add(const fs::path& original) {
  if (std::ranges::find(files_, original.string()) != files_.end()) return false;
  const auto text = read_text(original);
  if (!text) return false;
  files_.push_back(original.string());
  look_at(*text);
  add_folder(original.parent_path());
  std::ofstream(inside(original), std::ios::binary) << *text;
  return true;
}

void include_mirror::look_at(const std::string& text) {
  for (const char* sign : {"has_include", "\"/", "</"}) {
    if (text.find(sign) != std::string::npos) reliable_ = false;
  }
}

}  // namespace tune::opencl
