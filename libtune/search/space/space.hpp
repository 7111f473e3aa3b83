// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

namespace detail {

/// space<Tuning> without the type of the struct, which only the stored functions know. Copies share
/// their data until one is changed.
class erased_space {
 public:
  using copy_function = std::shared_ptr<void> (*)(const void* tuning);
  using setter = std::function<void(void* tuning, std::size_t candidate)>;
  using predicate = std::function<bool(const void* tuning)>;

  erased_space(std::shared_ptr<const void> defaults, copy_function copy);
  erased_space(const erased_space&) noexcept;
  erased_space(erased_space&&) noexcept;
  erased_space& operator=(const erased_space&) noexcept;
  erased_space& operator=(erased_space&&) noexcept;
  ~erased_space();

  /// Members that are never added keep their defaults. @throws argument_error as search_space does;
  /// then nothing changes
  void add(parameter added, setter set);
  /// An empty description becomes "restriction 1", and so on. Without reads, the restriction is
  /// assumed to read every parameter; reads may contain members that are not parameters.
  void restrict(std::string description, std::vector<std::string> reads, predicate allows);

  /// The struct with the values of members that are not parameters.
  const void* defaults() const noexcept;
  /// Sets the members that are parameters to the values of a configuration.
  void choose(void* tuning, std::size_t index) const;
  /// The number of the configuration with these values; empty if there is no such configuration, or
  /// a member that is not a parameter differs. Both lists have the same order of fields.
  std::optional<std::size_t> find(std::span<const named_value> values,
                                  std::span<const named_value> defaults) const;
  /// True if find has a number for these values; see search_space::contains.
  bool contains(std::span<const named_value> values, std::span<const named_value> defaults) const;
  const search_space& core() const noexcept;

 private:
  bool has_defaults(std::span<const named_value> values,
                    std::span<const named_value> defaults) const;

  struct functions;
  struct state;
  void commit(state changed);
  std::shared_ptr<const state> state_;
};

void add_candidate(parameter& to, value added);
[[noreturn]] void throw_inexact_candidate(const std::string& field, const value& given);

/// True if a type can hold a number without loss. A floating-point number may be rounded to a
/// shorter type, because literals are usually double, but must not become infinite.
template <class Member, class Given>
constexpr bool is_exact(const Given& given) noexcept {
  if constexpr (std::integral<Member> && std::floating_point<Given>) {
    // Powers of two are exact in all types; NaN is in no range.
    constexpr auto end = static_cast<Given>(std::numeric_limits<Member>::max() / 2 + 1) * 2;
    constexpr auto begin = static_cast<Given>(std::numeric_limits<Member>::lowest());
    if constexpr (std::same_as<Member, bool>) return given == 0 || given == 1;
    return given >= begin && given < end && static_cast<Given>(static_cast<Member>(given)) == given;
  } else if constexpr (std::floating_point<Member> && std::floating_point<Given>) {
    constexpr auto most = std::numeric_limits<Member>::max();
    return !(given > most || given < -most) || !std::isfinite(given);
  } else if constexpr (std::integral<Given> && std::integral<Member>) {
    const auto converted = static_cast<Member>(given);
    return static_cast<Given>(converted) == given && (converted < Member{}) == (given < Given{});
  } else if constexpr (std::integral<Given>) {
    return is_exact<Given>(static_cast<Member>(given)) &&
           static_cast<Given>(static_cast<Member>(given)) == given;
  }
  return true;
}

template <class T>
struct number_in {
  using type = T;
};
template <class T>
struct number_in<std::optional<T>> {
  using type = T;
};

/// Returns a candidate as the member's type. @throws argument_error if a number does not fit: 256
/// in a std::uint8_t, 1.5 in an int
template <class Member, class Given>
Member exact_candidate(const std::string& field, Given&& given) {
  using plain = std::remove_cvref_t<Given>;
  using number = typename number_in<Member>::type;
  if constexpr (std::is_arithmetic_v<number> && std::is_arithmetic_v<plain> &&
                !std::same_as<plain, bool>) {
    if (!is_exact<number>(static_cast<plain>(given))) {
      throw_inexact_candidate(field, value_traits<plain>::to_value(given));
    }
  }
  return static_cast<Member>(std::forward<Given>(given));
}

// <ranges> has an equal concept, but would cost every user a third of a second.
template <class Range, class Element>
concept range_of = requires(Range&& range) {
  { *std::begin(range) } -> std::convertible_to<Element>;
  std::end(range);
};

/// Iterates over a space; each dereference makes a configuration. The space has to outlive it.
template <class Space>
class space_iterator {
 public:
  using value_type = typename Space::value_type;
  using reference = value_type;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  // operator* returns a value, which only the iterators of C++20 may do beyond input iterators.
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::forward_iterator_tag;

  space_iterator() = default;
  space_iterator(const Space* space, std::size_t index) : space_(space), index_(index) {}

  value_type operator*() const { return (*space_)[index_]; }
  space_iterator& operator++() {
    ++index_;
    return *this;
  }
  space_iterator operator++(int) {
    space_iterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const space_iterator&, const space_iterator&) = default;

 private:
  const Space* space_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace detail

/// The values that a metric of compiled kernels may have, including the bounds.
struct figure_range {
  double least = -std::numeric_limits<double>::infinity();  ///< the lower bound
  double most = std::numeric_limits<double>::infinity();    ///< the upper bound
};

namespace detail {
/// Returns "registers = 80, and may be at most 64"; empty if the metric is in the range or unknown.
std::optional<std::string> why_outside(const std::vector<metric>& figures, std::string_view name,
                                       figure_range range);
}  // namespace detail

/// The configurations of a tuning struct that a search chooses from:
///
///   tune::space<multiply_tuning> space;
///   space.add(&multiply_tuning::wgs, {32, 64, 128, 256});
///   space.add(&multiply_tuning::rows, some_vector_of_int);
///   space.restrict([](const multiply_tuning& t) { return t.wgs * t.rows <= 1024; });
///
/// The order is that of nested loops in the order of the add calls, the last innermost. Build it in
/// one thread; after that, all const functions are thread-safe. The first call of a function that
/// needs the valid configurations finds them.
template <class Tuning>
class space {
  static_assert(fielded<Tuning>, "list the members of the tuning with LIBTUNE_FIELDS");

 public:
  using value_type = Tuning;                       ///< a configuration
  using iterator = detail::space_iterator<space>;  ///< a forward iterator that returns values

  /// Members that are never added keep the value that they have in defaults.
  explicit space(Tuning defaults = {})
      : erased_(std::make_shared<const Tuning>(std::move(defaults)),
                [](const void* tuning) -> std::shared_ptr<void> {
                  return std::make_shared<Tuning>(*static_cast<const Tuning*>(tuning));
                }) {}

  /// Sets the values that a member can take, in this order.
  /// @throws argument_error if the member has been added before, there are no candidates, one is
  ///         repeated or does not fit the member, or the space becomes too big to count
  template <class Member>
  space& add(Member Tuning::*member,
             std::initializer_list<std::type_identity_t<Member>> candidates) {
    return add_candidates(member, std::vector<Member>(candidates));
  }
  /// Takes the elements of a range instead, each converted to the member's type.
  /// @throws argument_error also if a number does not fit that type, such as 1.5 in an int
  template <class Member, detail::range_of<Member> Candidates>
  space& add(Member Tuning::*member, Candidates&& candidates) {
    std::vector<Member> converted;
    for (auto&& candidate : candidates) {
      // A range may be read once only, so its size is not known. NOLINTNEXTLINE(performance-*)
      converted.push_back(detail::exact_candidate<Member>(field_name(member), candidate));
    }
    return add_candidates(member, std::move(converted));
  }

  /// Allows only configurations for which the predicate is true. It must only depend on the tuning.
  /// If the members that it reads are listed, it is called as soon as these are set, while the
  /// other members may still have any of their values; that makes large spaces much faster. A list
  /// that omits a member gives a wrong space; size() tests for that at a few hundred combinations.
  /// Restrictions without a list are checked last, in the order given.
  template <std::predicate<const Tuning&> Predicate, class... Members>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
  space& restrict(Predicate predicate, std::string description, Members Tuning::*... reads) {
    erased_.restrict(std::move(description), {field_name(reads)...},
                     [predicate = std::move(predicate)](const void* tuning) -> bool {
                       return predicate(*static_cast<const Tuning*>(tuning));
                     });
    return *this;
  }
  /// Adds a restriction with a description by its number: "restriction 1".
  template <std::predicate<const Tuning&> Predicate, class... Members>
  space& restrict(Predicate predicate, Members Tuning::*... reads) {
    return restrict(std::move(predicate), std::string(), reads...);
  }

  /// Declares the resources that a configuration needs, so that one which exceeds the device's is
  /// skipped before it is compiled. The space itself is independent of the device. A later call
  /// replaces an earlier one.
  space& needs(std::function<resources(const Tuning&)> function) {
    needs_ = std::move(function);
    return *this;
  }
  /// The resources that a configuration needs, if they have been declared.
  /// @throws exceptions of the function given to needs
  std::optional<resources> resources_of(const Tuning& tuning) const {
    return needs_ ? std::optional<resources>(needs_(tuning)) : std::nullopt;
  }

  /// Allows only configurations whose compiled kernels have a metric in a range, such as
  /// "registers" or "occupancy" (libtune/tune/README.md lists them); the others are skipped before
  /// their first run, with the metric as their reason. Metrics that the driver does not report are
  /// not checked.
  ///   space.limit("registers", {.most = 64}).limit("occupancy", {.least = 0.25});
  space& limit(std::string figure, figure_range range) {
    return limit([figure = std::move(figure), range](const std::vector<metric>& figures) {
      return detail::why_outside(figures, figure, range);
    });
  }
  /// Adds a limit as a function of all metrics, which returns the reason why a configuration may
  /// not run; empty if it may.
  space& limit(std::function<std::optional<std::string>(const std::vector<metric>&)> why_not) {
    limits_.push_back(std::move(why_not));
    return *this;
  }
  /// The reason why a configuration with these metrics may not run; empty if it may.
  std::optional<std::string> why_not(const std::vector<metric>& figures) const {
    for (const auto& limit : limits_) {
      if (auto reason = limit(figures)) return reason;
    }
    return std::nullopt;
  }

  /// The number of configurations. @throws as search_space::size()
  std::size_t size() const { return core().size(); }
  /// True if the restrictions forbid every combination. @throws as size()
  bool empty() const { return size() == 0; }

  /// Returns a configuration. @throws argument_error if the number is too large; errors of size()
  Tuning operator[](std::size_t index) const {
    Tuning tuning = defaults();
    erased_.choose(&tuning, index);
    return tuning;
  }
  /// Iterates over all configurations in order; dereferencing throws as operator[].
  iterator begin() const { return {this, 0}; }
  /// The end of the iteration. @throws as size()
  iterator end() const { return {this, size()}; }

  /// The number of a configuration; empty if it is not in the space, or a member that was not added
  /// differs from the default. @throws as size()
  std::optional<std::size_t> find(const Tuning& tuning) const {
    return erased_.find(to_values(tuning), to_values(defaults()));
  }

  /// True if find has a number for a configuration. Asks the restrictions about it alone.
  /// @throws error if a restriction throws, with its exception nested
  bool contains(const Tuning& tuning) const {
    return erased_.contains(to_values(tuning), to_values(defaults()));
  }

  /// Returns count different configurations: see search_space::sample. @throws as size()
  std::vector<Tuning> sample(std::size_t count, std::uint64_t seed) const {
    std::vector<Tuning> tunings;
    for (const std::size_t index : core().sample(count, seed)) tunings.push_back((*this)[index]);
    return tunings;
  }

  /// The space as strategies and reports use it, with the same numbers. The reference is valid
  /// until the space is changed; a copy stays valid.
  const search_space& core() const noexcept { return erased_.core(); }

 private:
  const Tuning& defaults() const noexcept {
    return *static_cast<const Tuning*>(erased_.defaults());
  }

  template <class Member>
  space& add_candidates(Member Tuning::*member, std::vector<Member> candidates) {
    parameter added{field_name(member), {}};
    for (const auto& item : candidates) {
      detail::add_candidate(added, value_traits<Member>::to_value(item));
    }
    erased_.add(std::move(added),
                [member, candidates = std::move(candidates)](void* tuning, std::size_t candidate) {
                  static_cast<Tuning*>(tuning)->*member = candidates[candidate];
                });
    return *this;
  }

  detail::erased_space erased_;
  std::function<resources(const Tuning&)> needs_;
  std::vector<std::function<std::optional<std::string>(const std::vector<metric>&)>> limits_;
};

}  // namespace tune
