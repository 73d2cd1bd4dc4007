#include "learning/exchange.hpp"

namespace farandole { inline namespace learning {

Exchange::Exchange(Carrier carrier, Operation operation, CompressionSettings compression, MatrixShape matrix)
    : carrier_(std::move(carrier)),
      operation_(operation),
      compression_(compression),
      power_(matrix, compression.rank) {}

void Exchange::sum(std::vector<Vector>& contributions) {
  round_to_type(contributions);
  if (adasum_group_ > 0) return sum_by_adasum(contributions);
  switch (compression_.kind) {
    case Compression::none:
      return sum_as_they_are(contributions);
    case Compression::fp16:
      return sum_as<Eigen::half>(contributions);
    case Compression::bf16:
      return sum_as<Eigen::bfloat16>(contributions);
    case Compression::power_sgd:
      return sum_by_power(contributions);
    default:
      return sum_encoded(contributions);
  }
}

void Exchange::round_to_type(std::vector<Vector>& contributions) const {
  for (Vector& values : contributions) {
    if (gradient_type_ == GradientType::fp16) values = values.cast<Eigen::half>().cast<double>().eval();
    if (gradient_type_ == GradientType::bf16) values = values.cast<Eigen::bfloat16>().cast<double>().eval();
  }
}

void Exchange::sum_as_they_are(std::vector<Vector>& contributions) {
  switch (gradient_type_) {
    case GradientType::fp32:
      return carrier_.sum(operation_, contributions);
    case GradientType::fp16:
      return sum_as<Eigen::half>(contributions);
    case GradientType::bf16:
      return sum_as<Eigen::bfloat16>(contributions);
  }
}

/// A contribution is a worker's gradient over the number of workers.
void Exchange::sum_by_adasum(std::vector<Vector>& contributions) {
  const auto groups = static_cast<double>(contributions.size()) / adasum_group_;
  for (Vector& values : contributions) {
    values *= groups;
    if (compression_.kind == Compression::fp16) values = values.cast<Eigen::half>().cast<double>();
  }
  carrier_.combine(operation_, adasum_group_, contributions);
}

template <class Short>
void Exchange::sum_as(std::vector<Vector>& contributions) {
  std::vector<Eigen::Matrix<Short, Eigen::Dynamic, 1>> rounded;
  for (const Vector& values : contributions) rounded.emplace_back(values.cast<Short>());
  carrier_.sum(operation_, rounded);
  for (std::size_t worker = 0; worker < rounded.size(); ++worker) {
    contributions[worker] = rounded[worker].template cast<double>();
  }
}

void Exchange::add_residuals(std::vector<Vector>& contributions) {
  for (std::size_t worker = 0; worker < residuals_.size(); ++worker) contributions[worker] += residuals_[worker];
}

void Exchange::sum_encoded(std::vector<Vector>& contributions) {
  add_residuals(contributions);
  std::vector<Vector> sent;
  for (const Vector& values : contributions) sent.push_back(sent_and_decoded(compression_, values));
  if (compression_.error_feedback && compression_.kind != Compression::int8) {
    residuals_ = std::move(contributions);
    for (std::size_t worker = 0; worker < sent.size(); ++worker) residuals_[worker] -= sent[worker];
  }
  carrier_.sum(operation_, sent);
  contributions = std::move(sent);
}

void Exchange::sum_by_power(std::vector<Vector>& contributions) {
  add_residuals(contributions);
  std::vector<Vector> sums = contributions;
  power_.sum(carrier_, sums);
  if (compression_.error_feedback) {
    const auto workers = static_cast<double>(contributions.size());
    residuals_ = std::move(contributions);
    for (std::size_t worker = 0; worker < sums.size(); ++worker) residuals_[worker] -= sums[worker] / workers;
  }
  contributions = std::move(sums);
}

}}  // namespace farandole::learning
