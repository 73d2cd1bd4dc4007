// Products of matrices, by cuBLAS.
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "backend/cuda/device.hpp"
#include "workload/kernels.hpp"

namespace farandole { inline namespace backend {
namespace {

/// `count` products of each sample, or of all samples together where they share their weights: `rows` of `columns`
/// outputs, each the sum of so many `products`.
struct ProductShape {
  int rows = 1;
  int columns = 1;
  int products = 1;
  int count = 1;
};

/// How one of the three passes is asked for, column by column as cuBLAS has it: C[m, n] = A[m, k] B[k, n].
struct Pass {
  int m;
  int n;
  int k;
  bool transposes_a;
  bool transposes_b;
};

int whole(double number) {
  const double rounded = std::round(number);
  if (rounded < 1 || rounded > std::numeric_limits<int>::max()) {
    throw std::runtime_error(fmt::format("{:g} rows, columns or products: more than cuBLAS counts, or none", number));
  }
  return static_cast<int>(rounded);
}

/// Of attention in one kernel, both its products: over as many places as a causal mask leaves.
ProductShape fused(const Layer& layer, int batch) {
  const auto& shape = layer.output_shape;  // heads, places, width
  const auto width = static_cast<double>(shape.back());
  const auto rows = static_cast<double>(shape.at(shape.size() - 2));
  const double heads = layer.output_elements / (rows * width);
  return {whole(rows), whole(layer.macs / (2 * layer.output_elements)), whole(width), whole(heads * batch)};
}

ProductShape shape_of(const Layer& layer, int batch) {
  const double columns = columns_of(layer);
  const double products = layer.macs / layer.output_elements;
  const bool weighted = !layer.tensors.empty() && layer.tensors.front().shape.size() > 1;
  if (weighted || layer.output_shape.size() < 2) {
    return {whole(layer.output_elements / columns * batch), whole(columns), whole(products), 1};
  }
  const auto rows = static_cast<double>(layer.output_shape.at(layer.output_shape.size() - 2));
  return {whole(rows), whole(columns), whole(products), whole(layer.output_elements / (rows * columns) * batch)};
}

/// All three matrices of a shape: [products, rows], [products, columns] and [columns, rows].
class Matrices {
 public:
  Matrices(const CudaDevice& device, const ProductShape& shape, Precision precision)
      : device_(device),
        shape_(shape),
        types_(cuda_types(precision)),
        inputs_(device.runtime(), size(shape.products, shape.rows, precision)),
        weights_(device.runtime(), size(shape.products, shape.columns, precision)),
        outputs_(device.runtime(), size(shape.columns, shape.rows, precision)) {}

  [[nodiscard]] Seconds forward() const {
    return time({shape_.columns, shape_.rows, shape_.products, true, false}, weights_, inputs_, outputs_);
  }
  [[nodiscard]] Seconds weight_gradient() const {
    return time({shape_.products, shape_.columns, shape_.rows, false, true}, inputs_, outputs_, weights_);
  }
  [[nodiscard]] Seconds input_gradient() const {
    return time({shape_.products, shape_.rows, shape_.columns, false, false}, weights_, outputs_, inputs_);
  }

 private:
  [[nodiscard]] Bytes size(int rows, int columns, Precision precision) const {
    return static_cast<double>(rows) * columns * shape_.count * element_size(precision);
  }

  [[nodiscard]] Seconds time(const Pass& pass, const DeviceMemory& a, const DeviceMemory& b,
                             const DeviceMemory& c) const {
    constexpr int fastest = -1;  // CUBLAS_GEMM_DEFAULT: as cuBLAS sees fit
    const float one = 1;
    const float zero = 0;
    const auto stride = [](int rows, int columns) { return static_cast<long long>(rows) * columns; };
    return device_.time([&] {
      const int status = device_.cublas().multiply(
          device_.cublas_handle(), pass.transposes_a ? 1 : 0, pass.transposes_b ? 1 : 0, pass.m, pass.n, pass.k, &one,
          a.get(), types_.cuda, pass.transposes_a ? pass.k : pass.m, stride(pass.m, pass.k), b.get(), types_.cuda,
          pass.transposes_b ? pass.n : pass.k, stride(pass.k, pass.n), &zero, c.get(), types_.cuda, pass.m,
          stride(pass.m, pass.n), shape_.count, types_.cublas_compute, fastest);
      if (status != 0) {
        throw std::runtime_error(fmt::format("cuBLAS refuses {} products of {} x {} x {}: status {}", shape_.count,
                                             pass.m, pass.n, pass.k, status));
      }
    });
  }

  const CudaDevice& device_;
  ProductShape shape_;
  CudaTypes types_;
  DeviceMemory inputs_;
  DeviceMemory weights_;
  DeviceMemory outputs_;
};

}  // namespace

KernelTimes time_products(const CudaDevice& device, const Layer& layer, Precision precision, int batch) {
  const bool is_fused = layer.type == "attention" && layer.output_shape.size() > 1;
  const ProductShape shape = is_fused ? fused(layer, batch) : shape_of(layer, batch);
  const Matrices scores(device, shape, precision);
  KernelTimes times{scores.forward(), scores.weight_gradient(), scores.input_gradient(), "cuBLAS"};
  if (!is_fused) return times;
  const Matrices context(device, {shape.rows, shape.products, shape.columns, shape.count}, precision);
  times.forward += context.forward();
  times.weight_gradient += context.weight_gradient();
  times.input_gradient += context.input_gradient();
  return times;
}

}}  // namespace farandole::backend
