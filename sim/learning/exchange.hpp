// One exchange of gradients between all ranks: compressed as the strategy compresses, carried by its schedules, added
// up.
//
//   none, int8, top_k, one_bit   what each rank sent, decoded (learning/codec.hpp), is added up by the carrier
//   fp16, bf16                   vectors are rounded to the short form, and the schedule adds in it
//   power_sgd                    learning/power_sgd.hpp
//
// Gradients that are of a short type themselves are rounded first, and without compression added in it.
//
// Where the strategy combines by Adasum (learning/adasum.hpp) that takes the place of the sum: of the workers' own
// gradients, or of the means of its groups' ones, whatever each of them counts for in a sum.
//
// With error feedback, which int8 does not take, a rank keeps what its encoding left out and adds it to the next
// gradient.
#pragma once

#include <optional>
#include <vector>

#include "learning/carrier.hpp"
#include "learning/power_sgd.hpp"
#include "training/compression.hpp"

namespace farandole {

class Exchange {
 public:
  Exchange(Carrier carrier, Operation operation, CompressionSettings compression, MatrixShape matrix);

  /// From now on of gradients that are of this type before anything is done to them; fp32 is not rounded.
  void use_gradient_type(GradientType type) { gradient_type_ = type; }

  /// From now on by Adasum, between groups of so many neighbouring workers.
  void use_adasum(int workers_per_group) { adasum_group_ = workers_per_group; }

  /// `contributions[w]`, worker w's, becomes the sum of all as worker w holds it.
  void sum(std::vector<Vector>& contributions);

  [[nodiscard]] double messages() { return carrier_.messages(operation_); }

 private:
  void round_to_type(std::vector<Vector>& contributions) const;
  void sum_as_they_are(std::vector<Vector>& contributions);
  void sum_by_adasum(std::vector<Vector>& contributions);
  template <class Short>
  void sum_as(std::vector<Vector>& contributions);
  void sum_encoded(std::vector<Vector>& contributions);
  void sum_by_power(std::vector<Vector>& contributions);
  void add_residuals(std::vector<Vector>& contributions);

  Carrier carrier_;
  Operation operation_;
  CompressionSettings compression_;
  PowerSgd power_;
  GradientType gradient_type_ = GradientType::fp32;
  int adasum_group_ = 0;           // 0: contributions are added up
  std::vector<Vector> residuals_;  // of each worker; empty before the first exchange, and without error feedback
};

}  // namespace farandole
