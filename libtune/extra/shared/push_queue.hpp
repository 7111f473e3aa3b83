// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tune {

/// The results that wait to be pushed to a shared store, in a folder beside the tuning database: a
/// file for each document, named by its SHA-256. So any number of processes may add and remove
/// files at the same time: equal documents share a file, and a file's content never changes.
/// Thread-safe.
///
/// All functions throw database_error if the folder cannot be used.
class push_queue {
 public:
  /// The largest number of documents; further ones are dropped.
  static constexpr std::size_t most = 1024;

  /// Accesses no file. @param path  the folder
  explicit push_queue(std::string path) : path_(std::move(path)) {}

  /// Returns the path of the folder for a database.
  static std::string path_beside(const std::string& database) { return database + "-push"; }

  const std::string& path() const noexcept { return path_; }

  /// Adds a document. @returns false if the queue is full
  bool add(const std::string& document) const;

  /// The names of the documents, the oldest first.
  std::vector<std::string> names() const;
  /// Reads a document; empty if another process has removed it, or its content does not match its
  /// name.
  std::string read(const std::string& name) const;
  void remove(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace tune
