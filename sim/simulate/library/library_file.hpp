// Files of communication libraries: a release's tables, each number with its source.
//
// Called by the readers of libraries, and by whoever lists what a file has. A library's name is that of its file, in
// topologies/libraries/ of the data or, with a slash or ending in .json, anywhere. A file that says "like" takes over
// what it does not say itself from that one: of objects member by member (RFC 7396; null takes one away), of all else
// as a whole. What an object with a "source" changes has a source of its own. Numbers are in blocks, objects with
// "source" and "kind": ported from a program's source, of a datasheet, fitted, or assumed, then with a "range".
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "collective/operation.hpp"
#include "config/named.hpp"

namespace farandole { inline namespace simulate {

struct LibraryFile {
  std::string name;                                      // "nccl-2.27"
  std::map<std::filesystem::path, std::string> texts{};  // its own, and those that it is like
  std::shared_ptr<const Node> root{};                    // of all of them

  [[nodiscard]] Value value() const { return {*root, ""}; }
};

/// Of those in the data, by family and release.
std::vector<std::string> library_names();
/// Where a library of that name is, whether or not there is one.
std::filesystem::path library_path(const std::string& name);
/// Nothing where there is no such file.
std::optional<LibraryFile> read_library_file(const std::string& name);

/// The members of a block beside its kind, source and range, which must be there.
Section read_block(const Value& value);

/// "4.4 us" as 4.4 of `unit`, exactly; a bare number where that is empty. Not below 0.
double number_in(const Value& value, std::string_view unit);

template <std::size_t N>
std::array<double, N> numbers_in(const Value& value, std::string_view unit) {
  const std::vector<Value> all = value.elements();
  if (all.size() != N) value.fail(fmt::format("{} numbers", N), fmt::format("{}", all.size()));
  std::array<double, N> numbers{};
  for (std::size_t i = 0; i < N; ++i) numbers.at(i) = number_in(all[i], unit);
  return numbers;
}

/// What `read_one` makes of the members of these names, all of which must be there.
template <std::size_t N, class Read>
auto read_each(const Value& value, const std::array<const char*, N>& names, const Read& read_one) {
  Section section(value);
  std::array<decltype(read_one(value)), N> all{};
  for (std::size_t i = 0; i < N; ++i) all.at(i) = read_one(section.child(names.at(i)));
  section.finish();
  return all;
}

/// The same of generations, of which the first must be there: one that is not is as the one before.
template <std::size_t N, class Read>
auto read_generations(const Value& value, const std::array<const char*, N>& names, const Read& read_one) {
  Section section(value);
  std::array<decltype(read_one(value)), N> all{};
  all.front() = read_one(section.child(names.front()));
  for (std::size_t i = 1; i < N; ++i) {
    const auto own = section.maybe(names.at(i));
    all.at(i) = own ? read_one(*own) : all.at(i - 1);
  }
  section.finish();
  return all;
}

}}  // namespace farandole::simulate
