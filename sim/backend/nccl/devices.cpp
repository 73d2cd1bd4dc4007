#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "backend/nccl/check.hpp"
#include "backend/nccl/session.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace backend {
namespace {

int between(cudaDeviceP2PAttr attribute, int a, int b) {
  int value = 0;
  expect(cudaDeviceGetP2PAttribute(&value, attribute, a, b), "asking how devices are linked");
  return value;
}

std::string link_text(int a, int b) {
  if (between(cudaDevP2PAttrAccessSupported, a, b) == 0) return "through the host";
  return fmt::format("direct{}, performance rank {}",
                     between(cudaDevP2PAttrNativeAtomicSupported, a, b) != 0 ? " with atomics" : "",
                     between(cudaDevP2PAttrPerformanceRank, a, b));
}

}  // namespace

int device_count() {
  int count = 0;
  const cudaError_t answer = cudaGetDeviceCount(&count);
  if (answer != cudaSuccess || count == 0) {
    throw std::runtime_error(fmt::format("no CUDA device is there: {}",
                                         answer == cudaSuccess ? "the driver lists none" : cudaGetErrorString(answer)));
  }
  return count;
}

std::string device_text(int device) {
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, device), "asking a device for its properties");
  std::array<char, 32> bus{};
  expect(cudaDeviceGetPCIBusId(bus.data(), int{bus.size()}, device), "asking a device where it is");
  return fmt::format("{}, {}, compute capability {}.{}, PCI {}", properties.name,
                     format(Bytes(static_cast<double>(properties.totalGlobalMem))), properties.major, properties.minor,
                     bus.data());
}

Settings device_links() {
  Settings links;
  const int count = device_count();
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) links[fmt::format("link.{:02}-{:02}", a, b)] = link_text(a, b);
  }
  return links;
}

}}  // namespace farandole::backend
