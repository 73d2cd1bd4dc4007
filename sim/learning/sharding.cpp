#include "collective/carry_out.hpp"
#include "learning/exchange.hpp"

namespace farandole { inline namespace learning {
namespace {

double messages_of(const std::optional<Schedule>& schedule) {
  if (!schedule) return 0;
  double sum = 0;
  for (const Phase& phase : schedule->phases) {
    sum += static_cast<double>(transfers_per_round(phase)) * active_repeats(phase);
  }
  return sum;
}

/// A part has a whole number of every schedule's chunks.
Eigen::Index block_of(const WeightSharding& sharding, Eigen::Index length) {
  Eigen::Index chunks = 1;
  for (const auto* schedule : {&sharding.gather, &sharding.scatter}) {
    if (*schedule) chunks = std::max(chunks, static_cast<Eigen::Index>((*schedule)->chunks / sharding.shards));
  }
  const Eigen::Index part = (length + sharding.shards - 1) / sharding.shards;
  return (part + chunks - 1) / chunks * chunks;
}

using Double = Vector;
using Half = Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>;
using Brain = Eigen::Matrix<Eigen::bfloat16, Eigen::Dynamic, 1>;

}  // namespace

double WeightSharding::messages(int workers) const {
  return (messages_of(gather) + messages_of(scatter)) * (static_cast<double>(workers) / shards) +
         messages_of(replicate) * shards;
}

Shards::Shards(const WeightSharding& sharding, int workers, const Vector& whole)
    : sharding_(sharding), length_(whole.size()), block_(block_of(sharding, whole.size())) {
  Vector padded = Vector::Zero(block_ * sharding.shards);
  padded.head(length_) = whole;
  for (std::size_t worker = 0; worker < static_cast<std::size_t>(workers); ++worker) {
    parts_.emplace_back(padded.segment(place_in_group(worker) * block_, block_));
  }
}

template <class Values>
void Shards::gather_as(std::vector<Vector>& whole) const {
  const auto shards = static_cast<std::size_t>(sharding_.shards);
  for (std::size_t first = 0; first < parts_.size(); first += shards) {
    std::vector<Values> buffers(shards, Values::Zero(block_ * sharding_.shards));
    for (std::size_t i = 0; i < shards; ++i) {
      buffers[i].segment(static_cast<Eigen::Index>(i) * block_, block_) =
          parts_[first + i].template cast<typename Values::Scalar>();
    }
    if (sharding_.gather) carry_out(*sharding_.gather, buffers);
    for (const Values& buffer : buffers) whole.emplace_back(buffer.head(length_).template cast<double>());
  }
}

std::vector<Vector> Shards::gathered() const {
  std::vector<Vector> whole;
  if (sharding_.parameters == GradientType::fp32) gather_as<Double>(whole);
  if (sharding_.parameters == GradientType::fp16) gather_as<Half>(whole);
  if (sharding_.parameters == GradientType::bf16) gather_as<Brain>(whole);
  return whole;
}

Vector Shards::kept() const {
  Vector whole(block_ * sharding_.shards);
  for (Eigen::Index i = 0; i < sharding_.shards; ++i) {
    whole.segment(i * block_, block_) = parts_[static_cast<std::size_t>(i)];
  }
  return whole.head(length_);
}

template <class Values>
void Shards::sum_as(const std::vector<Vector>& gradients, std::vector<Vector>& sums) const {
  const auto shards = static_cast<std::size_t>(sharding_.shards);
  for (std::size_t first = 0; first < gradients.size(); first += shards) {
    std::vector<Values> buffers(shards, Values::Zero(block_ * sharding_.shards));
    for (std::size_t i = 0; i < shards; ++i) {
      buffers[i].head(length_) = gradients[first + i].template cast<typename Values::Scalar>();
    }
    if (sharding_.scatter) carry_out(*sharding_.scatter, buffers);
    for (std::size_t i = 0; i < shards; ++i) {
      const auto own = buffers[i].segment(static_cast<Eigen::Index>(i) * block_, block_);
      sums.emplace_back(own.template cast<double>());
    }
  }
  if (sharding_.replicate) sum_among_replicas<Values>(sums);
}

template <class Values>
void Shards::sum_among_replicas(std::vector<Vector>& sums) const {
  const auto shards = static_cast<std::size_t>(sharding_.shards);
  for (std::size_t part = 0; part < shards; ++part) {
    std::vector<Values> buffers;
    for (std::size_t rank = part; rank < sums.size(); rank += shards) {
      buffers.emplace_back(sums[rank].template cast<typename Values::Scalar>());
    }
    carry_out(*sharding_.replicate, buffers);
    for (std::size_t replica = 0; replica < buffers.size(); ++replica) {
      sums[part + replica * shards] = buffers[replica].template cast<double>();
    }
  }
}

void Shards::descend(double rate, const std::vector<Vector>& gradients) {
  std::vector<Vector> sums;
  if (sharding_.gradients == GradientType::fp32) sum_as<Double>(gradients, sums);
  if (sharding_.gradients == GradientType::fp16) sum_as<Half>(gradients, sums);
  if (sharding_.gradients == GradientType::bf16) sum_as<Brain>(gradients, sums);
  for (std::size_t worker = 0; worker < parts_.size(); ++worker) parts_[worker] -= rate * sums[worker];
}

}}  // namespace farandole::learning
