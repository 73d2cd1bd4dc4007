#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "platform/mpi_transport.hpp"
#include "simulate/library/library.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr std::array families{"nccl", "rccl", "openmpi", "mpich", "oneccl"};
/// Of each of these.
constexpr std::array add_family{add_nccl, add_rccl, add_mpi, add_mpi, add_oneccl};

std::unique_ptr<const Library> read_library(const LibraryFile& file) {
  Section section(file.value());
  static_cast<void>(section.maybe("like"));
  static_cast<void>(section.required<std::string>("source"));
  Library library;
  library.texts = file.texts;
  library.name = section.required<std::string>("name");
  if (library.name != file.name) section.child("name").fail(fmt::format("\"{}\", as the file is called", file.name));
  library.summary = section.required<std::string>("summary");
  for (const Value& each : section.child("operations").elements()) library.operations.push_back(read_operation(each));
  const auto* const family = std::ranges::find(families, library_family(library.name));
  if (family == families.end()) {
    section.child("name").fail("a name that begins with \"nccl\", \"rccl\", \"openmpi\", \"mpich\" or \"oneccl\"");
  }
  add_family.at(static_cast<std::size_t>(family - families.begin()))(section, library);
  section.finish();
  return std::make_unique<const Library>(std::move(library));
}

/// Libraries that were read, by name and when their file was last written.
class Shelf {
 public:
  const Library* find(const std::string& name) {
    std::error_code none;
    const auto written = std::filesystem::last_write_time(library_path(name), none);
    if (none) return nullptr;
    const std::scoped_lock lock(reading_);
    auto& known = libraries_[{name, written}];
    if (known == nullptr) known = read_library(*read_library_file(name));
    return known.get();
  }

 private:
  std::recursive_mutex reading_;  // a library may stand on another one
  std::map<std::pair<std::string, std::filesystem::file_time_type>, std::unique_ptr<const Library>> libraries_;
};

}  // namespace

const Library* find_library(const std::string& name) {
  static Shelf shelf;
  return shelf.find(name);
}

std::vector<const Library*> libraries() {
  std::vector<const Library*> all;
  for (const std::string& name : library_names()) all.push_back(find_library(name));
  return all;
}

Transport transport_of(const Library& library, const Platform& platform) {
  return library.mpi != nullptr ? mpi_transport(library.name, platform) : platform.transport;
}

std::string name(DeviceStack stack) {
  constexpr std::array names{"hosts", "CUDA", "ROCm"};
  return names.at(static_cast<std::size_t>(stack));
}

bool can_run(const Library& library, const DeviceKind& device) {
  const bool is_known =
      std::ranges::find(library.generations, device.generation) != library.generations.end() || device.is_processor();
  if (!library.generations.empty() && !is_known) return false;
  switch (library.needs) {
    case DeviceStack::none:
      return true;
    case DeviceStack::cuda:
      return device.compute_capability > 0;
    case DeviceStack::rocm:
      return !device.gfx.empty();
  }
  return true;
}

}}  // namespace farandole::simulate
