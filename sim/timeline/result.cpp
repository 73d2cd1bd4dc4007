#include "timeline/result.hpp"

#include <array>

namespace farandole {
namespace {

constexpr std::array breakdown_parts{&Breakdown::compute,     &Breakdown::exposed_communication,
                                     &Breakdown::negotiation, &Breakdown::straggler,
                                     &Breakdown::input,       &Breakdown::checkpoint,
                                     &Breakdown::other};

}  // namespace

Seconds Breakdown::total() const {
  return compute + exposed_communication + negotiation + straggler + input + checkpoint + other;
}

Breakdown& Breakdown::operator+=(const Breakdown& more) {
  for (const auto part : breakdown_parts) this->*part += more.*part;
  return *this;
}

Breakdown operator*(const Breakdown& parts, double factor) {
  Breakdown scaled = parts;
  for (const auto part : breakdown_parts) scaled.*part *= factor;
  return scaled;
}

}  // namespace farandole
