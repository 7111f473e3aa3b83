// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/preamble.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"

#include "preamble.cuda.kernel.hpp"
#include "preamble.opencl.kernel.hpp"

namespace tune {
namespace {

// Excludes words that a kernel may define in either language.
constexpr std::string_view keywords =
    " INFINITY NAN NULL _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary"
    " _Noreturn _Pragma _Static_assert _Thread_local alignas alignof and and_eq asm auto"
    " barrier bitand bitor blockDim blockIdx bool break case catch char char16_t char32_t"
    " class clk_event_t compl const const_cast constant constexpr continue decltype default"
    " defined delete dim3 do double dynamic_cast else enum event_t explicit export extern"
    " false float for friend generic global goto gridDim half if image1d_array_t"
    " image1d_buffer_t image1d_t image2d_array_t image2d_t image3d_t inline int intptr_t"
    " kernel local long mutable namespace ndrange_t new noexcept not not_eq nullptr operator"
    " or or_eq pipe printf private protected ptrdiff_t public queue_t read_only read_write"
    " register reinterpret_cast reserve_id_t restrict return sampler_t short signed size_t"
    " sizeof static static_assert static_cast struct switch template this threadIdx"
    " thread_local throw true try typedef typeid typename uchar uint uintptr_t ulong uniform"
    " union unsigned ushort using vec_step virtual void volatile warpSize wchar_t while"
    " write_only xor xor_eq ";
constexpr std::string_view vector_elements =
    " char double float half int long longlong short uchar uint ulong ulonglong ushort ";
constexpr std::string_view vector_widths = " 2 3 4 8 16 ";

/// True if a list contains the word. Words are letters, digits and underscores, surrounded by
/// blanks.
bool has_word(std::string_view list, std::string_view word) noexcept {
  if (word.empty()) return false;
  for (std::size_t at = list.find(word); at != std::string_view::npos;
       at = list.find(word, at + 1)) {
    if (at > 0 && list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  }
  return false;
}

bool is_vector_type(std::string_view name) noexcept {
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  return has_word(vector_elements, name.substr(0, digits)) &&
         has_word(vector_widths, name.substr(digits));
}

/// Returns the identifier at the beginning of a text; empty for any other text.
std::string_view first_word(std::string_view text) noexcept {
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, detail::is_word) - text.begin()));
}

/// Adds every name that a line of a preamble declares for kernels.
void add_words(std::set<std::string, std::less<>>& words, std::string_view line) {
  constexpr std::string_view define = "#define ";
  if (line.starts_with(define)) {
    words.emplace(first_word(line.substr(define.size())));
    return;
  }
  const bool declares = line.starts_with("DEVICE_FN ") || line.starts_with("LIBTUNE_ATOMIC ") ||
                        line.starts_with("typedef ") || line.starts_with("struct ") ||
                        line.starts_with("} ") || line.starts_with("LIBTUNE_VECTOR");
  if (!declares) return;
  // The declared name precedes the first of these, after a blank.
  std::string_view head = line.substr(0, line.find_first_of("({;"));
  while (!head.empty() && !detail::is_word(head.back())) head.remove_suffix(1);
  const std::size_t begin = head.find_last_of(" *");
  words.emplace(head.substr(begin == std::string_view::npos ? 0 : begin + 1));
}

std::set<std::string, std::less<>> portable_words() {
  std::set<std::string, std::less<>> words;
  for (const kernel_language language : {kernel_language::opencl_c, kernel_language::cuda_cpp}) {
    for (std::string_view left = preamble(language); !left.empty();) {
      const std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(line.size() + 1, left.size()));
      add_words(words, line);
    }
  }
  return words;
}

// Parts of OpenCL C that the CUDA preamble defines.
bool is_built_in(std::string_view name) noexcept {
  if (name == "SIMD_GROUP_SIZE") return true;  // compile defines it
  return name.starts_with("get_global_") || name.starts_with("get_local_") ||
         name.starts_with("get_group_") || name.starts_with("get_num_groups");
}

}  // namespace

std::string_view preamble(kernel_language language) noexcept {
  return language == kernel_language::cuda_cpp ? embedded::preamble_cuda_kernel
                                               : embedded::preamble_opencl_kernel;
}

bool is_portable_word(std::string_view name) {
  static const detail::never_destroyed<std::set<std::string, std::less<>>> words(portable_words());
  return words->contains(name) || is_built_in(name);
}

bool is_keyword(std::string_view name) noexcept {
  return has_word(keywords, name) || is_vector_type(name);
}

}  // namespace tune
