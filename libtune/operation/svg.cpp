// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/svg.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/operation/drawing.hpp"

namespace tune {
namespace {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }  // NOLINT: it owns it
};
// A file and not a pipe: writing to a program that has ended would end this one.
using temporary_file = std::unique_ptr<std::FILE, file_closer>;

temporary_file make_temporary_file() {
  temporary_file file(std::tmpfile());
  if (file) return file;
  throw error(fmt::format("a temporary file for a drawing could not be made: {}",
                          std::strerror(errno)));  // NOLINT: the text is used at once
}

/// What a child process has instead of the standard streams.
class redirections {
 public:
  redirections() { posix_spawn_file_actions_init(&actions_); }
  redirections(const redirections&) = delete;
  redirections& operator=(const redirections&) = delete;
  ~redirections() { posix_spawn_file_actions_destroy(&actions_); }

  void add(std::FILE* file, int descriptor) {
    posix_spawn_file_actions_adddup2(&actions_, fileno(file), descriptor);
  }
  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Its exit status; negative if it was killed.
int run_dot(const std::string& path, std::FILE* input, std::FILE* messages) {
  redirections streams;
  streams.add(input, STDIN_FILENO);
  streams.add(messages, STDERR_FILENO);
  const std::array<const char*, 5> arguments{"dot", "-Tsvg", "-o", path.c_str(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, "dot", streams.get(), nullptr,
                                   const_cast<char**>(arguments.data()), environ);  // NOLINT
  if (failure == ENOENT) {
    throw error("drawing '" + path +
                "' takes the program dot, which is not on the PATH; install Graphviz, or write "
                "what to_dot returns and draw it elsewhere");
  }
  if (failure != 0) {
    throw error(fmt::format("the program dot could not be started to draw '{}': {}", path,
                            std::strerror(failure)));  // NOLINT: the text is used at once
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::array<char, 2000> text{};
  return {text.data(), std::fread(text.data(), 1, text.size(), file)};
}

}  // namespace

void write_svg(const operation& drawn, const std::filesystem::path& path, const std::string& name) {
  const temporary_file input = make_temporary_file();
  const temporary_file messages = make_temporary_file();
  const std::string text = to_dot(drawn, name);
  if (std::fwrite(text.data(), 1, text.size(), input.get()) != text.size() ||
      std::fflush(input.get()) != 0) {
    throw error("a temporary file for the drawing '" + path.string() + "' could not be written");
  }
  std::rewind(input.get());
  const int status = run_dot(path.string(), input.get(), messages.get());
  if (status == 0) return;
  throw error(fmt::format("the program dot failed with status {} at drawing '{}': {}", status,
                          path.string(), contents(messages.get())));
}

}  // namespace tune
