// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/drawing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/composition.hpp"

namespace tune {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string describe(const std::string& name, const slot& item) {
  std::string text = name;
  if (const auto* with_array = dynamic_cast<const io_slot*>(&item)) {
    const array_layout layout =
        item.is_bound() ? with_array->buffer().layout() : with_array->required_layout();
    text += fmt::format("\n{} {}", layout.type().name(), to_string(layout.size()));
    if (layout.padded() != layout.size()) text += "\npadded " + to_string(layout.padded());
  }
  if (item.owner() == nullptr) text += fmt::format("\n{} bytes", item.required_bytes());
  return text;
}

/// Shortens a value to one short line.
std::string abridged(std::string text) {
  constexpr std::size_t longest = 40;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= longest) return text;
  return text.substr(0, longest - 3) + "...";
}

/// Returns the name of an operation and its parameters; a sequence's parameters are in its
/// children.
std::string describe(const std::string& name, const operation& drawn) {
  std::string text = name;
  if (!drawn.children().empty()) return text;
  for (const named_value& item : drawn.parameters()) {
    text += '\n' + item.name + " = " + abridged(to_string(item.value));
  }
  return text;
}

const char* form_of(const slot& item) {
  if (dynamic_cast<const alias_slot*>(&item) != nullptr) return "folder";
  return item.children().empty() ? "box" : "oval";
}

/// Writes an operation and its parts, and remembers the slots for the lines between them.
class dot_writer {
 public:
  explicit dot_writer(const operation& drawn, const std::string& name) {
    text_ = "digraph " + quoted(name) + " {\n";
    add(1, "rankdir=LR;");
    add(1, "graph [fontname=\"sans-serif\", style=rounded];");
    add(1, "node [fontname=\"sans-serif\", shape=box];");
    add_operation(drawn, name, 1);
    for (const slot* each : order_) add_lines(*each);
    add_shared_memory();
    text_ += "}\n";
  }

  std::string take() { return std::move(text_); }

 private:
  void add(int depth, const std::string& line) {
    text_ += std::string(2 * static_cast<std::size_t>(depth), ' ') + line + '\n';
  }

  void add_operation(const operation& drawn, const std::string& name, int depth) {
    add(depth, fmt::format("subgraph cluster_{} {{", clusters_++));
    add(depth + 1, "label=" + quoted(describe(name, drawn)) + ';');
    for (const named_operation& child : drawn.children()) {
      add_operation(*child.operation, child.name, depth + 1);
    }
    // Slots that a child has drawn are not repeated by its sequence.
    for (const named_slot& item : drawn.hidden_slots()) add_slot(item, depth + 1);
    for (const named_slot& item : drawn.slots()) add_slot(item, depth + 1);
    add(depth, "}");
  }

  void add_slot(const named_slot& item, int depth) {
    if (!numbers_.emplace(item.slot.get(), order_.size()).second) return;
    add(depth, fmt::format("s{} [shape={}, label={}];", order_.size(), form_of(*item.slot),
                           quoted(describe(item.name, *item.slot))));
    order_.push_back(item.slot.get());
  }

  void add_line(const slot& from, const slot& to, const char* style) {
    add(1, fmt::format("s{} -> s{}{};", numbers_.at(&from), numbers_.at(&to), style));
  }

  void add_lines(const slot& whole) {
    const bool alias = dynamic_cast<const alias_slot*>(&whole) != nullptr;
    for (const auto& part : whole.children()) {
      if (alias) {
        add_line(whole, *part, " [style=dashed, dir=none]");
      } else if (whole.children().size() == 1) {
        add_line(whole, *part, " [dir=none]");
      } else if (part == whole.children().front()) {
        add_line(*part, whole, "");
      } else {
        add_line(whole, *part, "");
      }
    }
  }

  void add_shared_memory() {
    std::vector<const slot*> bound;
    for (const slot* each : order_) {
      if (each->owner() == nullptr && each->is_bound()) bound.push_back(each);
    }
    for (auto at = bound.begin(); at != bound.end(); ++at) {
      const auto same = std::find_if(std::next(at), bound.end(), [&](const slot* other) {
        return memory_of(**at) == memory_of(*other);
      });
      if (same != bound.end()) add_line(**at, **same, " [style=dotted]");
    }
  }

  static const buffer& memory_of(const slot& item) {
    const auto* with_array = dynamic_cast<const io_slot*>(&item);
    return with_array != nullptr ? with_array->buffer().buffer()
                                 : dynamic_cast<const alias_slot&>(item).buffer();
  }

  std::string text_;
  int clusters_ = 0;
  std::vector<const slot*> order_;
  std::map<const slot*, std::size_t> numbers_;
};

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }  // NOLINT: it owns it
};
// A file instead of a pipe: writing to a pipe whose reader has ended would end this process.
using temporary_file = std::unique_ptr<std::FILE, file_closer>;

temporary_file make_temporary_file() {
  temporary_file file(std::tmpfile());
  if (file) return file;
  throw error(fmt::format("a temporary file for a drawing could not be made: {}",
                          std::strerror(errno)));  // NOLINT: the text is used at once
}

/// Redirects the standard streams of a child process to files.
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

/// Returns the exit status of dot; negative if a signal killed it.
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

std::string to_dot(const operation& drawn, const std::string& name) {
  return dot_writer(drawn, name).take();
}

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
