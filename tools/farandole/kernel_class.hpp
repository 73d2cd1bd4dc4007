// What a kernel does, by its name: matrix products, attention, ..., a collective.
//
// Called by trace_reader.cpp. The names are those that libraries give their kernels; kernel_class.cpp has them as a
// table, with where each comes from. A name that is in no rule is `other`: it is shown, never dropped.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace farandole {

/// `computation` is of traces that do not tell its kernels apart: our own timelines.
enum class KernelClass : char { product, attention, elementwise, copy, optimizer, other, computation, communication };

inline constexpr std::array kernel_classes{
    KernelClass::product,   KernelClass::attention, KernelClass::elementwise, KernelClass::copy,
    KernelClass::optimizer, KernelClass::other,     KernelClass::computation, KernelClass::communication};

/// "matrix products"
std::string_view words_of(KernelClass kind);

struct NamedWork {
  KernelClass kind = KernelClass::other;
  std::string collective{};  // "allreduce"; of communication
};

NamedWork class_of_kernel(std::string_view name);

/// Of a layer of a model, by its type: what its kernels are.
KernelClass class_of_layer(std::string_view type, bool has_arithmetic);

/// "allreduce" of whatever spells it so: AllReduce, all_reduce, ALLREDUCE; "other collectives" where it names none.
std::string collective_in(std::string_view name);

}  // namespace farandole
