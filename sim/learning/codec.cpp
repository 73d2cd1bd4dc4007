#include <algorithm>
#include <cmath>
#include <numeric>

#include "learning/exchange.hpp"

namespace farandole { inline namespace learning {
namespace {

Vector int8(const Vector& values) {
  const double step = values.cwiseAbs().maxCoeff() / 127;
  if (step == 0) return values;
  return (values / step).array().round() * step;
}

Vector top_k(const Vector& values, double keep) {
  const auto kept = std::max<std::ptrdiff_t>(1, std::lround(keep * static_cast<double>(values.size())));
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return std::abs(values[a]) > std::abs(values[b]); });
  Vector result = Vector::Zero(values.size());
  for (std::ptrdiff_t i = 0; i < kept; ++i) {
    const Eigen::Index largest = order[static_cast<std::size_t>(i)];
    result[largest] = values[largest];
  }
  return result;
}

Vector one_bit(const Vector& values) {
  const auto is_negative = (values.array() < 0).cast<double>().eval();
  const double negatives = is_negative.sum();
  const double others = static_cast<double>(values.size()) - negatives;
  const double low = negatives > 0 ? (values.array() * is_negative).sum() / negatives : 0;
  const double high = others > 0 ? (values.array() * (1 - is_negative)).sum() / others : 0;
  return low * is_negative + high * (1 - is_negative);
}

}  // namespace

Vector sent_and_decoded(const CompressionSettings& compression, const Vector& values) {
  switch (compression.kind) {
    case Compression::int8:
      return int8(values);
    case Compression::top_k:
      return top_k(values, compression.keep);
    case Compression::one_bit:
      return one_bit(values);
    default:
      return values;
  }
}

}}  // namespace farandole::learning
