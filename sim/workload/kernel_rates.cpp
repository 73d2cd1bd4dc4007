#include "workload/kernel_rates.hpp"

#include "config/section.hpp"

namespace farandole { inline namespace workload {
namespace {

double read_positive_number(Section& section, std::string_view key) {
  const Value value = section.child(key);
  const auto number = read<double>(value);
  if (!(number > 0)) value.fail("a positive number");
  return number;
}

MathRates read_math(const Value& where) {
  Section section(where);
  MathRates rates;
  rates.convolution = read_positive_number(section, "convolution");
  rates.convolution_half = read_positive_number(section, "convolution_half");
  rates.matmul = read_positive_number(section, "matmul");
  rates.matmul_half = read_positive_number(section, "matmul_half");
  section.finish();
  return rates;
}

/// A generation differs from the mean by factors.
void apply_generation(const Value& where, KernelRates& rates) {
  Section section(where);
  rates.known = true;
  rates.tensor_units = section.required<bool>("tensor_units");
  rates.memory *= read_positive_number(section, "memory");
  rates.vector.convolution *= read_positive_number(section, "vector_convolution");
  rates.vector.matmul *= read_positive_number(section, "vector_matmul");
  const double convolution = read_positive_number(section, "tensor_convolution");
  const double matmul = read_positive_number(section, "tensor_matmul");
  section.finish();
  for (MathRates* math : {&rates.tensor16, &rates.tensor32}) {
    math->convolution *= convolution;
    math->matmul *= matmul;
  }
}

}  // namespace

KernelRates read_kernel_rates(const Value& where, const std::string& generation) {
  Section section(where);
  KernelRates rates;
  rates.generation = generation;
  rates.tensor_units = true;
  for (const char* key : {"summary", "source", "command"}) section.required<Text>(key);
  rates.launch = section.required<Seconds>("launch");
  rates.tail = read_positive_number(section, "tail");
  rates.memory = read_positive_number(section, "memory");
  rates.fast_filters = read_positive_number(section, "fast_filters");
  rates.vector = read_math(section.child("vector"));
  rates.tensor16 = read_math(section.child("tensor16"));
  rates.tensor32 = read_math(section.child("tensor32"));
  section.child("bands");    // workload/time_band.hpp
  section.maybe("carried");  // scenario/anchor.hpp
  const double pointwise = read_positive_number(section, "pointwise");
  for (const auto& [name, factors] : section.child("generations").members()) {
    if (name == generation) apply_generation(factors, rates);
  }
  rates.pointwise = pointwise * rates.memory;
  section.finish();
  return rates;
}

}}  // namespace farandole::workload
