#include "learning/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <Eigen/QR>

#include "collective/chunk_sizes.hpp"
#include "learning/numpy_random.hpp"

namespace farandole { inline namespace learning {
namespace {

constexpr std::uint32_t seed_of_q = 714;

Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& matrix) {
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix).householderQ() * identity;
}

Eigen::Map<const Matrix> matrix_of(MatrixShape shape, const Vector& weights) {
  return {weights.data(), shape.rows, shape.columns};
}

Eigen::Index worthwhile_rank(MatrixShape shape, int rank) {
  return std::min<Eigen::Index>(rank, std::min(shape.rows, shape.columns));
}

}  // namespace

PowerSgd::PowerSgd(MatrixShape shape, int rank)
    : shape_(shape),
      is_worth_it_((shape.rows + shape.columns) * worthwhile_rank(shape, rank) * 2 < shape.rows * shape.columns &&
                   shape.rows > 0),
      q_(shape.columns, worthwhile_rank(shape, rank)) {
  NumpyRandom random(seed_of_q);
  for (double& element : q_.reshaped()) element = random.normal();
}

void PowerSgd::sum(Carrier& carrier, std::vector<Vector>& contributions) {
  if (!is_worth_it_) return carrier.sum(Operation::allreduce, contributions);
  const Eigen::Index elements = shape_.rows * shape_.columns;
  const Eigen::Index rest = contributions.front().size() - elements;
  std::vector<Vector> left;
  for (const Vector& gradient : contributions) {
    const Eigen::MatrixXd p = matrix_of(shape_, gradient) * q_;
    left.emplace_back(p.size() + rest) << p.reshaped(), gradient.tail(rest);
  }
  carrier.sum(Operation::allreduce, left);
  std::vector<Eigen::MatrixXd> bases;
  std::vector<Vector> right;
  for (std::size_t rank = 0; rank < contributions.size(); ++rank) {
    bases.push_back(orthonormal(left[rank].head(left[rank].size() - rest).reshaped(shape_.rows, q_.cols())));
    right.emplace_back((matrix_of(shape_, contributions[rank]).transpose() * bases.back()).reshaped());
  }
  carrier.sum(Operation::allreduce, right);
  for (std::size_t rank = 0; rank < contributions.size(); ++rank) {
    const Matrix product = bases[rank] * right[rank].reshaped(shape_.columns, q_.cols()).transpose();
    contributions[rank] << Eigen::Map<const Vector>(product.data(), elements), left[rank].tail(rest);
  }
  q_ = right.front().reshaped(shape_.columns, q_.cols());
}

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

Exchange::Exchange(Carrier carrier, Operation operation, CompressionSettings compression, MatrixShape matrix)
    : carrier_(std::move(carrier)),
      operation_(operation),
      compression_(compression),
      power_(matrix, compression.rank) {}

void Exchange::sum(std::vector<Vector>& contributions) {
  round_to_type(contributions);
  if (adasum_group_ > 0) return sum_by_adasum(contributions);
  const bool is_whole = compression_.kind == Compression::none;
  const auto is_short = [&](Compression kind, GradientType type) {
    return compression_.kind == kind || (is_whole && gradient_type_ == type);
  };
  if (is_short(Compression::fp16, GradientType::fp16)) return sum_as<Eigen::half>(contributions);
  if (is_short(Compression::bf16, GradientType::bf16)) return sum_as<Eigen::bfloat16>(contributions);
  if (is_whole) return carrier_.sum(operation_, contributions);
  if (compression_.kind == Compression::power_sgd) return sum_by_power(contributions);
  sum_encoded(contributions);
}

void Exchange::round_to_type(std::vector<Vector>& contributions) const {
  for (Vector& values : contributions) {
    if (gradient_type_ == GradientType::fp16) values = values.cast<Eigen::half>().cast<double>().eval();
    if (gradient_type_ == GradientType::bf16) values = values.cast<Eigen::bfloat16>().cast<double>().eval();
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

namespace {

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
  const auto count = [](const std::optional<Schedule>& schedule) { return schedule ? messages_in(*schedule) : 0; };
  return (count(gather) + count(scatter)) * (static_cast<double>(workers) / shards) + count(replicate) * shards;
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

const Schedule& Carrier::schedule_of(Operation operation) {
  const auto found = schedules_.find(operation);
  if (found != schedules_.end()) return found->second;
  return schedules_.emplace(operation, build_(operation)).first->second;
}

double messages_in(const Schedule& schedule) {
  double sum = 0;
  for (const Phase& phase : schedule.phases) {
    sum += static_cast<double>(transfers_per_round(phase)) * active_repeats(phase);
  }
  return sum;
}

namespace {

/// Of two groups that meet, the lower one's vector is a.
struct Products {
  double ab = 0;
  double aa = 0;
  double bb = 0;

  /// Of the one whose square that is.
  [[nodiscard]] double factor_of(double square) const {
    constexpr double nothing = 1e-8;
    return square < nothing ? 1 : 1 - ab / (2 * square);
  }
};

class Adasum {
  [[nodiscard]] auto part(int rank, Chunk chunk) {
    const auto begin = static_cast<Eigen::Index>(sizes_.before(chunk).si());
    const auto end = static_cast<Eigen::Index>(sizes_.before(chunk + 1).si());
    return vectors_[static_cast<std::size_t>(rank)].segment(begin, end - begin);
  }

 public:
  Adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors)
      : schedule_(schedule), sizes_(Bytes(static_cast<double>(vectors.front().size())), schedule), vectors_(vectors) {
    for (int rank = 0; rank < schedule.ranks; ++rank) group_.push_back(rank / ranks_per_group);
  }

  void round(const Phase& phase, int repeat) {
    std::vector<Arrival> arrivals;
    apply_round(
        schedule_, phase, repeat, [&](int rank, Chunk chunk) { return std::pair(rank, Vector(part(rank, chunk))); },
        [&](int rank, Chunk chunk, const std::pair<int, Vector>& sent, Action action) {
          arrivals.push_back({sent.first, rank, chunk, sent.second, action});
        });
    const auto products = products_of(arrivals);
    for (const Arrival& arrival : arrivals) take(arrival, products);
    merge(arrivals);
  }

 private:
  struct Arrival {
    int from;
    int to;
    Chunk chunk;
    Vector value;
    Action action;
  };
  using Meeting = std::pair<int, int>;  // of groups, the lower first

  [[nodiscard]] int group(int rank) const { return group_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Meeting meeting(const Arrival& arrival) const {
    return std::minmax({group(arrival.from), group(arrival.to)});
  }
  [[nodiscard]] bool combines(const Arrival& arrival) const {
    return arrival.action == Action::reduce && group(arrival.from) != group(arrival.to);
  }

  std::map<Meeting, Products> products_of(const std::vector<Arrival>& arrivals) {
    std::map<Meeting, Products> products;
    for (const Arrival& arrival : arrivals) {
      if (!combines(arrival)) continue;
      const Vector own = part(arrival.to, arrival.chunk);
      const bool own_is_a = group(arrival.to) < group(arrival.from);
      Products& sums = products[meeting(arrival)];
      sums.ab += own.dot(arrival.value);
      (own_is_a ? sums.aa : sums.bb) += own.squaredNorm();
      (own_is_a ? sums.bb : sums.aa) += arrival.value.squaredNorm();
    }
    return products;
  }

  void take(const Arrival& arrival, const std::map<Meeting, Products>& products) {
    auto own = part(arrival.to, arrival.chunk);
    if (arrival.action == Action::copy) {
      own = arrival.value;
    } else if (!combines(arrival)) {
      own += arrival.value;
    } else {
      const Products& sums = products.at(meeting(arrival));
      const bool own_is_a = group(arrival.to) < group(arrival.from);
      own *= sums.factor_of(own_is_a ? sums.aa : sums.bb);
      own += sums.factor_of(own_is_a ? sums.bb : sums.aa) * arrival.value;
    }
  }

  void merge(const std::vector<Arrival>& arrivals) {
    for (const Arrival& arrival : arrivals) {
      if (!combines(arrival)) continue;
      const auto [lower, upper] = meeting(arrival);
      std::ranges::replace(group_, upper, lower);
    }
  }

  const Schedule& schedule_;
  ChunkSizes sizes_;
  std::vector<Vector>& vectors_;
  std::vector<int> group_;  // of each rank
};

}  // namespace

void adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors) {
  Adasum state(schedule, ranks_per_group, vectors);
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) state.round(phase, repeat);
  }
}

}}  // namespace farandole::learning
