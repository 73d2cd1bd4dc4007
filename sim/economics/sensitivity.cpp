#include <algorithm>
#include <cmath>

#include "economics/cost.hpp"

namespace farandole { inline namespace economics {
namespace {

Money cost_at(const Document& offer, const UncertainInput& input, const std::string& value,
              const std::function<Money(const Offer&)>& cost) {
  Document changed = offer;
  changed.set(input.pointer, value);
  return cost(read_offer(changed.root()));
}

double width(const CostSensitivity& input) {
  return std::abs((input.at_high - input.at_low).plain());
}

}  // namespace

std::vector<CostSensitivity> sensitivity(const Document& offer, const std::function<Money(const Offer&)>& cost) {
  std::vector<CostSensitivity> inputs;
  for (const UncertainInput& input : read_offer(offer.root()).uncertain) {
    inputs.push_back({input.pointer.substr(1), input.low, input.high, cost_at(offer, input, input.low, cost),
                      cost_at(offer, input, input.high, cost)});
  }
  std::erase_if(inputs, [](const CostSensitivity& input) { return input.at_low == input.at_high; });
  widest_first(inputs);
  return inputs;
}

void widest_first(std::vector<CostSensitivity>& inputs) {
  std::ranges::stable_sort(inputs, [](const auto& a, const auto& b) { return width(a) > width(b); });
}

}}  // namespace farandole::economics
