#include "backend/nccl/session.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "backend/host_description.hpp"
#include "backend/nccl/bootstrap.hpp"
#include "backend/nccl/check.hpp"

namespace farandole { inline namespace backend {
namespace {

std::string library_version() {
  int version = 0;
  expect(ncclGetVersion(&version), "asking NCCL for its version");
  // 2.8 and before count in thousands (2708), later ones in ten thousands (21805).
  const int major = version < 10000 ? version / 1000 : version / 10000;
  const int minor = version < 10000 ? version / 100 % 10 : version / 100 % 100;
  return fmt::format("NCCL {}.{}.{}", major, minor, version % 100);
}

std::string cuda_version(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version / 10 % 100);
}

std::unique_ptr<Bootstrap> bootstrap(const SessionOptions& options) {
  if (!options.meeting_file.empty()) return file_bootstrap(options.meeting_file);
  auto by_mpi = mpi_bootstrap();
  return by_mpi ? std::move(by_mpi) : file_bootstrap({});
}

std::unique_ptr<NcclEndpoint> join(Bootstrap& ranks, int device) {
  ncclUniqueId own{};
  if (ranks.rank() == 0) expect(ncclGetUniqueId(&own), "making an NCCL id");
  return std::make_unique<NcclEndpoint>(ranks.share(own), ranks.rank(), ranks.ranks(), device);
}

class NcclSession final : public Session {
 public:
  explicit NcclSession(const SessionOptions& options)
      : devices_(device_count()),
        bootstrap_(bootstrap(options)),
        device_(bootstrap_->local_rank() % devices_),
        endpoint_(join(*bootstrap_, device_)),
        node_of_ranks_(nodes_by_host(*endpoint_)) {}

  Endpoint& endpoint() override { return *endpoint_; }
  std::unique_ptr<Endpoint> open_channel() override { return join(*bootstrap_, device_); }
  [[nodiscard]] int ranks_per_node() const override {
    return static_cast<int>(
        std::ranges::count(node_of_ranks_, node_of_ranks_[static_cast<std::size_t>(bootstrap_->rank())]));
  }
  [[nodiscard]] int nodes() const override { return *std::ranges::max_element(node_of_ranks_) + 1; }
  [[nodiscard]] std::vector<int> node_of_ranks() const override { return node_of_ranks_; }

  Settings description() override {
    int driver = 0;
    expect(cudaDriverGetVersion(&driver), "asking for the driver's version");
    Settings settings = device_links();
    settings["nccl.library"] = nccl_version();
    settings["cuda.driver"] = cuda_version(driver);
    settings["machine.system"] = system_of_this_machine();
    settings["machine.nodes"] = std::to_string(nodes());
    settings["machine.ranks_per_node"] = std::to_string(ranks_per_node());
    const std::string own = fmt::format("{}, device {}: {}", host_name(), device_, device_text(device_));
    const std::vector<std::string> places = everyones_text(*endpoint_, own);
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      settings[fmt::format("rank.{:04}", rank)] = places[rank];
    }
    return settings;
  }

  CollectiveRun library(const Schedule& layout, std::int64_t size) override {
    return nccl_collective(*endpoint_, layout, size);
  }

  [[nodiscard]] bool can_replay() const override { return false; }  // agreement goes by the host's memory
  void abandon() override { bootstrap_->abandon(); }

 private:
  int devices_;  // first: without one, nothing else is begun
  std::unique_ptr<Bootstrap> bootstrap_;
  int device_;
  std::unique_ptr<NcclEndpoint> endpoint_;
  std::vector<int> node_of_ranks_;
};

}  // namespace

std::string nccl_version() {
  int runtime = 0;
  expect(cudaRuntimeGetVersion(&runtime), "asking for the CUDA runtime's version");
  return fmt::format("{}, {}", library_version(), cuda_version(runtime));
}

/// The devices there are, or why there is none.
static std::string nccl_devices() {
  try {
    const int count = device_count();
    return fmt::format("{} of {}", count, device_text(0));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

namespace {

std::unique_ptr<Session> open_nccl_session(const SessionOptions& options) {
  return std::make_unique<NcclSession>(options);
}

}  // namespace

void farandole_nccl_backend(BackendRow& row) {
  row.version = nccl_version();
  row.devices = nccl_devices;
  row.open = open_nccl_session;
}

}}  // namespace farandole::backend
