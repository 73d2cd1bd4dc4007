// A Gaussian process: what is known of a function from noisy samples of it.
//
// k(x, x') = f^2 exp(-|x - x'|^2 / (2 l^2)), samples with independent noise of a given standard deviation; length l and
// height f are those under which the samples are likeliest, searched from 1 and 1 (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", sections 2.2 and 5.4; horovod/common/optim/gaussian_process.cc).
// Called by the Bayesian optimisation. Places are rows of a matrix.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace farandole {

class GaussianProcess {
 public:
  explicit GaussianProcess(double noise) : noise_(noise) {}

  void fit(const Eigen::MatrixXd& places, const Eigen::VectorXd& values);

  struct Belief {
    Eigen::VectorXd mean;
    Eigen::VectorXd deviation;
  };
  /// After fit().
  [[nodiscard]] Belief predict(const Eigen::MatrixXd& places) const;

  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] double height() const { return height_; }

 private:
  double noise_;
  double length_ = 1;
  double height_ = 1;
  Eigen::MatrixXd places_;
  Eigen::LLT<Eigen::MatrixXd> covariance_;  // of the samples
  Eigen::VectorXd weights_;                 // its inverse times the values
};

}  // namespace farandole
