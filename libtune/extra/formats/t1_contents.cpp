// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t1_contents.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/extra/bare/formula/evaluation.hpp"

namespace tune::detail::t1 {
namespace {

namespace fs = std::filesystem;

/// True if a type can hold the number, without its fraction.
template <class T>
bool holds(double number) {
  using limits = std::numeric_limits<T>;
  if constexpr (!limits::is_integer) {
    return true;
  } else {
    const double whole = std::trunc(number);
    return whole >= static_cast<double>(limits::min()) && whole < std::ldexp(1.0, limits::digits);
  }
}

template <class T>
T to_element(double number) {
  if (!holds<T>(number)) {
    throw argument_error(fmt::format("a value is {}, which its type does not hold", number));
  }
  // Types without arithmetic are converted from float.
  using intermediate = std::conditional_t<std::is_arithmetic_v<T>, double, float>;
  return static_cast<T>(static_cast<intermediate>(number));
}

/// The place of an element as the value of every name.
class place_of_element final : public formulas::name_values {
 public:
  explicit place_of_element(std::size_t place) : place_(static_cast<std::int64_t>(place)) {}

  formulas::operand at(std::size_t /*name*/) const override {
    return formulas::operand::of(place_);
  }

 private:
  std::int64_t place_;
};

template <class T>
void generate(const t1_argument& item, std::vector<T>& contents) {
  const formulas::formula of(item.generator);
  if (of.names.size() > 1 || (of.names.size() == 1 && of.names[0] != "i")) {
    throw argument_error("the generator '" + item.generator + "' reads more than i");
  }
  for (std::size_t i = 0; i < contents.size() / item.lanes; ++i) {
    formulas::workspace in;
    const formulas::operand made = formulas::evaluate(of, of.root, place_of_element(i), in);
    if (!made.is_number()) {
      throw argument_error(fmt::format("the generator '{}' gives {} for {}", item.generator,
                                       formulas::described(made), i));
    }
    const auto first = contents.begin() + static_cast<std::ptrdiff_t>(i * item.lanes);
    std::fill_n(first, item.lanes, to_element<T>(made.number()));
  }
}

template <class T>
std::vector<T> read_numbers(const t1_argument& item, const std::string& folder) {
  const std::string path = path_in(folder, item.file, "DataSource");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw argument_error("the file '" + path + "' of an argument cannot be read");
  }
  const std::size_t wanted = item.elements * item.lanes * sizeof(T);
  if (item.elements != 0 ? bytes.size() < wanted : bytes.size() % (item.lanes * sizeof(T)) != 0) {
    throw argument_error(fmt::format("the file '{}' has {} bytes, and {} elements of {} need {}",
                                     path, bytes.size(), item.elements, item.lanes * sizeof(T),
                                     wanted));
  }
  std::vector<T> contents(item.elements != 0 ? wanted / sizeof(T) : bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(contents.data()), bytes.data(), contents.size() * sizeof(T));
  return contents;
}

template <class T>
std::vector<T> make_numbers(const t1_argument& item, std::mt19937_64& random) {
  const std::size_t elements = item.is_array ? item.elements : 1;
  std::vector<T> contents(elements * item.lanes, to_element<T>(item.fill_value));
  if (!item.generator.empty()) generate(item, contents);
  if (!item.is_random) return contents;
  std::mt19937_64 own(item.seed.value_or(0));
  std::mt19937_64& source = item.seed ? own : random;
  constexpr double scale = 1.0 / static_cast<double>(std::mt19937_64::max());
  for (T& element : contents) {
    element = to_element<T>(static_cast<double>(source()) * scale * item.fill_value);
  }
  return contents;
}

}  // namespace

std::string path_in(const std::string& folder, const std::string& given, const char* member) {
  const fs::path here(folder.empty() ? "." : folder);
  const fs::path inside = fs::weakly_canonical(here);
  const fs::path file = fs::weakly_canonical(here / given);
  const auto [end, rest] = std::ranges::mismatch(inside, file);
  if (end == inside.end()) return (fs::path(folder) / given).string();
  throw argument_error(fmt::format(
      "'{}' is '{}', which leads out of the problem's folder; put the file beside it or below",
      member, given));
}

std::vector<std::byte> contents_of(const t1_argument& item, const std::string& folder,
                                   std::mt19937_64& random) {
  return visit_dtype(item.type, [&]<class T>() {
    const std::vector<T> numbers =
        item.file.empty() ? make_numbers<T>(item, random) : read_numbers<T>(item, folder);
    const auto bytes = std::as_bytes(std::span(numbers));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
}

}  // namespace tune::detail::t1
