#include <Eigen/QR>

#include "learning/exchange.hpp"
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

}}  // namespace farandole::learning
