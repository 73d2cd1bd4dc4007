#include <cmath>
#include <optional>

#include "training/autotune/autotuner.hpp"

namespace farandole { inline namespace training {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr int most_bfgs_steps = 100;
constexpr double flat = 1e-5;  // relative to the place, as LBFGS++ stops

/// Forward differences; backward where the step forward is out of bounds.
Vector slope(const Objective& f, const Vector& at, double value) {
  constexpr double step = 1e-7;
  Vector result(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    Vector moved = at;
    moved[i] += step;
    double difference = f(moved) - value;
    if (!std::isfinite(difference)) {
      moved[i] = at[i] - step;
      difference = value - f(moved);
    }
    result[i] = std::isfinite(difference) ? difference / step : 0;
  }
  return result;
}

/// Half the step until it goes down enough.
std::optional<Minimum> downhill(const Objective& f, const Minimum& from, const Vector& step, double along) {
  constexpr double enough = 1e-4;
  for (double length = 1; length > 1e-12; length /= 2) {
    const Vector at = from.at + length * step;
    const double value = f(at);
    if (value <= from.value + enough * length * along) return Minimum{at, value};
  }
  return std::nullopt;
}

void learn_curvature(Matrix& inverse, const Vector& moved, const Vector& bent) {
  const double both = moved.dot(bent);
  if (both <= 1e-12) return;
  const Matrix left = Matrix::Identity(moved.size(), moved.size()) - moved * bent.transpose() / both;
  inverse = left * inverse * left.transpose() + moved * moved.transpose() / both;
}

}  // namespace

Minimum minimise(const Objective& f, const Eigen::VectorXd& start) {
  Minimum best{start, f(start)};
  Vector gradient = slope(f, best.at, best.value);
  Matrix inverse = Matrix::Identity(start.size(), start.size());
  for (int i = 0; i < most_bfgs_steps && gradient.norm() > flat * std::max(1.0, best.at.norm()); ++i) {
    Vector step = -inverse * gradient;
    if (step.dot(gradient) >= 0) step = -gradient;
    const auto next = downhill(f, best, step, step.dot(gradient));
    if (!next) break;
    const Vector next_gradient = slope(f, next->at, next->value);
    learn_curvature(inverse, next->at - best.at, next_gradient - gradient);
    best = *next;
    gradient = next_gradient;
  }
  return best;
}

}}  // namespace farandole::training
