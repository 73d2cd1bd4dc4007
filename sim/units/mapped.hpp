// Lists made of other lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace farandole { inline namespace units {

/// What `make` gives for each of the items.
template <class Items, class Make>
auto mapped(const Items& items, Make make) {
  std::vector<std::decay_t<std::invoke_result_t<Make&, decltype(*std::begin(items))>>> made;
  for (const auto& item : items) made.push_back(std::invoke(make, item));
  return made;
}

/// Those of the items that are wanted.
template <class Items, class IsWanted>
auto those_of(const Items& items, IsWanted is_wanted) {
  std::vector<std::decay_t<decltype(*std::begin(items))>> found;
  std::ranges::copy_if(items, std::back_inserter(found), is_wanted);
  return found;
}

/// Where among the items those are that are wanted.
template <class Items, class IsWanted>
std::vector<std::size_t> places_of(const Items& items, IsWanted is_wanted) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (is_wanted(items[i])) places.push_back(i);
  }
  return places;
}

}}  // namespace farandole::units
